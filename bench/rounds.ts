import type { Tallies } from './checkBooks.ts'
import type { Options } from './options.ts'
import { asker, connectionsFor, type Scenario, secondsFor, TARGETS, type Target } from './scenarios.ts'
import type { Stack } from './stack.ts'
import type { Sample, Tally } from './window.ts'

/** More of the driver's connections than this make Postgres slower, not faster. */
const MOST_CONNECTIONS = 64

/** All rounds of one scenario at one number of connections on one target. */
export interface Row {
  readonly scenario: Scenario
  readonly connections: number
  readonly target: Target
  readonly rate?: number | undefined
  readonly samples: Sample[]
}

/** Runs slots on the targets of a stack, one at a time, and keeps what was acknowledged. */
export class Runner {
  readonly tallies: Tallies
  errors = 0
  readonly firstErrors: string[] = []
  readonly #stack: Stack
  readonly #options: Options
  #slots = 0
  readonly #turns = new Map<string, number>()

  constructor(stack: Stack, options: Options) {
    this.#stack = stack
    this.#options = options
    const none = (): Tally => ({ repaid: { count: 0, amount: 0 }, lent: { count: 0, amount: 0 } })
    this.tallies = { ours: none(), floor: none(), driver: none(), versus: none() }
  }

  /** Those that a scenario can be measured on. Issuing a token is no statement that the driver could run. */
  targetsOf(scenario: Scenario): Target[] {
    return TARGETS.filter((target) => {
      if (target === 'versus') return this.#stack.versus !== undefined
      return target !== 'driver' || scenario !== 'token'
    })
  }

  /** Whether the service has the routes of a scenario yet; asked with one request, which counts in the books. */
  async isServed(scenario: Scenario): Promise<boolean> {
    const { load, service, credentials, book } = this.#stack
    const ask = asker(scenario, book, 'ours', ++this.#slots, this.#nextTurn(scenario, 'ours'))()
    const { status, body } = await load.ask('probe', { port: service.port, ask, credentials, book })
    if (status === 404) return false
    if (status !== 200) this.#note(`${scenario} was answered ${status}: ${body.slice(0, 500)}`)
    else if (ask.kind === 'repay' || ask.kind === 'record') add(this.tallies.ours.repaid, 1, ask.amount)
    else if (ask.kind === 'create') add(this.tallies.ours.lent, 1, ask.principal)
    return true
  }

  /** Measures one slot. */
  async measure(
    scenario: Scenario,
    target: Target,
    connections: number,
    over: { rate?: number; seconds?: number; warmUp?: number } = {},
  ): Promise<Sample> {
    const { book, load, driver, floor, floorPort, service, versus, postgresPid, credentials } = this.#stack
    const { warmUp, seconds } = this.#options
    const server = target === 'floor' ? floor.pid : target === 'versus' ? versus?.pid : service.pid
    const slot = {
      ...{ scenario, target, book, connections, warmUp, number: ++this.#slots },
      seconds: secondsFor(scenario, seconds),
      turn: this.#nextTurn(scenario, target),
      ...over,
      pids: {
        ...(target !== 'driver' && { service: server ?? 0 }),
        postgres: postgresPid,
        load: target === 'driver' ? driver.pid : load.pid,
      },
    }
    const port = target === 'floor' ? floorPort : target === 'versus' ? versus!.port : service.port
    const { databaseUrl, caller } = this.#stack
    const sample =
      target === 'driver'
        ? await driver.ask('run', {
            ...slot,
            connections: Math.min(connections, MOST_CONNECTIONS),
            databaseUrl,
            caller,
          })
        : await load.ask('run', { ...slot, port, credentials })
    add(this.tallies[target].repaid, sample.tally.repaid.count, sample.tally.repaid.amount)
    add(this.tallies[target].lent, sample.tally.lent.count, sample.tally.lent.amount)
    if (sample.firstError !== undefined)
      this.#note(`${scenario}, ${target}, ${connections} connections: ${sample.firstError}`, sample.errors)
    return sample
  }

  #nextTurn(scenario: Scenario, target: Target): number {
    const key = `${scenario} ${target}`
    const turn = this.#turns.get(key) ?? 0
    this.#turns.set(key, turn + 1)
    return turn
  }

  #note(message: string, count = 1): void {
    this.errors += count
    this.firstErrors.push(message)
  }
}

function add(sum: { count: number; amount: number }, count: number, amount: number): void {
  sum.count += count
  sum.amount += amount
}

/**
 * The whole table. The targets of a scenario take turns, each first in its turn, so that what else the machine does,
 * and a book that grows, falls on all alike.
 */
export async function runRounds(
  runner: Runner,
  scenarios: readonly Scenario[],
  { connections, rounds }: Options,
  say: (text: string) => void,
): Promise<Row[]> {
  const rows: Row[] = scenarios.flatMap((scenario) =>
    connectionsFor(scenario, connections).flatMap((count) =>
      runner.targetsOf(scenario).map((target) => ({ scenario, connections: count, target, samples: [] as Sample[] })),
    ),
  )
  for (let round = 0; round < rounds; round++) {
    const groups = Map.groupBy(rows, (row) => `${row.scenario} ${row.connections}`)
    for (const group of groups.values()) {
      const turn = round % group.length
      for (const row of [...group.slice(turn), ...group.slice(0, turn)])
        row.samples.push(await runner.measure(row.scenario, row.target, row.connections))
    }
    say(`round ${round + 1} of ${rounds} is done`)
  }
  return rows
}

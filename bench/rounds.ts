import type { Tallies } from './checkBooks.ts'
import type { Price } from './meter.ts'
import type { Options } from './options.ts'
import { asker, connectionsFor, type Scenario, secondsFor, type Target } from './scenarios.ts'
import { type Stack, sideOf } from './stack.ts'
import type { Sample, Tally } from './window.ts'

/** More of the driver's connections than this make Postgres slower, not faster. */
const MOST_CONNECTIONS = 64

/** All rounds of one scenario at one number of connections on one target. */
export interface Row {
  readonly scenario: Scenario
  readonly connections: number
  readonly target: Target
  readonly rate?: number | undefined
  readonly samples: Priced[]
}

/** A sample; of a version of the service, with its price. */
export type Priced = Sample & { readonly price?: Price | undefined }

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

  /** Those that a scenario can be measured on: by hand, nothing takes messages, and issuing a token is no statement. */
  targetsOf(scenario: Scenario): Target[] {
    const unable: readonly Target[] =
      scenario === 'messages' ? ['floor', 'driver'] : scenario === 'token' ? ['driver'] : []
    return this.#options.targets.filter((target) => !unable.includes(target))
  }

  /** Whether the service has the routes of a scenario yet; asked with one request, which counts in the books. */
  async isServed(scenario: Scenario): Promise<boolean> {
    const { load, ours } = this.#stack
    const { service, credentials, book } = ours
    const ask = asker(scenario, book, 'ours', ++this.#slots, this.#nextTurn(scenario, 'ours'))()
    const { status, body } = await load.ask('probe', { port: service.port, ask, credentials, book })
    if (status === 404) return false
    if (status !== 200) this.#note(`${scenario} was answered ${status}: ${body.slice(0, 500)}`)
    else if (ask.kind === 'repay' || ask.kind === 'record' || ask.kind === 'message')
      add(this.tallies.ours.repaid, 1, ask.amount)
    else if (ask.kind === 'create') add(this.tallies.ours.lent, 1, ask.principal)
    return true
  }

  /**
   * Measures one slot. Of a version that is measured in the closed loop, the price counts what its background does, too:
   * the next slot begins once it has caught up.
   */
  async measure(
    scenario: Scenario,
    target: Target,
    connections: number,
    over: { rate?: number; seconds?: number; warmUp?: number; isPriced?: boolean } = {},
  ): Promise<Sample & { readonly price: Price | undefined }> {
    const side = sideOf(this.#stack, target)
    if (!side) throw new Error(`there is no ${target} in this run`)
    const { isPriced = true, ...changed } = over
    const { load, driver, floor, floorPort } = this.#stack
    const { databaseUrl, caller, credentials, book, postgresPid } = side
    const version = target === 'ours' || target === 'versus' ? this.#stack[target] : undefined
    const pids = { postgres: postgresPid, load: target === 'driver' ? driver.pid : load.pid }
    const service = target === 'floor' ? floor.pid : version?.service.pid
    const slot = {
      scenario,
      target,
      book,
      connections,
      warmUp: this.#options.warmUp,
      number: ++this.#slots,
      seconds: secondsFor(scenario, this.#options.seconds),
      turn: this.#nextTurn(scenario, target),
      ...changed,
      pids: service === undefined ? pids : { ...pids, service },
    }
    const run = () =>
      target === 'driver'
        ? driver.ask('run', {
            ...slot,
            connections: Math.min(connections, MOST_CONNECTIONS),
            databaseUrl,
            caller,
          })
        : load.ask('run', { ...slot, port: version?.service.port ?? floorPort, credentials })
    const { result: sample, price } =
      version && isPriced
        ? await version.meter.priceOf(version.service.pid, slot.warmUp + slot.seconds, run)
        : { result: await run(), price: undefined }
    add(this.tallies[target].repaid, sample.tally.repaid.count, sample.tally.repaid.amount)
    add(this.tallies[target].lent, sample.tally.lent.count, sample.tally.lent.amount)
    if (sample.firstError !== undefined)
      this.#note(`${scenario}, ${target}, ${connections} connections: ${sample.firstError}`, sample.errors)
    return { ...sample, price }
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
      runner.targetsOf(scenario).map((target) => ({ scenario, connections: count, target, samples: [] as Priced[] })),
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

import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds } from './processes.ts'
import { type Ask, asker, type Book, type Scenario, type Target } from './scenarios.ts'

/** One measurement to make: what, on whom, how long, and whose CPU time to count. */
export interface Slot {
  readonly scenario: Scenario
  readonly target: Target
  readonly book: Book
  readonly connections: number
  readonly warmUp: number
  readonly seconds: number
  /** Its number in the run, so that tokens and ids never repeat. */
  readonly number: number
  /** Its number among those of its scenario and target. */
  readonly turn: number
  /** Requests a second. Without it each connection sends as soon as it is answered. */
  readonly rate?: number | undefined
  readonly pids: Readonly<Record<string, number>>
}

/** What was acknowledged, also outside the measured time: the database must hold exactly this. Minor units. */
export interface Tally {
  repaid: { count: number; amount: number }
  lent: { count: number; amount: number }
}

/** What a slot came to. Times in milliseconds. */
export interface Sample {
  readonly requests: number
  /** Those outside the measured time too. */
  readonly answered: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly longest: number
  /** CPU seconds by process. */
  readonly cpu: Readonly<Record<string, number>>
  readonly tally: Tally
  readonly errors: number
  readonly firstError: string | undefined
}

/** Sends one request over a connection and waits for its answer; throws what is wrong with it. */
export type Send = (connection: number, ask: Ask) => Promise<void>

const noTally = (): Tally => ({ repaid: { count: 0, amount: 0 }, lent: { count: 0, amount: 0 } })

/** Runs a slot: warms up, measures, and waits for what is still under way. */
export async function measure(slot: Slot, send: Send): Promise<Sample> {
  const next = asker(slot.scenario, slot.book, slot.target, slot.number, slot.turn)
  const times: number[] = []
  const tally = noTally()
  let measuring = false
  let answered = 0
  let stopped = false
  let errors = 0
  let firstError: string | undefined

  const once = async (connection: number, since: number): Promise<void> => {
    const ask = next()
    try {
      await send(connection, ask)
      answered++
      if (measuring) times.push(performance.now() - since)
      count(tally, ask)
    } catch (error) {
      errors++
      firstError ??= error instanceof Error ? error.message : String(error)
      // A connection that fails at once must not spin.
      await sleep(100)
    }
  }

  const load = slot.rate === undefined ? closedLoop : openLoop
  const done = load(slot, once, () => stopped)
  await sleep(slot.warmUp * 1000)
  const [before, from] = [cpuOf(slot.pids), performance.now()]
  measuring = true
  await sleep(slot.seconds * 1000)
  measuring = false
  const [after, until] = [cpuOf(slot.pids), performance.now()]
  stopped = true
  await done
  times.sort((a, b) => a - b)
  return {
    requests: times.length,
    answered,
    perSecond: times.length / ((until - from) / 1000),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    longest: times.at(-1) ?? 0,
    cpu: Object.fromEntries(Object.keys(slot.pids).map((name) => [name, after[name]! - before[name]!])),
    tally,
    errors,
    firstError,
  }
}

type Once = (connection: number, since: number) => Promise<void>

/** Each connection sends its next request when the last is answered: what the other side can do at most. */
async function closedLoop({ connections }: Slot, once: Once, stopped: () => boolean): Promise<void> {
  const one = async (connection: number) => {
    while (!stopped()) await once(connection, performance.now())
  }
  await Promise.all(Array.from({ length: connections }, (_, connection) => one(connection)))
}

/**
 * Requests come when they come, as from many clients that know nothing of each other (a Poisson process), and take the
 * next free connection. Timed from when they came: waiting for a connection counts, and a slow answer delays nobody's
 * clock.
 */
async function openLoop({ connections, rate = 1 }: Slot, once: Once, stopped: () => boolean): Promise<void> {
  const free = Array.from({ length: connections }, (_, connection) => connection)
  const waiting: number[] = []
  const running = new Set<Promise<void>>()
  const run = async (connection: number, first: number) => {
    for (let since: number | undefined = first; since !== undefined; since = waiting.shift())
      await once(connection, since)
    free.push(connection)
  }
  let due = performance.now()
  while (!stopped()) {
    for (const now = performance.now(); due <= now; due += (-Math.log(1 - Math.random()) * 1000) / rate) {
      const connection = free.pop()
      if (connection === undefined) {
        waiting.push(due)
        continue
      }
      const running1 = run(connection, due).finally(() => running.delete(running1))
      running.add(running1)
    }
    await sleep(1)
  }
  await Promise.all(running)
}

function count(tally: Tally, ask: Ask): void {
  if (ask.kind === 'repay' || ask.kind === 'record' || ask.kind === 'message') {
    tally.repaid.count++
    tally.repaid.amount += ask.amount
  } else if (ask.kind === 'create') {
    tally.lent.count++
    tally.lent.amount += ask.principal
  }
}

/** Returns the percentile of sorted numbers; 0 where there are none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function cpuOf(pids: Slot['pids']): Record<string, number> {
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuSeconds(pid)]))
}

import { parseArgs } from 'node:util'
import { SCENARIOS, type Scenario, TARGETS, type Target } from './scenarios.ts'

/** What one run of the benchmark measures. */
export interface Options {
  readonly loans: number
  readonly transactions: number
  readonly scenarios: readonly Scenario[]
  readonly connections: readonly number[]
  readonly rounds: number
  /** Measured seconds of a slot, and those before it that do not count. */
  readonly seconds: number
  readonly warmUp: number
  /** Minutes at half of the highest rate, or at the highest, instead of the table. */
  readonly soak: number | undefined
  readonly fullRate: boolean
  /** The targets that are measured. */
  readonly targets: readonly Target[]
  /** Processes of the service: its WEB_CONCURRENCY. */
  readonly processes: number | undefined
  /** Another checkout, whose service is measured in turn with this one's. */
  readonly versus: string | undefined
  /** Results of an earlier run to compare with. */
  readonly against: string | undefined
  /** Messages of a provider a second, for the scenario `messages`. */
  readonly messages: number
  readonly profile: boolean
  readonly quick: boolean
  /** Whether the figures are kept in `bench/history`. */
  readonly keep: boolean
  /** Where the JSON goes. */
  readonly out: string | undefined
}

export const USAGE = `npm run bench -- [options]

  --quick               one short round of everything within two minutes: whether it works, not figures
  --only a,b            scenarios: ${SCENARIOS.join(', ')}
  --connections 1,64    default 1,16,64,256
  --rounds N            default 5; medians are over rounds
  --seconds N           measured seconds of a slot, default 2
  --warm-up N           seconds of each slot that do not count, default 0.5
  --loans N             default 100000 (10000 with --quick)
  --transactions N      default three a loan
  --soak MINUTES        half of the highest rate for so long: p99, memory and the lag of the background over time
  --full-rate           the soak at the highest rate
  --targets a,b         default all: ${TARGETS.join(', ')}
  --processes N         WEB_CONCURRENCY of the service
  --versus DIR          another checkout's service, measured in turn with this one's, with a Postgres and a book of its own
  --against FILE        the JSON of an earlier run: prints how the rates have changed since
  --messages N          messages a second beside repayments, of the scenario messages; default 2000
  --profile             where the service's CPU time goes (use with --only and --connections)
  --keep                keeps the figures in bench/history, to be committed
  --out FILE            where the JSON goes, default bench/results/<time>.json`

const HEADLINE: readonly number[] = [1, 16, 64, 256]
/** What all slots of a quick run may take together. */
const QUICK_SECONDS = 42

/** @throws Error with one line for the first option that is not understood */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      connections: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      'warm-up': { type: 'string' },
      loans: { type: 'string' },
      transactions: { type: 'string' },
      soak: { type: 'string' },
      'full-rate': { type: 'boolean', default: false },
      targets: { type: 'string' },
      keep: { type: 'boolean', default: false },
      processes: { type: 'string' },
      versus: { type: 'string' },
      against: { type: 'string' },
      profile: { type: 'boolean', default: false },
      messages: { type: 'string' },
      out: { type: 'string' },
    },
  })
  const { quick } = values
  const loans = count('loans', values.loans, { from: 10_000, to: 10_000_000 }) ?? (quick ? 10_000 : 100_000)
  const scenarios = values.only === undefined ? [...SCENARIOS] : values.only.split(',').map(toScenario)
  const connections =
    values.connections?.split(',').map((text) => count('connections', text, { from: 1, to: 2_000 })!) ??
    (quick ? [1, 64] : HEADLINE)
  const rounds = count('rounds', values.rounds, { from: 1, to: 100 }) ?? (quick ? 1 : 5)
  const warmUp = amount('warm-up', values['warm-up']) ?? (quick ? 0.2 : 0.5)
  const asked = values.targets?.split(',').map(toTarget) ?? TARGETS
  const targets = asked.filter((target) => target !== 'versus' || values.versus !== undefined)
  if (!targets.includes('ours')) throw new Error('--targets: has to name ours')
  const share = QUICK_SECONDS / (scenarios.length * connections.length * rounds * targets.length) - warmUp
  return {
    loans,
    transactions: count('transactions', values.transactions, { from: 0, to: 100_000_000 }) ?? loans * 3,
    scenarios,
    connections,
    rounds,
    seconds: amount('seconds', values.seconds) ?? (quick ? Math.min(2, Math.max(0.3, share)) : 2),
    warmUp,
    soak: amount('soak', values.soak),
    fullRate: values['full-rate'],
    targets,
    keep: values.keep,
    processes: count('processes', values.processes, { from: 1, to: 64 }),
    versus: values.versus,
    against: values.against,
    messages: count('messages', values.messages, { from: 1, to: 100_000 }) ?? 2_000,
    profile: values.profile,
    quick,
    out: values.out,
  }
}

function toScenario(text: string): Scenario {
  const known = SCENARIOS.find((name) => name === text)
  if (known === undefined) throw new Error(`--only: there is no scenario ${text}; there are ${SCENARIOS.join(', ')}`)
  return known
}

function toTarget(text: string): Target {
  const known = TARGETS.find((name) => name === text)
  if (known === undefined) throw new Error(`--targets: there is no target ${text}; there are ${TARGETS.join(', ')}`)
  return known
}

function amount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name}: ${text} is not a number above 0`)
  return value
}

function count(name: string, text: string | undefined, { from, to }: { from: number; to: number }): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isInteger(value) || value < from || value > to)
    throw new Error(`--${name}: ${text} is not a whole number from ${from} to ${to}`)
  return value
}

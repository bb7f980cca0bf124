import { residentBytes } from './processes.ts'
import { figure, median } from './report.ts'
import type { Runner } from './rounds.ts'
import type { Stack } from './stack.ts'

/** The highest rate is looked for with this many connections, and half of it is sent over as many. */
export const CONNECTIONS = 64
/** One reading of a soak. */
const STEP_SECONDS = 10
const MEBIBYTE = 1024 * 1024

/** A stretch of the soak: latencies in milliseconds, memory of the service in MiB. */
export interface Step {
  readonly second: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly longest: number
  readonly residentMiB: number
  /** Changes that are not sealed, or not in the journal, and the age of the oldest in seconds. */
  readonly behind: number
  readonly behindSeconds: number
}

/** The highest rate of repayments, requests a second. */
async function highestRate(runner: Runner): Promise<number> {
  const rates: number[] = []
  for (let round = 0; round < 3; round++)
    rates.push((await runner.measure('repayments', 'ours', CONNECTIONS, { seconds: 3, warmUp: 1 })).perSecond)
  return median(rates)
}

/**
 * Repayments at half of the highest rate, or as many as are answered, for so many minutes: does latency hold, does memory
 * stay, does the background keep up?
 */
export async function soak(
  runner: Runner,
  stack: Stack,
  { minutes, fullRate }: { readonly minutes: number; readonly fullRate: boolean },
  say: (text: string) => void,
): Promise<{ rate: number; steps: Step[] }> {
  const highest = await highestRate(runner)
  const rate = fullRate ? highest : highest / 2
  say(`soak: ${figure(rate)} repayments a second for ${minutes} minutes, ${fullRate ? '' : 'half of '}the highest rate`)
  const steps: Step[] = []
  const started = performance.now()
  while (performance.now() - started < minutes * 60_000) {
    const over = { ...(!fullRate && { rate }), seconds: STEP_SECONDS, warmUp: 0, isPriced: false }
    const sample = await runner.measure('repayments', 'ours', CONNECTIONS, over)
    const behind = await stack.ours.meter.behind()
    const step: Step = {
      second: Math.round((performance.now() - started) / 1000),
      perSecond: sample.perSecond,
      p50: sample.p50,
      p99: sample.p99,
      longest: sample.longest,
      residentMiB: residentBytes(stack.ours.service.pid).now / MEBIBYTE,
      behind: Math.max(behind.unsealed, behind.unposted),
      behindSeconds: behind.seconds,
    }
    steps.push(step)
    say(
      `${String(step.second).padStart(5)} s  ${figure(step.perSecond)}/s  p50 ${figure(step.p50)}  p99 ${figure(step.p99)}  ` +
        `longest ${figure(step.longest)} ms  ${figure(step.residentMiB)} MiB  ${step.behind} behind, ${figure(step.behindSeconds)} s`,
    )
  }
  say(summary(steps))
  return { rate, steps }
}

/** The first tenth is growing up: what matters is the middle against the end. */
function summary(steps: readonly Step[]): string {
  const part = (from: number, to: number) =>
    median(steps.slice(Math.floor(steps.length * from), Math.ceil(steps.length * to)).map((step) => step.residentMiB))
  return (
    `soak: p99 ${figure(median(steps.map((step) => step.p99)))} ms (median of ${steps.length}), ` +
    `at most ${figure(Math.max(...steps.map((step) => step.p99)))} ms; ` +
    `memory ${figure(part(0.1, 0.4))} MiB early, ${figure(part(0.7, 1))} MiB late`
  )
}

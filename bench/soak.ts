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
}

/** Half of the highest rate of repayments, requests a second. */
async function halfRate(runner: Runner): Promise<number> {
  const rates: number[] = []
  for (let round = 0; round < 3; round++)
    rates.push((await runner.measure('repayments', 'ours', CONNECTIONS, { seconds: 3, warmUp: 1 })).perSecond)
  return median(rates) / 2
}

/** Repayments at half of the highest rate, for so many minutes: does latency hold, does memory stay? */
export async function soak(
  runner: Runner,
  stack: Stack,
  minutes: number,
  say: (text: string) => void,
): Promise<{ rate: number; steps: Step[] }> {
  const rate = await halfRate(runner)
  say(`soak: ${figure(rate)} repayments a second for ${minutes} minutes, half of the highest rate`)
  const steps: Step[] = []
  const started = performance.now()
  while (performance.now() - started < minutes * 60_000) {
    const sample = await runner.measure('repayments', 'ours', CONNECTIONS, { rate, seconds: STEP_SECONDS, warmUp: 0 })
    const step: Step = {
      second: Math.round((performance.now() - started) / 1000),
      perSecond: sample.perSecond,
      p50: sample.p50,
      p99: sample.p99,
      longest: sample.longest,
      residentMiB: residentBytes(stack.service.pid).now / MEBIBYTE,
    }
    steps.push(step)
    say(
      `${String(step.second).padStart(5)} s  ${figure(step.perSecond)}/s  p50 ${figure(step.p50)}  p99 ${figure(step.p99)}  ` +
        `longest ${figure(step.longest)} ms  ${figure(step.residentMiB)} MiB`,
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

import { setTimeout as sleep } from 'node:timers/promises'
import { figure } from './report.ts'
import type { Runner } from './rounds.ts'
import { CONNECTIONS } from './soak.ts'
import type { Stack } from './stack.ts'

/** Repayments a second. */
const REPAYMENTS = 200
const MESSAGE_CONNECTIONS = 256
/** A slot of repayments alone, as a part of the time in which messages come. */
const ALONE = 3
const AGAIN_MS = 50

/** What a provider at full speed comes to, beside repayments. Latencies in milliseconds. */
export interface MessagesBeside {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly longest: number
  /** From the end of the load until all messages were decided on, in seconds; and how many were not at its end. */
  readonly decidedSeconds: number
  readonly undecided: number
  /** p99 of repayments without messages, and beside them. */
  readonly alone: number
  readonly beside: number
}

/**
 * Sends messages of a provider at a fixed rate beside repayments, for so many seconds; before, the same repayments alone. Each request
 * is timed from when it was due.
 */
export async function messagesBeside(
  runner: Runner,
  { ours: { meter, service } }: Stack,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
  say: (text: string) => void,
): Promise<MessagesBeside> {
  const repay = (length: number) =>
    runner.measure('repayments', 'ours', CONNECTIONS, { rate: REPAYMENTS, seconds: length, isPriced: false })
  await meter.quiet(service.pid)
  const alone = await repay(seconds / ALONE)
  await meter.quiet(service.pid)
  const [{ perSecond, p50, p99, longest }, beside] = await Promise.all([
    runner.measure('messages', 'ours', MESSAGE_CONNECTIONS, { rate, seconds, isPriced: false }),
    repay(seconds),
  ])
  const ended = performance.now()
  const { undecided } = await meter.behind()
  while ((await meter.behind()).undecided > 0) await sleep(AGAIN_MS)
  const decidedSeconds = (performance.now() - ended) / 1000
  await meter.quiet(service.pid)
  say(
    `${figure(perSecond)} messages a second for ${seconds} s: p50 ${figure(p50)}, p99 ${figure(p99)}, longest ${figure(longest)} ms; ` +
      `${undecided} not decided at the end, all ${figure(decidedSeconds)} s after it; ` +
      `${REPAYMENTS} repayments a second: p99 ${figure(alone.p99)} ms alone, ${figure(beside.p99)} ms beside them`,
  )
  return { perSecond, p50, p99, longest, decidedSeconds, undecided, alone: alone.p99, beside: beside.p99 }
}

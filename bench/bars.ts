import type { MessagesBeside } from './messages.ts'
import { figure, type Line } from './report.ts'
import type { Scenario, Target } from './scenarios.ts'

/** What the run showed besides the table. */
export interface Shown {
  readonly lines: readonly Line[]
  /** p99 at half of the highest rate at 64 connections, milliseconds. */
  readonly pacedP99: number | undefined
  readonly messages: MessagesBeside | undefined
  /** Resident bytes of the service at the end. */
  readonly resident: number
}

const MEBIBYTE = 1024 * 1024

/** The bars that the money path has to clear, with what this run measured; those that it did not measure are left out. */
export function bars({ lines, pacedP99, messages, resident }: Shown): string[] {
  const line = (scenario: Scenario, connections: number, target: Target = 'ours') =>
    lines.find((one) => one.scenario === scenario && one.connections === connections && one.target === target)
  const atLeast = (what: string, least: number, value: number | undefined) =>
    value === undefined ? [] : [say(value >= least, what, `${value.toFixed(2)}, at least ${least}`)]
  const atMost = (what: string, most: number, value: number | undefined, unit: string) =>
    value === undefined ? [] : [say(value <= most, what, `${figure(value)}${unit}, at most ${most}${unit}`)]
  const [mine, floor] = [line('repayments', 1), line('repayments', 1, 'floor')]
  return [
    ...atLeast('repayments at 64, of the floor', 2, line('repayments', 64)?.toFloor),
    ...atLeast('repayments at 64, of the driver', 0.9, line('repayments', 64)?.toDriver),
    ...atLeast('repayments at 256, of the floor', 2.5, line('repayments', 256)?.toFloor),
    ...atLeast('instalments at 64, of the floor', 1.8, line('instalments', 64)?.toFloor),
    ...atMost('repayments at 1, p50 of the floor', 1.4, mine && floor && mine.p50 / floor.p50, '×'),
    ...atLeast('one loan at 64, of the floor', 3.5, line('hot', 64)?.toFloor),
    ...atLeast('loan creation at 64, of the floor', 1.5, line('creation', 64)?.toFloor),
    ...atLeast('single read at 64, of the floor', 1.4, line('read', 64)?.toFloor),
    ...atMost('p99 at half of the highest rate', 20, pacedP99, ' ms'),
    ...atMost('p99 of messages', 1_000, messages?.p99, ' ms'),
    ...atMost('messages decided after their end', 10, messages?.decidedSeconds, ' s'),
    ...atMost('p99 beside messages, of that alone', 2, messages && messages.beside / messages.alone, '×'),
    ...atMost('resident memory of the service', 250, resident > 0 ? resident / MEBIBYTE : undefined, ' MiB'),
  ]
}

const say = (cleared: boolean, what: string, figures: string) =>
  `${cleared ? 'cleared' : 'MISSED '}  ${what.padEnd(36)} ${figures}`

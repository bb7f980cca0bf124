import { channel } from 'node:diagnostics_channel'
import type { Logger } from 'pino'
import type { Config } from '../app/config.ts'

/** The channel that reports the beginning of a stop, for code that is loaded before the service: traces. */
export const STOPPING = 'mkopo.stopping'

/** Ends the process. */
export interface Ending {
  /** Returns whether a stop has begun. */
  begun(): boolean
  /** Reports on the channel that a stop is about to begin. */
  announce(): void
  /** Begins a stop, unless one has begun. */
  begin(exitCode: number, graceMs?: number): void
  /**
   * Begins a stop on the first call; ends the process at once on the second, from an operator who does not want to
   * wait.
   */
  insist(exitCode: number, graceMs?: number): void
}

/** The steps that end a process, and their times. */
export interface EndingOptions extends Pick<Config, 'stopGraceMs' | 'stopWithinMs'> {
  readonly log: Logger
  /**
   * Ends all parts in good order.
   * @returns the exit code, where the end has no other
   */
  readonly stop: (graceMs: number) => Promise<number>
  /** Called when there is no time left for that. */
  readonly giveUp?: () => void
  /** The least grace of a signal, in milliseconds. */
  readonly leastGraceMs?: number
}

/**
 * Signals within this time after the first belong to the same request to stop. `npm start` passes on each signal that
 * it gets, and Ctrl-C, or a supervisor that signals every process of a group, reaches this process directly as well.
 */
export const ONE_REQUEST_MS = 1_000

/** Ends the process at a signal: in good order at the first one, at once at one that comes `ONE_REQUEST_MS` later. */
export function endOnSignals(options: EndingOptions): Ending {
  const { stopGraceMs, stopWithinMs, log, stop, giveUp, leastGraceMs = 0 } = options
  let announced = false
  let begun = false
  let asked = false

  const exit = (code: number): never => {
    giveUp?.()
    process.exit(code)
  }
  const announce = () => {
    if (!announced) channel(STOPPING).publish({})
    announced = true
  }
  const begin = (exitCode: number, graceMs = 0) => {
    if (begun) return
    begun = true
    announce()
    setTimeout(() => exit(exitCode || 1), graceMs + stopWithinMs).unref()
    stop(graceMs)
      .catch((error: unknown) => {
        log.error({ err: error }, 'the stop went wrong')
        return 0
      })
      .then((code) => process.exit(exitCode || code))
  }
  const insist = (exitCode: number, graceMs = 0) => {
    if (asked) exit(exitCode || 130)
    asked = true
    begin(exitCode, graceMs)
  }

  let signalledAt = Number.NEGATIVE_INFINITY
  const heed = (graceMs: number) => {
    const sinceFirst = performance.now() - signalledAt
    if (sinceFirst < ONE_REQUEST_MS) return
    if (signalledAt === Number.NEGATIVE_INFINITY) signalledAt = performance.now()
    insist(0, graceMs)
  }
  // The sender of a SIGTERM has other instances to route requests to, and needs a moment for that. Ctrl-C needs none.
  process.on('SIGTERM', () => heed(Math.max(stopGraceMs, leastGraceMs)))
  process.on('SIGINT', () => heed(leastGraceMs))
  return { begun: () => begun, announce, begin, insist }
}

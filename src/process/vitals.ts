import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Guard } from '../api/limits/overload.ts'
import type { Db } from '../db/postgres/client.ts'
import { type ProbeOptions, startLivenessProbe } from '../db/postgres/livenessProbe.ts'

const RESOLUTION_MS = 20
const WINDOW_MS = 500

/** How the process stands: its database, its event loop, and whether it is being stopped. */
export interface Vitals {
  readonly guard: Guard
  /** By how many milliseconds the database's clock is ahead of ours. */
  clockAheadMs(): number
  stop(): Promise<void>
}

/** Watches the database and the event loop until it is stopped, and logs when the database goes and comes back. */
export function watchVitals(db: Db, stages: Pick<Guard, 'stopping' | 'draining'>, options: ProbeOptions): Vitals {
  const watch = startLivenessProbe(db, options)
  const lag = watchLag()
  return {
    guard: { reachable: watch.reachable, trouble: watch.trouble, lagMs: lag.ms, ...stages },
    clockAheadMs: watch.clockAheadMs,
    async stop() {
      lag.stop()
      await watch.stop()
    },
  }
}

/** How late the event loop is, as a mean over the last half second: one long turn is not yet overload. */
function watchLag() {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  let mean = 0
  const timer = setInterval(() => {
    mean = Number.isFinite(delays.mean) ? Math.max(0, delays.mean / 1e6 - RESOLUTION_MS) : 0
    delays.reset()
  }, WINDOW_MS).unref()
  return {
    ms: () => mean,
    stop() {
      clearInterval(timer)
      delays.disable()
    },
  }
}

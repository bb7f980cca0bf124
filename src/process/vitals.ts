import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Guard } from '../api/limits/overload.ts'
import type { Db } from '../db/postgres/client.ts'
import { type ProbeOptions, startLivenessProbe } from '../db/postgres/livenessProbe.ts'

const RESOLUTION_MS = 20
const WINDOW_MS = 500

/** The state of the process: its database, its event loop, and whether it stops. */
export interface Vitals {
  readonly guard: Guard
  /** Returns by how many milliseconds the database's clock is ahead of this machine's. */
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

/** Measures how late the event loop is, as a mean over the last half second: one long turn is not overload yet. */
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

import type { Listener } from '../listener.ts'
import { type Job, SERVICE, workRound } from './job.ts'

/** The least pause after a round that left more to do. */
const AGAIN_MS = 10
/** One part in so many of the time may go into a long queue, so that a job never crowds out the book. */
const SHARE = 4
/** The pause after a round in which nothing could be done, for the database to recover. */
const AFTER_OUTAGE_MS = 2_000
/** The pause after the first failure of an organization; it doubles with each further one. */
const FIRST_PAUSE_MS = 2_000
/** The longest pause of an organization: a minute, or so many of the job's own pauses where these are longer. */
const LONGEST_PAUSE_MS = 60_000
const LONGEST_PAUSE_ROUNDS = 20

interface Log {
  error(context: object, message: string): void
}

/** Jobs that are working. */
export interface RunningJobs {
  /** Ends the jobs: waits for the work that is under way, and begins no other. */
  stop(): Promise<void>
}

/** Options of the runner. */
export interface RunnerOptions {
  readonly listener: Pick<Listener, 'jobSucceeded' | 'jobFailed'>
  readonly log: Log
  /** Returns whether an organization is in this book, and not in another of several; each is when left out. */
  readonly isHere?: (organizationId: number) => boolean
}

/** Starts jobs, each of which works in rounds of its own until all are stopped. */
export function startJobs(jobs: readonly Job[], options: RunnerOptions): RunningJobs {
  const running = jobs.map((job) => startJob(job, options))
  return {
    async stop() {
      await Promise.all(running.map((job) => job.stop()))
    },
  }
}

function startJob(job: Job, { listener, log, isHere = () => true }: RunnerOptions): RunningJobs {
  const { name, failure, share = SHARE, idleMs = job.everyMs, gatherMs = 0 } = job
  const stopping = new AbortController()
  const pauses = createPauses(job)
  /** The failures that were logged last, by organization: the same failure again is one line in the log. */
  const logged = new Map<number | undefined, string>()
  let timer: NodeJS.Timeout | undefined
  let round: Promise<void> = Promise.resolve()
  /** The rounds in a row that found nothing to do. */
  let idleRounds = 0

  function fail(organizationId: number | undefined, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    listener.jobFailed(name)
    if (logged.get(organizationId) === message) return
    logged.set(organizationId, message)
    const whose = organizationId === undefined || organizationId === SERVICE ? '' : `organization ${organizationId}: `
    log.error({ err: error, job: name, organization: organizationId }, `${whose}${failure}; it will be tried again`)
  }

  /** Works once for each organization. @returns the pause before the next round */
  async function work(): Promise<number> {
    const began = performance.now()
    try {
      const { signal } = stopping
      const { left, worked, failed, isPartial } = await workRound(job, { signal, isLeftOut: pauses.isPaused, isHere })
      logged.delete(undefined)
      for (const organizationId of worked) {
        pauses.end(organizationId)
        logged.delete(organizationId)
      }
      for (const { organizationId, error } of failed) {
        pauses.begin(organizationId)
        fail(organizationId, error)
      }
      const isWhole = failed.length === 0 && !isPartial
      if (isWhole && left === 'done') {
        // Also of an organization whose work another instance has done.
        pauses.clear()
        logged.clear()
      }
      if (isWhole && (worked.length > 0 || left === 'done')) listener.jobSucceeded(name)
      idleRounds = isWhole && left === 'done' && worked.length === 0 ? idleRounds + 1 : 0
      const took = performance.now() - began
      if (left === 'more') return Math.max(AGAIN_MS, took * (share - 1))
      const pauseMs = Math.min(job.everyMs * 2 ** Math.max(0, idleRounds - 1), idleMs)
      return Math.max(pauseMs, took * (share - 1), Math.min(worked.length * gatherMs, idleMs))
    } catch (error) {
      fail(undefined, error)
      return AFTER_OUTAGE_MS
    }
  }

  const next = (delay: number) => {
    if (!stopping.signal.aborted) timer = setTimeout(() => (round = work().then(next)), delay)
  }
  next(0)
  return {
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await round
      await job.stopped?.()
    },
  }
}

interface Pauses {
  readonly isPaused: (organizationId: number) => boolean
  begin(organizationId: number): void
  end(organizationId: number): void
  clear(): void
}

/** Creates the pauses of the organizations whose work failed: each failure in a row doubles the pause, up to the longest. */
function createPauses({ everyMs }: Pick<Job, 'everyMs'>): Pauses {
  const first = Math.max(FIRST_PAUSE_MS, everyMs)
  const longest = Math.max(LONGEST_PAUSE_MS, everyMs * LONGEST_PAUSE_ROUNDS)
  const paused = new Map<number, { readonly pauseMs: number; readonly until: number }>()
  return {
    isPaused: (organizationId) => (paused.get(organizationId)?.until ?? 0) > performance.now(),
    begin(organizationId) {
      const before = paused.get(organizationId)
      const pauseMs = before ? Math.min(longest, before.pauseMs * 2) : first
      paused.set(organizationId, { pauseMs, until: performance.now() + pauseMs })
    },
    end: (organizationId) => paused.delete(organizationId),
    clear: () => paused.clear(),
  }
}

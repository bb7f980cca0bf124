import { setTimeout as pause } from 'node:timers/promises'
import { isUnavailable } from '../../db/postgres/errors.ts'

/** The names of the jobs. The table of docs/architecture.md has one row for each. */
export type JobName =
  | 'sweep'
  | 'sequencer'
  | 'journal'
  | 'portfolio'
  | 'collections'
  | 'payments'
  | 'silence'
  | 'exports'
  | 'webhooks'
  | 'webhook_figures'
  | 'totals'
  | 'retention'
  | 'purge'

/** The number under which a job does what is of no single organization: the work of the service itself. */
export const SERVICE = 0

/**
 * What is left of the work of an organization: nothing; more, which can be done at once; or something that waits for
 * another instance, another transaction or an answer from outside.
 */
export type Left = 'done' | 'more' | 'waits'

/** Work that is done in the background, a bounded part at a time. Any number of instances may do it on one book. */
export interface Job {
  readonly name: JobName
  /** What could not be done when it fails, for the log. */
  readonly failure: string
  /** The pause in milliseconds after a round that left nothing that can be done at once. */
  readonly everyMs: number
  /**
   * The longest pause: it doubles from `everyMs` with each round in which nothing was found, and is `everyMs` again after one
   * that found something. `everyMs` when left out.
   */
  readonly idleMs?: number
  /** The part of the time that a long queue may take, as one in so many; 4 when left out. */
  readonly share?: number
  /**
   * The milliseconds for which a job that keeps up rests for each organization of its round, for `idleMs` at most: the work of each is a
   * transaction of its own, and more is done in it after a longer pause. It rests for `everyMs` when left out.
   */
  readonly gatherMs?: number
  /** Finds the organizations that may have work, or `SERVICE`. */
  organizations(): Promise<readonly number[]>
  /** Does the next part of the work of an organization. @param signal aborted when the process stops: work then ends soon */
  work(organizationId: number, signal: AbortSignal): Promise<Left>
  /** Returns whether there may be work that `organizations` cannot find yet; never when left out. */
  isWaiting?(): boolean
  /** Called once when the job is stopped, after its last round. */
  stopped?(): Promise<void>
}

/** The failure of the work of an organization. */
export interface Failed {
  readonly organizationId: number
  readonly error: unknown
}

/** The result of one part of the work of each organization. */
export interface Round {
  readonly left: Left
  /** The organizations whose part was done, or another part of it. */
  readonly worked: readonly number[]
  /** The organizations that failed; they keep no other from its turn. */
  readonly failed: readonly Failed[]
  /** Whether an organization was left out. */
  readonly isPartial: boolean
}

/** Options of `workRound`. */
export interface RoundOptions {
  readonly signal?: AbortSignal
  /** Returns whether an organization is left out of this round; none is when left out. */
  readonly isLeftOut?: (organizationId: number) => boolean
  /** Returns whether an organization is in this book, and not in another of several; each is when left out. */
  readonly isHere?: (organizationId: number) => boolean
}

/**
 * Does one part of the work of each organization, one after the other.
 * @throws the error of `organizations`, or that of a database which is unavailable to all
 */
export async function workRound(job: Job, options: RoundOptions = {}): Promise<Round> {
  const { signal = new AbortController().signal, isLeftOut = () => false, isHere = () => true } = options
  const worked: number[] = []
  const failed: Failed[] = []
  const all = new Set<Left>()
  let isPartial = false
  for (const organizationId of await job.organizations()) {
    if (organizationId !== SERVICE && !isHere(organizationId)) continue
    if (signal.aborted || isLeftOut(organizationId)) {
      isPartial = true
      continue
    }
    try {
      const left = await job.work(organizationId, signal)
      all.add(left)
      if (left !== 'waits') worked.push(organizationId)
    } catch (error) {
      // A stop ends work in the middle: it is done again later.
      if (signal.aborted) isPartial = true
      else if (isUnavailable(error)) throw error
      else failed.push({ organizationId, error })
    }
  }
  if (job.isWaiting?.()) all.add('waits')
  const left = all.has('more') ? 'more' : all.has('waits') ? 'waits' : 'done'
  return { left, worked, failed, isPartial }
}

/** The pause of `drain` while others hold what is left. */
const DRAIN_AGAIN_MS = 1

/**
 * Does all the work that a job has by now, for tests and benchmarks.
 * @throws the first error of an organization, once the work of the others is done
 */
export async function drain(job: Job): Promise<void> {
  const failures = new Map<number, unknown>()
  for (;;) {
    const { left, failed } = await workRound(job, { isLeftOut: (organizationId) => failures.has(organizationId) })
    for (const { organizationId, error } of failed) failures.set(organizationId, error)
    if (left === 'done') break
    if (left === 'waits') await pause(DRAIN_AGAIN_MS)
  }
  for (const error of failures.values()) throw error
}

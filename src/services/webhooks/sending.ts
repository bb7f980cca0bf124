import type { NewAttempt, Progress } from '../../db/webhooks/leases.ts'
import { MOST_ATTEMPTS, pauseAfter } from '../../domain/webhooks/webhooks.ts'
import type { Posted } from './poster.ts'
import type { Item, Queue } from './queue.ts'

/** Failures in a row, without a success, after which an endpoint backs off as a whole. */
export const FAILURES_IN_A_ROW = 10

/** Answers by which a receiver asks every sender to wait. */
const WAIT_STATUSES: readonly (number | null)[] = [429, 503]
const GONE = 410

/** What an attempt came to: what is stored of it, and how far the endpoint is after it. */
export interface Outcome {
  readonly attempt: NewAttempt
  readonly progress: Omit<Progress, 'position'>
}

/** An attempt that was made. */
export interface Made {
  readonly item: Item
  readonly posted: Posted
  /** The moment at which the attempt began. */
  readonly at: number
  readonly now: number
  /** From 0 to 1, without 1. */
  readonly random: number
  /** True where it was to find out whether an endpoint answers again. */
  readonly isProbe: boolean
}

/** Decides what follows from an attempt, and moves the event in the queue. */
export function concludeAttempt(queue: Queue, before: Omit<Progress, 'position'>, made: Made): Outcome {
  const { item, posted, at, now } = made
  const stored = {
    sequence: item.sequence,
    type: item.type,
    attempt: item.attempts + 1,
    at,
    status: posted.status,
    ms: posted.ms,
    error: posted.error,
  }
  if (posted.error === null) {
    queue.settled(item, now)
    const isBack = before.state === 'backing_off'
    return {
      attempt: { ...stored, state: 'delivered', nextAttemptAt: null },
      progress: isBack ? ACTIVE : { ...before, failures: 0, nextAttemptAt: stillWaits(before.nextAttemptAt, now) },
    }
  }
  if (posted.status === GONE) {
    queue.giveBack(item)
    const progress = { ...before, state: 'disabled' as const, stateReason: 'the receiver answered 410 Gone', step: 0 }
    return {
      attempt: { ...stored, state: 'waiting', nextAttemptAt: null },
      progress: { ...progress, failures: before.failures + 1, nextAttemptAt: null },
    }
  }
  const failed = { ...before, failures: before.failures + 1 }
  if (before.state !== 'active') {
    queue.giveBack(item)
    const progress = made.isProbe ? backOff(failed, made) : failed
    return { attempt: { ...stored, state: 'waiting', nextAttemptAt: progress.nextAttemptAt }, progress }
  }
  return failedWhileActive(queue, failed, made, stored)
}

/** Returns the end of a pause, unless it is over. */
const stillWaits = (until: number | null, now: number) => (until !== null && until > now ? until : null)

/** Gives up an event that cannot be sent, by no fault of the receiver. */
export function giveUp(
  queue: Queue,
  progress: Omit<Progress, 'position'>,
  { item, at, now, reason }: Pick<Made, 'item' | 'at' | 'now'> & { readonly reason: string },
): Outcome {
  const { sequence, type, attempts } = item
  queue.settled(item, now)
  const stored = { sequence, type, attempt: attempts + 1, at, status: null, ms: 0, error: reason }
  return { attempt: { ...stored, state: 'exhausted', nextAttemptAt: null }, progress }
}

/** An endpoint that takes events. */
export const ACTIVE: Omit<Progress, 'position'> = {
  state: 'active',
  stateReason: null,
  failures: 0,
  step: 0,
  nextAttemptAt: null,
}

function failedWhileActive(
  queue: Queue,
  failed: Omit<Progress, 'position'>,
  made: Made,
  stored: Omit<NewAttempt, 'state' | 'nextAttemptAt'>,
): Outcome {
  const { item, posted, now, random } = made
  const isLast = stored.attempt >= MOST_ATTEMPTS
  if (!isLast && failed.failures >= FAILURES_IN_A_ROW) {
    queue.giveBack(item)
    const progress = backOff(failed, made)
    return { attempt: { ...stored, state: 'waiting', nextAttemptAt: progress.nextAttemptAt }, progress }
  }
  const waits = WAIT_STATUSES.includes(posted.status) && posted.retryAfterMs !== undefined
  const until = waits ? now + pauseAfter(1, random, posted.retryAfterMs) : 0
  const progress = waits ? { ...failed, nextAttemptAt: Math.max(failed.nextAttemptAt ?? 0, until) } : failed
  if (isLast) {
    queue.settled(item, now)
    return { attempt: { ...stored, state: 'exhausted', nextAttemptAt: null }, progress }
  }
  const dueAt = now + pauseAfter(stored.attempt, random, posted.retryAfterMs)
  queue.park(item, dueAt)
  return { attempt: { ...stored, state: 'waiting', nextAttemptAt: dueAt }, progress }
}

/** Lets an endpoint wait for its next probe. */
function backOff(failed: Omit<Progress, 'position'>, { posted, now, random }: Made): Omit<Progress, 'position'> {
  const step = failed.step + 1
  return {
    state: 'backing_off',
    stateReason: `${failed.failures} attempts in a row failed; the last one: ${posted.error}`,
    failures: failed.failures,
    step,
    nextAttemptAt: now + pauseAfter(step, random, posted.retryAfterMs),
  }
}

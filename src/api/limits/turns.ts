import { performance } from 'node:perf_hooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LendingError } from '../../domain/errors.ts'
import { whenClosed } from '../http/request.ts'

/** Requests computed at once while several organizations call: of all of them, and of each at least. */
export const TOGETHER = 48
export const LEAST = 4
/** An organization counts as calling for this long after its last request. */
const RECENT_MS = 500
export const WAIT_MS = 10_000

/** A request that waits for its turn. */
interface Waiting {
  readonly start: () => void
  readonly timer: NodeJS.Timeout
  gone: boolean
}

/** The requests of one organization: those being computed, and those that wait, by account. */
interface Line {
  running: number
  waiting: number
  lastAt: number
  readonly accounts: Map<number, Waiting[]>
}

/** Gives requests turns to compute their answers. */
export interface Turns {
  /**
   * Calls `start` when it is the request's turn, at once where there is room; calls `giveUp` when the wait was too
   * long.
   * @returns a function that ends the turn or the wait; only its first call counts
   */
  take(caller: { organizationId: number; accountId: number }, start: () => void, giveUp: () => void): () => void
}

/**
 * Creates turns. An organization that calls alone computes without a limit. While others call too, each gets an equal
 * part of `TOGETHER` and its other requests wait, its accounts in rotation, so that no organization waits behind the
 * queue of another.
 * @param now milliseconds of a clock that never goes back
 */
export function createTurns(now: () => number): Turns {
  const lines = new Map<number, Line>()
  let share = Number.POSITIVE_INFINITY
  let countedAt = 0

  function recount(at: number): void {
    countedAt = at
    for (const [organization, line] of lines)
      if (line.running === 0 && line.waiting === 0 && at - line.lastAt > RECENT_MS) lines.delete(organization)
    share = lines.size <= 1 ? Number.POSITIVE_INFINITY : Math.max(LEAST, Math.floor(TOGETHER / lines.size))
  }

  function lineOf(organization: number, at: number): Line {
    const known = lines.get(organization)
    if (known && at - countedAt <= RECENT_MS) return known
    const line = known ?? { running: 0, waiting: 0, lastAt: at, accounts: new Map() }
    line.lastAt = at
    lines.set(organization, line)
    recount(at)
    return line
  }

  function end(line: Line): void {
    line.running--
    const at = now()
    line.lastAt = at
    if (at - countedAt > RECENT_MS) recount(at)
    while (line.running < share && line.waiting > 0) startNext(line)
  }

  return {
    take({ organizationId, accountId }, start, giveUp) {
      const at = now()
      const line = lineOf(organizationId, at)
      line.lastAt = at
      if (line.running < share && line.waiting === 0) {
        line.running++
        start()
        return once(() => end(line))
      }
      let ending = () => leave(line, waiting)
      const waiting: Waiting = {
        start: () => {
          ending = () => end(line)
          start()
        },
        timer: setTimeout(() => {
          leave(line, waiting)
          giveUp()
        }, WAIT_MS),
        gone: false,
      }
      wait(line, accountId, waiting)
      return once(() => ending())
    },
  }
}

function wait(line: Line, account: number, waiting: Waiting): void {
  const queue = line.accounts.get(account)
  if (queue) queue.push(waiting)
  else line.accounts.set(account, [waiting])
  line.waiting++
}

/** Starts the next request of the account whose turn it is, and puts that account last. */
function startNext(line: Line): void {
  for (const [account, queue] of line.accounts) {
    line.accounts.delete(account)
    const next = queue.find(({ gone }) => !gone)
    const rest = next ? queue.slice(queue.indexOf(next) + 1) : []
    if (rest.length > 0) line.accounts.set(account, rest)
    if (!next) continue
    clearTimeout(next.timer)
    line.waiting--
    line.running++
    next.start()
    return
  }
}

function leave(line: Line, waiting: Waiting): void {
  if (waiting.gone) return
  waiting.gone = true
  clearTimeout(waiting.timer)
  line.waiting--
}

function once(action: () => void): () => void {
  let done = false
  return () => {
    if (!done) action()
    done = true
  }
}

/** Makes each request with a known caller wait for its turn, from when its body is read until its answer is written. */
export function takeTurns(app: FastifyInstance): void {
  const turns = createTurns(() => performance.now())
  app.addHook('preHandler', (request, reply, done) => {
    const caller = request.caller as FastifyRequest['caller'] | null | undefined
    // A connection that has closed already emits no close event again.
    if (!caller || reply.raw.destroyed) return done()
    const giveUp = () => done(new LendingError('unavailable', 'the service is busy; try again', [], 1))
    whenClosed(request, reply, turns.take(caller, done, giveUp))
  })
}

import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from '../../db/postgres/client.ts'
import {
  ATTEMPTS_ORDER,
  type Attempt,
  findAttempts,
  findAttemptsAbove,
  trimAttempts,
} from '../../db/webhooks/attempts.ts'
import { changeEndpoint, countWanted } from '../../db/webhooks/endpoints.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { fromRfc3339, type Instant } from '../../domain/dates.ts'
import { invalidArgument, notFound } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Deps } from '../deps.ts'
import { decodeEventCursor } from '../events/eventCursor.ts'
import { beginningOf, positionOf as eventPositionOf, lastEventBefore } from '../events/eventList.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { getEndpoint } from './endpoints.ts'
import { ACTIVE } from './sending.ts'

export { ATTEMPT_STATES, type Attempt } from '../../db/webhooks/attempts.ts'

/** The attempts of an endpoint that are kept. */
export const KEPT_ATTEMPTS = 100_000
/** Attempts after which those that are too many are deleted, and the most that are deleted at once. */
const TRIM_EVERY = 1_000
const MOST_TRIMMED = 5_000
/** Endpoints whose attempts are counted; the counts of others begin again. */
const MOST_COUNTED = 1_000

/** Deletes the oldest attempts of endpoints, now and then. */
export type TrimAttempts = (
  endpoint: { readonly organizationId: number; readonly id: bigint },
  made: number,
) => Promise<void>

/**
 * Creates the trimming of a process. It is called with the number of attempts that were stored.
 * @param kept attempts of an endpoint that are kept
 */
export function createTrimmer(db: Db, kept = KEPT_ATTEMPTS): TrimAttempts {
  const counts = new Map<string, number>()
  return async (endpoint, made) => {
    const name = `${endpoint.organizationId} ${endpoint.id}`
    const count = (counts.get(name) ?? 0) + made
    if (count < TRIM_EVERY) {
      if (made > 0) counts.set(name, count)
      if (counts.size > MOST_COUNTED) counts.delete(counts.keys().next().value!)
      return
    }
    counts.delete(name)
    await trimAttempts(db, endpoint, { keep: kept, most: MOST_TRIMMED })
  }
}

/**
 * Returns a part of the attempts at an endpoint, newest first; for operators.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument` for a range that names no part
 */
export async function listAttempts(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  { id, state }: { readonly id: bigint; readonly state?: Attempt['state'] | undefined },
  range: Range,
): Promise<Ranged<Attempt>> {
  requirePermission(caller, 'reports.read')
  const { organizationId } = caller
  await getEndpoint(deps, caller, id)
  const position = positionOf(range, { arrival: ATTEMPTS_ORDER })
  return rangedOf(await findAttempts(deps.db, { organizationId, endpointId: id, state }, position))
}

const FOLLOW_EVERY_MS = 500
const FOLLOWED_AT_ONCE = 1_000

/**
 * Yields the latest attempts at an endpoint, oldest first, and then each new one, until the signal fires; for operators.
 * @throws LendingError as `listAttempts` does
 */
export async function* followAttempts(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  id: bigint,
  { most, stopping, everyMs = FOLLOW_EVERY_MS }: { most: number; stopping: AbortSignal; everyMs?: number },
): AsyncGenerator<Attempt> {
  const latest = (await listAttempts(deps, caller, { id }, { rows: most })).items.toReversed()
  yield* latest
  let above = latest.at(-1)?.id ?? 0n
  while (!stopping.aborted) {
    const asked = { organizationId: caller.organizationId, id, above, most: FOLLOWED_AT_ONCE }
    const fresh = await findAttemptsAbove(deps.db, asked)
    yield* fresh
    above = fresh.at(-1)?.id ?? above
    if (fresh.length < FOLLOWED_AT_ONCE) await pause(everyMs, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/**
 * Sends events again, from an instant or a cursor on: all that the endpoint wants, also those that it has taken. Events
 * after that point that wait for an attempt are among them. A back-off ends.
 * @param since an instant of RFC 3339, or a cursor of the feed
 * @returns how many events will be sent again
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`; `failed_precondition` for a cursor that is
 *   older than the events that are kept
 */
export async function recoverEndpoint(
  deps: Pick<Deps, 'db' | 'machineNow' | 'config'>,
  caller: Caller,
  id: bigint,
  since: string | Instant,
): Promise<number> {
  requirePermission(caller, 'organization.manage')
  const { organizationId } = caller
  const target = await targetOf(deps, organizationId, since)
  let upTo = target
  const recovering = changeEndpoint(deps.db, caller, { id, now: deps.machineNow() }, async (current) => {
    const isPaused = current.state !== 'disabled' && (current.state === 'backing_off' || current.nextAttemptAt !== null)
    const wake = isPaused ? ACTIVE : {}
    if (target >= current.position) {
      if (!isPaused) return undefined
      return { change: wake, trace: { action: 'recover', before: null, after: { position: current.position } } }
    }
    upTo = current.position
    const trace = { action: 'recover', before: { position: current.position }, after: { position: target } }
    return { change: { position: target, ...wake }, trace, unparkAbove: target }
  })
  if (!(await abortedWhereKeyTaken(recovering))) throw notFound('no webhook endpoint has that id')
  // Counted afterwards: the row is locked no longer than it takes to change it.
  return target < upTo ? countWanted(deps.db, { organizationId, id, above: target, upTo }) : 0
}

/** Returns the number of the event after which events are sent again. */
async function targetOf(
  deps: Pick<Deps, 'db' | 'machineNow' | 'config'>,
  organizationId: number,
  since: string | Instant,
): Promise<bigint> {
  if (typeof since === 'string' && decodeEventCursor(since) !== undefined)
    return eventPositionOf(deps, organizationId, since, 'since')
  const instant = typeof since === 'string' ? fromRfc3339(since) : since
  if (instant === undefined)
    throw invalidArgument(
      'since',
      'must be an instant such as 2026-11-20T14:30:00+03:00, or a cursor of the feed of events',
    )
  const [target, oldest] = [
    await lastEventBefore(deps, organizationId, instant),
    await beginningOf(deps, organizationId),
  ]
  return target > oldest ? target : oldest
}

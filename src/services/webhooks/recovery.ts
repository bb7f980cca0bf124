import type { Deps } from '../../app/deps.ts'
import { changeEndpoint, countWanted } from '../../db/webhooks/endpoints.ts'
import { fromRfc3339, type Instant } from '../../domain/dates.ts'
import { invalidArgument, notFound } from '../../domain/errors.ts'
import { type Caller, requireAdmin } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import { decodeEventCursor } from '../events/eventCursor.ts'
import { beginningOf, lastEventBefore, positionOf } from '../events/eventList.ts'
import { ACTIVE } from './sending.ts'

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
  requireAdmin(caller)
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
    return positionOf(deps, organizationId, since, 'since')
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

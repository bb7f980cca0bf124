import { findCustomer } from '../../db/customers/customers.ts'
import {
  type EventRange,
  firstEventFrom,
  readEvents,
  readEventsOf,
  readHeads,
  type SubjectFilter,
} from '../../db/events/eventList.ts'
import { type FaultRole, failedPrecondition, notFound } from '../../domain/errors.ts'
import type { EventType } from '../../domain/events/eventTypes.ts'
import type { Caller } from '../access/caller.ts'
import type { Deps } from '../deps.ts'
import { afterEvent, BEGINNING, encodeEventCursor, requireEventCursor, requireSameEvent } from './eventCursor.ts'
import { withFacts } from './eventFacts.ts'
import { sequenceOf, type ToldEvent } from './toldEvent.ts'

export type EventDeps = Pick<Deps, 'db' | 'config' | 'machineNow' | 'loanBatches' | 'eventHeads' | 'listener'>

/** Events that one step with a filter looks at: a bounded walk through many that nobody asked for. */
const SPAN = 20_000n

const DAY_MS = 86_400_000

/** The events that are asked for; a property that is left out sets no condition. */
export interface EventFilter {
  readonly types?: readonly EventType[] | undefined
  readonly loanId?: bigint | undefined
  readonly customerExternalId?: string | undefined
  readonly customerId?: bigint | undefined
}

/** A request for events after a cursor. */
export interface EventsRequest extends EventFilter {
  readonly after?: string | undefined
  readonly rows: number
  /** Milliseconds to wait for an event, where there is none yet. */
  readonly waitMs: number
  /** Ends the wait: the caller has gone, or the service stops. */
  readonly signal: AbortSignal
}

/** Events, and the cursor after all that was looked at. */
export interface EventsFound<View> {
  readonly events: readonly View[]
  readonly next: string
  readonly hasMore: boolean
}

/**
 * Returns the events of the caller's organization after a cursor, in their order (contract 8). Where there is none yet, it
 * waits for the next one for as long as the caller asks.
 * @param view makes what is answered of an event
 * @throws LendingError `invalid_argument` for a text that is no cursor; `failed_precondition` for one that is older than
 *   the events that are kept
 */
export async function listEvents<View>(
  deps: EventDeps,
  caller: Caller,
  request: EventsRequest,
  view: (event: ToldEvent) => View,
): Promise<EventsFound<View>> {
  const { organizationId } = caller
  const { after, waitMs, signal, rows } = request
  let from = await startOf(deps, organizationId, after)
  const until = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
  for (;;) {
    const step = { after: from, most: rows, filter: request, types: request.types, view }
    const { events, readTo, isEnd } = await readEventsAfter(deps, organizationId, step)
    from = readTo
    const mayWait = events.length === 0 && isEnd && waitMs > 0 && !until.aborted
    const isMore = mayWait && (await deps.eventHeads.after(organizationId, readTo, until))
    if (!isMore) return { events, next: await cursorAfter(deps, organizationId, readTo), hasMore: !isEnd }
  }
}

/** Stands for the end of the feed in place of a cursor. */
const NOW = 'now'

/** Returns the number of the event after which the feed goes on. */
async function startOf(deps: EventDeps, organizationId: number, after: string | undefined): Promise<bigint> {
  if (after === undefined) return beginningOf(deps, organizationId)
  return after === NOW ? headOf(deps, organizationId) : positionOf(deps, organizationId, after)
}

/** Returns the number of the last event of an organization; 0 before the first. */
export const headOf = async ({ db }: Pick<Deps, 'db'>, organizationId: number): Promise<bigint> =>
  (await readHeads(db, [organizationId])).get(organizationId) ?? 0n

/** Returns the text of the cursor after an event. */
export async function cursorAfter({ db }: Pick<Deps, 'db'>, organizationId: number, sequence: bigint): Promise<string> {
  const event = sequence === 0n ? undefined : await firstEventFrom(db, organizationId, sequence)
  return encodeEventCursor(event ? afterEvent(event) : BEGINNING)
}

/**
 * Returns the number of the event that a cursor comes after.
 * @throws LendingError `invalid_argument` for a text that is no cursor; `failed_precondition` for one of an event that the
 *   book does not have, or that is older than the events that are kept
 */
export async function positionOf(
  deps: KeptDeps,
  organizationId: number,
  after: string,
  field: FaultRole = 'after',
): Promise<bigint> {
  const cursor = requireEventCursor(field, after)
  const { sequence } = cursor
  const [event, next] = await Promise.all([
    sequence === 0n ? undefined : firstEventFrom(deps.db, organizationId, sequence),
    firstEventFrom(deps.db, organizationId, sequence + 1n),
  ])
  requireSameEvent(field, cursor, event)
  if (next === undefined || next.sealedAt >= keptSince(deps)) return sequence
  const oldest = await cursorAfter(deps, organizationId, await beginningOf(deps, organizationId))
  throw failedPrecondition(
    `${field}: is older than the events that are kept, ${deps.config.eventsKeptDays} days; the oldest cursor is ${oldest}`,
  )
}

type KeptDeps = Pick<Deps, 'db' | 'config' | 'machineNow'>

/** The instant before which events are no longer kept. */
const keptSince = ({ config, machineNow }: KeptDeps) => machineNow() - config.eventsKeptDays * DAY_MS

/** Returns the number before the oldest event that is kept. */
export const beginningOf = (deps: KeptDeps, organizationId: number): Promise<bigint> =>
  lastEventBefore(deps, organizationId, keptSince(deps))

/**
 * Returns the number of the last event that was sealed before an instant, by halving the numbers: events are sealed in
 * their order, each after its change. 0 where there is none.
 */
export async function lastEventBefore(
  { db }: Pick<Deps, 'db'>,
  organizationId: number,
  since: number,
): Promise<bigint> {
  let low = 0n
  let high = await headOf({ db }, organizationId)
  const first = await firstEventFrom(db, organizationId, 1n)
  if (first === undefined || first.sealedAt >= since) return 0n
  while (low < high) {
    const middle = (low + high + 1n) / 2n
    const event = await firstEventFrom(db, organizationId, middle)
    if (event !== undefined && event.sealedAt < since) low = middle
    else high = middle - 1n
  }
  return low
}

/** Returns the loan or customer that a filter names; `none` for a customer that is not there, undefined without a filter. */
async function subjectsOf(
  { db }: Pick<Deps, 'db'>,
  organizationId: number,
  filter: EventFilter,
): Promise<SubjectFilter | 'none' | undefined> {
  const { customerExternalId: externalId } = filter
  const [loanId, customerId] = [filter.loanId ?? null, filter.customerId ?? null]
  if (externalId === undefined) return loanId === null && customerId === null ? undefined : { loanId, customerId }
  const customer = await findCustomer(db, organizationId, { externalId })
  return customer ? { loanId, customerId: customer.id } : 'none'
}

/** A step through the events: those after a number, and what is asked of them. */
export interface Step<View> {
  readonly after: bigint
  readonly most: number
  /** Makes what is kept of an event. */
  readonly view: (event: ToldEvent) => View
  readonly types?: readonly EventType[] | undefined
  /** The loan or customer whose events are asked for. */
  readonly filter?: EventFilter | undefined
}

/** Events in their order, and how far was read: all that were asked for up to `readTo` are there. */
export interface ReadEvents<View> {
  readonly events: readonly View[]
  readonly readTo: bigint
  /** Whether `readTo` is the last event of all. */
  readonly isEnd: boolean
  /** Whether the number to begin after is beyond the last event: the book was restored to an earlier moment. */
  readonly isBeyond: boolean
}

/**
 * Reads the next events of an organization. With a filter by type it looks at a bounded number of events. The end is read
 * first: a loan or a customer that is made after it has no event up to it.
 */
export async function readEventsAfter<View>(
  deps: Omit<EventDeps, 'machineNow'>,
  organizationId: number,
  { after, most, types, filter = {}, view }: Step<View>,
): Promise<ReadEvents<View>> {
  const head = await headOf(deps, organizationId)
  deps.eventHeads.note(organizationId, head)
  if (head <= after) return { events: [], readTo: after, isEnd: true, isBeyond: head < after }
  const subjects = await subjectsOf(deps, organizationId, filter)
  if (subjects === 'none') return { events: [], readTo: head, isEnd: true, isBeyond: false }
  // An index finds the events of a subject; those of a type are looked for one by one.
  const end = types && !subjects && head - after > SPAN ? after + SPAN : head
  const range: EventRange = { organizationId, after, to: end, most }
  const stored = subjects
    ? await readEventsOf(deps.db, range, { subjects, types })
    : await readEvents(deps.db, range, types)
  const readTo = stored.length === most ? stored.at(-1)!.sequence : end
  const events = await withFacts(deps, organizationId, { events: stored, view })
  return { events, readTo, isEnd: readTo === head, isBeyond: false }
}

/**
 * Returns an event of the caller's organization.
 * @throws LendingError `not_found`
 */
export async function getEvent(deps: EventDeps, { organizationId }: Caller, id: string): Promise<ToldEvent> {
  const sequence = sequenceOf(id, organizationId)
  const found =
    sequence === undefined
      ? []
      : await readEvents(deps.db, { organizationId, after: sequence - 1n, to: sequence, most: 1 }, undefined)
  const [event] = await withFacts(deps, organizationId, { events: found, view: (told) => told })
  if (!event) throw notFound('no event has that id')
  return event
}

import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '../../app/deps.ts'
import { readChainHeads } from '../../db/events/sealedChain.ts'
import { lastChange } from '../../db/journal/journalHead.ts'
import { readChangesOfTime } from '../../db/testClock/passing.ts'
import { noteTestClock } from '../../db/testClock/testClocks.ts'
import { addPeriods, dateIn, type Instant, sameTimeOn, toRfc3339 } from '../../domain/dates.ts'
import { failedPrecondition, invalidArgument, LendingError } from '../../domain/errors.ts'
import { eventTypesOf } from '../../domain/events/changeEvents.ts'
import type { EventType } from '../../domain/events/eventTypes.ts'
import { type Caller, requireRule } from '../access/caller.ts'
import { sequencerJob } from '../events/sequencer.ts'
import { workRound } from '../jobs/job.ts'
import { passTime } from './passTime.ts'
import { whileItStands } from './whileItStands.ts'

/** The longest that a request may advance the clock; it can be asked again, and goes on. */
const MOST_MS = 120_000
/** The longest that a request waits for other work by the clock. */
const TURN_MS = 10_000
/** The longest that an answer waits until the events are numbered. */
const NUMBERED_MS = 5_000
/** The pause before another look. */
const AGAIN_MS = 20
/** Changes that are counted at once. */
const CHANGES = 1_000

/** The years by which a clock may be advanced at once. */
const MOST_YEARS = 10
/** The days of those years. */
export const MOST_DAYS = 3_652

/** A request to advance a clock: to a moment, or by days, at the same time of the day. */
export type AdvanceRequest = { readonly to: Instant } | { readonly days: number }

/** How far a clock was advanced, and what time did meanwhile. */
export interface Advanced {
  readonly from: Instant
  readonly to: Instant
  /** The loans that time changed. */
  readonly loansChanged: number
  /** The events of what time did, by type. */
  readonly events: ReadonlyMap<EventType, number>
}

/** The moment of a test organization, and whether its clock stands. */
export interface ClockNow {
  readonly now: Instant
  readonly frozen: boolean
}

/** Returns the moment of a test organization. @throws LendingError `failed_precondition` for a live one */
export function getTestClock(
  { now, testClocks }: Pick<Deps, 'now' | 'testClocks'>,
  { organizationId }: Pick<Caller, 'organizationId'>,
): ClockNow {
  const clock = testClocks.find(organizationId)
  if (!clock) throw noTestClock()
  return { now: now(organizationId), frozen: clock.standsAt !== null }
}

/** Returns the refusal for a live organization. */
export const noTestClock = () =>
  failedPrecondition('your organization is a live one, and only a test organization has a test clock')

/**
 * Advances the clock of a test organization, and does what time does on the way, for this organization alone. The clock
 * stands from then on.
 * @throws LendingError `permission_denied`; `failed_precondition` for a live organization; `invalid_argument` for a moment
 *   that is not later, or more than ten years later; `aborted` while another request moves the clock; `unavailable` where
 *   the way takes longer than two minutes: the clock then stands where it has come to
 */
export async function advanceTestClock(deps: Deps, caller: Caller, request: AdvanceRequest): Promise<Advanced> {
  requireRule(caller, 'user')
  const { organizationId } = caller
  getTestClock(deps, caller)
  return inTurn(deps, organizationId, async () => {
    const from = deps.now(organizationId)
    const to = targetOf(request, from, deps.config.zone)
    const above = await lastChange(deps.db, organizationId)
    await passTime(deps, { organizationId, to, until: performance.now() + MOST_MS })
    const upTo = await lastChange(deps.db, organizationId)
    const counted = await countChanges(deps, { organizationId, above, upTo })
    const { zone } = deps.config
    const trace = { before: { now: toRfc3339(from, zone) }, after: { now: toRfc3339(to, zone) } }
    await noteTestClock(deps.db, caller, { action: 'advance clock', ...trace, at: to })
    await untilNumbered(deps, organizationId, upTo)
    return { from, to, ...counted }
  })
}

/** The requests of this process that work by a clock at once: each holds a connection while its work takes others. */
const MOST_AT_ONCE = 2
let underWay = 0

/** Runs work when nobody else works by the clock. @throws LendingError `aborted` where that takes too long */
export async function inTurn<T extends object>(deps: Deps, organizationId: number, work: () => Promise<T>): Promise<T> {
  for (const until = performance.now() + TURN_MS; ; await pause(AGAIN_MS)) {
    const done = underWay < MOST_AT_ONCE && (await counted(() => whileItStands(deps, organizationId, work)))
    if (done) return done
    if (performance.now() > until)
      throw new LendingError('aborted', 'another request moves a test clock; try again', [], 1)
  }
}

async function counted<T>(work: () => Promise<T>): Promise<T> {
  underWay++
  try {
    return await work()
  } finally {
    underWay--
  }
}

/** Returns the moment to which a request advances a clock. */
function targetOf(request: AdvanceRequest, from: Instant, zone: string): Instant {
  const day = dateIn(zone, from)
  const last = sameTimeOn(addPeriods(day, MOST_YEARS, 'years'), from, zone)
  if ('days' in request) return Math.min(last, sameTimeOn(addPeriods(day, request.days, 'days'), from, zone))
  if (request.to <= from)
    throw invalidArgument('to', `must be later than ${toRfc3339(from, zone)}, where the clock is: it only goes forward`)
  if (request.to > last)
    throw invalidArgument('to', `must be at most ten years later: ${toRfc3339(last, zone)} or before`)
  return request.to
}

interface Span {
  readonly organizationId: number
  readonly above: bigint
  readonly upTo: bigint
}

/** Counts the loans that time changed, and the events of these changes. */
async function countChanges(
  { db }: Pick<Deps, 'db'>,
  { organizationId, above, upTo }: Span,
): Promise<Pick<Advanced, 'loansChanged' | 'events'>> {
  const loans = new Set<string>()
  const events = new Map<EventType, number>()
  for (let after = above; ; ) {
    const changes = await readChangesOfTime(db, { organizationId, above: after, upTo, most: CHANGES })
    for (const change of changes) {
      loans.add(change.entityId)
      for (const type of eventTypesOf(change) ?? []) events.set(type, (events.get(type) ?? 0) + 1)
    }
    if (changes.length < CHANGES) return { loansChanged: loans.size, events }
    after = changes.at(-1)!.id
  }
}

/** Waits until the events of changes are numbered, so that the next request finds them; not for ever: another transaction may be in the way. */
async function untilNumbered(deps: Deps, organizationId: number, changeId: bigint): Promise<void> {
  const sequencer = sequencerJob(deps)
  for (const until = performance.now() + NUMBERED_MS; performance.now() < until; await pause(AGAIN_MS)) {
    const { failed } = await workRound(sequencer, { isLeftOut: (other) => other !== organizationId })
    // The background job tells of the failure, and tries it again.
    if (failed.length > 0) return
    const [head] = await readChainHeads(deps.db.pool, organizationId)
    if (head && head.changeId >= changeId) return
  }
}

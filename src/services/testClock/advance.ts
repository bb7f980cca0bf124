import { setTimeout as pause } from 'node:timers/promises'
import { lastChange } from '../../db/accounting/journalHead.ts'
import { findCollecting } from '../../db/collections/collecting.ts'
import { readChainHeads } from '../../db/events/sealedChain.ts'
import type { DamagedLoan } from '../../db/loans/sweep.ts'
import { findPortfolios } from '../../db/portfolio/toldBuckets.ts'
import { isForeignKeyViolation } from '../../db/postgres/errors.ts'
import {
  emptyTestOrganization,
  noteTestClock,
  type Pending,
  readChangesOfTime,
  readPending,
  setTestClock,
} from '../../db/testClock/testClocks.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { addPeriods, dateIn, dayAfter, type Instant, sameTimeOn, startOfDay, toRfc3339 } from '../../domain/dates.ts'
import { failedPrecondition, invalidArgument, LendingError } from '../../domain/errors.ts'
import { eventTypesOf } from '../../domain/events/changeEvents.ts'
import type { EventType } from '../../domain/events/eventTypes.ts'
import { createGate } from '../../toolbox/gate.ts'
import type { Caller } from '../access/caller.ts'
import { collectAll } from '../collections/collect.ts'
import type { Core, Deps, Writing } from '../deps.ts'
import { sequencerJob } from '../events/sequencer.ts'
import { workRound } from '../jobs/job.ts'
import { sweepTestOrganization } from '../loans/sweep.ts'
import { keepDays } from '../portfolio/keepDays.ts'
import { type TellingPlace, tellBuckets } from '../portfolio/tellBuckets.ts'
import { whileItStands } from './testClocks.ts'

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
export async function advanceTestClock(
  deps: Core & Writing,
  caller: Caller,
  request: AdvanceRequest,
): Promise<Advanced> {
  requirePermission(caller, 'loans.write')
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

const BUSY = 'another request moves a test clock; try again'

/** The requests of this process that work by a clock at once: each holds a connection while its work takes others. */
const working = createGate({ atOnce: 2, refusal: BUSY, againSeconds: 1 })

/** Runs work when nobody else works by the clock. @throws LendingError `aborted` where that takes too long */
export async function inTurn<T extends object>(deps: Core, organizationId: number, work: () => Promise<T>): Promise<T> {
  for (const until = performance.now() + TURN_MS; ; await pause(AGAIN_MS)) {
    const leave = working.tryEnter({ group: organizationId })
    const done = leave && (await whileItStands(deps, organizationId, work).finally(leave))
    if (done) return done
    if (performance.now() > until) throw new LendingError('aborted', BUSY, [], 1)
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
async function untilNumbered(deps: Core & Writing, organizationId: number, changeId: bigint): Promise<void> {
  const sequencer = sequencerJob(deps)
  for (const until = performance.now() + NUMBERED_MS; performance.now() < until; await pause(AGAIN_MS)) {
    const { failed } = await workRound(sequencer, { isLeftOut: (other) => other !== organizationId })
    // The background job tells of the failure, and tries it again.
    if (failed.length > 0) return
    const [head] = await readChainHeads(deps.db.pool, organizationId)
    if (head && head.changeId >= changeId) return
  }
}

type PassDeps = Pick<Deps, 'db' | 'config' | 'now' | 'testClocks'>

/** The pause before a loan is looked at again that another change has locked. */
const LOOK_AGAIN_MS = 5

/** A walk of the clock of a test organization. */
export interface Passing {
  readonly organizationId: number
  /** Where the clock is to stand in the end. */
  readonly to: Instant
  /** The moment, by `performance.now()`, after which the walk is given up where it is. */
  readonly until: number
}

interface Moment {
  readonly organizationId: number
  readonly until: number
  /** The loans that were found damaged: they are left out. */
  readonly except: DamagedLoan[]
}

/**
 * Moves the clock of a test organization from one day to the next, and does on each what time does: at the beginning of a
 * day it saves what has changed in loans, and tells of those that are in another bucket. Days on which nothing can change
 * are passed over. In the end the last days of the portfolio are kept.
 * @throws LendingError `unavailable` where the walk takes too long; the clock then stands at the day that it has come to
 */
export async function passTime(deps: PassDeps, { organizationId, to, until }: Passing): Promise<void> {
  const { db, config, testClocks } = deps
  const except: DamagedLoan[] = []
  await findPortfolios({ pool: db.pool })
  await findCollecting(db)
  let pending = await passMoment(deps, { organizationId, until, except })
  for (let at = testClocks.now(organizationId); at < to; ) {
    at = Math.min(to, nextStop(at, pending, config.zone))
    await setTestClock(db, organizationId, at)
    testClocks.note({ organizationId, standsAt: at })
    pending = await passMoment(deps, { organizationId, until, except })
  }
  if (pending.toldOn !== null) await keepDays(deps, organizationId)
}

/** Returns the next moment at which time may change something; the beginning of a day, after an instant. */
function nextStop(at: Instant, { isAnyLate, isCollecting, nextReviewAt }: Pending, zone: string): Instant {
  const tomorrow = startOfDay(dayAfter(dateIn(zone, at)), zone)
  if (isAnyLate || isCollecting) return tomorrow
  if (nextReviewAt === null) return Number.POSITIVE_INFINITY
  const day = dateIn(zone, nextReviewAt)
  const start = startOfDay(day, zone)
  return Math.max(tomorrow, start < nextReviewAt ? startOfDay(dayAfter(day), zone) : start)
}

/** Does what time does up to the moment at which the clock stands. */
async function passMoment(deps: PassDeps, { organizationId, until, except }: Moment): Promise<Pending> {
  const { db, config, now } = deps
  const at = now(organizationId)
  const day = dateIn(config.zone, at)
  let place: TellingPlace | undefined
  for (;;) {
    const pending = await readPending(db, { organizationId, now: at, except })
    const isTold = pending.toldOn !== null && pending.toldOn >= day
    const hasLoans = pending.due > 0 || pending.nextReviewAt !== null || pending.isAnyLate
    if (pending.due === 0 && (isTold || !hasLoans)) {
      await collectAll(deps, organizationId)
      return pending
    }
    if (performance.now() > until) throw tooLong(deps, organizationId)
    if (pending.due > 0) {
      const { found, damaged } = await sweepTestOrganization(deps, organizationId, except)
      except.push(...damaged)
      // Those that are due were locked by other changes.
      if (found === 0) await pause(LOOK_AGAIN_MS)
      continue
    }
    place = (await tellBuckets(deps, organizationId, place)).next
    if (place) continue
    // A loan that is damaged may keep a day from being told; another instance may be telling it.
    if (except.length > 0) {
      await collectAll(deps, organizationId)
      return pending
    }
    await pause(LOOK_AGAIN_MS)
  }
}

const tooLong = ({ now, config }: PassDeps, organizationId: number) =>
  new LendingError(
    'unavailable',
    `the clock has come to ${dateIn(config.zone, now(organizationId))} so far; ask again for the same \`to\`, and it continues from there`,
    [],
    1,
  )

/**
 * Empties a test organization but for its accounts, API keys, products and webhook endpoints. Its clock then runs with that
 * of the machine, and the numbers of its events go on, so that no receiver sees one twice.
 * @throws LendingError `permission_denied`; `failed_precondition` for a live organization; `aborted` where another request
 *   moves the clock, or makes a loan at the same time
 */
export async function resetTestOrganization(deps: Core, caller: Caller): Promise<ClockNow> {
  requirePermission(caller, 'organization.manage')
  const { organizationId } = caller
  getTestClock(deps, caller)
  return inTurn(deps, organizationId, async () => {
    const { zone } = deps.config
    const at = deps.testClocks.liveNow()
    const before = { now: toRfc3339(deps.now(organizationId), zone) }
    const trace = { action: 'reset' as const, before, after: { now: toRfc3339(at, zone) }, at }
    await emptyTestOrganization(deps.db, caller, trace).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? busy() : error
    })
    await deps.testClocks.refresh(organizationId)
    return getTestClock(deps, caller)
  })
}

const busy = () =>
  new LendingError('aborted', 'a loan was made while the organization was being emptied; try again', [], 1)

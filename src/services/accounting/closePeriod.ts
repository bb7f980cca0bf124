import {
  findPeriod,
  findWaiting,
  firstBookedDay,
  MOST_WAITING,
  type Period,
  requestClose,
} from '../../db/accounting/periods.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { isUnavailable } from '../../db/postgres/errors.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { firstDayAfter, firstDayOf, monthOf } from '../../domain/accounting/months.ts'
import { type Instant, type LocalDate, startOfDay } from '../../domain/dates.ts'
import { failedPrecondition, invalidArgument, LendingError } from '../../domain/errors.ts'
import { stateOf } from '../../domain/loan/loan.ts'
import type { Caller } from '../access/caller.ts'
import type { Core, Writing } from '../deps.ts'
import { journalCaughtUp, whenTaken } from './caughtUp.ts'

/** A month that is closed. */
export interface ClosedPeriod {
  /** `2026-01` */
  readonly month: string
  /** The number of the event of the close; what comes after it is booked later. */
  readonly closeSequence: bigint
  readonly trialBalanceHash: string
  readonly closedAt: Instant
}

type ClosingDeps = Core & Pick<Writing, 'loanBatches'>

/**
 * Closes the oldest open month, once its last day is over. A month that is closed is answered as it was closed.
 * @param month `2026-01`
 * @throws LendingError `permission_denied`, `invalid_argument`, `failed_precondition` for another month, `unavailable` while
 *   what time changed on the last day is not saved, or the journal has not come to the close
 */
export async function closePeriod(deps: ClosingDeps, caller: Caller, month: string): Promise<ClosedPeriod> {
  requirePermission(caller, 'accounting.manage')
  const { db, now } = deps
  const { organizationId } = caller
  const firstDay = firstDayIn(month)
  if (await requireClosable(deps, organizationId, month))
    await requestClose(db, caller, { firstDay, month, now: now(organizationId) })
  return waitForClose(deps, organizationId, firstDay)
}

/**
 * Requires that a month of the caller's organization can be closed now, or that its close was asked for; changes nothing.
 * @param month `2026-01`
 * @throws LendingError as `closePeriod`, for what is against the close
 */
export async function checkClose(deps: ClosingDeps, caller: Caller, month: string): Promise<void> {
  requirePermission(caller, 'reports.read')
  await requireClosable(deps, caller.organizationId, month)
}

/** Returns the first day of a month. @throws LendingError `invalid_argument` */
function firstDayIn(month: string): LocalDate {
  const firstDay = firstDayOf(month)
  if (firstDay === undefined) throw invalidArgument('period', 'must be a month, such as 2026-01')
  return firstDay
}

/** A month to close. */
interface Asked {
  readonly month: string
  readonly end: Instant
}

/**
 * Requires that a month is the oldest open one, over, and saved, unless its close was asked for.
 * @returns whether the close is to be asked for
 */
async function requireClosable(deps: ClosingDeps, organizationId: number, month: string): Promise<boolean> {
  const { db, now, config } = deps
  const firstDay = firstDayIn(month)
  if (await findPeriod(db, organizationId, firstDay)) return false
  const end = startOfDay(firstDayAfter(firstDay), config.zone)
  if (now(organizationId) < end)
    throw failedPrecondition(`${month} is not over: it can be closed from ${firstDayAfter(firstDay)} on`)
  const { openFrom } = await journalCaughtUp(deps, organizationId)
  // Another request may have asked for it meanwhile.
  if (await findPeriod(db, organizationId, firstDay)) return false
  requireOldest(month, openFrom ?? (await firstBookedDay(db, organizationId)))
  await requireTimeSaved(deps, organizationId, { month, end })
  return true
}

/**
 * Requires that the sweep has saved what time changed in loans up to the end of a month. A loan that cannot be replayed is
 * left out, as the sweep and the journal leave it out; book check names it.
 * @throws LendingError `unavailable`; `failed_precondition` where many loans are damaged
 */
async function requireTimeSaved(
  { db, config, loanBatches }: ClosingDeps,
  organizationId: number,
  { month, end }: Asked,
): Promise<void> {
  const waiting = await findWaiting(db, organizationId, end)
  for (const id of waiting) {
    const loan = await loanBatches.readLoan({ organizationId, ref: { id }, zone: config.zone }).catch(damaged)
    if (!loan || isDamaged(loan, end)) continue
    throw new LendingError(
      'unavailable',
      `what the end of ${month} changed in loans is still being saved; try again in some seconds`,
      [],
      5,
    )
  }
  if (waiting.length === MOST_WAITING)
    throw failedPrecondition(
      `${MOST_WAITING} loans and more cannot be replayed: run book check before you close a month`,
    )
}

/** Returns undefined for the error of a damaged row. @throws the error of a database that is not there */
function damaged(error: unknown): undefined {
  if (isUnavailable(error)) throw error
}

function isDamaged(loan: StoredLoan, at: Instant): boolean {
  try {
    stateOf(loan, at)
    return false
  } catch {
    return true
  }
}

/** @throws LendingError `failed_precondition` for a month that is not the oldest open one */
function requireOldest(asked: string, oldest: LocalDate | null): void {
  if (oldest === null) throw failedPrecondition('there is nothing to close: the journal has no posting')
  const open = monthOf(oldest)
  if (asked < open) throw failedPrecondition(`${asked} has nothing to close: the oldest open month is ${open}`)
  if (asked > open) throw failedPrecondition(`${asked} cannot be closed before ${open}, the oldest open month`)
}

/** Waits until the journal has come to a close. @throws LendingError `unavailable` after the time */
async function waitForClose(deps: ClosingDeps, organizationId: number, firstDay: LocalDate): Promise<ClosedPeriod> {
  const closed = await whenTaken(deps, async () => {
    const period = await findPeriod(deps.db, organizationId, firstDay)
    return period && closedOf(period)
  })
  if (closed === undefined)
    throw new LendingError(
      'unavailable',
      'the month is being closed, and the journal has not come to the close yet; the same request will answer later',
      [],
      5,
    )
  return closed
}

function closedOf({ month, closedAt, closeSequence, trialBalanceHash }: Period): ClosedPeriod | undefined {
  if (closedAt === null || closeSequence === null || trialBalanceHash === null) return undefined
  return { month: monthOf(month), closedAt, closeSequence, trialBalanceHash }
}

import { readJournalHead } from '../../db/accounting/journalHead.ts'
import { findPeriods, firstBookedDay, type Period as StoredPeriod } from '../../db/accounting/periods.ts'
import { inSnapshot } from '../../db/postgres/transaction.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { firstDayAfter, firstDayOf, lastDayOf, monthOf } from '../../domain/accounting/months.ts'
import { dateIn, type Instant, type LocalDate } from '../../domain/dates.ts'
import type { Caller } from '../access/caller.ts'
import type { Deps } from '../deps.ts'

export const PERIOD_STATES = ['open', 'closing', 'closed'] as const

/** A month of the books. */
export interface Period {
  /** `2026-01` */
  readonly month: string
  readonly state: (typeof PERIOD_STATES)[number]
  /** The last event before the close; null of a month that is not closed, like the two below. */
  readonly closeSequence: bigint | null
  readonly trialBalanceHash: string | null
  readonly closedAt: Instant | null
}

/**
 * Returns the months of the books of the caller's organization, newest first: from the current month back to that of the
 * first posting, as far as the journal is; it is not waited for. A month that was over before the lender had a journal is
 * left out: it is not open, and has no close.
 * @throws LendingError `permission_denied`
 */
export async function listPeriods(deps: Pick<Deps, 'db' | 'config' | 'now'>, caller: Caller): Promise<Period[]> {
  requirePermission(caller, 'reports.read')
  const { organizationId } = caller
  const { stored, first, openFrom } = await inSnapshot(deps.db, async (snapshot) => ({
    stored: await findPeriods({ pool: snapshot }, organizationId),
    first: await firstBookedDay({ pool: snapshot }, organizationId),
    openFrom: (await readJournalHead({ pool: snapshot }, organizationId)).openFrom,
  }))
  const known = new Map(stored.map((period) => [period.month, period]))
  const today = dateIn(deps.config.zone, deps.now(organizationId))
  const oldest = [today, ...known.keys(), ...(first === null ? [] : [first])].toSorted()[0]!
  const periods: Period[] = []
  for (let day = firstDayOf(monthOf(oldest))!; day <= today; day = firstDayAfter(day))
    if (known.has(day) || openFrom === null || day >= openFrom) periods.push(periodOf(monthOf(day), known.get(day)))
  return periods.reverse()
}

function periodOf(month: string, stored: StoredPeriod | undefined): Period {
  if (!stored) return { month, state: 'open', closeSequence: null, trialBalanceHash: null, closedAt: null }
  const { closedAt, closeSequence, trialBalanceHash } = stored
  return { month, state: closedAt === null ? 'closing' : 'closed', closeSequence, trialBalanceHash, closedAt }
}

/** Returns the number of the close by which the balances of a day will never change again; undefined of an open day. */
export const closedAsOf = (latestFirst: readonly StoredPeriod[], day: LocalDate): bigint | undefined =>
  latestFirst.findLast(({ month, closeSequence }) => closeSequence !== null && lastDayOf(month) >= day)
    ?.closeSequence ?? undefined

import type { Instant, LocalDate } from '../../domain/dates.ts'
import { type Author, auditRow } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { isUniqueViolation } from '../postgres/errors.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { moment } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import { statement } from '../queries/statement.ts'

/** Loans that `findWaiting` finds at most. */
export const MOST_WAITING = 20

/** The entity of the trail of which a close is a change. */
export const CLOSING = 'accounting period'

/** A month of the books that is closed, or is to be. */
export interface Period {
  /** The first day. */
  readonly month: LocalDate
  readonly requestedAt: Instant
  /** Null until the journal has come to the close, as the two after it. */
  readonly closedAt: Instant | null
  readonly closeSequence: bigint | null
  readonly trialBalanceHash: string | null
}

const PERIOD = `month, requested_at AS "requestedAt", closed_at AS "closedAt", close_sequence AS "closeSequence",
  trial_balance_hash AS "trialBalanceHash"`

/** Finds a month that is closed, or is to be. */
export async function findPeriod(
  { pool }: Pick<Db, 'pool'>,
  organizationId: number,
  month: LocalDate,
): Promise<Period | undefined> {
  const { rows } = await pool.query<Period>({
    name: 'find-period',
    text: `SELECT ${PERIOD} FROM accounting_period WHERE organization_id = $1 AND month = $2`,
    values: [organizationId, month],
  })
  return rows[0]
}

/** Finds the months of an organization that are closed, or are to be; the latest first. */
export async function findPeriods({ pool }: Queries, organizationId: number): Promise<Period[]> {
  const { rows } = await pool.query<Period>({
    name: 'find-periods',
    text: `SELECT ${PERIOD} FROM accounting_period WHERE organization_id = $1 ORDER BY month DESC`,
    values: [organizationId],
  })
  return rows
}

/** Returns the first day on which anything is booked; null where nothing is. */
export async function firstBookedDay({ pool }: Queries, organizationId: number): Promise<LocalDate | null> {
  const { rows } = await pool.query<{ day: LocalDate | null }>({
    name: 'first-booked-day',
    text: 'SELECT min(booked_on) AS day FROM posting_day WHERE organization_id = $1',
    values: [organizationId],
  })
  return rows[0]!.day
}

/**
 * Finds loans of an organization that the sweep has to review before a moment is over. Reads past the due loans of other
 * lenders: some 30 ms for 100,000 of them, once for a close, and an index of its own would cost each repayment more. A
 * statement that takes longer than the limit of all statements ends as `unavailable`.
 */
export async function findWaiting(
  { pool }: Pick<Db, 'pool'>,
  organizationId: number,
  until: Instant,
): Promise<bigint[]> {
  const { rows } = await pool.query<{ id: bigint }>({
    name: 'find-waiting',
    text: `SELECT id FROM loan WHERE organization_id = $1 AND next_change_at <= $2 LIMIT ${MOST_WAITING}`,
    values: [organizationId, moment(until)],
  })
  return rows.map(({ id }) => id)
}

/**
 * Asks for the close of a month; the journal closes the month when it comes to the row of the trail. Where another request
 * has asked for it, nothing is written.
 */
export async function requestClose(
  { prisma, pool }: Pick<Db, 'prisma' | 'pool'>,
  author: Author,
  { firstDay, month, now }: { readonly firstDay: LocalDate; readonly month: string; readonly now: Instant },
): Promise<void> {
  const { organizationId } = author
  const period = { organizationId, month: new Date(firstDay), requestedAt: new Date(now) }
  const trace = { action: 'close', before: null, after: { month } }
  try {
    await prisma.$transaction([
      prisma.accountingPeriod.create({ data: period }),
      prisma.auditEntry.create({ data: auditRow(pool, author, now, { entity: CLOSING, id: month }, trace) }),
    ])
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
  }
}

const close = statement<{
  organizationId: number
  month: string
  closedAt: string | null
  closeSequence: bigint
  trialBalanceHash: string
}>(
  'close-period',
  (p) => `
  INSERT INTO accounting_period (organization_id, month, requested_at, closed_at, close_sequence, trial_balance_hash)
  VALUES (${p('organizationId')}, ${p('month')}, ${p('closedAt')}, ${p('closedAt')}, ${p('closeSequence')}, ${p('trialBalanceHash')})
  ON CONFLICT (organization_id, month) DO UPDATE SET closed_at = excluded.closed_at,
    close_sequence = excluded.close_sequence, trial_balance_hash = excluded.trial_balance_hash`,
)

/** Closes a month in the transaction of the journal. */
export async function closeMonth(
  transaction: Transaction,
  organizationId: number,
  closed: { month: LocalDate; closedAt: Instant; closeSequence: bigint; trialBalanceHash: string },
): Promise<void> {
  await transaction.query(close({ organizationId, ...closed, closedAt: moment(closed.closedAt) }))
}

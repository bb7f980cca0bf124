import type { LocalDate } from '../../domain/dates.ts'
import { CARRIED_COLUMNS, type CarriedRow, type StoredHead, toStoredHead } from '../loans/storedLoan.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { unprepared } from '../queries/statement.ts'

/** A number of loans or transactions, and their amount in minor units. */
export interface Moved {
  readonly currency: string
  readonly count: number
  readonly amount: bigint
}

/** A day of an organization, with its first instant and that of the next day as RFC 3339. */
export interface DayAsked {
  readonly organizationId: number
  readonly today: LocalDate
  readonly start: string
  readonly end: string
}

/** Nothing is posted before its value date, so what counts for today was posted today. */
const posted = (isOfToday: boolean) =>
  unprepared<DayAsked>(
    (p) => `
  SELECT l.currency, count(*)::int AS count, sum(e.amount)::bigint AS amount
  FROM loan_entry e JOIN loan l ON l.organization_id = e.organization_id AND l.id = e.loan_id
  WHERE e.organization_id = ${p('organizationId')} AND e.posted_at >= ${p('start')} AND e.posted_at < ${p('end')}
    AND e.value_date ${isOfToday ? '=' : '<'} ${p('today')}::date AND e.reversed_at IS NULL
    AND e.type IN ('Repayment', 'Recovery Repayment')
  GROUP BY l.currency ORDER BY l.currency`,
  )

const collected = posted(true)
const collectedEarlier = posted(false)

const disbursed = unprepared<Omit<DayAsked, 'today'>>(
  (p) => `
  SELECT currency, count(*)::int AS count, sum(principal)::bigint AS amount FROM loan
  WHERE organization_id = ${p('organizationId')} AND disbursed_at >= ${p('start')} AND disbursed_at < ${p('end')}
  GROUP BY currency ORDER BY currency`,
)

/**
 * The condition of a loan that may owe something of an instalment of the day: of the schedule, of the schedule that a
 * restructure made, or of one of its own after the last, which a single charge or money paid back has made. Such a loan is overdue,
 * or time changes it by the end of the day.
 */
const mayOweOn = (organizationId: string, today: string, end: string) => `
  l.organization_id = ${organizationId} AND (l.is_overdue OR l.next_change_at <= ${end}::timestamptz)
  AND l.status = 'Active' AND (l.next_due_on = ${today}::date
    OR l.next_due_on < ${today}::date AND (
      l.id IN (SELECT e.loan_id FROM loan_entry e
        WHERE e.organization_id = ${organizationId} AND e.type = 'Restructure' AND e.reversed_at IS NULL)
      OR
      l.due_on >= ${today}::date AND EXISTS (SELECT FROM loan_period i
        WHERE i.organization_id = l.organization_id AND i.loan_id = l.id AND i.due_date = ${today}::date)
      OR l.due_on < ${today}::date AND l.id IN (
        SELECT e.loan_id FROM loan_entry e
        WHERE e.organization_id = ${organizationId} AND e.due_on = ${today}::date AND e.reversed_at IS NULL
        UNION ALL
        SELECT e.loan_id FROM loan_entry e
        WHERE e.organization_id = ${organizationId} AND e.value_date = ${today}::date AND e.reversed_at IS NULL
          AND e.type IN ('Refund', 'Credit Balance Refund'))))`

/** The movements of a day. */
export interface DayMoved {
  readonly disbursed: readonly Moved[]
  /** Customers' payments of the day. */
  readonly collected: readonly Moved[]
  /** Customers' payments of earlier days that were posted on the day. */
  readonly collectedEarlier: readonly Moved[]
}

/** Sums up a day of an organization, in one view of the book. */
export async function sumDay(snapshot: Snapshot, { today, ...asked }: DayAsked): Promise<DayMoved> {
  return {
    disbursed: (await snapshot.query<Moved>(disbursed(asked))).rows,
    collected: (await snapshot.query<Moved>(collected({ ...asked, today }))).rows,
    collectedEarlier: (await snapshot.query<Moved>(collectedEarlier({ ...asked, today }))).rows,
  }
}

/** A day of an organization, and the part of the loans that is asked for. */
export interface DueAsked extends Omit<DayAsked, 'start'> {
  readonly after: bigint
  readonly most: number
}

/** The same, with a moment of the day as RFC 3339. */
export interface OwingAsked extends DueAsked {
  readonly now: string
}

/** A loan that time has changed by then, and that waits for the sweep, has nothing that is right to continue from. */
const owing = unprepared<OwingAsked>(
  (p) => `
  SELECT ${CARRIED_COLUMNS}, (l.carried_version = l.version AND l.carried_forward IS NOT NULL
      AND (l.next_change_at IS NULL OR l.next_change_at > ${p('now')}::timestamptz)) AS "isCarried"
  FROM loan l WHERE ${mayOweOn(p('organizationId'), p('today'), p('end'))} AND l.id > ${p('after')}::bigint
  ORDER BY l.id LIMIT ${p('most')}`,
)

/** A loan that may owe something of an instalment of the day. */
export interface MayOwe {
  readonly id: bigint
  /** Undefined where the loan has to be replayed. */
  readonly head: StoredHead | undefined
}

/** Reads the loans that may owe something of an instalment that is due on a day, by their ids. */
export async function readOwing(snapshot: Snapshot, zone: string, asked: OwingAsked): Promise<MayOwe[]> {
  const { rows } = await snapshot.query<CarriedRow & { readonly isCarried: boolean | null }>(owing(asked))
  return rows.map((row) => ({ id: row.id, head: row.isCarried ? toStoredHead(row, zone) : undefined }))
}

const dueIds = unprepared<DueAsked>(
  (p) => `
  SELECT l.id FROM loan l WHERE ${mayOweOn(p('organizationId'), p('today'), p('end'))} AND l.id > ${p('after')}::bigint
  ORDER BY l.id LIMIT ${p('most')}`,
)

/** Finds loans that may owe something of an instalment that is due on a day, by their ids. */
export async function findDue(snapshot: Snapshot, asked: DueAsked): Promise<bigint[]> {
  return (await snapshot.query<{ id: bigint }>(dueIds(asked))).rows.map(({ id }) => id)
}

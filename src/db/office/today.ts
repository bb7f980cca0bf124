import type { LocalDate } from '../../domain/dates.ts'
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

/** The instalments of the day as they were scheduled; a part of one may be paid already. */
const due = unprepared<Pick<DayAsked, 'organizationId' | 'today'>>(
  (p) => `
  SELECT l.currency, count(*)::int AS count, sum(i.principal + i.interest + i.fees)::bigint AS amount
  FROM loan l JOIN loan_period i
    ON i.organization_id = l.organization_id AND i.loan_id = l.id AND i.due_date = l.next_due_on
  WHERE l.organization_id = ${p('organizationId')} AND l.status = 'Active' AND l.next_due_on = ${p('today')}::date
  GROUP BY l.currency ORDER BY l.currency`,
)

/** The movements of a day. */
export interface DayMoved {
  readonly disbursed: readonly Moved[]
  /** Customers' payments of the day. */
  readonly collected: readonly Moved[]
  /** Customers' payments of earlier days that were posted on the day. */
  readonly collectedEarlier: readonly Moved[]
  /** Loans whose oldest unpaid instalment is due on the day, and these instalments. */
  readonly due: readonly Moved[]
}

/** Sums up a day of an organization, in one view of the book. */
export async function sumDay(snapshot: Snapshot, { today, ...asked }: DayAsked): Promise<DayMoved> {
  return {
    disbursed: (await snapshot.query<Moved>(disbursed(asked))).rows,
    collected: (await snapshot.query<Moved>(collected({ ...asked, today }))).rows,
    collectedEarlier: (await snapshot.query<Moved>(collectedEarlier({ ...asked, today }))).rows,
    due: (await snapshot.query<Moved>(due({ ...asked, today }))).rows,
  }
}

const dueIds = unprepared<{ organizationId: number; today: LocalDate; after: bigint; most: number }>(
  (p) => `
  SELECT id FROM loan
  WHERE organization_id = ${p('organizationId')} AND status = 'Active' AND next_due_on = ${p('today')}::date
    AND id > ${p('after')}::bigint
  ORDER BY id LIMIT ${p('most')}`,
)

/** Finds loans whose oldest unpaid instalment is due on a day, by their ids. */
export async function findDue(
  snapshot: Snapshot,
  asked: { readonly organizationId: number; readonly today: LocalDate; readonly after: bigint; readonly most: number },
): Promise<bigint[]> {
  return (await snapshot.query<{ id: bigint }>(dueIds(asked))).rows.map(({ id }) => id)
}

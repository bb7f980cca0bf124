import type { LocalDate } from '../../domain/dates.ts'
import { atRiskFrom } from '../../domain/portfolio/cells.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { unprepared } from '../queries/statement.ts'

/** What is asked about the growth of a book: the first day of the first month, and today. */
export interface GrowthAsked {
  readonly organizationId: number
  readonly from: LocalDate
  readonly today: LocalDate
}

/** An amount of a month, YYYY-MM. */
export interface OfMonth {
  readonly month: string
  readonly currency: string
  readonly amount: bigint
}

const disbursed = unprepared<GrowthAsked>(
  (p) => `
  SELECT to_char(day, 'YYYY-MM') AS month, currency, sum(loans)::int AS loans, sum(amount)::bigint AS amount FROM (
    SELECT disbursed_on AS day, currency, count(*) AS loans, sum(principal) AS amount FROM loan
    WHERE organization_id = ${p('organizationId')} AND disbursed_on BETWEEN ${p('from')}::date AND ${p('today')}::date GROUP BY 1, 2
  ) AS by_day GROUP BY 1, 2`,
)

const collected = unprepared<GrowthAsked>(
  (p) => `
  SELECT to_char(day, 'YYYY-MM') AS month, currency, sum(amount)::bigint AS amount FROM (
    SELECT e.value_date AS day, l.currency, sum(e.amount) AS amount
    FROM loan_entry e JOIN loan l ON l.organization_id = e.organization_id AND l.id = e.loan_id
    WHERE e.organization_id = ${p('organizationId')} AND e.value_date BETWEEN ${p('from')}::date AND ${p('today')}::date
      AND e.reversed_at IS NULL AND e.type IN ('Repayment', 'Recovery Repayment') GROUP BY 1, 2
  ) AS by_day GROUP BY 1, 2`,
)

/** The sums of the journal by value date: the principal that is out at the end of each month. */
const outstanding = unprepared<GrowthAsked>(
  (p) => `
  WITH moved AS (
    SELECT greatest(to_char(value_date, 'YYYY-MM'), to_char(${p('from')}::date - 1, 'YYYY-MM')) AS month, currency,
      sum(debit - credit) AS amount
    FROM posting_day WHERE organization_id = ${p('organizationId')} AND slot = 'loan_portfolio' AND value_date <= ${p('today')}::date
    GROUP BY 1, 2
  ), months AS (
    SELECT to_char(m, 'YYYY-MM') AS month
    FROM generate_series(date_trunc('month', ${p('from')}::date - 1), ${p('today')}::date, interval '1 month') AS m
  )
  SELECT months.month, c.currency,
    (SELECT coalesce(sum(amount), 0) FROM moved WHERE moved.currency = c.currency AND moved.month <= months.month)::bigint AS amount
  FROM months CROSS JOIN (SELECT DISTINCT currency FROM moved) AS c ORDER BY 1, 2`,
)

/** The sums of the months of a book. Amounts in minor units. */
export interface MonthSums {
  readonly disbursed: readonly (OfMonth & { readonly loans: number })[]
  readonly collected: readonly OfMonth[]
  /** The principal that is out at the end of each month, that of the month before the first among them. */
  readonly outstanding: readonly OfMonth[]
}

/** Sums up the months of a book: disbursed by the day of disbursement, collected by value date, outstanding by the journal. */
export async function sumMonths(snapshot: Snapshot, asked: GrowthAsked): Promise<MonthSums> {
  return {
    disbursed: (await snapshot.query<OfMonth & { loans: number }>(disbursed(asked))).rows,
    collected: (await snapshot.query<OfMonth>(collected(asked))).rows,
    outstanding: (await snapshot.query<OfMonth>(outstanding(asked))).rows,
  }
}

/** The loans of a currency that were disbursed in one month, as the sweep has saved them. Amounts in minor units. */
export interface Cohort {
  readonly month: string
  readonly currency: string
  readonly loans: number
  readonly principal: bigint
  readonly paid: bigint
  /** The principal that is outstanding. */
  readonly outstanding: bigint
  readonly overdue: bigint
  readonly writtenOff: bigint
  /** The principal outstanding of the loans that are past due for more than 30 days. */
  readonly atRisk: bigint
  readonly open: number
}

const cohorts = unprepared<GrowthAsked>(
  (p) => `
  SELECT to_char(day, 'YYYY-MM') AS month, currency, sum(loans)::int AS loans, sum(open)::int AS open, sum(principal)::bigint AS principal,
    sum(paid)::bigint AS paid, sum(outstanding)::bigint AS outstanding, sum(overdue)::bigint AS overdue,
    sum(written_off)::bigint AS "writtenOff", sum(at_risk)::bigint AS "atRisk"
  FROM (
    SELECT disbursed_on AS day, currency, count(*) AS loans, count(*) FILTER (WHERE status = 'Active') AS open, sum(principal) AS principal,
      sum(total_paid) AS paid, sum(principal_outstanding) AS outstanding, sum(total_overdue) AS overdue,
      sum(total_written_off) AS written_off,
      coalesce(sum(principal_outstanding) FILTER (WHERE ${p('today')}::date - overdue_since + 1 >= ${atRiskFrom(30)}), 0) AS at_risk
    FROM loan WHERE organization_id = ${p('organizationId')} AND disbursed_on BETWEEN ${p('from')}::date AND ${p('today')}::date
    GROUP BY 1, 2
  ) AS by_day GROUP BY 1, 2 ORDER BY 1 DESC, 2`,
)

/** Sums up the loans by the month in which they were disbursed, the last month first. */
export const sumCohorts = async (snapshot: Snapshot, asked: GrowthAsked): Promise<Cohort[]> =>
  (await snapshot.query<Cohort>(cohorts(asked))).rows

/** What is asked about what falls due: from today on, for some weeks. */
export interface DueWeeksAsked {
  readonly organizationId: number
  readonly today: LocalDate
  readonly weeks: number
}

const isRestructured = (organizationId: string) => `
  SELECT e.loan_id FROM loan_entry e WHERE e.organization_id = ${organizationId} AND e.type = 'Restructure' AND e.reversed_at IS NULL`

/**
 * What is owed of an instalment follows from what the loan has paid off: the oldest instalments are paid first. The schedule of a
 * restructured loan is another one.
 */
const dueWeeks = unprepared<DueWeeksAsked>(
  (p) => `
  SELECT currency, (due_date - ${p('today')}::date) / 7 AS week, count(*) FILTER (WHERE owed > 0)::int AS instalments, sum(owed)::bigint AS amount
  FROM (
    SELECT l.currency, s.due_date, least(s.principal + s.interest + s.fees, greatest(0,
      sum(s.principal + s.interest + s.fees) OVER (PARTITION BY l.id ORDER BY s.period)
        - (sum(s.principal + s.interest + s.fees) OVER (PARTITION BY l.id)
          - l.principal_outstanding - l.interest_outstanding - l.fees_outstanding))) AS owed
    FROM loan l JOIN loan_period s ON s.organization_id = l.organization_id AND s.loan_id = l.id
    WHERE l.organization_id = ${p('organizationId')} AND l.status = 'Active'
      AND l.id NOT IN (${isRestructured(p('organizationId'))})
  ) AS line
  WHERE due_date >= ${p('today')}::date AND due_date < ${p('today')}::date + ${p('weeks')}::int * 7
  GROUP BY 1, 2`,
)

/** What falls due in a week, by its number from 0; minor units. */
export interface DueWeek {
  readonly currency: string
  readonly week: number
  readonly instalments: number
  readonly amount: bigint
}

/** Sums up what falls due of the loans that were not restructured, by week. */
export const sumDueWeeks = async (snapshot: Snapshot, asked: DueWeeksAsked): Promise<DueWeek[]> =>
  (await snapshot.query<DueWeek>(dueWeeks(asked))).rows

const restructured = unprepared<{ organizationId: number; after: bigint; most: number }>(
  (p) => `
  SELECT l.id FROM loan l WHERE l.organization_id = ${p('organizationId')} AND l.status = 'Active' AND l.id > ${p('after')}
    AND l.id IN (${isRestructured(p('organizationId'))}) ORDER BY l.id LIMIT ${p('most')}`,
)

/** Finds the next open loans, by id, that were restructured. */
export const findRestructured = async (
  snapshot: Snapshot,
  asked: { readonly organizationId: number; readonly after: bigint; readonly most: number },
): Promise<bigint[]> => (await snapshot.query<{ id: bigint }>(restructured(asked))).rows.map(({ id }) => id)

import type { LocalDate } from '../../domain/dates.ts'
import { RATE_UNIT } from '../../domain/money.ts'
import { AT_RISK_DAYS, atRiskFrom, type Cell, lessSums } from '../../domain/portfolio/cells.ts'
import type { Roll } from '../../domain/portfolio/rolls.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { type Parameter, unprepared } from '../queries/statement.ts'
import { type MovingValues, movingOf, movingValues, officerOf, type PortfolioAsked, type Which } from './positions.ts'

interface StillValues extends MovingValues {
  readonly days: readonly LocalDate[]
  /** The first days of the buckets, ascending. */
  readonly fromDays: readonly number[]
  /** Their rates; null: none. */
  readonly rates: readonly (bigint | null)[]
}

/** The product of the last digits of a principal and a rate, which no bigint overflows. */
const LAST = `l.principal_outstanding % ${RATE_UNIT} * rate`
const WHOLE = `l.principal_outstanding / ${RATE_UNIT} * rate + (${LAST}) / ${RATE_UNIT}`

/** SQL for the share of a principal at a rate, rounded half to even, as `applyRate` does; in bigint, which is fast. */
const provision = `
  CASE WHEN l.charged_off_on IS NOT NULL OR rate IS NULL THEN 0 ELSE
    ${WHOLE} + CASE WHEN 2 * ((${LAST}) % ${RATE_UNIT}) > ${RATE_UNIT} THEN 1
      WHEN 2 * ((${LAST}) % ${RATE_UNIT}) = ${RATE_UNIT} THEN (${WHOLE}) % 2 ELSE 0 END
  END`

const RISKS = AT_RISK_DAYS.map((_, place) => `risk${place}`)

interface RollRow {
  readonly currency: string
  /** Null: not lent on the first day. */
  readonly opening: number | null
  readonly closing: number
  readonly loans: number
  readonly principal: bigint
}

const stillValues = (asked: PortfolioAsked): StillValues => ({
  ...movingValues(asked),
  days: asked.days,
  fromDays: asked.policy.buckets.map(({ fromDays }) => fromDays),
  rates: asked.policy.buckets.map(({ provisionRate }) => provisionRate),
})

/** SQL for the days past due of a loan `l` whose columns say them. */
const daysOn = (day: string): string =>
  `CASE WHEN l.overdue_since <= ${day}::date THEN ${day}::date - l.overdue_since + 1 ELSE 0 END`

/**
 * SQL for the loans whose columns say how late they were, without those that were not lent on the last day. No entry of these is
 * dated after the first day, so a restructure of one counts on each day. Few loans have one, and an index has these.
 */
const fromStill = (
  asked: PortfolioAsked,
  p: Parameter<StillValues>,
  which: Which = 'all',
): readonly [string, string] => {
  const { join: joined, condition } = movingOf(asked, p as Parameter<MovingValues>, which)
  const restructured = () => `
    JOIN (
      SELECT DISTINCT e.loan_id FROM loan_entry e
      WHERE e.organization_id = ${p('organizationId')} AND e.type = 'Restructure' AND e.reversed_at IS NULL
    ) AS restructured ON restructured.loan_id = l.id`
  const join = which === 'all' ? joined : `${restructured()} ${joined}`
  const isOpen = `l.organization_id = ${p('organizationId')} AND l.status = 'Active' AND l.disbursed_on <= ${p('last')}::date`
  return [`FROM loan l ${join}`, `WHERE ${isOpen} AND ${condition} IS NOT TRUE`]
}

/** Sums by day of disbursement first: to write the month of each loan would take longer than all else. */
const sumOf = (asked: PortfolioAsked, which: Which) =>
  unprepared<StillValues>((p) => {
    const [from, where] = fromStill(asked, p, which)
    const officer = officerOf(asked, p as Parameter<MovingValues>)
    const [officerId, groups] =
      officer.column === '' ? ['NULL::int', '1, 2, 3, 4, 5'] : ['officer.account_id', '1, 2, 3, 4, 5, 6']
    return `
  SELECT day, product_id AS "productId", currency, to_char(disbursed_on, 'YYYY-MM') AS month, bucket - 1 AS index, "officerId",
    sum(loans)::int AS loans, sum(principal)::bigint AS principal, sum(provision)::bigint AS provision,
    ${RISKS.map((risk) => `sum(${risk})::bigint AS ${risk}`).join(', ')}
  FROM (
    SELECT asked.day, l.product_id, l.currency, l.disbursed_on, bucket, ${officerId} AS "officerId", count(*) AS loans,
      sum(l.principal_outstanding) AS principal, sum(${provision}) AS provision,
      ${AT_RISK_DAYS.map((days, place) => `coalesce(sum(l.principal_outstanding) FILTER (WHERE days >= ${atRiskFrom(days)}), 0) AS ${RISKS[place]}`).join(', ')}
    ${from} ${officer.join}
    JOIN unnest(${p('days')}::date[]) AS asked (day) ON l.disbursed_on <= asked.day
    CROSS JOIN LATERAL (SELECT ${daysOn('asked.day')} AS days) AS counted
    CROSS JOIN LATERAL (SELECT width_bucket(days, ${p('fromDays')}::int[]) AS bucket) AS placed
    CROSS JOIN LATERAL (SELECT (${p('rates')}::bigint[])[bucket] AS rate) AS rated
    ${where}
    GROUP BY ${groups}
  ) AS by_day
  GROUP BY 1, 2, 3, 4, 5, 6`
  })

/** A cell of a portfolio on a day. */
interface CellOfDay {
  readonly day: LocalDate
  readonly cell: Cell
}

/**
 * Sums up the loans whose columns say how late they were, on each of the days. The restructured ones, few of them, are summed up
 * again and taken off: to ask it of each loan would cost all others a third more.
 */
export async function sumStill(snapshot: Snapshot, asked: PortfolioAsked): Promise<CellOfDay[]> {
  const all = await sumWhich(snapshot, asked, 'all')
  const restructured = await sumWhich(snapshot, asked, 'restructured')
  const nameOf = ({ day, cell: { productId, currency, month, officerId, index } }: CellOfDay) =>
    `${day} ${productId} ${currency} ${month} ${officerId} ${index}`
  const taken = new Map(restructured.map((one) => [nameOf(one), one.cell]))
  const others = all.map((one) => {
    const part = taken.get(nameOf(one))
    return part ? { ...one, cell: { ...one.cell, ...lessSums(one.cell, part) } } : one
  })
  return [...others.filter(({ cell }) => cell.loans > 0), ...restructured]
}

async function sumWhich(snapshot: Snapshot, asked: PortfolioAsked, which: Which): Promise<CellOfDay[]> {
  const { rows } = await snapshot.query<{ day: LocalDate } & Cell & Record<string, bigint>>(
    sumOf(asked, which)(stillValues(asked)),
  )
  const isRestructured = which === 'restructured'
  return rows.map(({ day, provision: needed, ...row }) => {
    const { productId, currency, month, officerId, index, loans, principal } = row
    const atRisk = RISKS.map((risk) => row[risk]!)
    return {
      day,
      cell: {
        productId,
        currency,
        month,
        isRestructured,
        officerId: officerId ?? undefined,
        index,
        loans,
        principal,
        provision: needed,
        atRisk,
      },
    }
  })
}

/** Of loans that nothing has changed since the first day, all that were open then are open on the last, too. */
const rollsOf = (asked: PortfolioAsked) =>
  unprepared<StillValues>((p) => {
    const [from, where] = fromStill(asked, p)
    const first = `(${p('days')}::date[])[1]`
    const bucket = (day: string) => `width_bucket(${daysOn(day)}, ${p('fromDays')}::int[]) - 1`
    return `
  SELECT l.currency, CASE WHEN l.disbursed_on <= ${first} THEN ${bucket(first)} END AS "opening",
    ${bucket(p('last'))} AS "closing", count(*)::int AS loans, sum(l.principal_outstanding)::bigint AS principal
  ${from} ${where}
  GROUP BY 1, 2, 3`
  })

/** Sums up how the loans whose columns say it moved from the first of two days to the last. */
export async function sumStillRolls(snapshot: Snapshot, asked: PortfolioAsked): Promise<Roll[]> {
  const values = stillValues(asked)
  const { rows } = await snapshot.query<RollRow>(rollsOf(asked)(values))
  return rows.map(({ opening, ...roll }) => ({ ...roll, opening: opening ?? 'not lent' }))
}

import { addPeriods, type Instant, type LocalDate } from '../../domain/dates.ts'
import type { DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { followsFromDay } from '../../domain/delinquency/position.ts'
import type { EntryType } from '../../domain/loan/entry.ts'
import type { Replayable } from '../../domain/loan/fold.ts'
import { roleFromText } from '../../domain/loan/restructure/planText.ts'
import type { LoanTerms } from '../../domain/loan/terms/terms.ts'
import { RATE_UNIT } from '../../domain/money.ts'
import { AT_RISK_DAYS, atRiskFrom, type Cell, lessSums } from '../../domain/portfolio/cells.ts'
import type { Roll } from '../../domain/portfolio/rolls.ts'
import { PERIODS, type TermsRow, termsOf, toSchedule } from '../loans/storedLoan.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { moment } from '../queries/rows.ts'
import { type Parameter, unprepared } from '../queries/statement.ts'

/** A loan of the portfolio, as far as its arrears decide. */
export interface PortfolioLoan {
  readonly id: bigint
  readonly organizationId: number
  readonly productId: number | null
  readonly terms: LoanTerms
  readonly entries: readonly Replayable[]
}

/** Loans that are read at once; fewer where they have many instalments and entries, of which so many are read at once. */
const LOANS = { first: 100, most: 500, least: 10 } as const
const MOST_PARTS = 25_000

/**
 * SQL for the entries as `type,value date,ordinal,place,amount,due,restructure,posted,reversed;…`, with instants in milliseconds.
 * Where all that is known now counts, what is reversed is left out, and so is the instant of most entries: only that of a
 * charge-off, a write-off or what was posted with a restructure decides anything. To write an instant takes a tenth of the time of all.
 */
function entriesOf(known: 'now' | 'then'): string {
  const [posted, reversed] = ['posted_at', 'reversed_at'].map((at) => `(extract(epoch FROM e.${at}) * 1000)::bigint`)
  const instants =
    known === 'then'
      ? `${posted}, ${reversed}`
      : `CASE WHEN e.type IN ('Charge-off', 'Write-off') OR e.restructure IS NOT NULL THEN ${posted} END`
  return `
    (SELECT string_agg(concat_ws(',', e.type, e.value_date, e.ordinal, e.place, e.amount, coalesce(e.due_on::text, ''),
        coalesce(e.restructure, ''),
        ${instants}), ';' ORDER BY e.ordinal)
     FROM loan_entry e WHERE e.organization_id = l.organization_id AND e.loan_id = l.id
       ${known === 'now' ? 'AND e.reversed_at IS NULL' : ''})`
}

/** Returns the columns that `toPortfolioLoan` takes. */
export const columnsOf = (known: 'now' | 'then'): string => `
  l.organization_id, l.id, l.version, l.customer_id, l.product_id, l.currency, l.principal, l.number_of_repayments,
  l.rate_per_period, l.penalty_amount, l.disbursed_at, l.disbursed_on, l.due_on, l.due_at, l.rules, l.entry_count,
  ${PERIODS} AS periods, ${entriesOf(known)} AS entries`

/** The columns of loans as they are known now. */
export const PORTFOLIO_COLUMNS = columnsOf('now')

/** A row of the statements that read loans of a portfolio. */
export interface PortfolioRow extends TermsRow {
  readonly organization_id: number
  readonly id: bigint
  readonly version: number
  readonly customer_id: bigint
  readonly product_id: number | null
  readonly entry_count: number
  readonly periods: string
  readonly entries: string | null
}

/** The loans that are asked for: those of an organization, as they were on some days and known at an instant. */
export interface PortfolioAsked {
  readonly organizationId: number
  readonly policy: DelinquencyPolicy
  /** Ascending, at least one, none after today. */
  readonly days: readonly LocalDate[]
  /** Undefined: now. */
  readonly knownAt: Instant | undefined
  readonly now: Instant
  readonly today: LocalDate
}

/** The parameters of `movingOf`. */
interface MovingValues {
  readonly organizationId: number
  readonly now: string | null
  readonly knownAt: string | null
  /** The day after which no entry may be dated. */
  readonly since: LocalDate
  readonly last: LocalDate
}

/** SQL for the loans whose columns do not say how late they were on each of the days. */
interface Moving {
  /** Joins the loans with an entry dated after a day. Looked up loan by loan, they would take many times as long. */
  readonly join: string
  /** True of such a loan. Conditions that no loan can meet are left out, so that an index leads to the others. */
  readonly condition: string
}

/** Milliseconds that a statement about a whole portfolio may take: more than any other statement of the service. */
const PATIENCE_MS = 120_000

/**
 * A loan that was made after the instant was not known. One that has no product may have been lent on another day then: only a
 * record system can change the day of disbursement.
 */
const declareOf = (asked: PortfolioAsked) =>
  unprepared<MovingValues>((p) => {
    const { join, condition } = movingOf(asked, p)
    const lent = `l.disbursed_on <= ${p('last')}::date`
    const known =
      asked.knownAt === undefined
        ? lent
        : `(${lent} OR l.product_id IS NULL) AND l.created_at <= ${p('knownAt')}::timestamptz`
    return `
    DECLARE moving NO SCROLL CURSOR FOR SELECT ${columnsOf(asked.knownAt === undefined ? 'now' : 'then')} FROM loan l ${join}
    WHERE l.organization_id = ${p('organizationId')} AND ${condition} AND ${known}`
  })

/** Reads the loans whose columns do not say how late they were on the day, some at a time. */
export async function* readMoving(
  snapshot: Snapshot,
  zone: string,
  asked: PortfolioAsked,
): AsyncGenerator<PortfolioLoan[]> {
  await snapshot.query(patiently(declareOf(asked)(movingValues(asked))))
  const read = (count: number) =>
    snapshot.query<PortfolioRow>(patiently({ text: `FETCH ${count} FROM moving`, values: [] }))
  let next = read(LOANS.first)
  for (;;) {
    const { rows } = await next
    if (rows.length === 0) break
    // The next loans are read while these are replayed.
    next = read(countAfter(rows))
    // A failure is thrown where `next` is awaited; where a caller stops before, it is never awaited.
    next.catch(() => undefined)
    yield rows.map((row) => toPortfolioLoan(row, zone))
  }
  await snapshot.query('CLOSE moving')
}

/** Returns how many loans to read next: as many as are likely to have `MOST_PARTS` instalments and entries. */
function countAfter(rows: readonly PortfolioRow[]): number {
  const parts = rows.reduce((sum, row) => sum + row.number_of_repayments + row.entry_count, 0)
  const count = Math.floor((MOST_PARTS * rows.length) / Math.max(1, parts))
  return Math.max(LOANS.least, Math.min(LOANS.most, count))
}

/** Reads a loan of a portfolio from its row. */
export const toPortfolioLoan = (row: PortfolioRow, zone: string): PortfolioLoan => ({
  id: row.id,
  organizationId: row.organization_id,
  productId: row.product_id,
  terms: { ...termsOf(row, zone), schedule: toSchedule(row.periods) },
  entries: row.entries === null ? [] : row.entries.split(';').map(toEntry),
})

function toEntry(text: string): Replayable {
  const [type, valueDate = '', ordinal, place, amount = '', dueOn, restructure, postedAt, reversedAt] = text.split(',')
  return {
    type: type as EntryType,
    valueDate,
    postedAt: postedAt ? Number(postedAt) : 0,
    ordinal: Number(ordinal),
    place: Number(place),
    amount: BigInt(amount),
    token: null,
    note: null,
    replaces: null,
    reversedAt: reversedAt ? Number(reversedAt) : null,
    dueOn: dueOn || null,
    restructure: restructure ? roleFromText(restructure) : null,
  }
}

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

/** All loans, or those alone of which a restructure counts. */
type Which = 'all' | 'restructured'

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
    return `
  SELECT day, product_id AS "productId", currency, to_char(disbursed_on, 'YYYY-MM') AS month, bucket - 1 AS index,
    sum(loans)::int AS loans, sum(principal)::bigint AS principal, sum(provision)::bigint AS provision,
    ${RISKS.map((risk) => `sum(${risk})::bigint AS ${risk}`).join(', ')}
  FROM (
    SELECT asked.day, l.product_id, l.currency, l.disbursed_on, bucket, count(*) AS loans,
      sum(l.principal_outstanding) AS principal, sum(${provision}) AS provision,
      ${AT_RISK_DAYS.map((days, place) => `coalesce(sum(l.principal_outstanding) FILTER (WHERE days >= ${atRiskFrom(days)}), 0) AS ${RISKS[place]}`).join(', ')}
    ${from}
    JOIN unnest(${p('days')}::date[]) AS asked (day) ON l.disbursed_on <= asked.day
    CROSS JOIN LATERAL (SELECT ${daysOn('asked.day')} AS days) AS counted
    CROSS JOIN LATERAL (SELECT width_bucket(days, ${p('fromDays')}::int[]) AS bucket) AS placed
    CROSS JOIN LATERAL (SELECT (${p('rates')}::bigint[])[bucket] AS rate) AS rated
    ${where}
    GROUP BY 1, 2, 3, 4, 5
  ) AS by_day
  GROUP BY 1, 2, 3, 4, 5`
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
  const nameOf = ({ day, cell: { productId, currency, month, index } }: CellOfDay) =>
    `${day} ${productId} ${currency} ${month} ${index}`
  const taken = new Map(restructured.map((one) => [nameOf(one), one.cell]))
  const others = all.map((one) => {
    const part = taken.get(nameOf(one))
    return part ? { ...one, cell: { ...one.cell, ...lessSums(one.cell, part) } } : one
  })
  return [...others.filter(({ cell }) => cell.loans > 0), ...restructured]
}

async function sumWhich(snapshot: Snapshot, asked: PortfolioAsked, which: Which): Promise<CellOfDay[]> {
  const { rows } = await snapshot.query<{ day: LocalDate } & Cell & Record<string, bigint>>(
    patiently(sumOf(asked, which)(stillValues(asked))),
  )
  const isRestructured = which === 'restructured'
  return rows.map(({ day, provision: needed, ...row }) => {
    const { productId, currency, month, index, loans, principal } = row
    const atRisk = RISKS.map((risk) => row[risk]!)
    return {
      day,
      cell: { productId, currency, month, isRestructured, index, loans, principal, provision: needed, atRisk },
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
  const { rows } = await snapshot.query<RollRow>(patiently(rollsOf(asked)(values)))
  return rows.map(({ opening, ...roll }) => ({ ...roll, opening: opening ?? 'not lent' }))
}

/** Returns the first and the last of the days. */
const boundsOf = ({ days }: PortfolioAsked) => ({ first: days[0]!, last: days.at(-1)! })

/** Returns the parameters of `movingOf`. */
function movingValues(asked: PortfolioAsked): MovingValues {
  const { organizationId, policy, knownAt, now } = asked
  const { first, last } = boundsOf(asked)
  return {
    organizationId,
    now: moment(now),
    knownAt: knownAt === undefined ? null : moment(knownAt),
    since: addPeriods(first, -policy.cureDays, 'days'),
    last,
  }
}

/**
 * Returns the loans whose columns do not say how late they were on each of the days: the sweep has not saved what time
 * changed, an entry is dated after the first day, the loan was changed after the instant, or the days before a day count.
 * @param which of few loans the entries are looked up loan by loan
 */
function movingOf(asked: PortfolioAsked, p: Parameter<MovingValues>, which: Which = 'all'): Moving {
  const { policy, knownAt, today } = asked
  const dayDecides = followsFromDay(policy) && policy.materiality === null
  // Nothing is dated after today.
  const isJoined = boundsOf(asked).first < today || policy.cureDays > 0
  const conditions = [
    `l.next_change_at <= ${p('now')}::timestamptz`,
    ...(isJoined ? ['moved.loan_id IS NOT NULL'] : []),
    ...(knownAt === undefined ? [] : [`l.updated_at > ${p('knownAt')}::timestamptz`]),
    ...(dayDecides ? [] : [`l.overdue_since <= ${p('last')}::date`]),
  ]
  const joinOf = () => {
    const later = `SELECT DISTINCT e.loan_id FROM loan_entry e
      WHERE e.organization_id = ${p('organizationId')} AND e.value_date > ${p('since')}::date AND e.reversed_at IS NULL`
    return which === 'all'
      ? `LEFT JOIN (${later}) AS moved ON moved.loan_id = l.id`
      : `LEFT JOIN LATERAL (${later} AND e.loan_id = l.id) AS moved ON true`
  }
  return {
    join: isJoined ? joinOf() : '',
    condition: `(${conditions.join(' OR ')})`,
  }
}

/**
 * Prepares a snapshot for statements about a whole portfolio: the sums of a large book then fit into the memory of one, and a
 * cursor is planned for all of its rows.
 */
export const preparePortfolio = async (snapshot: Snapshot): Promise<void> => {
  await snapshot.query(
    `SET LOCAL work_mem = '64MB'; SET LOCAL cursor_tuple_fraction = 1; SET LOCAL statement_timeout = ${PATIENCE_MS}`,
  )
}

/** Gives a statement the time that one about a whole portfolio may take. */
const patiently = <Sent extends { readonly text: string; readonly values: unknown[] }>(sent: Sent) => ({
  ...sent,
  query_timeout: PATIENCE_MS + 2_000,
})

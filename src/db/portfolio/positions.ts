import { addPeriods, type Instant, type LocalDate } from '../../domain/dates.ts'
import type { DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { followsFromDay } from '../../domain/delinquency/position.ts'
import type { EntryType } from '../../domain/loan/entry.ts'
import type { Replayable } from '../../domain/loan/fold.ts'
import { roleFromText } from '../../domain/loan/restructure/planText.ts'
import type { LoanTerms } from '../../domain/loan/terms/terms.ts'
import { PERIODS, type TermsRow, termsOf, toSchedule } from '../loans/storedLoan.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { moment } from '../queries/rows.ts'
import { type Parameter, unprepared } from '../queries/statement.ts'

/** A loan of the portfolio, as far as its arrears decide. */
export interface PortfolioLoan {
  readonly id: bigint
  readonly organizationId: number
  readonly productId: number | null
  /** The account of the officer, where that is asked for; null: nobody has the loan. */
  readonly officerId?: number | null | undefined
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
  l.rate_per_period, l.penalty_amount, l.disbursed_at, l.disbursed_on, l.due_on, l.due_at, l.rules, l.penalty_holds, l.entry_count,
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
  readonly officer_id?: number | null
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
  /** The moment whose officers are asked for; left out: none are. */
  readonly officersAt?: Instant | undefined
}

/** All loans, or those alone of which a restructure counts. */
export type Which = 'all' | 'restructured'

/** The parameters of `movingOf`. */
export interface MovingValues {
  readonly officersAt: string | null
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

/**
 * A loan that was made after the instant was not known. One that has no product may have been lent on another day then: only a
 * record system can change the day of disbursement.
 */
const declareOf = (asked: PortfolioAsked) =>
  unprepared<MovingValues>((p) => {
    const { join, condition } = movingOf(asked, p)
    const officer = officerOf(asked, p)
    const lent = `l.disbursed_on <= ${p('last')}::date`
    const known =
      asked.knownAt === undefined
        ? lent
        : `(${lent} OR l.product_id IS NULL) AND l.created_at <= ${p('knownAt')}::timestamptz`
    return `
    DECLARE moving NO SCROLL CURSOR FOR SELECT ${columnsOf(asked.knownAt === undefined ? 'now' : 'then')}${officer.column}
    FROM loan l ${join} ${officer.join}
    WHERE l.organization_id = ${p('organizationId')} AND ${condition} AND ${known}`
  })

/** SQL for the officer of a loan `l` at the moment that is asked for; empty where none is. */
export function officerOf(
  asked: PortfolioAsked,
  p: Parameter<MovingValues>,
): { readonly column: string; readonly join: string } {
  if (asked.officersAt === undefined) return { column: '', join: '' }
  return {
    column: ', officer.account_id AS officer_id',
    join: `LEFT JOIN loan_assignment officer ON officer.organization_id = l.organization_id AND officer.loan_id = l.id
      AND officer.assigned_at <= ${p('officersAt')}::timestamptz
      AND (officer.ended_at IS NULL OR officer.ended_at > ${p('officersAt')}::timestamptz)`,
  }
}

/** Reads the loans whose columns do not say how late they were on the day, some at a time. */
export async function* readMoving(
  snapshot: Snapshot,
  zone: string,
  asked: PortfolioAsked,
): AsyncGenerator<PortfolioLoan[]> {
  await snapshot.query(declareOf(asked)(movingValues(asked)))
  const read = (count: number) => snapshot.query<PortfolioRow>({ text: `FETCH ${count} FROM moving`, values: [] })
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
  officerId: row.officer_id ?? undefined,
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

/** Returns the first and the last of the days. */
const boundsOf = ({ days }: PortfolioAsked) => ({ first: days[0]!, last: days.at(-1)! })

/** Returns the parameters of `movingOf`. */
export function movingValues(asked: PortfolioAsked): MovingValues {
  const { organizationId, policy, knownAt, now } = asked
  const { first, last } = boundsOf(asked)
  return {
    organizationId,
    officersAt: asked.officersAt === undefined ? null : moment(asked.officersAt),
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
export function movingOf(asked: PortfolioAsked, p: Parameter<MovingValues>, which: Which = 'all'): Moving {
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
  await snapshot.query("SET LOCAL work_mem = '64MB'; SET LOCAL cursor_tuple_fraction = 1")
}

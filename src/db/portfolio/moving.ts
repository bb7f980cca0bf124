import type { EntryType } from '../../domain/loan/entry.ts'
import type { Replayable } from '../../domain/loan/fold.ts'
import type { LoanTerms } from '../../domain/loan/terms.ts'
import { PERIODS, type TermsRow, termsOf, toSchedule } from '../loans/storedLoan.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { unprepared } from '../queries/statement.ts'
import { type MovingValues, movingOf, movingValues, type PortfolioAsked, patiently } from './asked.ts'

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
 * SQL for the entries as `type,value date,ordinal,place,amount,due,posted,reversed;…`, with instants in milliseconds.
 * Where all that is known now counts, what is reversed is left out, and so is the instant of most entries: only that of a
 * charge-off or write-off decides anything. To write an instant takes a tenth of the time of all.
 */
function entriesOf(known: 'now' | 'then'): string {
  const [posted, reversed] = ['posted_at', 'reversed_at'].map((at) => `(extract(epoch FROM e.${at}) * 1000)::bigint`)
  const instants =
    known === 'then' ? `${posted}, ${reversed}` : `CASE WHEN e.type IN ('Charge-off', 'Write-off') THEN ${posted} END`
  return `
    (SELECT string_agg(concat_ws(',', e.type, e.value_date, e.ordinal, e.place, e.amount, coalesce(e.due_on::text, ''),
        ${instants}), ';' ORDER BY e.ordinal)
     FROM loan_entry e WHERE e.organization_id = l.organization_id AND e.loan_id = l.id
       ${known === 'now' ? 'AND e.reversed_at IS NULL' : ''})`
}

/** Returns the columns that `toPortfolioLoan` takes. */
const columnsOf = (known: 'now' | 'then'): string => `
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

/** A loan that was made after the instant was not known; a loan of a record system may have been lent on another day then. */
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
  const [type, valueDate = '', ordinal, place, amount = '', dueOn, postedAt, reversedAt] = text.split(',')
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
  }
}

import type { Instant } from '../../domain/dates.ts'
import type { EntryType } from '../../domain/loan/entry.ts'
import type { Replayable } from '../../domain/loan/fold.ts'
import type { LoanTerms } from '../../domain/loan/terms.ts'
import { BARE_COLUMNS, type BareRow, PERIODS, termsOf, toSchedule } from '../loans/storedLoan.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { unprepared } from '../queries/statement.ts'
import { type MovingValues, movingOf, movingValues, type PortfolioAsked, patiently } from './asked.ts'

/** A loan of the portfolio, as far as its arrears decide. */
export interface PortfolioLoan {
  readonly id: bigint
  readonly organizationId: number
  readonly productId: number | null
  readonly createdAt: Instant
  readonly terms: LoanTerms
  readonly entries: readonly Replayable[]
}

/** Loans that are read at once; fewer where they have many instalments and entries, of which so many are read at once. */
const LOANS = { first: 100, most: 1_000, least: 10 } as const
const MOST_PARTS = 25_000

/** The entries as `type,value date,posted,ordinal,place,amount,reversed,due;…`, with instants in milliseconds. */
const ENTRIES = `
  (SELECT string_agg(concat_ws(',', e.type, e.value_date, floor(extract(epoch FROM e.posted_at) * 1000)::bigint, e.ordinal,
      e.place, e.amount, coalesce(floor(extract(epoch FROM e.reversed_at) * 1000)::text, ''), coalesce(e.due_on::text, '')),
      ';' ORDER BY e.ordinal)
   FROM loan_entry e WHERE e.organization_id = l.organization_id AND e.loan_id = l.id)`

/** The columns that `toPortfolioLoan` takes. */
export const PORTFOLIO_COLUMNS = `${BARE_COLUMNS}, l.created_at, l.entry_count, ${PERIODS} AS periods, ${ENTRIES} AS entries`

/** A row of the statements that read loans of a portfolio. */
export interface PortfolioRow extends BareRow {
  readonly created_at: Instant
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
    DECLARE moving NO SCROLL CURSOR FOR SELECT ${PORTFOLIO_COLUMNS} FROM loan l ${join}
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
  createdAt: row.created_at,
  terms: { ...termsOf(row, zone), schedule: toSchedule(row.periods) },
  entries: row.entries === null ? [] : row.entries.split(';').map(toEntry),
})

function toEntry(text: string): Replayable {
  const [type, valueDate = '', postedAt, ordinal, place, amount = '', reversedAt, dueOn] = text.split(',')
  return {
    type: type as EntryType,
    valueDate,
    postedAt: Number(postedAt),
    ordinal: Number(ordinal),
    place: Number(place),
    amount: BigInt(amount),
    ...{ token: null, note: null, replaces: null },
    reversedAt: reversedAt ? Number(reversedAt) : null,
    dueOn: dueOn || null,
  }
}

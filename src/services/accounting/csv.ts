import type { AccountType, LedgerAccount } from '../../domain/accounting/chart.ts'
import type { ControlTotal } from '../../domain/accounting/hledger.ts'
import type { AccountAmount } from '../../domain/accounting/statements/incomeStatement.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import { currencyOf, minorToText } from '../../domain/money.ts'
import { columnsNamed, csvFile, csvHead, csvRows, othersText } from '../csv.ts'
import type { BooksOfCurrency, BooksOfDays } from './financialStatements.ts'
import type { Posting } from './postings.ts'
import type { TrialBalanceView } from './trialBalance.ts'

/** The columns of the file: a row for each line of a posting. */
const COLUMNS = [
  'posting',
  'sequence',
  'bookedOn',
  'valueDate',
  'late',
  'postedAt',
  'kind',
  'loanId',
  'transactionId',
  'account',
  'accountName',
  'currencyCode',
  'debit',
  'credit',
  'paymentId',
] as const

type CsvRow = Partial<Record<(typeof COLUMNS)[number], string>>

const columns = columnsNamed(COLUMNS)

/** Writes the names of the columns. */
export const journalHead = (): string => csvHead(columns)

/** Writes postings, a row for each line. Texts that a spreadsheet would run or change have an apostrophe before them. */
export const journalRows = (
  postings: readonly Posting[],
  accounts: ReadonlyMap<string, LedgerAccount>,
  zone: string,
): string =>
  csvRows(
    columns,
    postings.flatMap(({ lines, currency, ...posting }) =>
      lines.map(({ account, debit, credit }): CsvRow => {
        const { id, sequence, bookedOn, valueDate, late, postedAt, kind, loanId, transactionId, paymentId } = posting
        return {
          posting: String(id),
          sequence: String(sequence),
          bookedOn,
          valueDate,
          late: String(late),
          kind,
          postedAt: toRfc3339(postedAt, zone),
          loanId: othersText(loanId),
          transactionId: othersText(transactionId),
          account: othersText(account),
          accountName: othersText(accounts.get(account)?.name ?? ''),
          currencyCode: currency.code,
          debit: minorToText(debit, currency),
          credit: minorToText(credit, currency),
          paymentId: othersText(paymentId),
        }
      }),
    ),
  )

/** Writes the control totals, a row for each currency. */
export const journalEnd = (postings: number, totals: readonly ControlTotal[]): string =>
  csvRows(
    columns,
    totals.map(({ currency: code, debit, credit }): CsvRow => {
      const text = (amount: bigint) => minorToText(amount, currencyOf(code))
      return {
        posting: 'control totals',
        kind: `${postings} postings`,
        currencyCode: code,
        debit: text(debit),
        credit: text(credit),
      }
    }),
  )

const TRIAL_BALANCE = [
  'asOf',
  'basis',
  'currencyCode',
  'sequence',
  'row',
  'code',
  'name',
  'type',
  'debit',
  'credit',
  'balance',
] as const

/** Writes a trial balance: a row for each account, and one for their sums. */
export function trialBalanceCsv(view: TrialBalanceView): string {
  const { asOf, basis, currency, sequence, accounts, totalDebit, totalCredit } = view
  const text = (amount: bigint) => minorToText(amount, currency)
  const key = { asOf, basis, currencyCode: currency.code, sequence: othersText(sequence) }
  const rows = accounts.map(({ code, name, type, debit, credit, balance }) => ({
    ...key,
    row: 'account',
    code: othersText(code),
    name: othersText(name),
    type,
    debit: text(debit),
    credit: text(credit),
    balance: text(balance),
  }))
  const sums = { ...key, row: 'total', debit: text(totalDebit), credit: text(totalCredit) }
  return csvFile(columnsNamed(TRIAL_BALANCE), [...rows, sums])
}

/** A row of a financial statement: an account, or the sum of a type of accounts. */
export interface StatementRow {
  readonly row: 'account' | 'total'
  /** The type of the accounts; `result` for what is left of income after expenses. */
  readonly type: AccountType | 'result'
  /** Null in a row of a sum, as the name. */
  readonly code: string | null
  readonly name: string | null
  /** Minor units. */
  readonly amount: bigint
}

const rowsOf = (type: AccountType, lines: readonly AccountAmount[], total: bigint): StatementRow[] => [
  ...lines.map((line): StatementRow => ({ ...line, row: 'account', type })),
  totalRow(type, total),
]

const totalRow = (type: StatementRow['type'], amount: bigint): StatementRow => ({
  row: 'total',
  type,
  code: null,
  name: null,
  amount,
})

/** Returns the rows of an income statement: each account, the sums, and the result. */
export const incomeRows = ({ incomeStatement: of }: Pick<BooksOfCurrency, 'incomeStatement'>): StatementRow[] => [
  ...rowsOf('income', of.income, of.totalIncome),
  ...rowsOf('expense', of.expenses, of.totalExpenses),
  totalRow('result', of.result),
]

/** Returns the rows of a balance sheet: each account, the sums, and the accumulated result. */
export const sheetRows = ({ balanceSheet: of }: Pick<BooksOfCurrency, 'balanceSheet'>): StatementRow[] => [
  ...rowsOf('asset', of.assets, of.totalAssets),
  ...rowsOf('liability', of.liabilities, of.totalLiabilities),
  ...rowsOf('equity', of.equity, of.totalEquity),
  totalRow('result', of.accumulatedResult),
]

const STATEMENT = ['basis', 'sequence', 'currencyCode', 'row', 'type', 'code', 'name', 'amount'] as const

const statementCells = (
  { basis, sequence, currencies }: BooksOfDays,
  toRows: (books: BooksOfCurrency) => readonly StatementRow[],
) =>
  currencies.flatMap((books) =>
    toRows(books).map(({ row, type, code, name, amount }) => ({
      basis,
      sequence: othersText(sequence),
      currencyCode: books.currency.code,
      row,
      type,
      code: othersText(code),
      name: othersText(name),
      amount: minorToText(amount, books.currency),
    })),
  )

/** Writes an income statement: a row for each account and sum of a currency. */
export const incomeStatementCsv = (books: BooksOfDays): string =>
  csvFile(
    columnsNamed(['from', 'to', ...STATEMENT]),
    statementCells(books, incomeRows).map((row) => ({ ...row, from: books.from, to: books.to })),
  )

/** Writes a balance sheet as of the last day of some books: a row for each account and sum of a currency. */
export const balanceSheetCsv = (books: BooksOfDays): string =>
  csvFile(
    columnsNamed(['asOf', ...STATEMENT]),
    statementCells(books, sheetRows).map((row) => ({ ...row, asOf: books.to })),
  )

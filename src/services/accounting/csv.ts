import type { LedgerAccount } from '../../domain/accounting/chart.ts'
import type { ControlTotal } from '../../domain/accounting/hledger.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import { currencyOf, minorToText } from '../../domain/money.ts'
import { columnsNamed, csvFile, csvHead, csvRows, othersText } from '../csv.ts'
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

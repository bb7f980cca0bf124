import { type AccountType, DEFAULT_CHART, isDebitType } from '../../../domain/accounting/chart.ts'
import { FIRST_CHART } from '../../../domain/accounting/chartsInForce.ts'
import {
  controlTotals,
  type Ledger,
  ledgerEnd,
  ledgerHead,
  ledgerNames,
  ledgerTransaction,
} from '../../../domain/accounting/hledger.ts'
import type { Turnovers } from '../../../domain/accounting/trialBalance.ts'
import { currencyOf } from '../../../domain/money.ts'
import { journalEnd, journalHead, journalRows } from '../../../services/accounting/csv.ts'
import type { Posting } from '../../../services/accounting/postings.ts'
import * as story from '../openapi/examples.ts'

const METHOD = { default: 'cash' as const, products: { '1': 'accrual_upfront' as const } }

const { accounts, slots } = DEFAULT_CHART

/** The chart that every lender begins with, but for the method of one product. */
export const newChart = {
  accounts: accounts.map((account) => ({ ...account })),
  slots: { ...slots },
  method: METHOD,
}

export const chart = { version: 2, inForce: true, countsFrom: null, ...newChart }

export const ledgerAccount = { code: '1100', name: 'Loans to customers', type: 'asset' as const }

const turnover = (debit: number, credit: number) => ({ debit, credit })

/** What the story has posted by the end of February: 100,000 lent on 31 January, and the interest repaid. */
const POSTED = new Map([
  ['1000', turnover(10_000, 100_000)],
  ['1100', turnover(100_000, 0)],
  ['4000', turnover(0, 10_000)],
])

const accountsPosted = newChart.accounts.map((one) => {
  const { debit, credit } = POSTED.get(one.code) ?? turnover(0, 0)
  return { ...one, debit, credit, balance: isDebitType(one.type) ? debit - credit : credit - debit }
})

export const account = accountsPosted.find(({ code }) => code === ledgerAccount.code)!

export const trialBalance = {
  asOf: '2026-02-28',
  basis: 'booked' as const,
  currencyCode: story.product.currencyCode,
  sequence: '4',
  accounts: accountsPosted,
  totalDebit: 110_000,
  totalCredit: 110_000,
}

/** Of each type the first two accounts: the trial balance shows all. */
const linesOf = (type: AccountType) =>
  accountsPosted
    .filter((one) => one.type === type)
    .slice(0, 2)
    .map(({ code, name, balance }) => ({ code, name, amount: balance }))

export const accountAmount = { code: '4000', name: 'Interest income', amount: 10_000 }

export const incomeStatement = {
  from: '2026-02-01',
  to: '2026-02-28',
  basis: 'booked' as const,
  currencies: [
    {
      currencyCode: story.product.currencyCode,
      income: linesOf('income'),
      expenses: linesOf('expense'),
      totalIncome: 10_000,
      totalExpenses: 0,
      result: 10_000,
    },
  ],
  sequence: trialBalance.sequence,
}

export const balanceSheet = {
  asOf: trialBalance.asOf,
  basis: 'booked' as const,
  currencies: [
    {
      currencyCode: story.product.currencyCode,
      assets: linesOf('asset'),
      liabilities: linesOf('liability'),
      equity: linesOf('equity'),
      totalAssets: 10_000,
      totalLiabilities: 0,
      totalEquity: 0,
      accumulatedResult: 10_000,
    },
  ],
  sequence: trialBalance.sequence,
}

const { repayment } = story

export const posting = {
  id: '2',
  sequence: '4',
  bookedOn: repayment.date,
  valueDate: repayment.date,
  late: false,
  postedAt: repayment.createdAt,
  kind: 'repayment' as const,
  loanId: story.newLoan.id,
  transactionId: repayment.id,
  currencyCode: story.product.currencyCode,
  lines: [
    { account: '1000', debit: 10_000, credit: 0 },
    { account: '4000', debit: 0, credit: 10_000 },
  ],
}

export const closedPeriod = {
  month: '2026-01',
  state: 'closed' as const,
  closeSequence: '4',
  // Of the disbursement alone, as docs/accounting.md shows it.
  trialBalanceHash: '186292ec351da45c037061f2a7bd3b07689acc2ee64ef700542383811b31ab63',
  closedAt: '2026-02-01T09:30:00.000+03:00',
}

const CURRENCY = currencyOf(posting.currencyCode)
const inMinor = ({ debit, credit }: { readonly debit: number; readonly credit: number }) => ({
  debit: BigInt(debit) * 100n,
  credit: BigInt(credit) * 100n,
})

const february: Ledger = {
  organizationId: 1,
  firstDay: '2026-02-01',
  charts: [FIRST_CHART],
  opening: turnoversIn([
    ['1000', turnover(0, 100_000)],
    ['1100', turnover(100_000, 0)],
  ]),
  closing: turnoversIn([...POSTED]),
}

function turnoversIn(accounts: readonly (readonly [code: string, sums: ReturnType<typeof turnover>])[]): Turnovers {
  return new Map([[CURRENCY.code, new Map(accounts.map(([code, sums]) => [code, inMinor(sums)]))]])
}

const stored: Posting = {
  ...posting,
  id: BigInt(posting.id),
  sequence: BigInt(posting.sequence),
  currency: CURRENCY,
  loanId: BigInt(posting.loanId),
  transactionId: BigInt(posting.transactionId),
  paymentId: null,
  postedAt: Date.parse(posting.postedAt),
  lines: posting.lines.map(({ account: code, ...sums }) => ({ account: code, ...inMinor(sums) })),
}

const totals = controlTotals(february.opening, february.closing)
const named = new Map(newChart.accounts.map((one) => [one.code, one]))

/** The files are written as the service writes them; without the byte order mark, which no reader would see. */
export const CSV = [
  journalHead().slice(1),
  journalRows([stored], named, 'Africa/Dar_es_Salaam'),
  journalEnd(1, totals),
].join('')

export const HLEDGER = [
  ledgerHead(february, [CURRENCY.code]),
  ledgerTransaction(stored, ledgerNames(february)),
  ledgerEnd(february, 1, totals),
].join('')

/** The first rows of a trial balance as CSV. */
export const TRIAL_BALANCE_CSV =
  'asOf,basis,currencyCode,sequence,row,code,name,type,debit,credit,balance\n2026-01-31,booked,TZS,1,account,1100,Loan portfolio,asset,100000.00,0.00,100000.00\n…\n'

/** The first rows of an income statement as CSV. */
export const INCOME_STATEMENT_CSV =
  'from,to,basis,sequence,currencyCode,row,type,code,name,amount\n2026-02-01,2026-02-28,booked,4,TZS,account,income,4000,Interest income,10000.00\n…\n'

/** The first rows of a balance sheet as CSV. */
export const BALANCE_SHEET_CSV =
  'asOf,basis,sequence,currencyCode,row,type,code,name,amount\n2026-02-28,booked,4,TZS,account,asset,1000,Cash and mobile money,-90000.00\n…\n'

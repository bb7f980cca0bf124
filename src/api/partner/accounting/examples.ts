import { DEFAULT_CHART } from '../../../domain/journal/chart.ts'
import * as story from '../document/examples.ts'

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

export const account = {
  ...ledgerAccount,
  ...{ debit: 100_000, credit: 9_000, balance: 91_000 },
}

export const trialBalance = {
  ...{ asOf: '2026-02-28', basis: 'booked' as const, currencyCode: story.product.currencyCode, sequence: '4' },
  accounts: [
    {
      ...{ code: '1000', name: 'Cash and mobile money', type: 'asset' as const },
      ...{ debit: 10_000, credit: 100_000, balance: -90_000 },
    },
    account,
    {
      ...{ code: '4000', name: 'Interest income', type: 'income' as const },
      ...{ debit: 0, credit: 1_000, balance: 1_000 },
    },
  ],
  totalDebit: 110_000,
  totalCredit: 110_000,
}

export const posting = {
  ...{ id: '2', sequence: '4', bookedOn: '2026-02-10', valueDate: '2026-02-10', late: false },
  ...{ postedAt: '2026-02-10T09:30:00.000+03:00', kind: 'repayment', loanId: story.customer.id },
  ...{ transactionId: story.customer.id, currencyCode: story.product.currencyCode },
  lines: [
    { account: '1000', debit: 10_000, credit: 0 },
    { account: '1100', debit: 0, credit: 9_000 },
    { account: '4000', debit: 0, credit: 1_000 },
  ],
}

export const closedPeriod = {
  ...{ month: '2026-01', state: 'closed' as const, closeSequence: '4' },
  trialBalanceHash: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  closedAt: '2026-02-01T09:30:00.000+03:00',
}

export const CSV = `posting,sequence,bookedOn,valueDate,late,postedAt,kind,loanId,transactionId,account,accountName,currencyCode,debit,credit
2,4,2026-02-10,2026-02-10,false,2026-02-10T09:30:00.000+03:00,repayment,'4000000000000001,'4000000000000001,1000,Cash and mobile money,TZS,10000.00,0.00
2,4,2026-02-10,2026-02-10,false,2026-02-10T09:30:00.000+03:00,repayment,'4000000000000001,'4000000000000001,1100,Loans to customers,TZS,0.00,10000.00
control totals,,,,,,1 postings,,,,,TZS,10000.00,10000.00
`

export const HLEDGER = `; The journal of 2026-02, organization 1
decimal-mark .
commodity 1000.00 TZS
account assets:1000 Cash and mobile money
account assets:1100 Loans to customers

2026-02-10 (2) repayment  ; loan:4000000000000001, transaction:4000000000000001, sequence:4, valueDate:2026-02-10
    assets:1000 Cash and mobile money  10000.00 TZS
    assets:1100 Loans to customers  -10000.00 TZS

2026-02-28 closing balances
    assets:1000 Cash and mobile money  0.00 TZS = 10000.00 TZS
    assets:1100 Loans to customers  0.00 TZS = -10000.00 TZS

; control totals
; postings 1
; debit 10000.00 TZS, credit 10000.00 TZS
`

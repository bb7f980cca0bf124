import { customer, instalment, newLoan, repayment } from '../openapi/examples.ts'

/** A code as it is printed. */
export const CODE = '7KD2-M9QX-4TZA-1B6C'

const head = {
  code: CODE,
  language: 'en',
  lender: { name: 'Demo Lender', licenceNumber: null },
  customer: { id: customer.id, externalId: customer.externalId, name: customer.displayName },
  loan: {
    id: newLoan.id,
    externalId: newLoan.externalId,
    accountNo: newLoan.accountNo,
    productName: newLoan.loanProductName,
    currencyCode: newLoan.currencyCode,
    principal: newLoan.principal,
    feesDeducted: 0,
    settled: 0,
    disbursedOn: '2026-01-31',
    dueDate: newLoan.dueDate,
    numberOfRepayments: newLoan.numberOfRepayments,
  },
}

const none = { principal: 0, interest: 0, fees: 0, penalty: 0, overpayment: 0 }

const repaid = {
  date: repayment.date,
  type: repayment.type,
  transactionId: repayment.id,
  idempotencyKey: repayment.idempotencyKey,
  paymentMethod: repayment.paymentMethod,
  status: 'posted',
  amount: repayment.amount,
  ...none,
  interest: repayment.interest,
  change: -repayment.amount,
  balance: 100_000,
}

/** Of the loan of the story, as it stands after its first repayment. */
export const statement = {
  ...head,
  from: '2026-01-31',
  to: '2026-02-10',
  status: 'Active',
  openingBalance: 0,
  charged: 110_000,
  credited: 10_000,
  closingBalance: 100_000,
  lines: [
    {
      date: '2026-01-31',
      type: 'Disbursement',
      amount: 100_000,
      ...none,
      principal: 100_000,
      change: 100_000,
      balance: 100_000,
    },
    {
      date: '2026-01-31',
      type: 'Scheduled Interest',
      amount: 10_000,
      ...none,
      interest: 10_000,
      change: 10_000,
      balance: 110_000,
    },
    repaid,
  ],
  principalOutstanding: 100_000,
  interestOutstanding: 0,
  feesOutstanding: 0,
  penaltyOutstanding: 0,
  totalOutstanding: 100_000,
  totalOverdue: 0,
  totalOverpaid: 0,
  nextDueDate: newLoan.nextDueDate,
  nextDueAmount: 100_000,
  instalments: [{ period: 1, dueDate: instalment.dueDate, due: 110_000, paid: 10_000, givenUp: 0, owed: 100_000 }],
}

export const receipt = { ...head, ...repaid, transactionAt: repayment.transactionAt }

export const verified = {
  code: CODE,
  kind: 'statement',
  current: true,
  loanId: newLoan.id,
  from: statement.from,
  to: statement.to,
  language: 'en',
  currencyCode: newLoan.currencyCode,
  amount: statement.closingBalance,
  reversed: false,
  lenderName: head.lender.name,
  customerName: head.customer.name,
  madeAt: repayment.transactionAt,
}

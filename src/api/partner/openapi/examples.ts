import type { EntryType } from '../../../domain/loan/entry.ts'
import { ADJUSTED_AMOUNT, transactionId } from './story.ts'

// What the document shows is one story, so that what is sent and what is answered belong together: a customer takes a
// loan of product 1 and repays 10,000; there it stands where it is read. Then 500 are refunded and 500 of the interest
// waived, each by both addresses; the repayment is adjusted to 150,000, 500 of the overpayment are paid out, and it is
// adjusted to 9,000. A fee of 1,500 is charged by both addresses, and reversed. In June the loan is charged off, 5,000 are
// recovered, and the rest is written off.

const FIRST = '4000000000000001'
const ACCOUNT_NO = '000000001'

export const customer = {
  id: FIRST,
  accountNo: ACCOUNT_NO,
  externalId: 'wallet-255700000001',
  status: 'Active' as const,
  active: true,
  officeId: '1',
  officeName: 'Head Office',
  firstname: 'wallet-255700000001',
  lastname: 'Customer',
  displayName: 'wallet-255700000001 Customer',
  activationDate: '2026-01-31',
  createdAt: '2026-01-31T09:30:00.000+03:00',
  updatedAt: '2026-01-31T09:30:00.000+03:00',
}

export const identity = {
  firstName: 'Asha',
  lastName: 'Mushi',
  dateOfBirth: '1990-05-17',
  gender: 'female' as const,
  nationality: 'TZ',
  idType: 'national_id' as const,
  idNumber: '19900517-12345-00001-23',
  phone: '+255 700 000 001',
  verification: { by: 'NIDA', on: '2026-01-30', result: 'verified' as const, reference: 'NV-4711' },
}

export const newConsent = {
  purpose: 'bureau' as const,
  channel: 'paper' as const,
  givenAt: '2026-01-30T16:00:00.000+03:00',
}

export const consent = {
  id: '1',
  customerId: customer.id,
  ...newConsent,
  createdAt: customer.createdAt,
  updatedAt: customer.createdAt,
}

export const withdrawal = { channel: 'call' as const }

export const withdrawnConsent = { ...consent, withdrawnAt: customer.createdAt, withdrawnBy: withdrawal.channel }

export const closedCustomer = {
  ...customer,
  status: 'Closed' as const,
  active: false,
  updatedAt: '2026-06-01T09:30:00.000+03:00',
}

export const product = {
  id: 1,
  name: 'Flat 10% monthly',
  currencyCode: 'TZS',
  minPrincipal: 1_000,
  maxPrincipal: 10_000_000,
  numberOfRepayments: 1,
  repaymentEvery: 1,
  repaymentFrequencyType: 'months' as const,
  interestRatePerPeriod: 10,
  enforceCreditLimit: false,
  active: true,
}

/** 10 % of 100,000 for one month: 10,000 of interest. */
export const instalment = {
  period: 1,
  fromDate: '2026-01-31',
  dueDate: '2026-02-28',
  principalDue: 100_000,
  interestDue: 10_000,
  feesDue: 0,
  penaltyDue: 0,
  totalDue: 110_000,
  principalPaid: 0,
  interestPaid: 0,
  totalPaid: 0,
  totalOutstanding: 110_000,
  principalBalance: 0,
  complete: false,
}

/** As it was disbursed. */
export const newLoan = {
  id: FIRST,
  accountNo: ACCOUNT_NO,
  externalId: 'order-2026-0001',
  customerId: customer.id,
  customerExternalId: customer.externalId,
  customerName: customer.displayName,
  loanProductId: product.id,
  loanProductName: product.name,
  status: 'Active' as const,
  principal: 100_000,
  currencyCode: product.currencyCode,
  numberOfRepayments: product.numberOfRepayments,
  interestRatePerPeriod: product.interestRatePerPeriod,
  principalPaid: 0,
  principalOutstanding: 100_000,
  interestCharged: 10_000,
  interestPaid: 0,
  interestWaived: 0,
  interestOutstanding: 10_000,
  feesCharged: 0,
  feesPaid: 0,
  feesOutstanding: 0,
  penaltyCharged: 0,
  penaltyPaid: 0,
  penaltyOutstanding: 0,
  totalPaid: 0,
  totalOutstanding: 110_000,
  totalOverpaid: 0,
  totalOverdue: 0,
  totalRecovered: 0,
  totalWrittenOff: 0,
  nextDueDate: '2026-02-28',
  nextDueAmount: 110_000,
  dueDate: '2026-02-28',
  dueDateTime: '2026-02-28T09:30:00.000+03:00',
  disbursedAt: '2026-01-31T09:30:00.000+03:00',
  overdue: false,
  daysOverdue: 0,
  chargedOff: false,
  createdAt: '2026-01-31T09:30:00.000+03:00',
  updatedAt: '2026-01-31T09:30:00.000+03:00',
  repaymentSchedule: [instalment],
}

/** A transaction of the loan, posted at half past nine on its value date by default. */
export const posted = <Type extends Exclude<EntryType, 'Recovery Repayment'>, Rest extends object>(
  ordinal: number,
  type: Type,
  date: string,
  rest: Rest,
) => ({
  id: transactionId(ordinal),
  loanId: newLoan.id,
  type,
  date,
  transactionAt: `${date}T09:30:00.000+03:00`,
  createdAt: `${date}T09:30:00.000+03:00`,
  updatedAt: `${date}T09:30:00.000+03:00`,
  status: 'posted' as const,
  ...rest,
})

const PAID_BY = 'Mobile Money'

const goodwill = { amount: 500, note: 'Goodwill' }

export const repayment = posted(1, 'Repayment', '2026-02-10', {
  amount: 10_000,
  interest: 10_000,
  paymentMethod: PAID_BY,
  idempotencyKey: 'wallet-tx-7781',
})

/** The same in a list of transactions. */
export const listedTransaction = {
  ...repayment,
  loanExternalId: newLoan.externalId,
  customerId: customer.id,
  customerExternalId: customer.externalId,
}

/** As lists hold it after the repayment. */
export const loanSummary = {
  ...newLoan,
  interestPaid: 10_000,
  interestOutstanding: 0,
  totalPaid: 10_000,
  totalOutstanding: 100_000,
  nextDueAmount: 100_000,
  updatedAt: repayment.updatedAt,
  repaymentSchedule: [{ ...instalment, interestPaid: 10_000, totalPaid: 10_000, totalOutstanding: 100_000 }],
}

export const delinquencyNow = { daysPastDue: 0, bucket: 'current', since: newLoan.disbursedAt.slice(0, 10) }

export const loan = { ...loanSummary, delinquency: delinquencyNow, repaymentHistory: [repayment] }

export const refund = posted(4, 'Refund', '2026-02-12', { ...goodwill, interest: 500, paymentMethod: PAID_BY })

export const waiver = posted(6, 'Waive Interest', '2026-02-12', { ...goodwill, interest: 500 })

/** More than the loan. */
export const adjusted = posted(8, 'Repayment', '2026-02-10', {
  transactionAt: '2026-02-14T09:30:00.000+03:00',
  createdAt: '2026-02-14T09:30:00.000+03:00',
  updatedAt: '2026-02-14T09:30:00.000+03:00',
  amount: ADJUSTED_AMOUNT,
  interest: 10_000,
  principal: 100_000,
  overpayment: 40_000,
  paymentMethod: PAID_BY,
})

export const paidOut = posted(9, 'Credit Balance Refund', '2026-02-20', {
  ...goodwill,
  overpayment: 500,
  paymentMethod: PAID_BY,
})

const unreachable = { note: 'Unreachable for 90 days' }

/** What was paid out of the overpayment is principal again, once the repayment is adjusted to 9,000. */
export const chargeOff = posted(28, 'Charge-off', '2026-06-01', {
  ...unreachable,
  amount: 102_000,
  interest: 1_000,
  principal: 101_000,
})

const { interest: __, principal: ___, ...withoutPortions } = chargeOff

/** A reversed transaction, which has no effect and so no portions. */
export const reversed = {
  ...withoutPortions,
  status: 'reversed' as const,
  updatedAt: '2026-06-01T09:30:00.000+03:00',
}

export const recovery = posted(31, 'Repayment', '2026-06-01', {
  recovery: true as const,
  paymentMethod: PAID_BY,
  amount: 5_000,
  interest: 1_000,
  principal: 4_000,
  note: 'Collected by the agency',
})

/** After 5,000 more were recovered. */
export const writeOff = posted(33, 'Write-off', '2026-06-01', {
  ...unreachable,
  amount: 92_000,
  principal: 92_000,
})

const standing = { status: 'Active', totalOverpaid: 0, totalWrittenOff: 0, chargedOffOn: null }

/** The first repayment in the audit trail: amounts in minor units. */
export const auditEntry = {
  id: '12',
  at: repayment.transactionAt,
  accountId: 1,
  requestId: 'caller:checkout-7781',
  action: repayment.type,
  entity: 'loan',
  entityId: loan.id,
  before: { ...standing, totalPaid: 0, totalOutstanding: 110_000_00 },
  after: {
    ...standing,
    totalPaid: 10_000_00,
    totalOutstanding: 100_000_00,
    posted: {
      id: Number(repayment.id),
      type: repayment.type,
      amount: 10_000_00,
      valueDate: repayment.date,
      note: null,
    },
  },
}

/** Of a customer who repaid such a loan, all but 500 of its interest. */
export const scorecard = {
  externalId: customer.externalId,
  customerId: customer.id,
  grade: 'C' as const,
  creditScore: 440,
  creditLimit: 100_000,
  availableCreditLimit: 100_000,
  totalOutstanding: 0,
  totalPaid: 109_500,
  currencyCode: product.currencyCode,
  reasons: [
    'raised by 100: 1 of 1 instalment paid by the due date',
    'raised by 25: 1 loan repaid in full',
    'raised by 15: the largest loan repaid was of 100,000 TZS',
  ],
  scoredAt: '2026-02-20T09:30:00.000+03:00',
}

/** Two whole months of the six that count in full: a third of 30 % of the average, rounded down to 1,000. */
export const boost = {
  externalId: customer.externalId,
  boostStatus: 'raised' as const,
  originalCreditLimit: scorecard.creditLimit,
  statementCreditLimit: 229_000,
  creditLimit: 229_000,
  creditScore: scorecard.creditScore,
  grade: scorecard.grade,
  nextBoostOn: '2026-03-22',
  statement: {
    layout: 'mpesa',
    from: '2025-12-01',
    to: '2026-01-31',
    months: 2,
    averageMonthlyInflow: 2_291_040.07,
    leastMonthlyInflow: 2_260_090,
    openingBalance: 85_000,
    closingBalance: 3_692_523.38,
    transactions: 190,
    monthly: [
      { from: '2026-01-01', to: '2026-01-31', inflow: 2_260_090, closingBalance: 3_692_523.38 },
      { from: '2025-12-01', to: '2025-12-31', inflow: 2_321_990.15, closingBalance: 1_918_731.93 },
    ],
    nameChecked: true,
    mobileNumberChecked: true,
    usedBefore: false,
  },
}

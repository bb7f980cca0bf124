import type { EntryType } from '../../../domain/loan/entry.ts'

// What the document shows is one story, so that what is sent and what is answered belong together: a customer takes a
// loan of product 1, gets 500 of its interest waived and repays 10,000; there it stands where it is read. Then that
// repayment is adjusted to 9,000, 500 are refunded, and 101,500 are 500 too much. A second loan is never repaid.

const FIRST = '4000000000000001'
const ACCOUNT_NO = '000000001'
const SECOND = '4000000000000002'

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
}

export const closedCustomer = { ...customer, status: 'Closed' as const, active: false }

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

/** 10 % of 100,000 for one month: 10,000 of interest. Of it 500 were waived, so that 500 of the repayment are principal. */
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
  repaymentSchedule: [instalment],
}

/** A transaction of the first loan, posted at half past nine on its value date by default. */
const posted = <Type extends Exclude<EntryType, 'Recovery Repayment'>, Rest extends object>(
  id: string,
  type: Type,
  date: string,
  rest: Rest,
) => ({
  id,
  loanId: newLoan.id,
  type,
  date,
  transactionAt: `${date}T09:30:00.000+03:00`,
  status: 'posted' as const,
  ...rest,
})

const PAID_BY = 'Mobile Money'

const goodwill = { amount: 500, note: 'Goodwill' }

export const waiver = posted(FIRST, 'Waive Interest', '2026-02-05', { ...goodwill, interest: 500 })

/** 9,500 of the interest are left, so that 500 of it are principal. */
export const repayment = posted(SECOND, 'Repayment', '2026-02-10', {
  amount: 10_000,
  interest: 9_500,
  principal: 500,
  paymentMethod: PAID_BY,
  idempotencyKey: 'wallet-tx-7781',
})

/** As lists hold it after the first repayment. */
export const loanSummary = {
  ...newLoan,
  principalPaid: 500,
  principalOutstanding: 99_500,
  interestPaid: 9_500,
  interestWaived: 500,
  interestOutstanding: 0,
  totalPaid: 10_000,
  totalOutstanding: 99_500,
  nextDueAmount: 99_500,
  repaymentSchedule: [
    { ...instalment, principalPaid: 500, interestPaid: 9_500, totalPaid: 10_000, totalOutstanding: 99_500 },
  ],
}

export const loan = { ...loanSummary, repaymentHistory: [repayment] }

export const adjusted = posted('4000000000000003', 'Repayment', '2026-02-10', {
  transactionAt: '2026-02-11T09:30:00.000+03:00',
  amount: 9_000,
  interest: 9_000,
  paymentMethod: PAID_BY,
})

export const refund = posted('4000000000000004', 'Refund', '2026-02-12', {
  ...goodwill,
  interest: 500,
  paymentMethod: PAID_BY,
})

/** Of the 101,500 of the repayment before it, the customer's last. */
export const paidOut = posted('4000000000000006', 'Credit Balance Refund', '2026-02-20', {
  ...goodwill,
  overpayment: 500,
  paymentMethod: PAID_BY,
})

const unreachable = { loanId: SECOND, note: 'Unreachable for 90 days' }

export const chargeOff = posted('4000000000000007', 'Charge-off', '2026-06-01', {
  ...unreachable,
  amount: 110_000,
  interest: 10_000,
  principal: 100_000,
})

export const recovery = posted('4000000000000008', 'Repayment', '2026-06-01', {
  recovery: true as const,
  paymentMethod: PAID_BY,
  loanId: SECOND,
  amount: 5_000,
  interest: 5_000,
  note: 'Collected by the agency',
})

export const writeOff = posted('4000000000000009', 'Write-off', '2026-06-01', {
  ...unreachable,
  amount: 105_000,
  interest: 5_000,
  principal: 100_000,
})

const { interest: __, principal: ___, ...withoutPortions } = writeOff

/** A reversed transaction, which has no effect and so no portions. */
export const reversed = { ...withoutPortions, status: 'reversed' as const }

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
  before: { ...standing, totalPaid: 0, totalOutstanding: 109_500_00 },
  after: {
    ...standing,
    totalPaid: 10_000_00,
    totalOutstanding: 99_500_00,
    posted: {
      id: 4_000_000_000_000_002,
      type: repayment.type,
      amount: 10_000_00,
      valueDate: repayment.date,
      note: null,
    },
  },
}

/** Once the loan is repaid. */
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

import { product } from '../openapi/examples.ts'

// The lender makes another product, and lends nothing of it. A quote is of product 1.

/** The fee of the product that is made. */
export const fee = {
  name: 'Processing',
  base: 'principal' as const,
  rate: 1.5,
  when: 'disbursement' as const,
  treatment: 'deducted' as const,
}

export const tax = { name: 'Excise duty', percent: 20 }

export const afterDue = { interest: 'runs_on' as const, maxDays: 31 }

export const firstDueAfter = { every: 45, unit: 'days' as const }

export const grace = { principalPeriods: 1, firstDueAfter }

export const penalty = {
  base: 'overdue_total' as const,
  rate: 1,
  every: 'week' as const,
  graceDays: 3,
  maxTimes: 10,
  capPercentOfPrincipal: 20,
  per: 'instalment' as const,
}

export const restructuring = { maxTimes: 2, minPaidPercent: 20, maxDaysAdded: 90 }

export const regulation = { maxRatePerMonth: 4 }

export const newProduct = {
  name: 'Declining 36% a year × 6',
  currencyCode: 'TZS',
  minPrincipal: 10_000,
  maxPrincipal: 5_000_000,
  numberOfRepayments: 6,
  repaymentEvery: 1,
  repaymentFrequencyType: 'months' as const,
  interestRate: 36,
  interestMethod: 'declining_equal_instalments' as const,
  ratePer: 'year' as const,
  dayCount: 'actual/365' as const,
  grace,
  fees: [fee],
  penalty,
  earlySettlement: 'interest_to_date' as const,
  totalChargeCap: 100,
  allocation: ['fees' as const, 'interest' as const, 'principal' as const, 'penalty' as const],
  regulation,
}

const { interestRate, interestMethod, ratePer, dayCount, earlySettlement, totalChargeCap, allocation, ...bounds } =
  newProduct

/** As it is made: the fifth product of the demonstration data. */
export const madeProduct = {
  id: 5,
  ...bounds,
  interestRatePerPeriod: 3,
  interestMethod,
  interestRate,
  ratePer,
  dayCount,
  grace,
  fees: [fee],
  penalty,
  earlySettlement,
  totalChargeCap,
  allocation,
  regulation,
  enforceCreditLimit: false,
  active: true,
}

/** The path of the product that is retired. */
export const RETIRED = { params: { id: String(madeProduct.id) } }

export const quoteLine = {
  period: 1,
  fromDate: '2026-01-31',
  dueDate: '2026-02-28',
  principalDue: 100_000,
  interestDue: 10_000,
  feesDue: 0,
  totalDue: 110_000,
  principalBalance: 0,
}

/** 10,000 for 28 days: 1.1 to the power of 365 / 28 is 3.464. */
export const quote = {
  productId: product.id,
  currencyCode: product.currencyCode,
  principal: 100_000,
  netDisbursed: 100_000,
  disbursedOn: '2026-01-31',
  totalInterest: 10_000,
  totalFees: 0,
  feesDeducted: 0,
  totalCostOfCredit: 10_000,
  totalDue: 110_000,
  apr: 246.4,
  repaymentSchedule: [quoteLine],
}

import { z } from 'zod'
import { displayName } from '../../domain/customer/customer.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import { type Period, totalOf } from '../../domain/loan/allocation.ts'
import { LOAN_STATUSES } from '../../domain/loan/lifecycle.ts'
import { type Currency, minorToNumber, rateToNumber } from '../../domain/money.ts'
import { LARGEST_ID } from '../../domain/product/smallId.ts'
import type { LoanNow } from '../../services/loans/loans.ts'
import { MOST_SHOWN, repaymentsOf } from '../../services/loans/transactions.ts'
import { amount, externalId, instant, money, newExternalId, pageQuery, queryId, smallInt } from '../wire.ts'
import { toAccountNo } from './customers.wire.ts'
import * as examples from './document/examples.ts'
import { named, pageOf } from './registry.ts'
import { toTransaction, transactionSchema } from './transactions.wire.ts'

export const newLoan = named(
  'NewLoan',
  z.strictObject({
    customerId: externalId.describe("The customer's externalId."),
    productId: smallInt({ min: 1, max: LARGEST_ID }).describe('The loan product; every other term comes from it.'),
    principal: amount.describe("Within the product's bounds, in its currency."),
    externalId: newExternalId.optional().describe("The partner's own id of the loan; unique."),
  }),
  {
    example: {
      customerId: examples.customer.externalId,
      productId: examples.newLoan.loanProductId,
      principal: examples.newLoan.principal,
      externalId: examples.newLoan.externalId,
    },
  },
)

const loanFilter = pageQuery.extend({
  customerExternalId: externalId.optional().describe('Only the loans of the customer with this externalId.'),
  customerId: queryId('customerExternalId').optional().describe('Only the loans of the customer with this number.'),
  status: z.enum(LOAN_STATUSES).optional(),
  orderBy: z.enum(['id', 'principal', 'disbursedAt']).optional().describe('Default: id.'),
  sortOrder: z.enum(['ASC', 'DESC', 'asc', 'desc']).optional().describe('Default: ASC.'),
})

export const loanQuery = loanFilter.transform(({ orderBy = 'id', sortOrder, ...rest }) => ({
  ...rest,
  orderBy,
  descending: sortOrder?.toUpperCase() === 'DESC',
}))

const periodSchema = named(
  'SchedulePeriod',
  z.object({
    period: z.int(),
    fromDate: z.iso.date(),
    dueDate: z.iso.date(),
    principalDue: money,
    interestDue: money,
    feesDue: money,
    penaltyDue: money,
    totalDue: money,
    principalPaid: money,
    interestPaid: money,
    totalPaid: money,
    totalOutstanding: money,
    principalBalance: money.describe('Principal still to fall due after this instalment.'),
    complete: z.boolean(),
    completedOn: z.iso.date().optional().describe('The value date that left nothing owed in it.'),
  }),
  { example: examples.instalment },
)

export const loanSummary = named(
  'LoanSummary',
  z.object({
    id: z.string(),
    accountNo: z.string().describe('A running number of your organization, padded with zeros to 9 digits.'),
    externalId: z.string().nullable(),
    customerId: z.string(),
    customerExternalId: z.string().nullable(),
    customerName: z.string(),
    loanProductId: z.int().nullable(),
    loanProductName: z.string().nullable(),
    status: z.enum(LOAN_STATUSES),
    principal: money,
    currencyCode: z.string(),
    numberOfRepayments: z.int(),
    interestRatePerPeriod: z.number().describe('Percent per period.'),
    principalPaid: money,
    principalOutstanding: money,
    interestCharged: money,
    interestPaid: money,
    interestWaived: money,
    interestOutstanding: money,
    feesCharged: money,
    feesPaid: money,
    feesOutstanding: money,
    penaltyCharged: money,
    penaltyPaid: money,
    penaltyOutstanding: money,
    totalPaid: money,
    totalOutstanding: money,
    totalOverpaid: money,
    totalOverdue: money,
    totalRecovered: money,
    totalWrittenOff: money,
    nextDueDate: z.iso.date().optional().describe('Absent once nothing is due.'),
    nextDueAmount: money.optional(),
    dueDate: z.iso.date(),
    dueDateTime: instant,
    disbursedAt: instant,
    overdue: z.boolean().describe('Whether any instalment is overdue, the last one or an earlier one.'),
    daysOverdue: z.int().describe('Days since the due date of the oldest instalment that is overdue.'),
    overdueSince: z.iso.date().optional().describe('The first day on which that instalment was overdue.'),
    chargedOff: z.boolean(),
    chargedOffOn: z.iso.date().optional(),
    closedOn: z.iso.date().optional(),
    repaymentSchedule: z.array(periodSchema),
  }),
  { example: examples.loanSummary },
)

export const loanSchema = named(
  'Loan',
  loanSummary.extend({
    repaymentHistory: z
      .array(transactionSchema)
      .describe(`Newest first, the latest ${MOST_SHOWN} at most; \`GET …/repayments\` lists all of them.`),
  }),
  { example: examples.loan },
)

export const loanPage = pageOf('LoanPage', loanSummary)

export type LoanSummaryView = z.infer<typeof loanSummary>
export type LoanView = z.infer<typeof loanSchema>

/** A loan with its history of repayments: the answer of a single read. */
export const toLoan = (now: LoanNow): LoanView => ({
  ...toLoanSummary(now),
  repaymentHistory: repaymentsOf(now).items.map(toTransaction),
})

/** A loan in a list. */
export function toLoanSummary({ loan, state }: LoanNow): LoanSummaryView {
  const { terms } = loan
  const { currency, zone } = terms
  const number = (minor: bigint) => minorToNumber(minor, currency)
  const { charged, paid, waived, outstanding } = state
  return {
    id: String(loan.id),
    accountNo: toAccountNo(loan.accountNo),
    externalId: loan.externalId,
    customerId: String(loan.customerId),
    customerExternalId: loan.customerExternalId,
    customerName: displayName({ externalId: loan.customerExternalId, businessName: loan.customerBusinessName }),
    loanProductId: loan.productId,
    loanProductName: loan.productName,
    status: state.status,
    principal: number(terms.principal),
    currencyCode: currency.code,
    numberOfRepayments: terms.numberOfRepayments,
    interestRatePerPeriod: rateToNumber(terms.ratePerPeriod),
    principalPaid: number(paid.principal),
    principalOutstanding: number(outstanding.principal),
    interestCharged: number(charged.interest),
    interestPaid: number(paid.interest),
    interestWaived: number(waived.interest),
    interestOutstanding: number(outstanding.interest),
    feesCharged: number(charged.fees),
    feesPaid: number(paid.fees),
    feesOutstanding: number(outstanding.fees),
    penaltyCharged: number(charged.penalty),
    penaltyPaid: number(paid.penalty),
    penaltyOutstanding: number(outstanding.penalty),
    totalPaid: number(state.totalPaid),
    totalOutstanding: number(state.totalOutstanding),
    totalOverpaid: number(state.totalOverpaid),
    totalOverdue: number(state.totalOverdue),
    totalRecovered: number(state.totalRecovered),
    totalWrittenOff: number(state.totalWrittenOff),
    ...(state.nextDueOn === null || state.nextDueAmount === null
      ? {}
      : { nextDueDate: state.nextDueOn, nextDueAmount: number(state.nextDueAmount) }),
    dueDate: terms.dueOn,
    dueDateTime: toRfc3339(terms.dueAt, zone),
    disbursedAt: toRfc3339(terms.disbursedAt, zone),
    overdue: state.overdueSince !== null,
    daysOverdue: state.daysOverdue,
    ...(state.overdueSince === null ? {} : { overdueSince: state.overdueSince }),
    chargedOff: state.chargedOffOn !== null,
    ...(state.chargedOffOn === null ? {} : { chargedOffOn: state.chargedOffOn }),
    ...(state.closedOn === null ? {} : { closedOn: state.closedOn }),
    repaymentSchedule: toSchedule(state.periods, currency),
  }
}

/** Builds the schedule with the payments on it; `principalBalance` falls from line to line to 0. */
function toSchedule(periods: readonly Period[], currency: Currency) {
  const number = (minor: bigint) => minorToNumber(minor, currency)
  let balance = periods.reduce((total, { due }) => total + due.principal, 0n)
  return periods.map((period) => {
    const { due, paid, owed } = period
    balance -= due.principal
    return {
      period: period.period,
      fromDate: period.fromDate,
      dueDate: period.dueDate,
      principalDue: number(due.principal),
      interestDue: number(due.interest),
      feesDue: number(due.fees),
      penaltyDue: number(due.penalty),
      totalDue: number(totalOf(due)),
      principalPaid: number(paid.principal),
      interestPaid: number(paid.interest),
      totalPaid: number(totalOf(paid)),
      totalOutstanding: number(owed),
      principalBalance: number(balance),
      complete: owed === 0n,
      ...(period.completedOn === null ? {} : { completedOn: period.completedOn }),
    }
  })
}

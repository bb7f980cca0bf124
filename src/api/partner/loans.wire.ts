import { z } from 'zod'
import { displayName } from '../../domain/customer/customer.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import type { Period } from '../../domain/loan/allocation.ts'
import type { Balances, Recognition } from '../../domain/loan/balances.ts'
import { LOAN_STATUSES } from '../../domain/loan/lifecycle.ts'
import { totalOf } from '../../domain/loan/portions.ts'
import { type ChargedTax, chargedTaxes } from '../../domain/loan/rules/chargedTaxes.ts'
import { type SettledLoan, USUAL_RULES } from '../../domain/loan/rules/loanRules.ts'
import { paidOutOf } from '../../domain/loan/rules/topUp.ts'
import { dueInForce, type HeadTerms } from '../../domain/loan/terms/terms.ts'
import { type Currency, minorToNumber, rateToNumber } from '../../domain/money.ts'
import type { LoanWithDelinquency } from '../../services/delinquency/loanDelinquency.ts'
import { type LoanNow, MOST_SETTLED } from '../../services/loans/loans.ts'
import { latestRepayments, MOST_SHOWN } from '../../services/loans/transactions.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import { count, percent } from '../openapi/answers.ts'
import { amount, externalId, instant, money, newExternalId, smallInt } from '../wire.ts'
import { toAccountNo } from './customers.wire.ts'
import { delinquencyNowSchema, toDelinquencyNow } from './delinquency/delinquency.wire.ts'
import * as examples from './openapi/examples.ts'
import { named } from './registry.ts'
import { toTransaction, transactionSchema } from './transactions.wire.ts'

export const createLoanRequest = named(
  'CreateLoanRequest',
  z.strictObject({
    customerId: externalId.describe("The customer's externalId."),
    productId: smallInt({ min: 1, max: LARGEST_INT32 }).describe('The loan product; every other term comes from it.'),
    principal: amount.describe("Within the product's bounds, in its currency."),
    externalId: newExternalId.optional().describe("The partner's own id of the loan; unique."),
    settles: z
      .array(externalId)
      .min(1)
      .max(MOST_SETTLED)
      .optional()
      .describe(
        'A top-up: the externalIds of Active loans of the same customer, which are paid off out of the principal, all of them or none, with the loan.',
      ),
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

const periodSchema = named(
  'SchedulePeriod',
  z.object({
    period: count.describe('The number of the instalment, from 1.'),
    fromDate: z.iso.date().describe('The due date of the instalment before, or the day of disbursement.'),
    dueDate: z.iso.date().describe('The day by which it has to be paid. It is overdue from 00:00 of the next day.'),
    principalDue: money.describe('The principal of this instalment, as it was agreed.'),
    interestDue: money.describe('The interest of this instalment, as it was agreed.'),
    feesDue: money,
    penaltyDue: money.describe('Late penalties, and single ones that are due with this instalment.'),
    totalDue: money.describe('Principal, interest, fees and penalty of this instalment, paid or not.'),
    principalPaid: money,
    interestPaid: money.describe('The interest that was paid. What was waived is not in it.'),
    totalPaid: money.describe('What was paid of this instalment, fees and penalty included.'),
    totalOutstanding: money.describe('What is still owed of this instalment: due less paid, waived and written off.'),
    principalBalance: money.describe(
      'The principal of all later instalments, as it was agreed; 0 in the last one. Repayments do not change it.',
    ),
    complete: z.boolean().describe('Whether nothing is owed of it any more.'),
    completedOn: z.iso.date().optional().describe('The value date that left nothing owed in it.'),
  }),
  { example: examples.instalment },
)

const settledSchema = named(
  'SettledLoan',
  z.object({
    loanId: z.string().describe("The service's number of a loan that was paid off."),
    externalId: z.string(),
    amount: money.describe('What it took of the principal.'),
  }),
  { example: { loanId: '7', externalId: 'first-loan', amount: 40_000 } },
)

/** Tax in the charges of a loan, or of a document of one. */
export const taxSchema = named(
  'ChargedTax',
  z.object({ name: z.string(), amount: money.describe('The part of the charges that is this tax.') }),
  { example: { name: 'Excise duty', amount: 2_000 } },
)

/** Builds the taxes of a loan; no member where it has none. */
export const toTaxes = (taxes: readonly ChargedTax[], currency: Currency) =>
  taxes.length > 0 && { taxes: taxes.map(({ name, amount }) => ({ name, amount: minorToNumber(amount, currency) })) }

/** The members of a loan without its schedule and its history. */
export const loanFigures = z.object({
  id: z.string().describe("The service's number."),
  accountNo: z.string().describe('A running number of your organization, padded with zeros to 9 digits.'),
  externalId: z.string().nullable().describe('Your own id; null where none was given.'),
  customerId: z.string().describe("The service's number of the customer."),
  customerExternalId: z.string().nullable().describe('Null for a customer made by a record system.'),
  customerName: z.string().describe('As `displayName` of the customer.'),
  loanProductId: count.nullable().describe('Null for a loan booked by a record system.'),
  loanProductName: z.string().nullable().describe('Null for a loan booked by a record system.'),
  status: z.enum(LOAN_STATUSES).describe('What its transactions have made of the loan.'),
  principal: money.describe('The amount that was lent.'),
  currencyCode: z.string().describe('ISO 4217, such as `TZS`: the currency of every amount of the loan.'),
  numberOfRepayments: count.describe(
    'Instalments that were agreed; `repaymentSchedule` may have more, for single charges and refunds.',
  ),
  interestRatePerPeriod: percent.describe('Percent for each instalment: 10 is 10%.'),
  principalPaid: money,
  principalOutstanding: money.describe('Principal that is owed, whether it is due yet or not.'),
  interestCharged: money.describe('The interest of the whole loan; fixed at disbursement.'),
  interestPaid: money,
  interestWaived: money.describe('Interest that the lender gave up, in settlements too.'),
  interestOutstanding: money.describe('Interest that is owed: charged less paid, waived and written off.'),
  feesCharged: money.describe('Fees of the schedule and single ones, paid or not. Deducted fees are not in it.'),
  feesPaid: money,
  feesOutstanding: money,
  penaltyCharged: money.describe(
    'Penalties that were raised, and single penalties that an operator charged, paid or not. The product says when they are raised: `penalty` or `penaltyPercentOfPrincipal`.',
  ),
  penaltyPaid: money,
  penaltyOutstanding: money,
  totalPaid: money.describe('What was paid of the loan, less what was refunded. Overpayment is not in it.'),
  totalOutstanding: money.describe('What is owed in all, whether it is due yet or not.'),
  totalOverpaid: money.describe('What was paid beyond the loan and not paid out yet.'),
  totalOverdue: money.describe('What is owed of the instalments whose due date has passed.'),
  totalRecovered: money.describe('What customers paid of what was written off.'),
  totalWrittenOff: money.describe('What was owed when the loan was written off.'),
  nextDueDate: z.iso
    .date()
    .optional()
    .describe(
      'The due date of the oldest instalment of which something is owed: in the past if it is overdue. Absent once nothing is owed.',
    ),
  nextDueAmount: money
    .optional()
    .describe('What is owed of that one instalment. Arrears of other instalments are not in it: see `totalOverdue`.'),
  dueDate: z.iso
    .date()
    .describe(
      'The last due date of the schedule in force. A single charge or a refund may have added an instalment that is due later: see `repaymentSchedule`.',
    ),
  dueDateTime: instant.describe('The last due date at the time of day of the disbursement.'),
  netDisbursed: money
    .optional()
    .describe(
      'The amount that was paid out, where fees were deducted from the principal or other loans were paid off.',
    ),
  feesDeducted: money.optional().describe('Fees that were kept back from the principal; they are in no instalment.'),
  taxes: z.array(taxSchema).optional().describe('The taxes in its interest and fees. Absent where it has none.'),
  interestAfterDue: money
    .optional()
    .describe(
      'The interest that was raised after the last due date; it is in `interestCharged`. Absent where none was.',
    ),
  settled: z
    .array(settledSchema)
    .optional()
    .describe('The loans that were paid off out of the principal. Absent where none was.'),
  disbursedAt: instant.describe('When the principal was paid out.'),
  overdue: z.boolean().describe('Whether any instalment is overdue, the last one or an earlier one.'),
  daysOverdue: count.describe(
    'Calendar days from the due date of the oldest instalment that is overdue to today: 1 on the day after. 0 where none is overdue.',
  ),
  overdueSince: z.iso.date().optional().describe('The first day on which that instalment was overdue.'),
  chargedOff: z.boolean().describe('Whether the lender has marked the loan as a probable loss. It is still owed.'),
  chargedOffOn: z.iso.date().optional().describe('The value date of the charge-off.'),
  closedOn: z.iso.date().optional().describe('The value date that paid the loan off, or wrote it off.'),
  createdAt: instant,
  updatedAt: instant.describe(
    'When a change of the loan was stored last: a transaction, an update of its terms, or what time has changed.',
  ),
})

export const loanSummary = named(
  'LoanSummary',
  loanFigures.extend({
    repaymentSchedule: z.array(periodSchema).describe('The instalments, the first one first.'),
  }),
  { example: examples.loanSummary },
)

export const loanSchema = named(
  'Loan',
  loanSummary.extend({
    delinquency: delinquencyNowSchema
      .optional()
      .describe('How late the loan is by your delinquency policy; absent once nothing is owed.'),
    repaymentHistory: z
      .array(transactionSchema)
      .describe(`Newest first, the latest ${MOST_SHOWN} at most; \`GET …/repayments\` lists all of them.`),
  }),
  { example: examples.loan },
)

export type LoanSummaryView = z.infer<typeof loanSummary>
export type LoanView = z.infer<typeof loanSchema>

/** A loan with its history of repayments: the answer of a single read. */
export const toLoan = ({ delinquency, ...now }: LoanWithDelinquency): LoanView => ({
  ...toLoanSummary(now),
  ...(delinquency && { delinquency: toDelinquencyNow(delinquency, now.loan.terms.currency) }),
  repaymentHistory: latestRepayments(now).map(toTransaction),
})

/** A loan in a list. */
export const toLoanSummary = ({ loan, state }: LoanNow): LoanSummaryView => ({
  ...toLoanFigures({ loan, productName: loan.productName, state }),
  repaymentSchedule: toSchedule(state.periods, loan.terms.currency),
})

/** A loan without its schedule, with the names of its customer and its product. */
interface FiguredLoan {
  readonly loan: Omit<LoanNow['loan'], 'terms' | 'entries' | 'productName'> & { readonly terms: HeadTerms }
  readonly productName: string | null
  readonly state: Omit<Balances, 'nextChangeAt' | 'penaltyOverdue' | keyof Recognition>
}

/** Builds a loan without its schedule. */
export function toLoanFigures({ loan, productName, state }: FiguredLoan): z.infer<typeof loanFigures> {
  const { terms } = loan
  const { currency, zone } = terms
  const number = (minor: bigint) => minorToNumber(minor, currency)
  const { charged, paid, waived, outstanding } = state
  const { deducted, settled } = terms.rules ?? USUAL_RULES
  const isPaidOutInFull = deducted === 0n && settled.length === 0
  const { dueOn, dueAt } = dueInForce(terms, state)
  return {
    id: String(loan.id),
    accountNo: toAccountNo(loan.accountNo),
    externalId: loan.externalId,
    customerId: String(loan.customerId),
    customerExternalId: loan.customerExternalId,
    customerName: displayName({ externalId: loan.customerExternalId, businessName: loan.customerBusinessName }),
    loanProductId: loan.productId,
    loanProductName: productName,
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
    dueDate: dueOn,
    dueDateTime: toRfc3339(dueAt, zone),
    ...(isPaidOutInFull ? {} : { netDisbursed: number(paidOutOf(terms)) }),
    ...(deducted === 0n ? {} : { feesDeducted: number(deducted) }),
    ...toTaxes(chargedTaxes(terms.rules, state.charged), currency),
    ...(state.interestAfterDue === 0n ? {} : { interestAfterDue: number(state.interestAfterDue) }),
    ...(settled.length === 0 ? {} : { settled: settled.map((one) => toSettled(one, currency)) }),
    disbursedAt: toRfc3339(terms.disbursedAt, zone),
    overdue: state.overdueSince !== null,
    daysOverdue: state.daysOverdue,
    ...(state.overdueSince === null ? {} : { overdueSince: state.overdueSince }),
    chargedOff: state.chargedOffOn !== null,
    ...(state.chargedOffOn === null ? {} : { chargedOffOn: state.chargedOffOn }),
    ...(state.closedOn === null ? {} : { closedOn: state.closedOn }),
    createdAt: toRfc3339(loan.createdAt, zone),
    updatedAt: toRfc3339(loan.updatedAt, zone),
  }
}

const toSettled = ({ loanId, externalId, amount }: SettledLoan, currency: Currency) => ({
  loanId: String(loanId),
  externalId,
  amount: minorToNumber(amount, currency),
})

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

import { z } from 'zod'
import { PERIOD_UNITS } from '../../../domain/dates.ts'
import { COMPONENTS } from '../../../domain/loan/portions.ts'
import { type Currency, currencyCodes, minorToNumber, rateToNumber } from '../../../domain/money.ts'
import type { NewProduct } from '../../../domain/product/newProduct.ts'
import type { Product } from '../../../domain/product/product.ts'
import {
  AFTER_DUE,
  EARLY_SETTLEMENTS,
  FEE_BASES,
  FEE_TIMES,
  FEE_TREATMENTS,
  type Fee,
  isUsualOrder,
  PENALTY_BASES,
  PENALTY_REPEATS,
  PENALTY_SCOPES,
  type PenaltyTerms,
  PRODUCT_DAY_COUNTS,
  PRODUCT_METHODS,
  type ProductTerms,
  RATE_PERIODS,
  type Tax,
} from '../../../domain/product/terms.ts'
import { MOST_INSTALMENTS } from '../../../domain/schedule/schedule.ts'
import { LARGEST_INT32 } from '../../../toolbox/integers.ts'
import { count, percent, word } from '../../openapi/answers.ts'
import { amount, money, smallInt, text } from '../../wire.ts'
import { product } from '../openapi/examples.ts'
import { named, pageOf } from '../registry.ts'
import * as examples from './examples.ts'
import { newProduct } from './examples.ts'
import { rate, rateAboveZero, termsOfRequest, within } from './newTerms.wire.ts'
import { newRestructuring, restructuring, toRestructuring } from './restructuring.wire.ts'

export const createProductRequest = named(
  'CreateLoanProductRequest',
  z.strictObject({
    id: smallInt({ min: 1, max: LARGEST_INT32 }).optional().describe('Its number. Default: the next one.'),
    name: text({ max: 100 }),
    currencyCode: z
      .enum(currencyCodes as [string, ...string[]])
      .optional()
      .describe("ISO 4217. Default: the organization's currency."),
    minPrincipal: amount.describe('The smallest principal of a new loan.'),
    maxPrincipal: amount.describe('The largest principal of a new loan.'),
    numberOfRepayments: smallInt({ min: 1, max: MOST_INSTALMENTS }).describe(
      'Instalments of a loan, which ends within a century.',
    ),
    repaymentEvery: smallInt({ min: 1, max: 3_650 })
      .optional()
      .describe('The distance of instalments, in units of `repaymentFrequencyType`. Default 1.'),
    repaymentFrequencyType: z.enum(PERIOD_UNITS).optional().describe('Default `months`.'),
    interestRate: rate.describe('Percent per `ratePer`: per period, unless that says otherwise.'),
    installmentAmountInMultiplesOf: amount
      .optional()
      .describe('Rounds principal and interest of each instalment but the last to a multiple of this amount.'),
    penaltyPercentOfPrincipal: rateAboveZero
      .optional()
      .describe('Raised once, at the last due time, when anything is unpaid then.'),
    enforceCreditLimit: z
      .boolean()
      .optional()
      .describe("True: a loan may not be above what is available of the customer's credit limit. Default false."),
    restructuring: within(newRestructuring)
      .optional()
      .describe('The bounds within which its loans may be restructured. Default: none.'),
    ...termsOfRequest,
  }),
  { example: newProduct },
)

const firstDueAfter = named('FirstDueAfter', z.object({ every: count, unit: z.enum(PERIOD_UNITS) }), {
  example: examples.firstDueAfter,
})

const grace = named(
  'Grace',
  z.object({
    principalPeriods: count.optional().describe('Left out: 0.'),
    interestPeriods: count.optional().describe('Left out: 0.'),
    firstDueAfter: firstDueAfter.optional(),
  }),
  { example: examples.grace },
)

const tax = named('Tax', z.object({ name: z.string(), percent: percent.describe('Of the charge.') }), {
  example: examples.tax,
})

const afterDue = named(
  'AfterDue',
  z.object({
    interest: word('Whether interest goes on after the last due date', AFTER_DUE),
    maxDays: count.describe('The days after the last due date on which it is raised.'),
  }),
  { example: examples.afterDue },
)

const fee = named(
  'Fee',
  z.object({
    name: z.string(),
    base: word('What the fee is a share of', FEE_BASES),
    rate: percent.optional().describe('Percent of the base.'),
    amount: money.optional().describe('Where the base is `fixed`.'),
    when: word('With which instalment it is due: the first, each, or the last', FEE_TIMES),
    treatment: word('Whether it is in the schedule, or was kept back from what was paid out', FEE_TREATMENTS),
    tax: tax.optional().describe('Added to the fee. Left out: none.'),
  }),
  { example: examples.fee },
)

const penalty = named(
  'Penalty',
  z.object({
    base: word('What a penalty is a share of', PENALTY_BASES),
    rate: percent.optional().describe('Percent of the base.'),
    amount: money.optional().describe('Where the base is `fixed`.'),
    every: word('How often it is raised', PENALTY_REPEATS),
    graceDays: count
      .optional()
      .describe('Days from the due date to the first penalty; 0 is the due date itself. Left out: 0.'),
    maxTimes: count
      .optional()
      .describe('How many penalties may be raised on the loan, or on each instalment. Left out: no limit.'),
    capPercentOfPrincipal: percent
      .optional()
      .describe('The largest sum of the penalties of a loan, in percent of its principal. Left out: no limit.'),
    per: word('Whether it follows the last due date of the loan, or that of each instalment', PENALTY_SCOPES),
  }),
  { example: examples.penalty },
)

const regulation = named('Regulation', z.object({ maxRatePerMonth: percent.optional() }), {
  example: examples.regulation,
})

/** The terms in the answer of a product that has any. */
const termsOfAnswer = {
  interestMethod: word('How interest is computed', PRODUCT_METHODS)
    .optional()
    .describe(
      'How interest is computed. This member and those up to `regulation` are in the answer of a product with terms beyond flat interest per period. Left out: `flat`.',
    ),
  interestRate: percent.optional().describe('Percent per `ratePer`.'),
  ratePer: word('What the rate is per', RATE_PERIODS).optional(),
  dayCount: word('How days become interest', PRODUCT_DAY_COUNTS).optional(),
  grace: grace.optional(),
  fees: z.array(fee).optional(),
  penalty: penalty.optional().describe('Left out: none, or the one-time penalty of `penaltyPercentOfPrincipal`.'),
  earlySettlement: word('The interest that a loan bears which is paid off early', EARLY_SETTLEMENTS)
    .optional()
    .describe('The interest that a loan bears which is paid off early. Left out: `full_interest`.'),
  afterDue: afterDue.optional().describe('Left out: no interest after the last due date.'),
  interestTax: tax.optional().describe('Added to all interest. Left out: none.'),
  totalChargeCap: percent
    .optional()
    .describe(
      'The most interest, fees and penalties of a loan together, in percent of its principal. Left out: no limit.',
    ),
  allocation: z
    .array(word('A component of an instalment', COMPONENTS))
    .optional()
    .describe(`The order in which money pays them. Left out: \`${COMPONENTS.join('`, `')}\`.`),
  regulation: regulation.optional(),
}

/** Reads the request for a product. */
export const toNewProduct = (body: z.output<typeof createProductRequest>): NewProduct => ({
  id: body.id,
  name: body.name,
  currency: body.currencyCode,
  principalMin: body.minPrincipal,
  principalMax: body.maxPrincipal,
  numberOfRepayments: body.numberOfRepayments,
  repayEvery: body.repaymentEvery ?? 1,
  repayUnit: body.repaymentFrequencyType ?? 'months',
  interestRate: body.interestRate,
  totalMultipleOf: body.installmentAmountInMultiplesOf,
  penaltyRate: body.penaltyPercentOfPrincipal,
  enforceCreditLimit: body.enforceCreditLimit,
  restructuring: body.restructuring,
  interestMethod: body.interestMethod,
  ratePer: body.ratePer,
  dayCount: body.dayCount,
  grace: body.grace,
  fees: body.fees,
  penalty: body.penalty,
  earlySettlement: body.earlySettlement,
  afterDue: body.afterDue,
  interestTax: body.interestTax,
  totalChargeCap: body.totalChargeCap,
  allocation: body.allocation,
  maxRatePerMonth: body.regulation?.maxRatePerMonth,
})

export const productSchema = named(
  'LoanProduct',
  z.object({
    id: count.describe('What `productId` of a new loan names.'),
    name: z.string(),
    currencyCode: z.string().describe('ISO 4217, such as `TZS`.'),
    minPrincipal: money.describe('The smallest principal of a new loan.'),
    maxPrincipal: money.describe('The largest principal of a new loan.'),
    numberOfRepayments: count.describe('Instalments of a loan.'),
    repaymentEvery: count.describe('The distance of instalments, in units of `repaymentFrequencyType`.'),
    repaymentFrequencyType: z.enum(PERIOD_UNITS),
    interestRatePerPeriod: percent.describe(
      'Percent for each instalment: 10 is 10%. Flat, of the principal, unless `interestMethod` says otherwise; of a product with terms, what its rate comes to.',
    ),
    ...termsOfAnswer,
    installmentAmountInMultiplesOf: money
      .optional()
      .describe('The total of each instalment but the last is rounded to a multiple of this amount.'),
    penaltyPercentOfPrincipal: percent
      .optional()
      .describe('Raised once, at the last due time, when anything is unpaid then.'),
    enforceCreditLimit: z
      .boolean()
      .describe("True: a loan may not be above what is available of the customer's credit limit."),
    restructuring: restructuring.optional().describe('Left out: no bounds.'),
    active: z.boolean().describe('False: takes no new loans.'),
  }),
  { example: product },
)

export const productPage = pageOf('LoanProductPage', productSchema, { total: 5, rowsPerPage: 1 })

/** Builds the partner style's view of a loan product. */
export const toProduct = (product: Product): z.infer<typeof productSchema> => ({
  id: product.id,
  name: product.name,
  currencyCode: product.currency.code,
  minPrincipal: minorToNumber(product.principalMin, product.currency),
  maxPrincipal: minorToNumber(product.principalMax, product.currency),
  numberOfRepayments: product.numberOfRepayments,
  repaymentEvery: product.repayEvery,
  repaymentFrequencyType: product.repayUnit,
  interestRatePerPeriod: rateToNumber(product.ratePerPeriod),
  ...toTerms(product),
  ...(product.totalMultipleOf === null
    ? {}
    : { installmentAmountInMultiplesOf: minorToNumber(product.totalMultipleOf, product.currency) }),
  ...(product.penaltyRate === null ? {} : { penaltyPercentOfPrincipal: rateToNumber(product.penaltyRate) }),
  enforceCreditLimit: product.enforceCreditLimit,
  ...(product.restructuring && { restructuring: toRestructuring(product.restructuring) }),
  active: !product.retired,
})

/** Builds the size of a charge. */
const sizeOf = ({ base, value }: Pick<Fee | PenaltyTerms, 'base' | 'value'>, currency: Currency) =>
  base === 'fixed' ? { amount: minorToNumber(value, currency) } : { rate: rateToNumber(value) }

const taxOf = ({ name, rate }: Tax) => ({ name, percent: rateToNumber(rate) })

const penaltyOf = (terms: PenaltyTerms, currency: Currency) => ({
  base: terms.base,
  ...sizeOf(terms, currency),
  every: terms.every,
  ...(terms.graceDays > 0 && { graceDays: terms.graceDays }),
  ...(terms.maxTimes !== null && { maxTimes: terms.maxTimes }),
  ...(terms.capOfPrincipal !== null && { capPercentOfPrincipal: rateToNumber(terms.capOfPrincipal) }),
  per: terms.per,
})

const graceOf = ({ principalGrace, interestGrace, firstDueAfter: first }: ProductTerms) => ({
  ...(principalGrace > 0 && { principalPeriods: principalGrace }),
  ...(interestGrace > 0 && { interestPeriods: interestGrace }),
  ...(first && { firstDueAfter: first }),
})

/** Builds the terms of a product's view; nothing for a product that has none. */
function toTerms({ terms, currency }: Product) {
  if (terms === null) return {}
  const { interestMethod, interestRate, ratePer, dayCount, earlySettlement, totalChargeCap, allocation } = terms
  const grace = graceOf(terms)
  return {
    interestMethod,
    interestRate: rateToNumber(interestRate),
    ratePer,
    dayCount,
    ...(Object.keys(grace).length > 0 && { grace }),
    ...(terms.fees.length > 0 && {
      fees: terms.fees.map((fee) => ({
        name: fee.name,
        base: fee.base,
        ...sizeOf(fee, currency),
        when: fee.when,
        treatment: fee.treatment,
        ...(fee.tax && { tax: taxOf(fee.tax) }),
      })),
    }),
    ...(terms.penalty && { penalty: penaltyOf(terms.penalty, currency) }),
    ...(earlySettlement !== 'full_interest' && { earlySettlement }),
    ...(terms.daysAfterDue !== null && { afterDue: { interest: 'runs_on' as const, maxDays: terms.daysAfterDue } }),
    ...(terms.interestTax && { interestTax: taxOf(terms.interestTax) }),
    ...(totalChargeCap !== null && { totalChargeCap: rateToNumber(totalChargeCap) }),
    ...(!isUsualOrder(allocation) && { allocation: [...allocation] }),
    ...(terms.maxRatePerMonth !== null && { regulation: { maxRatePerMonth: rateToNumber(terms.maxRatePerMonth) } }),
  }
}

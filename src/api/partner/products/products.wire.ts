import { z } from 'zod'
import { PERIOD_UNITS } from '../../../domain/dates.ts'
import { currencyCodes, minorToNumber, rateToNumber } from '../../../domain/money.ts'
import type { NewProduct } from '../../../domain/product/newProduct.ts'
import type { Product } from '../../../domain/product/product.ts'
import { LARGEST_ID } from '../../../domain/product/smallId.ts'
import { count, percent } from '../../document/answers.ts'
import { amount, money, smallInt, text } from '../../wire.ts'
import { product } from '../document/examples.ts'
import { named, pageOf } from '../registry.ts'
import { newProduct } from './examples.ts'
import { rate, rateAboveZero, termsOfRequest } from './newTerms.wire.ts'
import { termsOfAnswer, toTerms } from './terms.wire.ts'

export const createProductRequest = named(
  'CreateLoanProductRequest',
  z.strictObject({
    id: smallInt({ min: 1, max: LARGEST_ID }).optional().describe('Its number. Default: the next one.'),
    name: text({ max: 100 }),
    currencyCode: z
      .enum(currencyCodes as [string, ...string[]])
      .optional()
      .describe("ISO 4217. Default: the organization's currency."),
    minPrincipal: amount.describe('The smallest principal of a new loan.'),
    maxPrincipal: amount.describe('The largest principal of a new loan.'),
    numberOfRepayments: smallInt({ min: 1, max: 2_000 }).describe(
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
    ...termsOfRequest,
  }),
  { example: newProduct },
)

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
  interestMethod: body.interestMethod,
  ratePer: body.ratePer,
  dayCount: body.dayCount,
  grace: body.grace,
  fees: body.fees,
  penalty: body.penalty,
  earlySettlement: body.earlySettlement,
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
  active: !product.retired,
})

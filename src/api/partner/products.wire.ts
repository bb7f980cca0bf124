import { z } from 'zod'
import { PERIOD_UNITS } from '../../domain/dates.ts'
import { minorToNumber, rateToNumber } from '../../domain/money.ts'
import type { Product } from '../../domain/product/product.ts'
import { count, percent } from '../document/answers.ts'
import { money } from '../wire.ts'
import * as examples from './document/examples.ts'
import { named, pageOf } from './registry.ts'

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
      'Percent of the principal for each instalment: 10 is 10%. Flat: repayments do not make it less.',
    ),
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
  { example: examples.product },
)

export const productPage = pageOf('LoanProductPage', productSchema, { total: 4, rowsPerPage: 1 })

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
  ...(product.totalMultipleOf === null
    ? {}
    : { installmentAmountInMultiplesOf: minorToNumber(product.totalMultipleOf, product.currency) }),
  ...(product.penaltyRate === null ? {} : { penaltyPercentOfPrincipal: rateToNumber(product.penaltyRate) }),
  enforceCreditLimit: product.enforceCreditLimit,
  active: !product.retired,
})

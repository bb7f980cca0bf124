import { z } from 'zod'
import { PERIOD_UNITS } from '../../domain/dates.ts'
import { minorToNumber, rateToNumber } from '../../domain/money.ts'
import type { Product } from '../../domain/product/product.ts'
import { money } from '../wire.ts'
import * as examples from './document/examples.ts'
import { named, pageOf } from './registry.ts'

export const productSchema = named(
  'LoanProduct',
  z.object({
    id: z.int(),
    name: z.string(),
    currencyCode: z.string(),
    minPrincipal: money,
    maxPrincipal: money,
    numberOfRepayments: z.int(),
    repaymentEvery: z.int(),
    repaymentFrequencyType: z.enum(PERIOD_UNITS),
    interestRatePerPeriod: z.number().describe('Flat, percent per period.'),
    installmentAmountInMultiplesOf: money.optional(),
    penaltyPercentOfPrincipal: z
      .number()
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

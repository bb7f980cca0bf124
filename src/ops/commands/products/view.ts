import { type Currency, minorToText, rateToNumber } from '../../../domain/money.ts'
import type { Product } from '../../../domain/product/product.ts'
import type { ProductTerms } from '../../../domain/product/terms.ts'

/** Builds the view of a product; `terms` is there where it has any beyond flat interest per period. */
export const viewOf = (product: Product) => ({
  id: product.id,
  name: product.name,
  currency: product.currency.code,
  min: minorToText(product.principalMin, product.currency),
  max: minorToText(product.principalMax, product.currency),
  instalments: product.numberOfRepayments,
  every: product.repayEvery,
  unit: product.repayUnit,
  rate: rateToNumber(product.ratePerPeriod),
  multipleOf: product.totalMultipleOf === null ? null : minorToText(product.totalMultipleOf, product.currency),
  penalty: product.penaltyRate === null ? null : rateToNumber(product.penaltyRate),
  enforceCreditLimit: product.enforceCreditLimit,
  retired: product.retired,
  ...(product.terms !== null && { terms: termsOf(product.terms, product.currency) }),
})

const termsOf = (terms: ProductTerms, currency: Currency) => ({
  ...terms,
  interestRate: rateToNumber(terms.interestRate),
  maxRatePerMonth: terms.maxRatePerMonth === null ? null : rateToNumber(terms.maxRatePerMonth),
  fees: terms.fees.map(({ name, base, value, when }) => ({
    ...{ name, base, when },
    ...(base === 'fixed' ? { amount: minorToText(value, currency) } : { rate: rateToNumber(value) }),
  })),
})

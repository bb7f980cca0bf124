import { PERIOD_UNITS } from '../dates.ts'
import { invariant } from '../errors.ts'
import {
  FEE_BASES,
  FEE_TIMES,
  type Fee,
  PRODUCT_DAY_COUNTS,
  PRODUCT_METHODS,
  type ProductTerms,
  RATE_PERIODS,
} from './terms.ts'

/** A fee as it is stored: its value in digits, which JSON keeps exactly. */
type StoredFee = Omit<Fee, 'value'> & { readonly value: string }

/** Terms as they are stored and as the audit trail has them: rates in millionths of a percent, in digits. */
export type StoredTerms = Omit<ProductTerms, 'interestRate' | 'maxRatePerMonth' | 'fees'> & {
  readonly interestRate: string
  readonly maxRatePerMonth: string | null
  readonly fees: readonly StoredFee[]
}

/** Returns terms in the form in which they are stored. */
export const toStoredTerms = (terms: ProductTerms): StoredTerms => ({
  ...terms,
  interestRate: terms.interestRate.toString(),
  maxRatePerMonth: terms.maxRatePerMonth?.toString() ?? null,
  fees: terms.fees.map((fee) => ({ ...fee, value: fee.value.toString() })),
})

/** Returns the terms of their stored form. @throws InvariantError for a value that `toStoredTerms` did not make */
export function fromStoredTerms(stored: unknown): ProductTerms | null {
  if (stored === null || stored === undefined) return null
  const terms = stored as StoredTerms
  const { firstDueAfter } = terms
  invariant(
    PRODUCT_METHODS.includes(terms.interestMethod) &&
      RATE_PERIODS.includes(terms.ratePer) &&
      PRODUCT_DAY_COUNTS.includes(terms.dayCount) &&
      [terms.principalGrace, terms.interestGrace].every(isCount) &&
      (firstDueAfter === null || (isCount(firstDueAfter.every) && PERIOD_UNITS.includes(firstDueAfter.unit))) &&
      Array.isArray(terms.fees) &&
      terms.fees.every(({ base, when }) => FEE_BASES.includes(base) && FEE_TIMES.includes(when)),
    'stored terms with a method, a rate, grace and fees',
  )
  return {
    interestMethod: terms.interestMethod,
    interestRate: digits(terms.interestRate),
    ratePer: terms.ratePer,
    dayCount: terms.dayCount,
    principalGrace: terms.principalGrace,
    interestGrace: terms.interestGrace,
    firstDueAfter,
    fees: terms.fees.map(({ name, base, value, when }) => ({ name, base, value: digits(value), when })),
    maxRatePerMonth: terms.maxRatePerMonth === null ? null : digits(terms.maxRatePerMonth),
  }
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0

function digits(text: unknown): bigint {
  invariant(typeof text === 'string' && /^\d{1,19}$/.test(text), 'a number in digits')
  return BigInt(text)
}

import { PERIOD_UNITS } from '../dates.ts'
import { invariant } from '../errors.ts'
import { COMPONENTS } from '../loan/portions.ts'
import {
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
} from './terms.ts'

/** A tax as it is stored: its rate in digits, which JSON keeps exactly. */
export type StoredTax = Omit<Tax, 'rate'> & { readonly rate: string }

/** A fee as it is stored: its value in digits, which JSON keeps exactly; without its treatment where it is `added`. */
type StoredFee = Omit<Fee, 'value' | 'treatment' | 'tax'> &
  Partial<Pick<Fee, 'treatment'>> & { readonly value: string; readonly tax?: StoredTax }

/** Penalties as they are stored: the value and the cap in digits. */
type StoredPenalty = Omit<PenaltyTerms, 'value' | 'capOfPrincipal'> & {
  readonly value: string
  readonly capOfPrincipal: string | null
}

/**
 * Terms as they are stored and as the audit trail has them: rates in millionths of a percent, in digits. The members after
 * `fees` are left out where they are as in contract 4.3, as in the rows of an earlier version.
 */
export type StoredTerms = Pick<
  ProductTerms,
  'interestMethod' | 'ratePer' | 'dayCount' | 'principalGrace' | 'interestGrace' | 'firstDueAfter'
> &
  Partial<Pick<ProductTerms, 'earlySettlement' | 'allocation'>> & {
    readonly interestRate: string
    readonly maxRatePerMonth: string | null
    readonly fees: readonly StoredFee[]
    readonly penalty?: StoredPenalty
    readonly totalChargeCap?: string
    readonly daysAfterDue?: number
    readonly interestTax?: StoredTax
  }

/** Returns terms in the form in which they are stored. */
export const toStoredTerms = (terms: ProductTerms): StoredTerms => ({
  interestMethod: terms.interestMethod,
  interestRate: terms.interestRate.toString(),
  ratePer: terms.ratePer,
  dayCount: terms.dayCount,
  principalGrace: terms.principalGrace,
  interestGrace: terms.interestGrace,
  firstDueAfter: terms.firstDueAfter,
  fees: terms.fees.map(({ name, base, value, when, treatment, tax }) => ({
    name,
    base,
    value: value.toString(),
    when,
    ...(treatment === 'deducted' && { treatment }),
    ...(tax && { tax: toStoredTax(tax) }),
  })),
  maxRatePerMonth: terms.maxRatePerMonth?.toString() ?? null,
  ...(terms.penalty && { penalty: toStoredPenalty(terms.penalty) }),
  ...(terms.earlySettlement !== 'full_interest' && { earlySettlement: terms.earlySettlement }),
  ...(terms.totalChargeCap !== null && { totalChargeCap: terms.totalChargeCap.toString() }),
  ...(!isUsualOrder(terms.allocation) && { allocation: terms.allocation }),
  ...(terms.daysAfterDue !== null && { daysAfterDue: terms.daysAfterDue }),
  ...(terms.interestTax && { interestTax: toStoredTax(terms.interestTax) }),
})

/** Returns a tax in the form in which it is stored. */
export const toStoredTax = ({ name, rate }: Tax): StoredTax => ({ name, rate: rate.toString() })

/** Returns the tax of its stored form; null where there is none. @throws InvariantError for a value that `toStoredTax` did not make */
export function fromStoredTax(stored: StoredTax | null | undefined): Tax | null {
  if (stored === null || stored === undefined) return null
  invariant(typeof stored.name === 'string', 'a stored tax with a name')
  return { name: stored.name, rate: digits(stored.rate) }
}

const toStoredPenalty = (penalty: PenaltyTerms): StoredPenalty => ({
  ...penalty,
  value: penalty.value.toString(),
  capOfPrincipal: penalty.capOfPrincipal?.toString() ?? null,
})

/** Returns the terms of their stored form. @throws InvariantError for a value that `toStoredTerms` did not make */
export function fromStoredTerms(stored: unknown): ProductTerms | null {
  if (stored === null || stored === undefined) return null
  const terms = stored as StoredTerms
  const { firstDueAfter, earlySettlement = 'full_interest', allocation = COMPONENTS, daysAfterDue = null } = terms
  invariant(
    PRODUCT_METHODS.includes(terms.interestMethod) &&
      RATE_PERIODS.includes(terms.ratePer) &&
      PRODUCT_DAY_COUNTS.includes(terms.dayCount) &&
      [terms.principalGrace, terms.interestGrace].every(isCount) &&
      (firstDueAfter === null || (isCount(firstDueAfter.every) && PERIOD_UNITS.includes(firstDueAfter.unit))) &&
      Array.isArray(terms.fees) &&
      terms.fees.every(isStoredFee) &&
      EARLY_SETTLEMENTS.includes(earlySettlement) &&
      (daysAfterDue === null || isCount(daysAfterDue)) &&
      Array.isArray(allocation) &&
      COMPONENTS.every((one) => allocation.includes(one)),
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
    fees: terms.fees.map(({ name, base, value, when, treatment = 'added', tax }) => ({
      name,
      base,
      value: digits(value),
      when,
      treatment,
      tax: fromStoredTax(tax),
    })),
    penalty: terms.penalty ? fromStoredPenalty(terms.penalty) : null,
    earlySettlement,
    daysAfterDue,
    interestTax: fromStoredTax(terms.interestTax),
    totalChargeCap: terms.totalChargeCap === undefined ? null : digits(terms.totalChargeCap),
    allocation,
    maxRatePerMonth: terms.maxRatePerMonth === null ? null : digits(terms.maxRatePerMonth),
  }
}

const isStoredFee = ({ base, when, treatment = 'added' }: StoredFee): boolean =>
  FEE_BASES.includes(base) && FEE_TIMES.includes(when) && FEE_TREATMENTS.includes(treatment)

function fromStoredPenalty(stored: StoredPenalty): PenaltyTerms {
  const { base, value, every, graceDays, maxTimes, capOfPrincipal, per } = stored
  invariant(
    PENALTY_BASES.includes(base) &&
      PENALTY_REPEATS.includes(every) &&
      PENALTY_SCOPES.includes(per) &&
      isCount(graceDays) &&
      (maxTimes === null || isCount(maxTimes)),
    'stored penalties with a base and a time',
  )
  const cap = capOfPrincipal === null ? null : digits(capOfPrincipal)
  return { base, value: digits(value), every, graceDays, maxTimes, capOfPrincipal: cap, per }
}

/** Returns whether a stored value is a whole number from 0 on. */
export const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0

/** Reads a number that is stored in digits, which JSON keeps exactly. @throws InvariantError for anything else */
export function digits(text: unknown): bigint {
  invariant(typeof text === 'string' && /^\d{1,19}$/.test(text), 'a number in digits')
  return BigInt(text)
}

import { type Currency, minorToText, type Rate, rateToNumber } from '../../../domain/money.ts'
import type { Product } from '../../../domain/product/product.ts'
import type { Fee, PenaltyTerms, ProductTerms } from '../../../domain/product/terms.ts'

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
  ...(product.terms !== null && { terms: viewOfTerms(product.terms, product.currency) }),
})

const viewOfTerms = (terms: ProductTerms, currency: Currency) => ({
  ...terms,
  interestRate: rateToNumber(terms.interestRate),
  maxRatePerMonth: percentOrNull(terms.maxRatePerMonth),
  fees: terms.fees.map(({ name, when, treatment, ...size }) => ({
    name,
    base: size.base,
    when,
    treatment,
    ...viewOfSize(size, currency),
  })),
  penalty: terms.penalty && viewOfPenalty(terms.penalty, currency),
  totalChargeCap: percentOrNull(terms.totalChargeCap),
})

const viewOfPenalty = ({ value, capOfPrincipal, ...rest }: PenaltyTerms, currency: Currency) => ({
  ...rest,
  ...viewOfSize({ base: rest.base, value }, currency),
  capPercentOfPrincipal: percentOrNull(capOfPrincipal),
})

const percentOrNull = (rate: Rate | null): number | null => (rate === null ? null : rateToNumber(rate))

const viewOfSize = (
  { base, value }: Pick<Fee | PenaltyTerms, 'base' | 'value'>,
  currency: Currency,
): { readonly amount?: string; readonly rate?: number } =>
  base === 'fixed' ? { amount: minorToText(value, currency) } : { rate: rateToNumber(value) }

/** Returns the name of a fee for people, with a mark where the fee is deducted. */
export const feeInWords = ({ name, treatment }: Pick<Fee, 'name' | 'treatment'>): string =>
  treatment === 'deducted' ? `${name} (deducted)` : name

/** Returns the penalties of a product for people: `1 % of overdue_total, every week, per loan, after 3 days`. */
export function penaltyInWords({ penalty: single, terms }: ReturnType<typeof viewOf>): string {
  if (single !== null) return `${single} %`
  const penalty = terms?.penalty
  if (!penalty) return ''
  const { base, amount, rate, every, per, graceDays, maxTimes, capPercentOfPrincipal: cap } = penalty
  const parts = [
    amount ?? `${rate} % of ${base}`,
    every === 'once' ? every : `every ${every}`,
    `per ${per}`,
    graceDays === 0 ? '' : `after ${graceDays} days`,
    maxTimes === null ? '' : `at most ${maxTimes} times`,
    cap === null ? '' : `at most ${cap} % of principal`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

import { LendingError } from '../errors.ts'
import { toStoredRules } from '../loan/rules/storedRules.ts'
import { type LoanTerms, termsFor } from '../loan/terms.ts'
import { type Currency, minorToText, parseDecimal } from '../money.ts'
import type { Product } from '../product/product.ts'
import type { LoanRecord } from '../recordStyle/loanRecord.ts'
import { agree, type LoanRequest } from '../recordStyle/recordLoan.ts'

/** The fields of a loan that take part in the computation of its terms. */
export interface AgreedLoan {
  readonly productId: number | null
  readonly record: LoanRecord | null
  readonly terms: LoanTerms
}

/** The stored facts from which a loan's terms follow. */
export interface Grounds {
  /** The loan's product; undefined where it does not exist or is damaged. */
  readonly product: Product | undefined
  /** The organization's currency; undefined where the organization does not exist or is damaged. */
  readonly currency: Currency | undefined
}

/**
 * Computes a loan's terms again from its product, or from what the record system sent, and the principal, the moment of
 * disbursement and, of a basic loan, the due date of the loan itself.
 * @returns a sentence for each term that differs
 */
export function brokenByAgreement(loan: AgreedLoan, grounds: Grounds): string[] {
  const { productId, record, terms } = loan
  if (productId !== null) {
    const { product } = grounds
    if (product === undefined) return [`its product ${productId} is not there, or is damaged`]
    const { principalMin, principalMax } = product
    const isWithin = terms.principal >= principalMin && terms.principal <= principalMax
    const bounds = isWithin
      ? []
      : [`principal is ${terms.principal}, and product ${productId} lends ${principalMin} to ${principalMax}`]
    const expected = termsFor(product, terms.principal, terms.disbursedAt, terms.zone)
    return [...bounds, ...differencesOf(terms, expected, `product ${productId}`)]
  }
  if (record === null) return ['it has neither a product nor the terms of a record system']
  if (grounds.currency === undefined) return ['its organization is not there, or is damaged']
  try {
    const agreed = agree(requestFrom(record, terms), grounds.currency, terms.zone, terms.disbursedAt)
    return differencesOf(terms, agreed.terms, 'what the record system sent')
  } catch (error) {
    if (!(error instanceof LendingError)) throw error
    return [`its terms cannot be computed from what the record system sent: ${error.message}`]
  }
}

/** Returns the request from which a loan was made. */
function requestFrom(
  { extended, loanType, description, duration, durationPeriod }: LoanRecord,
  terms: LoanTerms,
): LoanRequest {
  if (extended !== null) return { extended }
  const { principal, currency, disbursedOn: releasedOn, dueOn } = terms
  const dates = {
    releasedOn,
    dueOn,
    duration: duration ?? 0,
    durationPeriod: durationPeriod ?? '',
    loanType,
    description,
  }
  return { basic: { ...dates, principal: parseDecimal(minorToText(principal, currency))! } }
}

function differencesOf(terms: LoanTerms, expected: LoanTerms, ground: string): string[] {
  const facts = (of: LoanTerms): Record<string, unknown> => ({
    currency: of.currency.code,
    principal: of.principal,
    number_of_repayments: of.numberOfRepayments,
    rate_per_period: of.ratePerPeriod,
    penalty_amount: of.penaltyAmount ?? 'none',
    disbursed_on: of.disbursedOn,
    disbursed_at: new Date(of.disbursedAt).toISOString(),
    due_on: of.dueOn,
    due_at: new Date(of.dueAt).toISOString(),
    rules: of.rules === null ? 'none' : JSON.stringify(toStoredRules(of.rules)),
  })
  const [is, shouldBe] = [facts(terms), facts(expected)]
  const columns = Object.keys(is).filter((name) => is[name] !== shouldBe[name])
  return [
    ...columns.map((name) => `${name} is ${is[name]}, and by ${ground} it is ${shouldBe[name]}`),
    ...differencesOfSchedule(terms, expected, ground),
  ]
}

/** Returns a sentence for the first instalment that differs: those after it follow from it. */
function differencesOfSchedule({ schedule }: LoanTerms, expected: LoanTerms, ground: string): string[] {
  const wordsOf = (line: LoanTerms['schedule'][number] | undefined) =>
    line === undefined
      ? 'none'
      : `${line.principal} + ${line.interest} + ${line.fees}, from ${line.fromDate} to ${line.dueDate}`
  const count = Math.max(schedule.length, expected.schedule.length)
  for (let index = 0; index < count; index++) {
    const [is, shouldBe] = [wordsOf(schedule[index]), wordsOf(expected.schedule[index])]
    if (is !== shouldBe) return [`instalment ${index + 1} is ${is}, and by ${ground} it is ${shouldBe}`]
  }
  return []
}

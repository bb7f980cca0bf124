import type { LocalDate } from '../dates.ts'
import { failedPrecondition } from '../errors.ts'
import { type Currency, min, minorToText } from '../money.ts'
import type { CreditHistory } from './history.ts'
import { availableLimit } from './limit.ts'
import type { CreditPolicy } from './policy.ts'
import { type CreditScore, inWords, scoreCustomer } from './score.ts'

/** A limit that a statement raised, and the day. Minor units. */
export interface BoostedLimit {
  readonly limit: bigint
  readonly on: LocalDate
}

/** A score and its limits. Minor units of the policy's currency. */
export interface Scorecard extends CreditScore {
  /** The limit by the history, or the one that a statement raised. */
  readonly creditLimit: bigint
  /** 0 while anything is outstanding. */
  readonly availableLimit: bigint
}

/**
 * Computes a customer's scorecard (contract 4.5). A limit that a statement raised counts up to the policy's maximum for
 * statements, and only while the policy lets statements raise the customer's grade: a customer who falls to D loses the
 * limit, and has it again after rising.
 */
export function scorecardOf(history: CreditHistory, boosted: BoostedLimit | null, policy: CreditPolicy): Scorecard {
  const score = scoreCustomer(history, policy)
  const { grades, most } = policy.statement
  const raised = boosted !== null && grades.includes(score.grade) ? min(boosted.limit, most) : 0n
  const creditLimit = raised > score.limit ? raised : score.limit
  return {
    ...score,
    creditLimit,
    availableLimit: availableLimit(creditLimit, history),
    reasons: boosted === null ? score.reasons : [...score.reasons, ...sayBoosted(boosted, raised, score, policy)],
  }
}

function sayBoosted(
  { limit, on }: BoostedLimit,
  raised: bigint,
  score: CreditScore,
  { currency }: CreditPolicy,
): string[] {
  if (limit <= score.limit) return []
  if (raised === 0n) return [`the limit that a statement raised on ${on} does not count at grade ${score.grade}`]
  return raised <= score.limit ? [] : [`limit raised to ${inWords(raised, currency)} by a statement on ${on}`]
}

/**
 * Requires that a loan is within the available credit limit.
 * @throws LendingError `failed_precondition`, with the limit in its message
 */
export function requireWithinLimit(
  { creditLimit, availableLimit: available, grade }: Scorecard,
  limits: Currency,
  { principal, currency }: { readonly principal: bigint; readonly currency: Currency },
): void {
  if (currency.code !== limits.code)
    throw failedPrecondition(
      `the product lends in ${currency.code} up to the credit limit, and limits here are in ${limits.code}`,
    )
  if (principal <= available) return
  const say = (amount: bigint) => `${minorToText(amount, currency)} ${currency.code}`
  const why =
    available === creditLimit
      ? `the customer's grade is ${grade}`
      : `the limit of ${say(creditLimit)} is available while nothing is outstanding`
  throw failedPrecondition(`the principal is above the available credit limit of ${say(available)}: ${why}`)
}

import { dateIn, type Instant } from '../../dates.ts'
import { failedPrecondition } from '../../errors.ts'
import { minorToText, sum } from '../../money.ts'
import { type Loan, type Posting, stateOf } from '../loan.ts'
import type { LoanTerms } from '../terms/terms.ts'
import { settlementOn } from './earlySettlement.ts'
import { type LoanRules, type SettledLoan, USUAL_RULES } from './loanRules.ts'

/** The payment method of a repayment that came out of the principal of another loan. */
const PAYMENT_METHOD = 'Top-up'

/** A loan that a new loan pays off. */
export interface ToSettle extends Loan {
  readonly id: bigint
  readonly externalId: string | null
}

/**
 * Returns the terms of a loan that pays others off out of its principal, with what that takes of each.
 * @param now the moment of both
 * @throws LendingError `failed_precondition` for a loan that is not Active, is charged off or has another currency, and where the
 *   principal does not pay for all of them
 */
export function termsThatSettle(terms: LoanTerms, loans: readonly ToSettle[], now: Instant): LoanTerms {
  if (loans.length === 0) return terms
  const settled = loans.map((loan) => settledBy(terms, loan, now))
  const rules = rulesWithSettled(terms.rules, settled)
  const { currency, principal } = terms
  const needed = rules.deducted + sum(settled.map(({ amount }) => amount))
  if (needed <= principal) return { ...terms, rules }
  const say = (minor: bigint) => `${minorToText(minor, currency)} ${currency.code}`
  const more = rules.deducted > 0n ? `, with deducted fees of ${say(rules.deducted)}` : ''
  throw failedPrecondition(`the loans in settles take ${say(needed)}${more}, and the principal is ${say(principal)}`)
}

/** Returns the rules of a loan that paid others off. */
export const rulesWithSettled = (rules: LoanRules | null, settled: readonly SettledLoan[]): LoanRules => ({
  ...(rules ?? USUAL_RULES),
  settled,
})

function settledBy({ currency }: LoanTerms, loan: ToSettle, now: Instant): SettledLoan {
  const { id, terms } = loan
  const externalId = loan.externalId ?? ''
  const state = stateOf(loan, now)
  const named = `settles: the loan ${externalId}`
  if (state.status !== 'Active')
    throw failedPrecondition(`${named} is ${state.status}, and only an Active loan is settled`)
  if (state.chargedOffOn !== null)
    throw failedPrecondition(`${named} is charged off, and such a loan is not settled by another`)
  if (terms.currency.code !== currency.code)
    throw failedPrecondition(`${named} is in ${terms.currency.code}, and the new loan is in ${currency.code}`)
  const { waived } = settlementOn(loan, dateIn(terms.zone, now))
  return { loanId: id, externalId, amount: state.totalOutstanding - waived }
}

/** Returns the repayment that pays a loan off out of the principal of a new one. @param by names the new loan */
export const settlingPosting = ({ currency }: LoanTerms, { amount }: SettledLoan, by: string): Posting => ({
  type: 'Repayment',
  amount: { units: amount, scale: currency.decimals },
  valueDate: undefined,
  token: null,
  note: `Paid off by loan ${by}`,
  paymentMethod: PAYMENT_METHOD,
})

/** Returns what was paid out of a loan, in minor units: its principal less the fees deducted and the loans it paid off. */
export function paidOutOf({ principal, rules }: Pick<LoanTerms, 'principal' | 'rules'>): bigint {
  return rules === null ? principal : principal - rules.deducted - paidToOthers(rules)
}

/** Returns what a loan paid to others out of its principal, in minor units. */
export const paidToOthers = ({ settled }: { readonly settled: readonly SettledLoan[] }): bigint =>
  sum(settled.map(({ amount }) => amount))

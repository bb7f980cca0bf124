import type { CustomerStatus } from '../../customer/customer.ts'
import type { Instant, LocalDate } from '../../dates.ts'
import { failedPrecondition, invariant } from '../../errors.ts'
import { minorToText } from '../../money.ts'
import { MOST_INSTALMENTS } from '../../schedule/schedule.ts'
import { type Decision, type Loan, stateOf } from '../loan.ts'
import { type LoanState, replay } from '../replay.ts'
import type { LoanTerms } from './terms.ts'
import { type ModifiedTerms, termsCanChange } from './versions.ts'

/** A loan before a change of terms. */
export interface LoanBeforeChange extends Loan {
  readonly customerId: bigint
  readonly customerStatus: CustomerStatus
  /** Null unless its terms came from a product. */
  readonly productId: number | null
}

/**
 * Decides a change of the terms of a loan: replays the entries over the new terms, whose schedule may have more or fewer
 * lines than the one before. Refuses, in this order: a loan whose terms are closed; terms that contradict entries; a
 * customer who may not be lent more.
 * @param change the terms; they are those of the loan itself where only the customer or the record changes
 * @throws LendingError `failed_precondition`, naming the field where it is about one
 */
export function changeTerms(loan: LoanBeforeChange, change: Omit<ModifiedTerms, 'lends'>, now: Instant): Decision {
  const { terms, customerId } = change
  const before = stateOf(loan, now)
  if (terms !== loan.terms) {
    invariant(termsCanChange(loan), 'the terms of the loan may change')
    const { length } = terms.schedule
    invariant(length === terms.numberOfRepayments && length <= MOST_INSTALMENTS, 'a schedule has the lines agreed')
    const closed = whyTermsAreClosed(before)
    if (closed !== undefined) throw failedPrecondition(`${closed}: its terms cannot be changed`)
    requireGround(loan, before, terms)
  }
  const state = replay(terms, loan.entries, now)
  const lends = customerId !== loan.customerId || state.totalOutstanding > before.totalOutstanding
  if (lends && customerId === loan.customerId && loan.customerStatus !== 'Active') throw lentNoMore(loan.customerStatus)
  return {
    before,
    reason: null,
    posted: null,
    outcome: undefined,
    reversed: null,
    state,
    modifiedTerms: { ...change, lends },
  }
}

/** Returns why the terms of a loan can no longer change: a loss was booked by them. Undefined where they can. */
export function whyTermsAreClosed({ status, chargedOffOn }: LoanState): string | undefined {
  if (status === 'Closed (written off)') return `the loan is ${status}`
  return chargedOffOn === null ? undefined : `the loan was charged off on ${chargedOffOn}`
}

/** Returns the refusal for a customer who may not be lent more, because the customer is not Active (contract 4.1). */
export const lentNoMore = (status: CustomerStatus) =>
  failedPrecondition(`the borrower is ${status}, and only an Active one can be lent more`)

/**
 * Requires that no unreversed entry is dated before the release, and that the principal is not less than what was
 * repaid of it.
 * @throws LendingError `failed_precondition` naming the field
 */
function requireGround(loan: Loan, before: LoanState, { principal, currency, disbursedOn }: LoanTerms): void {
  const first = loan.entries
    .filter((entry) => entry.reversedAt === null && entry.valueDate < disbursedOn)
    .reduce<LocalDate | null>((day, { valueDate }) => (day === null || valueDate < day ? valueDate : day), null)
  if (first !== null)
    throw failedPrecondition(`must not be after ${first}, the day of a transaction on this loan`, 'releasedOn')
  const repaid = before.paid.principal
  if (principal < repaid)
    throw failedPrecondition(
      `must not be less than what was repaid of it, ${minorToText(repaid, currency)} ${currency.code}`,
      'principal',
    )
}

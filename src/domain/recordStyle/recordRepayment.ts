import type { LocalDate } from '../dates.ts'
import { type Entry, isCustomerRepayment, paymentMethodOf } from '../loan/entry.ts'
import { entryBy } from '../loan/entryIndex.ts'
import type { HeadTerms } from '../loan/terms.ts'
import { type Decimal, toMinor } from '../money.ts'
import type { RepaymentRecord } from './loanRecord.ts'

/** A record system's request to post a repayment (contract 5). */
export interface RepaymentRequest {
  readonly id: bigint
  readonly amount: Decimal
  readonly collectedOn: LocalDate
  readonly description: string | null
  readonly record: RepaymentRecord
}

/** Finds the entry of a loan that has an id: the id of a repayment is its dedupe token (contract 5.6). */
export const findById = entryBy<bigint>('id', (entry) => entry.id)

/**
 * Returns whether an entry has the content of a request, so that the request is a repetition.
 * @throws LendingError `invalid_argument` for the amount
 */
export function sameRepayment(loan: { readonly terms: HeadTerms }, entry: Entry, request: RepaymentRequest): boolean {
  return (
    isCustomerRepayment(entry.type) &&
    entry.amount === toMinor(request.amount, loan.terms.currency, 'amount') &&
    entry.valueDate === request.collectedOn &&
    entry.note === request.description &&
    isSameMethod(entry, request.record.method) &&
    (entry.record?.collectedBy ?? null) === request.record.collectedBy
  )
}

/** Returns whether a method is the one of an entry: the one that was sent, or the one that was answered. */
const isSameMethod = (entry: Entry, method: string | null): boolean =>
  method === (entry.record?.method ?? null) || method === paymentMethodOf(entry)

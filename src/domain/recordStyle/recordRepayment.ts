import type { LocalDate } from '../dates.ts'
import { type Entry, isCustomerRepayment, paymentMethodOf } from '../loan/entry.ts'
import { entryBy } from '../loan/entryIndex.ts'
import type { HeadTerms } from '../loan/terms.ts'
import { type Decimal, toMinor } from '../money.ts'
import type { RepaymentRecord } from './loanRecord.ts'

/** A repayment as a record system tells it (contract 5). */
export interface RepaymentRequest {
  readonly id: bigint
  readonly amount: Decimal
  readonly collectedOn: LocalDate
  readonly description: string | null
  readonly record: RepaymentRecord
}

/** The entry with this id, if the loan has it: a repayment's id is its dedupe token (contract 5.6). */
export const findById = entryBy<bigint>('id', (entry) => entry.id)

/**
 * Whether an entry is this repayment, told again.
 * @throws LendingError `invalid_argument` for the amount
 */
export function sameRepayment(loan: { readonly terms: HeadTerms }, entry: Entry, told: RepaymentRequest): boolean {
  return (
    isCustomerRepayment(entry.type) &&
    entry.amount === toMinor(told.amount, loan.terms.currency, 'amount') &&
    entry.valueDate === told.collectedOn &&
    entry.note === told.description &&
    isSameMethod(entry, told.record.method) &&
    (entry.record?.collectedBy ?? null) === told.record.collectedBy
  )
}

/** A record system may send no method each time, its own each time, or the one that it was answered. */
const isSameMethod = (entry: Entry, method: string | null): boolean =>
  method === (entry.record?.method ?? null) || method === paymentMethodOf(entry)

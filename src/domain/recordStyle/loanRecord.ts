import type { LocalDate } from '../dates.ts'
import type { FaultRole } from '../errors.ts'
import type { RepaymentRecord } from '../loan/entry.ts'
import { type Entry, isCustomerRepayment, paymentMethodOf } from '../loan/entry.ts'
import { entryBy } from '../loan/entryIndex.ts'
import type { HeadTerms } from '../loan/terms/terms.ts'
import { type Decimal, toMinor } from '../money.ts'

/** The JSON source of a number or a text of a request: `5.250`, `"Flat Rate"`. */
export type Source = string

/** The terms of the extended loan body, each as it was sent (contract 5.3). */
export interface ExtendedBody {
  readonly loan_application_id?: Source | undefined
  readonly loan_disbursed_by_id?: Source | undefined
  readonly loan_principal_amount: Source
  readonly loan_released_date: Source
  readonly loan_interest_method: Source
  readonly loan_interest_type: Source
  readonly loan_interest_period: Source
  readonly loan_interest: Source
  readonly loan_duration_period: Source
  readonly loan_duration: Source
  readonly loan_payment_scheme_id: Source
  readonly loan_num_of_repayments: Source
  readonly loan_decimal_places?: Source | undefined
}

/** The role of each term of the extended body. */
export const TERM_ROLES: Readonly<Record<keyof ExtendedBody, FaultRole>> = {
  loan_application_id: 'loanApplicationId',
  loan_disbursed_by_id: 'disbursedById',
  loan_principal_amount: 'termPrincipal',
  loan_released_date: 'termReleasedOn',
  loan_interest_method: 'interestMethod',
  loan_interest_type: 'interestType',
  loan_interest_period: 'interestPeriod',
  loan_interest: 'interest',
  loan_duration_period: 'termDurationPeriod',
  loan_duration: 'termDuration',
  loan_payment_scheme_id: 'paymentScheme',
  loan_num_of_repayments: 'numberOfRepayments',
  loan_decimal_places: 'decimalPlaces',
}

/** Goods that a loan paid for; the numbers as they were sent. */
export interface RecordProduct {
  readonly stockId: Source
  readonly quantity: Source
  readonly price: Source
}

/** The details of a loan that a record system sent and the book has no columns for; null where it sent none. */
export interface LoanRecord {
  readonly loanType: string | null
  readonly description: string | null
  readonly duration: number | null
  /** As it was sent: "months", "Month". */
  readonly durationPeriod: string | null
  readonly products: readonly RecordProduct[]
  /** The extended body, from which the schedule is computed; null for a loan of the basic body. */
  readonly extended: ExtendedBody | null
}

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

import type { Instant } from '../../dates.ts'
import type { HeadTerms, LoanTerms } from './terms.ts'

/**
 * The terms that a change of terms may change, with the schedule that follows from them. The schedule may have another number
 * of lines after a change.
 */
export type VersionedTerms = Pick<
  LoanTerms,
  'principal' | 'numberOfRepayments' | 'ratePerPeriod' | 'disbursedAt' | 'disbursedOn' | 'dueOn' | 'dueAt' | 'schedule'
>

/** The terms that a loan had until a change of terms. */
export interface EarlierTerms {
  /** The last version of the loan that had the terms. */
  readonly version: number
  /** The instant of the change: the terms were known at each instant before it. */
  readonly until: Instant
  readonly terms: VersionedTerms
}

/** What a change of terms makes of a loan. */
export interface ModifiedTerms {
  /** The terms of the loan before the change where only the customer or the record changes. */
  readonly terms: LoanTerms
  /** The customer who has the loan after the change. */
  readonly customerId: bigint
  /** What a record system sent of the loan, where that changes too; left out: it stays. No rule of loans reads it. */
  readonly record?: { readonly description: string | null } | undefined
  /** Whether the change lends more to a customer, who then has to be Active. */
  readonly lends: boolean
}

/** Returns whether the terms of a loan may change after its disbursement: those of a product's loan may not. */
export const termsCanChange = ({ productId }: { readonly productId: number | null }): boolean => productId === null

/**
 * Returns the terms of a loan as they were known at an instant.
 * @param earlier the terms that the loan had before, in the order of their versions; they have to be read after the loan
 */
export const termsKnownAt = (terms: LoanTerms, earlier: readonly EarlierTerms[], at: Instant): LoanTerms => ({
  ...terms,
  ...earlier.find(({ until }) => until > at)?.terms,
})

/**
 * Returns the terms that a version of a loan has.
 * @param earlier the terms that the loan had before, in the order of their versions
 */
export const termsOfVersion = (terms: LoanTerms, earlier: readonly EarlierTerms[], version: number): LoanTerms => ({
  ...terms,
  ...earlier.find((one) => one.version >= version)?.terms,
})

/** Returns the terms that the audit trail has of a change of terms. */
export const summaryOf = ({ principal, disbursedOn, dueOn }: HeadTerms) => ({ principal, disbursedOn, dueOn })

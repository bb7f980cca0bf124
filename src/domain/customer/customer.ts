import type { LocalDate } from '../dates.ts'
import { type FaultRole, failedPrecondition, invalidArgument } from '../errors.ts'

/** The states of a customer (contract 4.1). */
export const CUSTOMER_STATUSES = ['Pending', 'Active', 'Closed'] as const
export type CustomerStatus = (typeof CUSTOMER_STATUSES)[number]

/**
 * Returns the name of a customer: a partner's customer is named by its external id, a record system's by its business
 * name.
 */
export const displayName = (customer: { externalId: string | null; businessName: string | null }): string =>
  customer.externalId === null ? (customer.businessName ?? '') : `${customer.externalId} Customer`

/** The facts that decide whether a customer may be activated or closed. */
export interface CustomerLifecycle {
  readonly status: CustomerStatus
  readonly activationDate: LocalDate | null
  /** Loans that are Active or Overpaid: the customer or the lender still owes money. */
  readonly openLoans: number
  /** The latest day on which one of its loans was closed. */
  readonly lastLoanClosedOn: LocalDate | null
}

/**
 * Requires that a customer can become Active (Pending → Active, contract 4.1).
 * @throws LendingError `failed_precondition` in any other state, `invalid_argument` for a day that is yet to come
 */
export function requireActivatable({ status }: CustomerLifecycle, on: LocalDate, today: LocalDate): void {
  if (status !== 'Pending') throw failedPrecondition(`the customer is ${status}; only a Pending one can be activated`)
  requireNotFuture('activationDate', on, today)
}

/**
 * Requires that a customer can be closed (Active → Closed, contract 4.1).
 * @throws LendingError `failed_precondition` in any other state or while a loan is open, `invalid_argument` for a day
 *   that is yet to come, or before the activation or the end of a loan
 */
export function requireClosable(customer: CustomerLifecycle, on: LocalDate, today: LocalDate): void {
  const { status, activationDate, openLoans, lastLoanClosedOn } = customer
  if (status !== 'Active') throw failedPrecondition(`the customer is ${status}; only an Active one can be closed`)
  if (openLoans > 0)
    throw failedPrecondition(
      `the customer has ${openLoans} open ${openLoans === 1 ? 'loan' : 'loans'}; only one without can be closed`,
    )
  requireNotFuture('closureDate', on, today)
  if (activationDate !== null && on < activationDate)
    throw invalidArgument('closureDate', `must be on or after the activation, ${activationDate}`)
  if (lastLoanClosedOn !== null && on < lastLoanClosedOn)
    throw invalidArgument('closureDate', `must be on or after the day its last loan was closed, ${lastLoanClosedOn}`)
}

function requireNotFuture(role: FaultRole, on: LocalDate, today: LocalDate): void {
  if (on > today) throw invalidArgument(role, `must not be in the future: today is ${today}`)
}

/** The details of a borrower that a record system sends (contract 5). */
export const BORROWER_DETAILS = ['businessName', 'phone', 'email', 'address', 'type', 'region', 'country'] as const
export type BorrowerDetail = (typeof BORROWER_DETAILS)[number]

/** The greatest length of each detail, in characters. */
export const LONGEST_DETAIL = {
  businessName: 200,
  phone: 50,
  email: 254,
  address: 500,
  type: 100,
  region: 100,
  country: 100,
} as const satisfies Record<BorrowerDetail, number>

/** The details of a borrower; null where a detail is unknown. */
export type BorrowerDetails = Readonly<Record<BorrowerDetail, string | null>>

/** Returns the details, each from a call of `detailOf`. */
export const detailsOf = (detailOf: (detail: BorrowerDetail) => string | null | undefined): BorrowerDetails =>
  Object.fromEntries(BORROWER_DETAILS.map((detail) => [detail, detailOf(detail) ?? null])) as BorrowerDetails

/**
 * Returns whether all details are equal, so that a second request with the same id is a repetition and not a conflict.
 */
export const sameDetails = (a: BorrowerDetails, b: BorrowerDetails): boolean =>
  BORROWER_DETAILS.every((detail) => a[detail] === b[detail])

/** Returns the details with some of them changed; a detail that is left out does not change. */
export const withChanges = (details: BorrowerDetails, changes: Partial<BorrowerDetails>): BorrowerDetails =>
  detailsOf((detail) => (detail in changes ? changes[detail] : details[detail]))

const PSEUDONYM = 'erased-'

/** Returns the name of a customer who was erased, in place of the externalId. */
export const pseudonymOf = (customerId: bigint): string => `${PSEUDONYM}${customerId}`

/** Requires an externalId that no customer gets who is erased. @throws LendingError `invalid_argument` */
export function requireOwnName(externalId: string): void {
  if (externalId.startsWith(PSEUDONYM))
    throw invalidArgument('externalId', `must not begin with ${PSEUDONYM}: customers who were erased are called so`)
}

/** Returns the key of a customer, encrypted. @throws LendingError `failed_precondition` for one who was erased */
export function requireKey({ personKey }: { readonly personKey: string | null }): string {
  if (personKey === null) throw failedPrecondition('the customer was erased, and nothing of it can be changed')
  return personKey
}

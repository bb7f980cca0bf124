/** The codes of refusals (contract 2). */
export type ErrorCode =
  | 'invalid_argument'
  | 'unauthenticated'
  | 'permission_denied'
  | 'not_found'
  | 'method_not_allowed'
  | 'already_exists'
  | 'failed_precondition'
  | 'aborted'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'resource_exhausted'
  | 'internal'
  | 'unavailable'

/**
 * The role of what a refusal is about, in the service's own words. Each edge (a style, the command line, an import) has
 * one table from roles to its own names; a role that the table leaves out is named as here.
 */
export type FaultRole =
  // Ids, and references to other resources.
  | 'id'
  | 'externalId'
  | 'customerId'
  | 'productId'
  | 'loanId'
  | 'loanExternalId'
  | 'borrowerId'
  | 'entryId'
  | 'idempotencyKey'
  | 'search'
  | 'person'
  | 'dateOfBirth'
  | 'verifiedOn'
  // Consents, guarantors and collateral.
  | 'givenAt'
  | 'withdrawnAt'
  | 'guarantorId'
  | 'guarantorIdentity'
  | 'guaranteed'
  | 'until'
  | 'collateralValue'
  | 'valuedOn'
  | 'releaseDate'
  // Collections.
  | 'contactedAt'
  | 'nextOn'
  | 'promisedAmount'
  | 'promisedBy'
  | 'holdUntil'
  | 'assignedTo'
  | 'daysBefore'
  | 'daysAfter'
  | 'dueSoonText'
  | 'overdueText'
  // Customers, loans and transactions.
  | 'activationDate'
  | 'closureDate'
  | 'principal'
  | 'settles'
  | 'disbursedAt'
  | 'amount'
  | 'valueDate'
  | 'status'
  // Single charges, and a settlement quote.
  | 'chargeAmount'
  | 'chargeDueOn'
  | 'on'
  // Restructures, with the parts of their bodies.
  | 'type'
  | 'effectiveDate'
  | 'change'
  | `change.${string}`
  | `fee.${string}`
  | `waive.${string}`
  | `restructuring.${string}`
  // Arrears and portfolios.
  | 'bucket'
  | 'asOf'
  | 'knownAt'
  | 'from'
  | 'to'
  // Files for bureaux, and what borrowers are told and say.
  | 'format'
  | 'mode'
  | `settings${string}`
  | `document${string}`
  | 'sentOn'
  | 'openedOn'
  | 'resolvedOn'
  // A delinquency policy, and a part of it by its path (`buckets[1].toDays`).
  | 'preset'
  | 'version'
  | 'buckets'
  | `buckets[${number}]${string}`
  | 'countFrom'
  | 'materiality'
  | `materiality.${string}`
  | 'cureDays'
  // Loans of record systems.
  | 'releasedOn'
  | 'dueOn'
  | 'duration'
  | 'durationPeriod'
  | 'loanType'
  | 'description'
  | 'products'
  // Terms that only the extended body of such a loan has.
  | 'termPrincipal'
  | 'termReleasedOn'
  | 'termDuration'
  | 'termDurationPeriod'
  | 'interestMethod'
  | 'interestType'
  | 'interestPeriod'
  | 'interest'
  | 'paymentScheme'
  | 'decimalPlaces'
  | 'loanApplicationId'
  | 'disbursedById'
  // Payments and their channels.
  | 'paymentAmount'
  | 'channelId'
  | 'layout'
  | 'zone'
  | 'account'
  | 'allowFrom'
  | 'confirmAbove'
  | 'signingKey'
  | 'opening'
  | 'closing'
  | 'faults'
  | 'allocations'
  | `allocations[${number}]${string}`
  // Documents.
  | 'code'
  // Statements of accounts.
  | 'fullName'
  | 'mobileNumber'
  | 'statement'
  // Organizations, accounts and products.
  | 'name'
  | 'currency'
  | 'officeId'
  | 'officeName'
  | 'paymentMethod'
  | 'legalName'
  | 'licenceNumber'
  | 'logo'
  | 'approvalAbove'
  | 'email'
  | 'password'
  | 'roles'
  | 'permissions'
  | 'issuer'
  | 'clientId'
  | 'clientSecret'
  | 'roleClaim'
  | 'address'
  | 'principalMin'
  | 'principalMax'
  | 'numberOfRepayments'
  | 'repayEvery'
  | 'repayUnit'
  | 'interestRate'
  | 'totalMultipleOf'
  | 'penaltyRate'
  // The terms of a product, and a member of one by its path (`fees[0].rate`).
  | 'ratePer'
  | 'dayCount'
  | 'grace'
  | `grace.${string}`
  | 'fees'
  | `fees[${number}]${string}`
  | 'penalty'
  | `penalty.${string}`
  | 'earlySettlement'
  | `afterDue.${string}`
  | `interestTax.${string}`
  | 'totalChargeCap'
  | 'allocation'
  | 'maxRatePerMonth'
  // Approvals.
  | 'reason'
  | 'note'
  // Lists.
  | 'page'
  | 'after'
  | 'orderBy'
  | 'sortOrder'
  | 'updatedSince'
  // The journal.
  | 'period'
  // Webhook endpoints.
  | 'url'
  | 'types'
  | 'overlapHours'
  | 'from'
  | 'since'
  // A credit policy, and a figure of it by its path (`policy.score.base`).
  | 'policy'
  | `policy.${string}`
  // A chart of accounts, and a part of it by its path (`slots.cash`), and the questions to the journal.
  | 'accounts'
  | 'slots'
  | 'method'
  | `accounts[${number}]${string}`
  | `slots.${string}`
  | `method.${string}`
  | 'period'
  | 'to'

/** An edge's names for roles, where they differ from the roles themselves. */
export type FaultNames = Readonly<Partial<Record<FaultRole, string>>>

/** A text for people, or a function that builds the text with an edge's names for the roles that it mentions. */
export type Wording = string | ((nameOf: (role: FaultRole) => string) => string)

/** What is at fault, and how. The wording leaves out the name of the role itself. */
export interface Fault {
  readonly role: FaultRole
  readonly wording: Wording
}

/** A fault in the words of an edge. */
export interface NamedFault {
  readonly field: string
  readonly message: string
}

const worded = (wording: Wording, names: FaultNames): string =>
  typeof wording === 'string' ? wording : wording((role) => names[role] ?? role)

/** A request that is refused, or cannot be served now: a code, and a message for the person who reads it. */
export class LendingError extends Error {
  override readonly name = 'LendingError'
  readonly code: ErrorCode
  readonly wording: Wording
  readonly faults: readonly Fault[]
  /** Seconds after which it is worth trying again. */
  readonly retryAfter: number | undefined
  /** The kind of thing that is not there; of a `not_found`. */
  readonly missing: string | undefined

  constructor(code: ErrorCode, wording: Wording, faults: readonly Fault[] = [], retryAfter?: number, missing?: string) {
    super(worded(wording, {}))
    this.code = code
    this.wording = wording
    this.faults = faults
    this.retryAfter = retryAfter
    this.missing = missing
  }
}

/** Returns the message and the faults of an error, with an edge's names for the roles. */
export const inNames = ({ wording, faults }: LendingError, names: FaultNames) => ({
  message: worded(wording, names),
  details: faults.map(
    (fault): NamedFault => ({ field: names[fault.role] ?? fault.role, message: worded(fault.wording, names) }),
  ),
})

/** Returns a message that begins with the first field at fault, where it is that field's own: `amount: is required`. */
export const ledByField = (message: string, [first]: readonly NamedFault[]): string =>
  first !== undefined && first.message === message ? `${first.field}: ${message}` : message

/** Makes an `invalid_argument` that is about one role. */
export const invalidArgument = (role: FaultRole, wording: Wording) =>
  new LendingError('invalid_argument', wording, [{ role, wording }])

/** Makes an `already_exists` that is about one role: its value is taken. */
export const alreadyExists = (role: FaultRole, wording: Wording) =>
  new LendingError('already_exists', wording, [{ role, wording: 'is taken' }])

/**
 * Makes a `not_found`: "no loan has that id".
 * @param missing the kind of thing (`loan`, `customer`), where an edge may add how else to ask for it
 */
export const notFound = (wording: Wording, missing?: string) =>
  new LendingError('not_found', wording, [], undefined, missing)

/** Makes a `failed_precondition`; the wording names the state that is in the way, and the one that is needed. */
export const failedPrecondition = (wording: Wording, role?: FaultRole) =>
  new LendingError('failed_precondition', wording, role === undefined ? [] : [{ role, wording }])

/** A bug of the service: the client gets the code `internal`, and the log the expectation that did not hold. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** Throws an InvariantError, so that nothing is saved, unless the condition holds. */
export function invariant(condition: unknown, expectation: string): asserts condition {
  if (!condition) throw new InvariantError(expectation)
}

import { type CustomerRef, findPerson } from '../../../db/customers/identities.ts'
import {
  findGuarantor,
  findGuarantors,
  GUARANTOR_ORDER,
  type Guarantor,
  insertGuarantor,
  type NewGuarantor,
  releaseGuarantorOf,
} from '../../../db/loans/security/guarantors.ts'
import { hasPermission, requirePermission } from '../../../domain/access/permissions.ts'
import { fullName, type Identity, requirePossible } from '../../../domain/customer/identity.ts'
import { dateIn, type LocalDate } from '../../../domain/dates.ts'
import { alreadyExists, invalidArgument, notFound } from '../../../domain/errors.ts'
import { requireDays } from '../../../domain/loan/security.ts'
import { type Decimal, toMinor } from '../../../domain/money.ts'
import type { Caller } from '../../access/caller.ts'
import { abortedWhereKeyTaken } from '../../access/idempotency.ts'
import type { Core, Writing } from '../../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../../paging.ts'
import { type LoanRef, noSuchLoan } from '../loans.ts'
import {
  currencyIn,
  decideRelease,
  type ReleaseRequest,
  requireFewer,
  requireSecuredLoan,
  type WithCurrency,
} from './secured.ts'

/** A guarantor, with who it is for a caller who may read that. */
export interface GuarantorView extends WithCurrency {
  readonly guarantor: Guarantor
  /** Undefined of a customer, and for every caller but an ADMIN. */
  readonly identity: Identity | undefined
}

/** A request for a guarantor: a customer, or a person who is none. */
export interface GuarantorRequest {
  readonly who: { readonly customer: CustomerRef } | { readonly identity: Identity }
  readonly relationship: string
  /** Left out: all of the loan is guaranteed. */
  readonly amount?: Decimal | undefined
  /** Today, when left out. */
  readonly from?: LocalDate | undefined
  readonly until?: LocalDate | undefined
}

type PeopleDeps = Core & Pick<Writing, 'people'>

/** Returns the guarantor as a caller may see it. */
function viewOf({ people }: PeopleDeps, caller: Caller, guarantor: Guarantor, currency: string): GuarantorView {
  const whose = { organizationId: caller.organizationId, id: guarantor.id, entity: 'guarantor' } as const
  return {
    guarantor,
    currency,
    identity: hasPermission(caller, 'people.read') ? people.open(whose, guarantor) : undefined,
  }
}

/**
 * Records who answers for a loan.
 * @throws LendingError `not_found` for the loan or the customer, `invalid_argument`, `already_exists` for a customer who is a
 *   guarantor of the loan, `failed_precondition` where the loan has as many as it may, `aborted`
 */
export async function addGuarantor(
  deps: PeopleDeps,
  caller: Caller,
  ref: LoanRef,
  { who, relationship, amount, from, until }: GuarantorRequest,
): Promise<GuarantorView> {
  requirePermission(caller, 'loans.write')
  const { organizationId } = caller
  const now = deps.now(organizationId)
  const today = dateIn(deps.config.zone, now)
  const days = { fromDate: from ?? today, untilDate: until ?? null }
  requireDays(days.fromDate, days.untilDate, today)
  if ('identity' in who) requireSomebody(who.identity, today)
  const customerId = 'customer' in who ? await customerIdOf(deps, caller, who.customer) : null
  let currency = ''
  const adding = insertGuarantor(deps.db, caller, ref, {
    now,
    decide(loan, id, standing): NewGuarantor {
      currency = loan.currency
      requireFewer(standing.length, 'guarantors')
      if (customerId === loan.customerId) throw invalidArgument('guarantorId', 'must not be the borrower of the loan')
      if (customerId !== null && standing.some((other) => other.customerId === customerId))
        throw alreadyExists('guarantorId', 'is a guarantor of the loan already')
      const whose = { organizationId, id, entity: 'guarantor' } as const
      const person = 'identity' in who ? deps.people.seal(whose, who.identity, null) : undefined
      const { personKey = null, identity = null } = person ?? {}
      const guaranteed = amount === undefined ? null : toMinor(amount, currencyIn(loan), 'guaranteed')
      return { customerId, personKey, identity, relationship, amount: guaranteed, ...days }
    },
  })
  const added = await abortedWhereKeyTaken(adding)
  if (!added) throw noSuchLoan(ref)
  return viewOf(deps, caller, added, currency)
}

/** Requires that an identity says who somebody is. @throws LendingError `invalid_argument` */
function requireSomebody(identity: Identity, today: LocalDate): void {
  requirePossible(identity, today)
  if (fullName(identity) === '' && identity.idNumber === null)
    throw invalidArgument('guarantorIdentity', 'must have a name or the number of a document')
}

/** Returns the number of a guarantor who is a customer. @throws LendingError `not_found` */
async function customerIdOf({ db }: Core, { organizationId }: Caller, ref: CustomerRef): Promise<bigint> {
  const customer = await findPerson(db, organizationId, ref)
  const who = 'id' in ref ? 'no borrower has that id' : 'no customer has that externalId'
  if (!customer) throw notFound((nameOf) => `${who}, given as ${nameOf('guarantorId')}`)
  return customer.id
}

const noSuchGuarantor = () => notFound('the loan has no guarantor with that id')

/**
 * Releases a guarantor. The same day and reason again change nothing.
 * @throws LendingError `not_found`, `invalid_argument`, `failed_precondition` where the guarantor was released otherwise, `aborted`
 */
export async function releaseGuarantor(
  deps: PeopleDeps,
  caller: Caller,
  { ref, id }: { readonly ref: LoanRef; readonly id: bigint },
  request: ReleaseRequest,
): Promise<GuarantorView> {
  requirePermission(caller, 'loans.write')
  const now = deps.now(caller.organizationId)
  const today = dateIn(deps.config.zone, now)
  const { currency } = await requireSecuredLoan(deps, caller, ref)
  const decide = (known: Guarantor) => decideRelease(known, request, { since: known.fromDate, today })
  const released = await abortedWhereKeyTaken(releaseGuarantorOf(deps.db, caller, ref, { id, decide, now }))
  if (!released) throw noSuchGuarantor()
  return viewOf(deps, caller, released, currency)
}

/** Returns a part of the guarantors of a loan, as they were recorded. @throws LendingError `not_found`, `invalid_argument` */
export async function listGuarantors(
  deps: PeopleDeps,
  caller: Caller,
  ref: LoanRef,
  range: Range,
): Promise<Ranged<GuarantorView>> {
  const { organizationId } = caller
  const position = positionOf(range, { arrival: GUARANTOR_ORDER })
  const { id: ownerId, currency } = await requireSecuredLoan(deps, caller, ref)
  const part = rangedOf(await findGuarantors(deps.db, { organizationId, ownerId }, position))
  return { ...part, items: part.items.map((guarantor) => viewOf(deps, caller, guarantor, currency)) }
}

/** Returns a guarantor. @throws LendingError `not_found` */
export async function getGuarantor(deps: PeopleDeps, caller: Caller, id: bigint): Promise<GuarantorView> {
  const guarantor = await findGuarantor(deps.db, caller.organizationId, id)
  if (!guarantor) throw noSuchGuarantor()
  const { currency } = await requireSecuredLoan(deps, caller, { id: guarantor.loanId })
  return viewOf(deps, caller, guarantor, currency)
}

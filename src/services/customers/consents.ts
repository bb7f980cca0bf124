import {
  CONSENT_ORDER,
  type Consent,
  findConsent,
  findConsents,
  findCustomerId,
  insertConsent,
  withdrawConsentOf,
} from '../../db/customers/consents.ts'
import type { CustomerRef } from '../../db/customers/identities.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import {
  type ConsentChannel,
  type GivenConsent,
  requireFollows,
  requireGiven,
  requireWithdrawable,
} from '../../domain/customer/consent.ts'
import type { Instant } from '../../domain/dates.ts'
import { failedPrecondition, notFound } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Core } from '../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { noSuchCustomer } from './customers.ts'

export type { Consent } from '../../db/customers/consents.ts'

/**
 * Records what a customer agreed to. The same purpose, channel and time again changes nothing, also after a withdrawal.
 * @throws LendingError `not_found`, `invalid_argument` for a time in the future or before the last withdrawal,
 *   `failed_precondition` while another consent for the purpose stands, `aborted`
 */
export async function giveConsent(deps: Core, caller: Caller, ref: CustomerRef, given: GivenConsent): Promise<Consent> {
  requirePermission(caller, 'customers.write')
  const now = deps.now(caller.organizationId)
  requireGiven(given, now)
  const require = (latest: Consent | undefined) => requireFollows(given, latest)
  const consent = await abortedWhereKeyTaken(insertConsent(deps.db, caller, ref, { given, require, now }))
  if (!consent) throw noSuchCustomer(ref)
  return consent
}

/** How a customer withdraws a consent. */
export interface Withdrawal {
  /** Now, when left out. */
  readonly withdrawnAt?: Instant | undefined
  readonly channel?: ConsentChannel | undefined
}

const noSuchConsent = () => notFound('the customer has no consent with that id')

/**
 * Withdraws a consent of a customer. The same again changes nothing, and so does one without a time.
 * @throws LendingError `not_found`, `invalid_argument` for a time in the future or before the consent was given,
 *   `failed_precondition` where it was withdrawn at another time, `aborted`
 */
export async function withdrawConsent(
  deps: Core,
  caller: Caller,
  { ref, id }: { readonly ref: CustomerRef; readonly id: bigint },
  { withdrawnAt, channel }: Withdrawal,
): Promise<Consent> {
  requirePermission(caller, 'customers.write')
  const now = deps.now(caller.organizationId)
  const withdrawing = withdrawConsentOf(deps.db, caller, ref, {
    id,
    now,
    decide(consent) {
      const at = withdrawnAt ?? consent.withdrawnAt ?? now
      if (at === consent.withdrawnAt) return undefined
      if (consent.withdrawnAt !== null) throw failedPrecondition('the consent was withdrawn before, at another time')
      requireWithdrawable(consent, at, now)
      return { withdrawnAt: at, withdrawnBy: channel ?? null }
    },
  })
  const consent = await abortedWhereKeyTaken(withdrawing)
  if (consent) return consent
  await requireCustomerId(deps, caller, ref)
  throw noSuchConsent()
}

/** Returns the number of a customer. @throws LendingError `not_found` */
export async function requireCustomerId({ db }: Core, { organizationId }: Caller, ref: CustomerRef): Promise<bigint> {
  const id = await findCustomerId(db, organizationId, ref)
  if (id === undefined) throw noSuchCustomer(ref)
  return id
}

/** Returns a part of the consents of a customer, as they were recorded. @throws LendingError `not_found`, `invalid_argument` */
export async function listConsents(
  deps: Core,
  caller: Caller,
  ref: CustomerRef,
  range: Range,
): Promise<Ranged<Consent>> {
  const { organizationId } = caller
  const position = positionOf(range, { arrival: CONSENT_ORDER })
  const ownerId = await requireCustomerId(deps, caller, ref)
  return rangedOf(await findConsents(deps.db, { organizationId, ownerId }, position))
}

/** Returns a consent. @throws LendingError `not_found` */
export async function getConsent({ db }: Core, { organizationId }: Caller, id: bigint): Promise<Consent> {
  const consent = await findConsent(db, organizationId, id)
  if (!consent) throw noSuchConsent()
  return consent
}

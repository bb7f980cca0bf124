import {
  COLLATERAL_ORDER,
  type Collateral,
  findCollateral,
  findCollateralOf,
  insertCollateral,
  releaseCollateralOf,
} from '../../../db/loans/security/collateral.ts'
import { hasPermission, requirePermission } from '../../../domain/access/permissions.ts'
import { requireKey } from '../../../domain/customer/customer.ts'
import { dateIn, type LocalDate } from '../../../domain/dates.ts'
import { notFound } from '../../../domain/errors.ts'
import {
  type CollateralDetails,
  type CollateralKind,
  detailsFromText,
  detailsToText,
  requireValued,
} from '../../../domain/loan/security.ts'
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

/** Collateral, with its details for a caller who may read them. */
export interface CollateralView extends WithCurrency {
  readonly collateral: Collateral
  /** Undefined for every caller but an ADMIN, and once the key of the customer was destroyed. */
  readonly details: CollateralDetails | undefined
}

/** A request for collateral. */
export interface CollateralRequest extends CollateralDetails {
  readonly kind: CollateralKind
  readonly value: Decimal
  /** Today, when left out. */
  readonly valuedOn?: LocalDate | undefined
}

type PeopleDeps = Core & Pick<Writing, 'people'>

/** Returns collateral as a caller may see it. */
export function collateralFor(
  { people }: PeopleDeps,
  caller: Caller,
  collateral: Collateral,
  currency: string,
): CollateralView {
  const { customerId: id, details: text, personKey } = collateral
  const isReadable = text !== null && personKey !== null && hasPermission(caller, 'people.read')
  const { organizationId } = caller
  const details = isReadable ? detailsFromText(people.openText({ organizationId, id }, text, personKey)) : undefined
  return { collateral, currency, details }
}

/**
 * Records what a loan is secured by. Its details are encrypted by the key of the customer.
 * @throws LendingError `not_found`, `invalid_argument`, `failed_precondition` where the loan has as much as it may, `aborted`
 */
export async function addCollateral(
  deps: PeopleDeps,
  caller: Caller,
  ref: LoanRef,
  { kind, value, valuedOn: given, ...details }: CollateralRequest,
): Promise<CollateralView> {
  requirePermission(caller, 'loans.write')
  const { organizationId } = caller
  const now = deps.now(organizationId)
  const today = dateIn(deps.config.zone, now)
  const valuedOn = given ?? today
  requireValued(valuedOn, today)
  let currency = ''
  const adding = insertCollateral(deps.db, caller, ref, {
    now,
    decide(loan, standing) {
      currency = loan.currency
      requireFewer(standing, 'pieces of collateral')
      const whose = { organizationId, id: loan.customerId }
      const text = deps.people.sealText(whose, detailsToText(details), requireKey(loan))
      const minor = toMinor(value, currencyIn(loan), 'collateralValue')
      return { kind, details: text, value: minor, valuedOn }
    },
  })
  const added = await abortedWhereKeyTaken(adding)
  if (!added) throw noSuchLoan(ref)
  return collateralFor(deps, caller, added, currency)
}

const noSuchCollateral = () => notFound('the loan has no collateral with that id')

/**
 * Releases collateral. The same day and reason again change nothing.
 * @throws LendingError `not_found`, `invalid_argument`, `failed_precondition` where it was released otherwise, `aborted`
 */
export async function releaseCollateral(
  deps: PeopleDeps,
  caller: Caller,
  { ref, id }: { readonly ref: LoanRef; readonly id: bigint },
  request: ReleaseRequest,
): Promise<CollateralView> {
  requirePermission(caller, 'loans.write')
  const now = deps.now(caller.organizationId)
  const today = dateIn(deps.config.zone, now)
  const { currency } = await requireSecuredLoan(deps, caller, ref)
  const decide = (known: Collateral) => decideRelease(known, request, { since: null, today })
  const released = await abortedWhereKeyTaken(releaseCollateralOf(deps.db, caller, ref, { id, decide, now }))
  if (!released) throw noSuchCollateral()
  return collateralFor(deps, caller, released, currency)
}

/** Returns a part of the collateral of a loan, as it was recorded. @throws LendingError `not_found`, `invalid_argument` */
export async function listCollateral(
  deps: PeopleDeps,
  caller: Caller,
  ref: LoanRef,
  range: Range,
): Promise<Ranged<CollateralView>> {
  const { organizationId } = caller
  const position = positionOf(range, { arrival: COLLATERAL_ORDER })
  const { id: ownerId, currency } = await requireSecuredLoan(deps, caller, ref)
  const part = rangedOf(await findCollateralOf(deps.db, { organizationId, ownerId }, position))
  return { ...part, items: part.items.map((collateral) => collateralFor(deps, caller, collateral, currency)) }
}

/** Returns collateral. @throws LendingError `not_found` */
export async function getCollateral(deps: PeopleDeps, caller: Caller, id: bigint): Promise<CollateralView> {
  const collateral = await findCollateral(deps.db, caller.organizationId, id)
  if (!collateral) throw noSuchCollateral()
  const { currency } = await requireSecuredLoan(deps, caller, { id: collateral.loanId })
  return collateralFor(deps, caller, collateral, currency)
}

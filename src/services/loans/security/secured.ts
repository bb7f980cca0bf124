import { findSecuredLoan, type Release, type SecuredLoan } from '../../../db/loans/security/securedLoan.ts'
import type { LocalDate } from '../../../domain/dates.ts'
import { failedPrecondition } from '../../../domain/errors.ts'
import { MOST_SECURITY, requireReleasable } from '../../../domain/loan/security.ts'
import { currencyOf } from '../../../domain/money.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../deps.ts'
import { type LoanRef, noSuchLoan } from '../loans.ts'

/** Guarantors or collateral of a loan, which are shown with its currency. */
export interface WithCurrency {
  /** The currency of the loan, by its code. */
  readonly currency: string
}

/** A release that is asked for. */
export interface ReleaseRequest {
  readonly reason: string
  /** Today, when left out. */
  readonly releasedOn?: LocalDate | undefined
}

/** Returns the loan that is secured. @throws LendingError `not_found` */
export async function requireSecuredLoan({ db }: Core, { organizationId }: Caller, ref: LoanRef): Promise<SecuredLoan> {
  const loan = await findSecuredLoan(db, organizationId, ref)
  if (!loan) throw noSuchLoan(ref)
  return loan
}

/** Requires that a loan may have one more. @throws LendingError `failed_precondition` */
export function requireFewer(standing: number, things: 'guarantors' | 'pieces of collateral'): void {
  if (standing >= MOST_SECURITY)
    throw failedPrecondition(`the loan has ${MOST_SECURITY} ${things}, the most that there may be; release one first`)
}

/**
 * Decides on a release; undefined where it was released so before.
 * @throws LendingError `failed_precondition` where it was released otherwise, `invalid_argument` for a day that cannot be
 */
export function decideRelease(
  known: { readonly releasedOn: LocalDate | null; readonly releaseReason: string | null },
  { reason, releasedOn }: ReleaseRequest,
  { since, today }: { readonly since: LocalDate | null; readonly today: LocalDate },
): Release | undefined {
  const on = releasedOn ?? known.releasedOn ?? today
  if (on === known.releasedOn && reason === known.releaseReason) return undefined
  if (known.releasedOn !== null)
    throw failedPrecondition(`was released on ${known.releasedOn} before, with another day or another reason`)
  requireReleasable(on, since, today)
  return { releasedOn: on, releaseReason: reason }
}

/** Returns the currency of a loan. */
export const currencyIn = ({ currency }: WithCurrency) => currencyOf(currency)

import {
  findHold,
  findHolds,
  HOLD_ORDER,
  type HoldEnd,
  insertHold,
  releaseHoldOf,
  type StoredHold,
  savePenaltyHolds,
} from '../../db/collections/holds.ts'
import { sealedText } from '../../db/customers/words.ts'
import type { LoanRef } from '../../db/loans/loans.ts'
import type { ChangeBatch } from '../../db/loans/saveLoans.ts'
import type { LockedLoan } from '../../db/loans/security/securedLoan.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { inTransaction, type Transaction } from '../../db/postgres/transaction.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { type HoldKind, requireHold } from '../../domain/collections/hold.ts'
import { requireKey } from '../../domain/customer/customer.ts'
import { dateIn, type Instant, type LocalDate } from '../../domain/dates.ts'
import { failedPrecondition, invalidArgument, invariant, notFound } from '../../domain/errors.ts'
import type { HeldDays } from '../../domain/loan/rules/heldDaysText.ts'
import { firstHoldable, heldUntil, holdPenalties, withHold } from '../../domain/loan/rules/penaltyHolds.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Core } from '../deps.ts'
import { type ChangeDeps, changeLoan } from '../loans/changes/changeLoan.ts'
import { getLoan, noSuchLoan, type ReadDeps } from '../loans/loans.ts'
import { requireSecuredLoan } from '../loans/security/secured.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { readable } from './contacts.ts'

export type { StoredHold } from '../../db/collections/holds.ts'

type HoldDeps = ChangeDeps & ReadDeps

/** A hold that is asked for. */
export interface HoldRequest {
  readonly what: HoldKind
  /** The last day. */
  readonly until: LocalDate
  readonly reason: string
}

/** Encrypts a reason by the key of the customer of a loan. */
const sealedReason =
  ({ db }: Pick<Core, 'db'>, { organizationId }: Caller, reason: string) =>
  ({ customerId, ...loan }: LockedLoan): string =>
    sealedText(db.pool, { organizationId, id: customerId }, reason, requireKey(loan))

/**
 * Makes a hold of a loan. A hold of penalties begins with the first day whose penalties are not raised yet, and changes the loan;
 * another one begins today.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument` for the last day, `failed_precondition` while another hold
 *   of the kind stands, or for a customer who was erased; `aborted`
 */
export async function holdLoan(
  deps: HoldDeps,
  caller: Caller,
  ref: LoanRef,
  request: HoldRequest,
): Promise<StoredHold> {
  requirePermission(caller, 'collections.work')
  const { what, until, reason } = request
  const seal = sealedReason(deps, caller, reason)
  const make = (transaction: Transaction, now: Instant, from?: LocalDate) => {
    const today = dateIn(deps.config.zone, now)
    return insertHold(transaction, caller, ref, {
      today,
      now,
      decide(loan, standing) {
        requireHold({ what, until }, { isStanding: standing.some((one) => one.what === what), today })
        return { what, from: from ?? today, until, reason: seal(loan) }
      },
    })
  }
  if (what !== 'penalties') {
    const now = deps.now(caller.organizationId)
    const made = await abortedWhereKeyTaken(inTransaction(deps.db, (transaction) => make(transaction, now)))
    if (!made) throw noSuchLoan(ref)
    return { ...made, reason }
  }
  const made = await changeHeldDays(deps, caller, ref, {
    decide({ terms }, now) {
      const from = firstHoldable(terms, now)
      if (until < from) throw invalidArgument('holdUntil', `must be from ${from} on: the penalties of today are raised`)
      return { held: withHold(terms, { from, through: until }), from }
    },
    save: make,
  })
  return { ...made, reason }
}

/** A change of the days on which no penalty of a loan is raised, and what is saved with it. */
interface HeldChange {
  readonly decide: (loan: StoredLoan, now: Instant) => { readonly held: readonly HeldDays[]; readonly from: LocalDate }
  readonly save: (transaction: Transaction, now: Instant, from: LocalDate) => Promise<StoredHold | undefined>
}

/** Changes the days on which no penalty of a loan is raised, together with the hold: both are saved, or none. */
async function changeHeldDays(
  deps: HoldDeps,
  caller: Caller,
  ref: LoanRef,
  { decide, save }: HeldChange,
): Promise<StoredHold> {
  // The Idempotency-Key goes with the hold, which is the answer.
  const { claim: _, ...author } = caller
  let decided: ReturnType<HeldChange['decide']> | undefined
  let saved: StoredHold | undefined
  const change = {
    author,
    ref,
    alongside: [
      async (transaction: Transaction, { loan, changes }: ChangeBatch) => {
        invariant(decided, 'what is saved was decided')
        const { held, from } = decided
        if (!(await savePenaltyHolds(transaction, loan, held))) return 'stale' as const
        saved = await save(transaction, changes.at(-1)!.at, from)
        return saved ? ('done' as const) : ('stale' as const)
      },
    ],
  }
  const changed = await abortedWhereKeyTaken(
    changeLoan(deps, change, (loan, now) => {
      decided = decide(loan, now)
      return { save: holdPenalties(loan, decided.held, now) }
    }),
  )
  if (!changed) throw noSuchLoan(ref)
  invariant(saved, 'a hold that was saved')
  return saved
}

const noSuchHold = () => notFound('the loan has no hold with that id')

/**
 * Releases a hold: it counts no longer from today on; one of penalties from the first day whose penalties are not raised yet. A
 * second time changes nothing.
 * @throws LendingError `permission_denied`, `not_found`, `failed_precondition` where its days are over, `aborted`
 */
export async function releaseHold(
  deps: HoldDeps,
  caller: Caller,
  { ref, id }: { readonly ref: LoanRef; readonly id: bigint },
  { reason }: { readonly reason: string },
): Promise<StoredHold> {
  requirePermission(caller, 'collections.work')
  const { organizationId } = caller
  const { loan } = await getLoan(deps, caller, ref)
  const known = await findHold(deps.db, organizationId, id)
  if (known?.loanId !== loan.id) throw noSuchHold()
  const seal = sealedReason(deps, caller, reason)
  const end = (transaction: Transaction, now: Instant, on: LocalDate) => {
    const decide = ({ releasedOn, until }: StoredHold, locked: LockedLoan): HoldEnd | undefined => {
      if (releasedOn !== null) throw failedPrecondition('the hold was released by another request meanwhile')
      if (until < on) throw failedPrecondition(`the hold ended on ${until}`)
      return { releasedOn: on, releaseReason: seal(locked) }
    }
    return releaseHoldOf(transaction, caller, { id: loan.id }, { id, decide, now })
  }
  if (known.releasedOn !== null) return getHold(deps, caller, id)
  if (known.what === 'penalties') {
    await changeHeldDays(
      deps,
      caller,
      { id: loan.id },
      {
        decide({ terms }, now) {
          const on = firstHoldable(terms, now)
          return { held: heldUntil(terms, on), from: on }
        },
        save: end,
      },
    )
    return getHold(deps, caller, id)
  }
  const now = deps.now(organizationId)
  const today = dateIn(deps.config.zone, now)
  await abortedWhereKeyTaken(inTransaction(deps.db, (transaction) => end(transaction, now, today)))
  return getHold(deps, caller, id)
}

/** The words of a hold, which an AUDITOR does not read. */
const WORDS = ['reason', 'releaseReason'] as const

/** Returns a part of the holds of a loan, as they were made. @throws LendingError `not_found`, `invalid_argument` */
export async function listHolds(deps: Core, caller: Caller, ref: LoanRef, range: Range): Promise<Ranged<StoredHold>> {
  const { organizationId } = caller
  const position = positionOf(range, { arrival: HOLD_ORDER })
  const { id: ownerId } = await requireSecuredLoan(deps, caller, ref)
  const part = rangedOf(await findHolds(deps.db, { organizationId, ownerId }, position))
  return { ...part, items: await readable(deps, caller, part.items, WORDS) }
}

/** Returns a hold. @throws LendingError `not_found` */
export async function getHold(deps: Core, caller: Caller, id: bigint): Promise<StoredHold> {
  const hold = await findHold(deps.db, caller.organizationId, id)
  if (!hold) throw noSuchHold()
  return (await readable(deps, caller, [hold], WORDS))[0]!
}

import {
  cancelPromiseOf,
  findPromise,
  findPromises,
  insertPromise,
  PROMISE_ORDER,
  readPromisesOf,
  type StoredPromise,
} from '../../db/collections/promises.ts'
import { sealedText } from '../../db/customers/words.ts'
import type { LoanRef } from '../../db/loans/loans.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { judge, requirePromise } from '../../domain/collections/promise.ts'
import { requireKey } from '../../domain/customer/customer.ts'
import { dateIn, type LocalDate } from '../../domain/dates.ts'
import { failedPrecondition, notFound } from '../../domain/errors.ts'
import { type Currency, type Decimal, toMinor } from '../../domain/money.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Core } from '../deps.ts'
import { getLoan, type LoanRead, noSuchLoan, type ReadDeps } from '../loans/loans.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { readable } from './contacts.ts'

/** A promise with what a replay says of it now. */
export interface JudgedPromise extends StoredPromise {
  readonly currency: Currency
}

type PromiseDeps = Core & ReadDeps

/** A promise that a customer makes. */
export interface PromiseRequest {
  readonly amount: Decimal
  readonly by: LocalDate
  readonly note?: string | undefined
}

/** Returns promises on a loan as a replay judges them now, with their words as the caller may read them. */
async function judged(
  deps: PromiseDeps,
  caller: Caller,
  { loan, at }: Pick<LoanRead, 'loan' | 'at'>,
  promises: readonly StoredPromise[],
): Promise<JudgedPromise[]> {
  const { organizationId } = caller
  // Each cent counts once: a promise is judged with all others of the loan.
  const all = await readPromisesOf(deps.db, { organizationId, loanIds: [loan.id] })
  const verdicts = judge(all, loan, at)
  const open = await readable(deps, caller, promises, ['note', 'cancelReason'])
  return open.map((promise) => ({ ...promise, ...verdicts.get(promise.id), currency: loan.terms.currency }))
}

/**
 * Records what a customer promises to pay on a loan by the end of a day. The note is encrypted by the key of the customer.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`, `failed_precondition` where nothing is owed, too many
 *   promises are open, or the customer was erased; `aborted`
 */
export async function makePromise(
  deps: PromiseDeps,
  caller: Caller,
  ref: LoanRef,
  { amount: asked, by, note }: PromiseRequest,
): Promise<JudgedPromise> {
  requirePermission(caller, 'collections.work')
  const { organizationId } = caller
  const { loan, state, at: now } = await getLoan(deps, caller, ref)
  const { currency } = loan.terms
  const today = dateIn(deps.config.zone, now)
  const amount = toMinor(asked, currency, 'promisedAmount')
  const making = insertPromise(
    deps.db,
    caller,
    { id: loan.id },
    {
      now,
      decide({ customerId: id, ...locked }, open) {
        requirePromise({ amount, by }, { outstanding: state.totalOutstanding, open, today })
        const key = requireKey(locked)
        const sealed = note === undefined ? null : sealedText(deps.db.pool, { organizationId, id }, note, key)
        return { amount, madeOn: today, by, note: sealed }
      },
    },
  )
  const made = await abortedWhereKeyTaken(making)
  if (!made) throw noSuchLoan(ref)
  return (await judged(deps, caller, { loan, at: now }, [made]))[0]!
}

const noSuchPromise = () => notFound('the loan has no promise with that id')

/**
 * Cancels a promise that is open: it is judged no more. A second time changes nothing.
 * @throws LendingError `permission_denied`, `not_found`, `failed_precondition` where its day is over, `aborted`
 */
export async function cancelPromise(
  deps: PromiseDeps,
  caller: Caller,
  { ref, id }: { readonly ref: LoanRef; readonly id: bigint },
  { reason }: { readonly reason?: string | undefined },
): Promise<JudgedPromise> {
  requirePermission(caller, 'collections.work')
  const { organizationId } = caller
  const { loan, at: now } = await getLoan(deps, caller, ref)
  const today = dateIn(deps.config.zone, now)
  const cancelling = cancelPromiseOf(
    deps.db,
    caller,
    { id: loan.id },
    {
      id,
      now,
      decide({ state, by }, { customerId, ...locked }) {
        if (state === 'cancelled') return undefined
        if (state !== 'open' || by < today)
          throw failedPrecondition(`the day of the promise, ${by}, is over: it is kept or broken`)
        return reason === undefined
          ? null
          : sealedText(deps.db.pool, { organizationId, id: customerId }, reason, requireKey(locked))
      },
    },
  )
  const cancelled = await abortedWhereKeyTaken(cancelling)
  if (!cancelled) throw noSuchPromise()
  return (await judged(deps, caller, { loan, at: now }, [cancelled]))[0]!
}

/** Returns the first promises on a loan that was read, as they were made. */
export async function promisesOn(
  deps: PromiseDeps,
  caller: Caller,
  read: Pick<LoanRead, 'loan' | 'at'>,
  most: number,
): Promise<readonly JudgedPromise[]> {
  const of = { organizationId: caller.organizationId, ownerId: read.loan.id }
  return judged(deps, caller, read, (await findPromises(deps.db, of, { rows: most, page: 1 })).items)
}

/** Returns a part of the promises on a loan, as they were made. @throws LendingError `not_found`, `invalid_argument` */
export async function listPromises(
  deps: PromiseDeps,
  caller: Caller,
  ref: LoanRef,
  range: Range,
): Promise<Ranged<JudgedPromise>> {
  const { organizationId } = caller
  const position = positionOf(range, { arrival: PROMISE_ORDER })
  const read = await getLoan(deps, caller, ref)
  const part = rangedOf(await findPromises(deps.db, { organizationId, ownerId: read.loan.id }, position))
  return { ...part, items: await judged(deps, caller, read, part.items) }
}

/** Returns a promise. @throws LendingError `not_found` */
export async function getPromise(deps: PromiseDeps, caller: Caller, id: bigint): Promise<JudgedPromise> {
  const promise = await findPromise(deps.db, caller.organizationId, id)
  if (!promise) throw noSuchPromise()
  const read = await getLoan(deps, caller, { id: promise.loanId })
  return (await judged(deps, caller, read, [promise]))[0]!
}

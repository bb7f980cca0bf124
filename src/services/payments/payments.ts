import type { Author } from '../../db/audit/trail.ts'
import { readLoans } from '../../db/loans/loans.ts'
import { findCandidates } from '../../db/payments/candidates.ts'
import { type PaymentPart, readParts } from '../../db/payments/parts.ts'
import {
  type ChannelSums,
  findPayments,
  lockPayment,
  PAYMENT_ORDER,
  type PaymentFilter,
  type PaymentSteps,
  readPayment,
  savePayments,
  sumChannel,
} from '../../db/payments/payments.ts'
import { inTransaction, type Transaction } from '../../db/postgres/transaction.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { dateIn, type LocalDate } from '../../domain/dates.ts'
import { failedPrecondition, invalidArgument, invariant, notFound } from '../../domain/errors.ts'
import { currencyOf, type Decimal, minorToText, toMinor } from '../../domain/money.ts'
import type { Candidate } from '../../domain/payments/matching.ts'
import { inSuspense, type Payment } from '../../domain/payments/payment.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { SavedChange } from '../loans/changes/decide.ts'
import { countPosted } from '../loans/changes/decide.ts'
import { changedByOthers } from '../loans/changes/queue.ts'
import type { LoanRef } from '../loans/loans.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { type Part, postingPart, saveParts } from './allocateParts.ts'
import { channelOf } from './channelCache.ts'
import { getChannel } from './channels.ts'
import { allocatedStep, type DecideDeps, requireSaved, StalePartError, wantedOf } from './decidePayments.ts'
import { type Payer, payerOf } from './payer.ts'

export type { PaymentPart } from '../../db/payments/parts.ts'

/** The most loans to which a payment is allocated in one request. */
export const MOST_ALLOCATIONS = 50
/** The most characters of a note. */
export const LONGEST_NOTE = 1_000
/** The most candidates that are shown of a payment. */
export const MOST_CANDIDATES = 5

/** A payment, with who paid, its repayments, and the loans that it may be for where it waits in suspense. */
export interface PaymentView {
  readonly payment: Payment
  readonly payer: Payer
  readonly parts: readonly PaymentPart[]
  readonly candidates: readonly Candidate[]
}

const noSuchPayment = () => notFound('no payment has that id')

/** Returns a payment. @throws LendingError `not_found` */
export async function getPayment(deps: DecideDeps, { organizationId }: Caller, id: bigint): Promise<PaymentView> {
  const payment = await readPayment(deps.db, organizationId, id)
  if (!payment) throw noSuchPayment()
  return viewOf(deps, payment)
}

/**
 * Returns a part of the payments of the organization, in the order in which they were received; for readers of the whole book.
 * @throws LendingError `permission_denied`, `invalid_argument`
 */
export async function listPayments(
  deps: DecideDeps,
  caller: Caller,
  filter: PaymentFilter,
  range: Range,
): Promise<Ranged<PaymentView>> {
  requirePermission(caller, 'reports.read')
  const { organizationId } = caller
  const found = rangedOf(
    await findPayments(deps.db, organizationId, filter, positionOf(range, { arrival: PAYMENT_ORDER })),
  )
  return { ...found, items: await viewsOf(deps, organizationId, found.items) }
}

/** Returns a payment of which nothing else is read yet, as it is shown. */
export async function viewOf(deps: DecideDeps, payment: Payment): Promise<PaymentView> {
  const [view] = await viewsOf(deps, payment.organizationId, [payment])
  invariant(view, 'a view of each payment')
  return view
}

/** Returns payments as they are shown, with the loans that those may be for which have money in suspense. */
export async function viewsOf(
  deps: DecideDeps,
  organizationId: number,
  payments: readonly Payment[],
): Promise<PaymentView[]> {
  const all = await readParts(
    deps.db,
    organizationId,
    payments.filter(({ parts }) => parts > 0).map(({ id }) => id),
  )
  const parts = Map.groupBy(all, ({ paymentId }) => paymentId)
  const waiting = payments.filter((payment) => inSuspense(payment) > 0n)
  // The phone number shows who may have paid, also where it may not decide.
  const wanted = waiting.map((payment) => wantedOf(deps, payment, { matchPhone: true }))
  const candidates = await findCandidates(deps.db, organizationId, wanted)
  return payments.map((payment) => ({
    payment,
    payer: payerOf(deps.paymentBox, payment),
    parts: parts.get(payment.id) ?? [],
    candidates: distinctLoans(candidates.get(payment.id) ?? []),
  }))
}

/** Returns one candidate for each loan, by the first way that names it, open loans first. */
function distinctLoans(candidates: readonly Candidate[]): Candidate[] {
  const first = new Map(candidates.toReversed().map((candidate) => [candidate.loanId, candidate]))
  const inOrder = candidates.filter((candidate) => first.get(candidate.loanId) === candidate)
  return inOrder.toSorted((a, b) => Number(b.isOpen) - Number(a.isOpen)).slice(0, MOST_CANDIDATES)
}

/** A part of a payment that is to be allocated to a loan. */
export interface AllocationRequest {
  readonly loan: LoanRef
  readonly amount: Decimal
}

/**
 * Allocates money of a payment to loans: all of the parts or none.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`, `failed_precondition` for more than is in suspense and for
 *   what a loan refuses, `aborted`
 */
export function allocatePayment(
  deps: DecideDeps,
  caller: Caller,
  id: bigint,
  allocations: readonly AllocationRequest[],
): Promise<PaymentView> {
  requirePermission(caller, 'repayments.post')
  if (allocations.length === 0 || allocations.length > MOST_ALLOCATIONS)
    throw invalidArgument('allocations', `must have 1 to ${MOST_ALLOCATIONS} parts`)
  return changePayment(deps, caller, id, async (transaction, payment) => {
    const amounts = requireAllocatable(
      payment,
      allocations.map(({ amount }) => amount),
    )
    const { zone } = deps.config
    const { organizationId } = caller
    const loans = await readLoans(
      { pool: transaction },
      allocations.map(({ loan: ref }) => ({ organizationId, ref, zone })),
    )
    const { name: paymentMethod } = await channelOf(deps, payment)
    const parts = loans.map((loan, index): Part => {
      if (!loan) throw notFound((nameOf) => `no loan has that id, given as ${nameOf(`allocations[${index}].loan`)}`)
      const part = { part: payment.parts + index + 1, amount: amounts[index]!, paymentMethod }
      return { author: caller, payment, loanId: loan.id, decide: postingPart(payment, part) }
    })
    const saved = (await saveParts(deps, transaction, organizationId, parts)).map(requireSaved)
    const step = allocatedStep(
      payment,
      saved.map(({ allocation }) => allocation),
      deps.now(organizationId),
    )
    return { steps: [step], changes: saved.map(({ saved: change }) => change) }
  })
}

/**
 * Requires that parts of a payment can be allocated.
 * @returns the parts in minor units
 * @throws LendingError `invalid_argument` for an amount, `failed_precondition`
 */
export function requireAllocatable(payment: Payment, parts: readonly Decimal[]): bigint[] {
  if (payment.unconfirmed)
    throw failedPrecondition('the payment waits for the statement of the provider, which has to confirm it first')
  const amounts = parts.map((amount) => toMinor(amount, currencyOf(payment.currency), 'paymentAmount'))
  requireSuspense(
    payment,
    amounts.reduce((sum, amount) => sum + amount, 0n),
  )
  return amounts
}

/** Requires that a payment has money in suspense. @throws LendingError `failed_precondition` */
export function requireSuspense(payment: Payment, amount: bigint): void {
  const left = inSuspense(payment)
  const say = (minor: bigint) => `${minorToText(minor, currencyOf(payment.currency))} ${payment.currency}`
  if (amount > left)
    throw failedPrecondition(`${say(amount)} is more than what is in suspense of the payment, ${say(left)}`)
}

/** What a change of a payment comes to: its steps, and the changes of loans that go with them. */
export interface Decided extends Pick<PaymentSteps, 'steps'> {
  readonly changes: readonly SavedChange[]
}

const MOST_TRIES = 8

/**
 * Changes a payment in one transaction that has locked it; again where a loan was changed meanwhile.
 * @throws LendingError `not_found`, `aborted`, and what the decision throws
 */
export async function changePayment(
  deps: DecideDeps,
  caller: Caller,
  id: bigint,
  decide: (transaction: Transaction, payment: Payment) => Promise<Decided>,
): Promise<PaymentView> {
  const { organizationId, accountId, requestId, claim } = caller
  const author: Author = { organizationId, accountId, requestId, ...(claim && { claim }) }
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    try {
      const changing = inTransaction(deps.db, async (transaction) => {
        const before = await lockPayment(transaction, organizationId, id)
        if (!before) throw noSuchPayment()
        const { steps, changes } = await decide(transaction, before)
        await savePayments(transaction, [{ author, before, steps }])
        return changes
      })
      for (const change of await abortedWhereKeyTaken(changing)) countPosted(deps.listener, change)
      return await getPayment(deps, caller, id)
    } catch (error) {
      if (!(error instanceof StalePartError)) throw error
      await deps.testClocks.refresh(organizationId)
    }
  }
  throw changedByOthers()
}

/** Where the money of a channel is. */
export interface Position extends ChannelSums {
  readonly suspense: bigint
  readonly asOf: LocalDate
  readonly currency: string
}

/**
 * Returns where the money is that a channel has received up to a day: received = allocated + suspense + returned + reversed.
 * @throws LendingError `permission_denied`, `not_found`
 */
export async function getPosition(
  deps: DecideDeps,
  caller: Caller,
  id: bigint,
  asOf: LocalDate | undefined,
): Promise<Position> {
  requirePermission(caller, 'reports.read')
  const channel = await getChannel(deps, caller, id)
  const { organizationId } = caller
  const day = asOf ?? dateIn(deps.config.zone, deps.now(organizationId))
  const sums = await sumChannel(deps.db, { organizationId, channelId: channel.id, asOf: day })
  return { ...sums, suspense: inSuspense({ ...sums, amount: sums.received }), asOf: day, currency: channel.currency }
}

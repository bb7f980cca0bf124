import type { Transaction } from '../../db/postgres/transaction.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { mustWait, type PaymentActionRequest } from '../../domain/approvals/pendingAction.ts'
import { dateIn } from '../../domain/dates.ts'
import { failedPrecondition } from '../../domain/errors.ts'
import { currencyOf, type Decimal, toMinor } from '../../domain/money.ts'
import { causeText } from '../../domain/payments/causes.ts'
import { inSuspense, type Payment } from '../../domain/payments/payment.ts'
import type { Caller } from '../access/caller.ts'
import { limitOf, type Waits, type Wanted, waitForSecond } from '../approvals/waiting.ts'
import type { Caches } from '../deps.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { channelOf } from './channelCache.ts'
import { afterChange, type DecideDeps, unallocate } from './decidePayments.ts'
import { changePayment, type Decided, type PaymentView, requireSuspense } from './payments.ts'

/** The parts that take money of payments back: the organization says above which amount that waits. */
type TakeBackDeps = DecideDeps & Pick<Caches, 'organizations'>

/** What taking money of a payment back comes to: its amount in minor units, and the request that names exactly this. */
interface TakenBack extends Decided, Wanted {
  readonly request: PaymentActionRequest
  /** With what was taken back before that counts with it, in minor units. */
  readonly counted: bigint
}

type TakingBack = (transaction: Transaction, payment: Payment) => Promise<TakenBack>

/**
 * Reverses repayments that were allocated from a payment, all or none: their money is in suspense again. Above the amount of the
 * organization it waits (contract 14.9).
 * @param only the repayments; left out: all that stand
 * @throws LendingError `permission_denied`, `not_found`, `failed_precondition`, `aborted`
 */
export function reverseAllocations(
  deps: TakeBackDeps,
  caller: Caller,
  id: bigint,
  request: { readonly note: string | null; readonly only?: readonly bigint[] | undefined },
): Promise<PaymentView | Waits> {
  requirePermission(caller, 'repayments.reverse')
  return takeBackOrWait(deps, caller, id, reversing(deps, caller, request))
}

/**
 * Notes that money in suspense was paid back to the payer, on the wallet or the bank account of the channel. Where all returns of the
 * payment together are above the amount of the organization, it waits (contract 14.9).
 * @param amount left out: all that is in suspense
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`, `failed_precondition`
 */
export function returnPayment(
  deps: TakeBackDeps,
  caller: Caller,
  id: bigint,
  request: { readonly amount?: Decimal | undefined; readonly note: string },
): Promise<PaymentView | Waits> {
  requirePermission(caller, 'payments.manage')
  return takeBackOrWait(deps, caller, id, returning(deps, caller, request))
}

/** Returns the decision of a request that waited. */
export const takingBack = (deps: DecideDeps, caller: Caller, request: PaymentActionRequest): TakingBack =>
  request.kind === 'return-payment'
    ? returning(deps, caller, request)
    : reversing(deps, caller, { note: request.note, only: request.transactionIds })

/** Thrown where a change of a payment has to wait for a second ADMIN: nothing of the transaction is saved. */
class WaitsError extends Error {
  override readonly name = 'WaitsError'
  readonly taken: TakenBack
  constructor(taken: TakenBack) {
    super('the change waits for a second ADMIN')
    this.taken = taken
  }
}

async function takeBackOrWait(
  deps: TakeBackDeps,
  caller: Caller,
  id: bigint,
  decide: TakingBack,
): Promise<PaymentView | Waits> {
  const limit = limitOf(await getOrganization(deps, caller), caller)
  try {
    return await changePayment(deps, caller, id, async (transaction, payment) => {
      const taken = await decide(transaction, payment)
      if (limit && mustWait(limit, taken.counted, payment.currency)) throw new WaitsError(taken)
      return taken
    })
  } catch (error) {
    if (!(error instanceof WaitsError)) throw error
    const { taken } = error
    const { currency } = taken.steps[0]!.after
    return waitForSecond(deps, caller, { loanId: null, paymentId: id, currency }, taken)
  }
}

const reversing =
  (
    deps: DecideDeps,
    author: Caller,
    { note, only }: { readonly note: string | null; readonly only?: readonly bigint[] | undefined },
  ): TakingBack =>
  async (transaction, payment) => {
    const cause = note ?? causeText('allocation_reversed')
    const taken = await unallocate(deps, transaction, payment, { author, note, only, cause })
    if (!taken || (only && taken.step.allocations.length < new Set(only).size))
      throw failedPrecondition(
        only ? 'not all of these are repayments of the payment that stand' : 'the payment has no repayment that stands',
      )
    const { step, changes } = taken
    const amount = step.allocations.reduce((sum, part) => sum + part.amount, 0n)
    const transactionIds = step.allocations.map(({ transactionId }) => transactionId)
    const request = { kind: 'reverse-allocations', transactionIds, note } as const
    return { steps: [step], changes, request, amount, counted: amount }
  }

const returning =
  (
    deps: DecideDeps,
    { organizationId }: Caller,
    { amount: given, note }: { readonly amount?: Decimal | undefined; readonly note: string },
  ): TakingBack =>
  async (_, payment) => {
    const currency = currencyOf(payment.currency)
    const amount = given === undefined ? inSuspense(payment) : toMinor(given, currency, 'paymentAmount')
    if (amount === 0n) throw failedPrecondition('nothing of the payment is in suspense')
    requireSuspense(payment, amount)
    const { account } = await channelOf(deps, payment)
    const returned = payment.returned + amount
    const after = afterChange(payment, { returned, unconfirmed: false }, deps.now(organizationId))
    const moved = { amount: -amount, on: dateIn(deps.config.zone, after.updatedAt), account }
    const request = { kind: 'return-payment', amount: { units: amount, scale: currency.decimals }, note } as const
    const step = { action: 'return', after, allocations: [], moved, note } as const
    return { steps: [step], changes: [], request, amount, counted: returned }
  }

import type { Author } from '../../db/audit/trail.ts'
import type { Channel } from '../../db/payments/channels.ts'
import { readByReceipts } from '../../db/payments/payments.ts'
import { reserveIds } from '../../db/queries/idBlocks.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { dateIn, type Instant } from '../../domain/dates.ts'
import { failedPrecondition, invalidArgument, invariant, notFound } from '../../domain/errors.ts'
import { currencyOf, toMinor } from '../../domain/money.ts'
import type { Payment } from '../../domain/payments/payment.ts'
import type { ToldPayment } from '../../domain/payments/told.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { type DecideDeps, decideNext } from './decidePayments.ts'
import { sealedPayer } from './payer.ts'

/** The fields of a payment in which one that is told again may differ from the first. */
export const PAYMENT_MEMBERS = ['amount', 'currencyCode', 'paidAt', 'reference'] as const
export type PaymentMember = (typeof PAYMENT_MEMBERS)[number]

/** A payment that was received, now or before. */
export interface Received {
  readonly payment: Payment
  /** Where the receipt was received before: in what the payment differs from the first. */
  readonly replayed?: readonly PaymentMember[]
}

/** Returns a payment that was told, as it is stored at a moment. @throws LendingError `invalid_argument` for the amount and the currency */
export function newPayment(
  { config, paymentBox }: Pick<Core & Writing, 'config' | 'paymentBox'>,
  channel: Channel,
  told: ToldPayment,
  { id, at, isNotified }: { readonly id: bigint; readonly at: Instant; readonly isNotified: boolean },
): Payment {
  const { organizationId, id: channelId, currency, zone, confirmAbove } = channel
  if (told.currencyCode !== undefined && told.currencyCode !== currency)
    throw invalidArgument('currency', `must be ${currency}, the currency of the channel`)
  const amount = toMinor(told.amount, currencyOf(currency), 'paymentAmount')
  const paidAt = told.paidAt ?? at
  const [paidOn, today] = [dateIn(zone, paidAt), dateIn(config.zone, at)]
  return {
    organizationId,
    id,
    channelId,
    receipt: told.receipt,
    amount,
    currency,
    paidAt,
    valueDate: paidOn < today ? paidOn : today,
    reference: told.reference ?? null,
    payer: sealedPayer(paymentBox, { phone: told.payerPhone ?? null, name: told.payerName ?? null }),
    status: 'received',
    allocated: 0n,
    returned: 0n,
    reversed: 0n,
    parts: 0,
    unconfirmed: isNotified && confirmAbove !== null && amount > confirmAbove,
    cause: null,
    receivedAt: at,
    updatedAt: at,
    version: 1,
  }
}

/** Returns in what a payment that is told again differs from the first; what it leaves out differs in nothing. */
export function mismatchOf(first: Payment, told: ToldPayment, amount: bigint): PaymentMember[] {
  const differs: Readonly<Record<PaymentMember, boolean>> = {
    amount: first.amount !== amount,
    currencyCode: told.currencyCode !== undefined && told.currencyCode !== first.currency,
    paidAt: told.paidAt !== undefined && told.paidAt !== first.paidAt,
    reference: told.reference !== undefined && told.reference !== first.reference,
  }
  return PAYMENT_MEMBERS.filter((name) => differs[name])
}

type ReceiveDeps = DecideDeps & Pick<Writing, 'paymentBatches'> & Pick<Caches, 'channels'>

/**
 * Receives a payment that a caller tells of, and decides on it: the payment is kept whatever is decided. Where the channel has one
 * with the receipt, that one is the answer.
 * @throws LendingError `permission_denied`, `not_found` for the channel, `invalid_argument`, `failed_precondition` for a channel that
 *   is disabled, `aborted` when the Idempotency-Key was taken meanwhile
 */
export async function receivePayment(
  deps: ReceiveDeps,
  caller: Caller,
  channelId: bigint,
  told: ToldPayment,
): Promise<Received> {
  requirePermission(caller, 'repayments.post')
  const { organizationId } = caller
  const channel = await channelNamed(deps, organizationId, channelId)
  if (channel.disabledAt !== null) throw failedPrecondition('the payment channel is disabled')
  const id = (await reserveIds(deps, 'payment', 1))()
  const payment = newPayment(deps, channel, told, { id, at: deps.now(organizationId), isNotified: false })
  const key = { organizationId, channelId: channel.id, receipt: told.receipt }
  const author: Author = {
    organizationId,
    accountId: caller.accountId,
    requestId: caller.requestId,
    ...(caller.claim && { claim: caller.claim }),
  }
  const isStored = await abortedWhereKeyTaken(
    deps.paymentBatches.receive({ author, payment, account: channel.account }),
  )
  if (!isStored) {
    const [first] = await readByReceipts(deps.db, [key])
    invariant(first, 'a receipt that the channel has')
    deps.listener.duplicateAnswered('token')
    return { payment: first, replayed: mismatchOf(first, told, payment.amount) }
  }
  return { payment: await decideSoon(deps, channel, payment) }
}

/** The times that a payment is tried to be decided on within its request; after that, the job decides on it. */
const MOST_TRIES = 5

/** Decides on a payment that was just received. Where that fails, the payment is kept, and the job decides on it later. */
async function decideSoon(deps: ReceiveDeps, channel: Channel, payment: Payment): Promise<Payment> {
  if (!channel.autoAllocate || payment.unconfirmed) return payment
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { decided, isStale } = await decideNext(deps, payment.organizationId, [payment.id]).catch(() => NOTHING)
    const own = decided.find(({ id }) => id === payment.id)
    if (own) return own
    if (!isStale) break
  }
  const [stored] = await readByReceipts(deps.db, [payment])
  return stored ?? payment
}

const NOTHING = { decided: [], isStale: false } as const

/** Returns a channel that a request names. @throws LendingError `not_found` */
async function channelNamed(
  { channels }: Pick<Caches, 'channels'>,
  organizationId: number,
  id: bigint,
): Promise<Channel> {
  const channel = id > LARGEST_INT32 ? undefined : await channels.get(`${organizationId} ${id}`)
  if (!channel) throw notFound((nameOf) => `no payment channel has that id, given as ${nameOf('channelId')}`)
  return channel
}

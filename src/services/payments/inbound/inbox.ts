import { service } from '../../../db/audit/trail.ts'
import type { Channel } from '../../../db/payments/channels.ts'
import { decideMessages, lockPendingMessages, type Outcome, type PendingMessage } from '../../../db/payments/inbox.ts'
import { insertPayments, type NewPayment, readByReceipts } from '../../../db/payments/payments.ts'
import { insertReversals, type Reversal } from '../../../db/payments/reversals.ts'
import { isWorthRepeating, mayBeCausedByRow } from '../../../db/postgres/errors.ts'
import { inTransaction, type Transaction } from '../../../db/postgres/transaction.ts'
import { reserveIds } from '../../../db/queries/idBlocks.ts'
import type { Instant } from '../../../domain/dates.ts'
import { inNames, invalidArgument, LendingError } from '../../../domain/errors.ts'
import { currencyOf, toMinor } from '../../../domain/money.ts'
import { type Reading, readTold } from '../../../domain/payments/adapters/read.ts'
import { adapterOf } from '../../../domain/payments/adapters.ts'
import type { Payment } from '../../../domain/payments/payment.ts'
import type { ToldPayment } from '../../../domain/payments/told.ts'
import { WrongSecretError } from '../../secretBox.ts'
import { channelOf } from '../channelCache.ts'
import type { DecideDeps } from '../decidePayments.ts'
import { mismatchOf, newPayment } from '../receivePayments.ts'
import { readBody } from './messageBody.ts'
import { openedMessage } from './messages.ts'

/** Messages that are read in one transaction. */
export const MESSAGES_A_ROUND = 200

/** The most characters of an outcome. */
const LONGEST_OUTCOME = 500

/** The messages that a transaction reads: the next ones above an id. */
interface Next {
  readonly above: bigint
  readonly most: number
}

/** What one transaction has done. */
interface Read {
  readonly last: bigint
  readonly count: number
}

/**
 * Reads the next messages of an organization that wait in the inbox, in one transaction: the payments and the reversals that they
 * tell of are stored, and each message is marked with what came of it. Where the transaction is aborted, all of them still
 * wait. One that fails alone is marked as unreadable, and stops no other.
 * @returns whether more are left
 * @throws the first error of a message that failed alone, once the others are read
 */
export async function readInbox(deps: DecideDeps, organizationId: number): Promise<'done' | 'more'> {
  try {
    const read = await readNext(deps, organizationId, { above: 0n, most: MESSAGES_A_ROUND })
    return read?.count === MESSAGES_A_ROUND ? 'more' : 'done'
  } catch (error) {
    if (isOfAll(error)) throw error
  }
  return readEachAlone(deps, organizationId)
}

/** Whether an error says nothing of a message: the database is away or full, or the secret is not the one of the messages. */
const isOfAll = (error: unknown): boolean =>
  isWorthRepeating(error) || !mayBeCausedByRow(error) || error instanceof WrongSecretError

/** Reads as many messages as a transaction has, each in one of its own. */
async function readEachAlone(deps: DecideDeps, organizationId: number): Promise<'done' | 'more'> {
  const failures: unknown[] = []
  let above = 0n
  let count = 0
  while (count < MESSAGES_A_ROUND) {
    const next = { above, most: 1 }
    const read = await readNext(deps, organizationId, next).catch((error: unknown) => {
      if (isOfAll(error)) throw error
      failures.push(error)
      return giveUp(deps, organizationId, next)
    })
    if (!read) break
    above = read.last
    count++
  }
  if (failures.length > 0) throw failures[0]
  return count === MESSAGES_A_ROUND ? 'more' : 'done'
}

/** Marks the next message as one that cannot be taken in. */
const giveUp = (deps: DecideDeps, organizationId: number, next: Next) =>
  inTransaction(deps.db, async (transaction): Promise<Read | undefined> => {
    const [message] = await lockPendingMessages(transaction, organizationId, next)
    if (!message) return undefined
    await decideMessages(transaction, [unreadable(message, FAILED)], momentOfReading(deps, [message]))
    return { last: message.id, count: 1 }
  })

/** Returns the moment at which messages are read: none of them came after it, also where it came to an instance whose clock is ahead. */
const momentOfReading = ({ now }: Pick<DecideDeps, 'now'>, messages: readonly PendingMessage[]): Instant =>
  Math.max(now(messages[0]!.organizationId), ...messages.map(({ receivedAt }) => receivedAt))

const FAILED = 'the service failed to take it in, which is an error on our side'

const readNext = (deps: DecideDeps, organizationId: number, next: Next) =>
  inTransaction(deps.db, async (transaction): Promise<Read | undefined> => {
    const messages = await lockPendingMessages(transaction, organizationId, next)
    if (messages.length === 0) return undefined
    const nextId = await reserveIds(deps, 'payment', messages.length)
    const told: Told[] = []
    for (const message of messages) told.push(await toldOf(deps, message, nextId))
    const outcomes = await store(transaction, told)
    await decideMessages(transaction, outcomes, momentOfReading(deps, messages))
    return { last: messages.at(-1)!.id, count: messages.length }
  })

/** What a message tells, as it is stored. */
type Told = { readonly message: PendingMessage } & (
  | { readonly payment: NewPayment; readonly told: ToldPayment }
  | { readonly reversal: Reversal }
  | { readonly outcome: Outcome }
)

const outcomeOf = (
  { organizationId, id }: PendingMessage,
  state: Outcome['state'],
  outcome: string,
  paymentId: bigint | null = null,
): Outcome => ({ organizationId, id, state, outcome: outcome.slice(0, LONGEST_OUTCOME), paymentId })

const unreadable = (message: PendingMessage, why: string): Outcome => outcomeOf(message, 'unreadable', why)

async function toldOf(deps: DecideDeps, message: PendingMessage, nextId: () => bigint): Promise<Told> {
  const channel = await channelOf(deps, message)
  const reading = readMessage(deps, channel, message)
  switch (reading.tells) {
    case 'nothing':
      return { message, outcome: outcomeOf(message, 'ignored', reading.why) }
    case 'unreadable':
      return { message, outcome: unreadable(message, reading.why) }
    default:
      try {
        return { message, ...storable(deps, channel, message, { reading, id: nextId() }) }
      } catch (error) {
        // The channel takes no such amount, or no such currency.
        if (!(error instanceof LendingError)) throw error
        return { message, outcome: unreadable(message, inNames(error, NAMES).message) }
      }
  }
}

const NAMES = { paymentAmount: 'amount', currency: 'currency' }

function readMessage(deps: Pick<DecideDeps, 'paymentBox'>, channel: Channel, message: PendingMessage): Reading {
  const adapter = adapterOf(channel)
  const { signatureFault, body: bytes } = openedMessage(deps.paymentBox, message.message)
  if (signatureFault !== null) return { tells: 'unreadable', why: signatureFault }
  const body = readBody(adapter, bytes)
  if ('why' in body) return { tells: 'unreadable', why: body.why }
  return readTold(adapter, body.tree, { zone: channel.zone, receivedAt: message.receivedAt })
}

/** Returns a payment or a reversal as it is stored. @throws LendingError for an amount and a currency that the channel does not take */
function storable(
  deps: DecideDeps,
  channel: Channel,
  message: PendingMessage,
  { reading, id }: { readonly reading: Exclude<Reading, { readonly why: string }>; readonly id: bigint },
): { readonly payment: NewPayment; readonly told: ToldPayment } | { readonly reversal: Reversal } {
  const { organizationId, channelId, receivedAt } = message
  if (reading.tells === 'payment') {
    const at = momentOfReading(deps, [message])
    const payment = newPayment(deps, channel, reading.payment, { id, at, isNotified: true })
    return { payment: { author: service(organizationId), payment, account: channel.account }, told: reading.payment }
  }
  const { reversal, currencyCode } = reading
  if (currencyCode !== undefined && currencyCode !== channel.currency)
    throw invalidArgument('currency', `must be ${channel.currency}, the currency of the channel`)
  const amount = toMinor(reversal.amount, currencyOf(channel.currency), 'paymentAmount')
  return { reversal: { ...reversal, amount, organizationId, id, channelId, receivedAt } }
}

/** Stores what messages tell. @returns what came of each */
async function store(transaction: Transaction, told: readonly Told[]): Promise<Outcome[]> {
  const db = { pool: transaction }
  const payments = told.filter((one) => 'payment' in one)
  const isStored = await insertPayments(
    db,
    payments.map(({ payment }) => payment),
  )
  const again = payments.filter((_, index) => !isStored[index]).map(({ payment }) => payment.payment)
  const known = (await readByReceipts(db, again)).flatMap((payment) => payment ?? [])
  const first = new Map(known.map((payment) => [keyOf(payment), payment]))
  const reversals = told.filter((one) => 'reversal' in one)
  await insertReversals(
    db,
    reversals.map(({ reversal }) => ({ author: service(reversal.organizationId), reversal })),
  )
  return told.map((one) => {
    if ('outcome' in one) return one.outcome
    if ('reversal' in one)
      return outcomeOf(one.message, 'done', `reversal ${one.reversal.receipt} of payment ${one.reversal.reverses}`)
    return receivedOutcome(one, first.get(keyOf(one.payment.payment)))
  })
}

const keyOf = ({ channelId, receipt }: Pick<Payment, 'channelId' | 'receipt'>): string => `${channelId} ${receipt}`

/** Returns what came of a message of a payment. @param first the payment that has its receipt; undefined: it was stored now */
function receivedOutcome(
  { message, payment: { payment }, told }: Extract<Told, { readonly told: ToldPayment }>,
  first: Payment | undefined,
): Outcome {
  // Of several messages in one transaction, the one whose payment was stored is the first.
  if (first === undefined || first.id === payment.id) {
    const waits = payment.unconfirmed ? '; it waits for the statement of the provider' : ''
    return outcomeOf(message, 'done', `payment ${payment.receipt} was received${waits}`, payment.id)
  }
  const differs = mismatchOf(first, told, payment.amount)
  const what = differs.length === 0 ? '' : `; this message differs in ${differs.join(', ')}`
  return outcomeOf(message, 'done', `payment ${payment.receipt} had been received before${what}`, first.id)
}

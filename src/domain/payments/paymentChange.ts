import type { LocalDate } from '../dates.ts'
import type { EventType } from '../events/eventTypes.ts'
import type { Payment } from './payment.ts'

/** The changes of a payment, by the action of the trail, each with the event that tells of it; undefined: no receiver is told. */
const EVENT_OF = {
  receive: 'payment.received',
  confirm: undefined,
  suspend: 'payment.unmatched',
  allocate: 'payment.allocated',
  'reverse allocations': 'payment.unmatched',
  return: 'payment.returned',
  reverse: 'payment.reversed',
  erase: undefined,
} as const satisfies Readonly<Record<string, EventType | undefined>>

export type PaymentAction = keyof typeof EVENT_OF

/** Returns whether a text is an action of a payment. */
const isPaymentAction = (action: string): action is PaymentAction => Object.hasOwn(EVENT_OF, action)

/** Returns the type of the event of a change of a payment; undefined where no receiver is told. */
export const paymentEventOf = (action: string): EventType | undefined =>
  isPaymentAction(action) ? EVENT_OF[action] : undefined

/** A part of a payment that was allocated to a loan, or taken from it again. Minor units. */
export interface Allocation {
  readonly loanId: bigint
  readonly transactionId: bigint
  readonly amount: bigint
}

/** Money that moved on the account of a channel: above zero where it came in. Minor units. */
export interface MovedMoney {
  readonly amount: bigint
  readonly on: LocalDate
  /** The code of the account of the channel; null: that of `cash`. */
  readonly account: string | null
}

/** A payment after a change, as the trail has it: without the payer, and without the reference, which is in the payer's words. */
export interface PaymentChange
  extends Pick<Payment, 'channelId' | 'receipt' | 'amount' | 'currency' | 'paidAt' | 'valueDate' | 'status' | 'cause'> {
  readonly allocated: bigint
  readonly returned: bigint
  readonly reversed: bigint
  /** The repayments that the change posted or reversed. */
  readonly allocations: readonly Allocation[]
  /** Null: no money came in or went out. */
  readonly moved: MovedMoney | null
  /** Why money was returned or taken from its loans, in the words of the one who did it. */
  readonly note: string | null
}

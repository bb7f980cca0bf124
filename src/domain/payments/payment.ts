import type { Instant, LocalDate } from '../dates.ts'

/** The states of a received payment, by where its money is. */
export const PAYMENT_STATUSES = [
  'received',
  'allocated',
  'partly_allocated',
  'unmatched',
  'returned',
  'reversed',
] as const

export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

/** The parts of a payment by where its money is, in minor units. What is in none of them is in suspense. */
export interface PaymentParts {
  readonly amount: bigint
  /** With loans. */
  readonly allocated: bigint
  /** Paid back to the payer by the lender. */
  readonly returned: bigint
  /** Taken back by the provider. */
  readonly reversed: bigint
}

/** A payment that was received on a channel. Amounts in minor units of its currency. */
export interface Payment extends PaymentParts {
  readonly organizationId: number
  readonly id: bigint
  readonly channelId: number
  /** The provider's number of the payment: with the channel, unique for ever. */
  readonly receipt: string
  readonly currency: string
  readonly paidAt: Instant
  /** The day of `paidAt` in the zone of the channel, and not after the day of receipt: the value date of its repayments. */
  readonly valueDate: LocalDate
  /** The reference that the payer gave. */
  readonly reference: string | null
  /** The phone number and the name of the payer, encrypted. */
  readonly payer: string | null
  readonly status: PaymentStatus
  /** The number of repayments that were ever allocated from it. */
  readonly parts: number
  /** Whether it waits for the statement of the provider before it is allocated. */
  readonly unconfirmed: boolean
  /** Why its money is with no loan; null of one that is, or on which nothing was decided yet. */
  readonly cause: string | null
  readonly receivedAt: Instant
  readonly updatedAt: Instant
  readonly version: number
}

/**
 * Returns the moment at which something is done to payments: `now`, but not before one of them was changed last. The instance that
 * did so may have a clock that is ahead of that of `now`.
 */
export const momentAfter = (payments: readonly Pick<Payment, 'updatedAt'>[], now: Instant): Instant =>
  Math.max(now, ...payments.map(({ updatedAt }) => updatedAt))

/** Returns the part of a payment that is in suspense: with no loan, and not gone again. */
export const inSuspense = ({ amount, allocated, returned, reversed }: PaymentParts): bigint =>
  amount - allocated - returned - reversed

/** Returns the status of a payment on which something was decided. */
export function decidedStatus(parts: PaymentParts): Exclude<PaymentStatus, 'received'> {
  const { allocated, reversed } = parts
  if (allocated > 0n) return inSuspense(parts) === 0n ? 'allocated' : 'partly_allocated'
  if (inSuspense(parts) > 0n) return 'unmatched'
  return reversed > 0n ? 'reversed' : 'returned'
}

/** Returns the dedupe token of the repayment that is the n-th part of a payment, from 1. */
export const partToken = (paymentId: bigint, part: number): string => `payment:${paymentId}:${part}`

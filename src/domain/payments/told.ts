import type { Instant } from '../dates.ts'
import type { Decimal } from '../money.ts'

/** A payment as it is told: by a caller, or by the message of a provider. */
export interface ToldPayment {
  readonly receipt: string
  readonly amount: Decimal
  readonly currencyCode?: string | undefined
  /** Now when left out. */
  readonly paidAt?: Instant | undefined
  readonly reference?: string | undefined
  readonly payerPhone?: string | undefined
  readonly payerName?: string | undefined
}

/** A payment that its provider takes back, as a message tells of it. */
export interface ToldReversal {
  readonly receipt: string
  /** The receipt of the payment that is taken back. */
  readonly reverses: string
  readonly amount: Decimal
  readonly reversedAt: Instant
}

/** The most characters of what a payment says of itself. */
export const LONGEST_TOLD = { receipt: 100, reference: 200, payerPhone: 50, payerName: 200 } as const

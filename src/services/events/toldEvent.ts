import type { AuditEntry } from '../../db/audit/audit.ts'
import type { NamedCustomer, NamedLoan } from '../../db/events/eventFacts.ts'
import type { Instant } from '../../domain/dates.ts'
import type { EventType } from '../../domain/events/eventTypes.ts'
import type { StoredChange } from '../../domain/loan/change/changeText.ts'
import type { Entry } from '../../domain/loan/entry.ts'
import type { Outcome } from '../../domain/loan/outcomes.ts'
import type { Payment } from '../../domain/payments/payment.ts'
import type { PaymentChange } from '../../domain/payments/paymentChange.ts'

export type { NamedCustomer, NamedLoan } from '../../db/events/eventFacts.ts'

/** The loan, the customer, the payment or the journal that an event is about. Events of one subject are told in order. */
export type Subject =
  | { readonly loanId: bigint }
  | { readonly customerId: bigint }
  | { readonly paymentId: bigint }
  | { readonly journalOf: number }

/** A loan right after a change: its terms of then, and its balances of then. */
export interface ToldLoan {
  readonly loan: NamedLoan
  readonly state: StoredChange & { readonly daysOverdue: number }
}

/** A transaction as a change left it. */
export interface ToldTransaction {
  readonly loan: NamedLoan
  readonly entry: Entry
  /** Undefined for a reversed transaction. */
  readonly outcome: Pick<Outcome, 'portions' | 'overpayment'> | undefined
}

/** An event as receivers are told of it, before a style puts it into its words. */
export interface ToldEvent {
  readonly organizationId: number
  /** 1, 2, 3 … without a gap in the organization. */
  readonly sequence: bigint
  readonly type: EventType
  readonly subject: Subject
  /** When the change was made. */
  readonly at: Instant
  /** The hash of the event in the chain. */
  readonly hash: Uint8Array
  /** The row of the trail. */
  readonly change: AuditEntry
  /** Of an event of a loan. */
  readonly loan: ToldLoan | undefined
  /** Of a change that posted or reversed a transaction. */
  readonly transaction: ToldTransaction | undefined
  /** Of an event of a customer. */
  readonly customer: NamedCustomer | undefined
  /** Of an event of a payment: the payment right after the change, and its reference: null once the person was erased. */
  readonly payment: (PaymentChange & Pick<Payment, 'reference'>) | undefined
}

/** The name of an event, which is also the `webhook-id` of its deliveries. */
export const eventIdOf = ({ organizationId, sequence }: Pick<ToldEvent, 'organizationId' | 'sequence'>): string =>
  `evt_${organizationId}_${sequence}`

/** Reads the number of an event of an organization from its name; undefined for any other text. */
export function sequenceOf(id: string, organizationId: number): bigint | undefined {
  const [, organization, sequence] = /^evt_(\d{1,10})_([1-9]\d{0,18})$/.exec(id) ?? []
  return organization === String(organizationId) && sequence !== undefined ? BigInt(sequence) : undefined
}

import type { AuditEntry } from '../../db/audit/audit.ts'
import type { Instant } from '../../domain/dates.ts'
import type { EventType } from '../../domain/events/eventTypes.ts'

/** The loan or the customer that an event is about. Events of one subject are told in order. */
export type Subject = { readonly loanId: bigint } | { readonly customerId: bigint }

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
}

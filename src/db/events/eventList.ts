import type { StoredChange } from '../../domain/loan/change/changeText.ts'
import type { PaymentChange } from '../../domain/payments/paymentChange.ts'
import { PAYMENT, paymentFromText } from '../../domain/payments/paymentText.ts'
import { AUDIT_COLUMNS, type AuditEntry, type AuditRow, loanChangeOf, toAuditEntry } from '../audit/audit.ts'
import type { Db } from '../postgres/client.ts'
import { statement } from '../queries/statement.ts'

/** An event that is told, with its row of the trail. */
export interface StoredEvent {
  readonly sequence: bigint
  readonly type: string
  /** 0 for the change itself, 1 and so on for what followed from it. */
  readonly part: number
  readonly sealedAt: number
  readonly hash: Uint8Array
  /** The change of a loan; undefined for a change of something else, and for a damaged row. */
  readonly loanChange: StoredChange | undefined
  /** The payment after a change of one; undefined for a change of something else, and for a damaged row. */
  readonly paymentChange: PaymentChange | undefined
  readonly change: AuditEntry
}

interface EventRow extends AuditRow {
  readonly sequence: bigint
  readonly type: string
  readonly part: number
  readonly sealed_at: number
  readonly hash: Uint8Array
}

const COLUMNS = `e.sequence, e.type, e.part, e.sealed_at, e.hash, ${AUDIT_COLUMNS.split(', ')
  .map((column) => `a.${column}`)
  .join(', ')}`

function toEvent(row: EventRow): StoredEvent {
  const loanChange = loanChangeOf(row)
  return {
    sequence: row.sequence,
    type: row.type,
    part: row.part,
    sealedAt: row.sealed_at,
    hash: row.hash,
    loanChange,
    paymentChange: row.entity === PAYMENT ? paymentFromText(row.after) : undefined,
    change: toAuditEntry(row, loanChange),
  }
}

/** The part of an organization's events that is asked for: those after a number, up to another. */
export interface EventRange {
  readonly organizationId: number
  readonly after: bigint
  readonly to: bigint
  readonly most: number
}

const read = statement<EventRange & { types: readonly string[] | null }>(
  'read-events',
  (p) => `
  SELECT ${COLUMNS} FROM event e JOIN audit_entry a ON a.organization_id = e.organization_id AND a.id = e.change_id
  WHERE e.organization_id = ${p('organizationId')} AND e.sequence > ${p('after')} AND e.sequence <= ${p('to')}
    AND (${p('types')}::text[] IS NULL OR e.type = ANY (${p('types')}::text[]))
  ORDER BY e.sequence LIMIT ${p('most')}`,
)

/** Reads events in their order; of some types, where those are given. */
export async function readEvents(
  { pool }: Pick<Db, 'pool'>,
  range: EventRange,
  types: readonly string[] | undefined,
): Promise<StoredEvent[]> {
  const { rows } = await pool.query<EventRow>(read({ ...range, types: types ?? null }))
  return rows.map(toEvent)
}

/** The loan, or the customer with its loans of now, whose events are asked for; a loan of a customer, where both are named. */
export interface SubjectFilter {
  readonly loanId: bigint | null
  readonly customerId: bigint | null
}

interface OfSubjects extends EventRange, SubjectFilter {
  readonly types: readonly string[] | null
}

/** The entities of the trail whose rows are about a loan. */
const OF_LOANS = `(VALUES ('loan'), ('delinquency'), ('reminder')) AS of_loan (entity)`

/** The trail has an index by subject, and its rows are in the order of the events: of each subject the first are read. */
const readOf = statement<OfSubjects>(
  'read-events-of',
  (p) => `
  WITH start AS (
    SELECT coalesce(max(change_id), 0) AS id FROM event
    WHERE organization_id = ${p('organizationId')} AND sequence = ${p('after')}
  ), subject (entity, id) AS (
    SELECT entity, ${p('loanId')}::bigint::text FROM ${OF_LOANS} WHERE ${p('customerId')}::bigint IS NULL
    UNION ALL
    SELECT 'customer', ${p('customerId')}::bigint::text WHERE ${p('loanId')}::bigint IS NULL
    UNION ALL
    SELECT entity, l.id::text FROM loan l CROSS JOIN ${OF_LOANS} WHERE l.organization_id = ${p('organizationId')}
      AND l.customer_id = ${p('customerId')}::bigint AND (${p('loanId')}::bigint IS NULL OR l.id = ${p('loanId')}::bigint)
    UNION ALL
    SELECT 'promise', t.id::text FROM promise t JOIN loan l ON l.organization_id = t.organization_id AND l.id = t.loan_id
    WHERE t.organization_id = ${p('organizationId')} AND (${p('loanId')}::bigint IS NULL OR l.id = ${p('loanId')}::bigint)
      AND (${p('customerId')}::bigint IS NULL OR l.customer_id = ${p('customerId')}::bigint)
  )
  SELECT found.* FROM subject s CROSS JOIN start
  CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM audit_entry a JOIN event e ON e.organization_id = a.organization_id AND e.change_id = a.id
    WHERE a.organization_id = ${p('organizationId')} AND a.entity = s.entity AND a.entity_id = s.id AND a.id >= start.id
      AND e.sequence > ${p('after')} AND e.sequence <= ${p('to')}
      AND (${p('types')}::text[] IS NULL OR e.type = ANY (${p('types')}::text[]))
    ORDER BY a.id, e.part LIMIT ${p('most')}
  ) AS found
  ORDER BY found.sequence LIMIT ${p('most')}`,
)

/** Reads the events of a loan, or of a customer and its loans, in their order. */
export async function readEventsOf(
  { pool }: Pick<Db, 'pool'>,
  range: EventRange,
  { subjects, types }: { readonly subjects: SubjectFilter; readonly types: readonly string[] | undefined },
): Promise<StoredEvent[]> {
  const { rows } = await pool.query<EventRow>(readOf({ ...range, ...subjects, types: types ?? null }))
  return rows.map(toEvent)
}

/** Returns the number of the last event of each organization that is asked for. */
export async function readHeads(
  { pool }: Pick<Db, 'pool'>,
  organizationIds: readonly number[],
): Promise<Map<number, bigint>> {
  const { rows } = await pool.query<{ id: number; sequence: bigint }>({
    name: 'read-event-heads',
    text: 'SELECT organization_id AS id, sequence FROM event_chain WHERE organization_id = ANY ($1::int[])',
    values: [organizationIds],
  })
  return new Map(rows.map(({ id, sequence }) => [id, sequence]))
}

const first = statement<{ organizationId: number; sequence: bigint }>(
  'event-sealed-at',
  (p) => `SELECT sequence, sealed_at AS "sealedAt", hash FROM event
    WHERE organization_id = ${p('organizationId')} AND sequence >= ${p('sequence')} ORDER BY sequence LIMIT 1`,
)

/** An event's number, when it got it, and its hash. */
export interface Numbered {
  readonly sequence: bigint
  readonly sealedAt: number
  readonly hash: Uint8Array
}

/** Returns the first event from a number on, and when it was numbered; undefined where there is none. */
export async function firstEventFrom(
  { pool }: Pick<Db, 'pool'>,
  organizationId: number,
  sequence: bigint,
): Promise<Numbered | undefined> {
  const { rows } = await pool.query<Numbered>(first({ organizationId, sequence }))
  return rows[0]
}

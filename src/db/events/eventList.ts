import { AUDIT_COLUMNS, type AuditEntry, type AuditRow, toAuditEntry } from '../audit/audit.ts'
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
  readonly balances: string | null
  readonly change: AuditEntry
}

interface EventRow extends AuditRow {
  readonly sequence: bigint
  readonly type: string
  readonly part: number
  readonly sealed_at: number
  readonly hash: Uint8Array
  readonly balances: string | null
}

const COLUMNS = `e.sequence, e.type, e.part, e.sealed_at, e.hash, a.balances, ${AUDIT_COLUMNS.split(', ')
  .map((column) => `a.${column}`)
  .join(', ')}`

const toEvent = (row: EventRow): StoredEvent => ({
  sequence: row.sequence,
  type: row.type,
  part: row.part,
  sealedAt: row.sealed_at,
  hash: row.hash,
  balances: row.balances,
  change: toAuditEntry(row),
})

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

/** A customer or a loan, by the name and number that the trail has for it. */
export interface SubjectKey {
  readonly entity: 'customer' | 'loan'
  readonly id: bigint
}

interface OfSubjects extends EventRange {
  readonly entities: readonly string[]
  readonly ids: readonly string[]
  readonly types: readonly string[] | null
}

/** The trail has an index by subject, and its rows are in the order of the events. */
const readOf = statement<OfSubjects>(
  'read-events-of',
  (p) => `
  WITH start AS (
    SELECT coalesce(max(change_id), 0) AS id FROM event
    WHERE organization_id = ${p('organizationId')} AND sequence = ${p('after')}
  )
  SELECT ${COLUMNS} FROM unnest(${p('entities')}::text[], ${p('ids')}::text[]) AS s (entity, id) CROSS JOIN start
  CROSS JOIN LATERAL (
    SELECT t.* FROM audit_entry t
    WHERE t.organization_id = ${p('organizationId')} AND t.entity = s.entity AND t.entity_id = s.id AND t.id >= start.id
    ORDER BY t.id
  ) AS a
  JOIN event e ON e.organization_id = a.organization_id AND e.change_id = a.id
  WHERE e.sequence > ${p('after')} AND e.sequence <= ${p('to')}
    AND (${p('types')}::text[] IS NULL OR e.type = ANY (${p('types')}::text[]))
  ORDER BY e.sequence LIMIT ${p('most')}`,
)

/** Reads the events of some customers and loans, in their order. */
export async function readEventsOf(
  { pool }: Pick<Db, 'pool'>,
  range: EventRange,
  { subjects, types }: { readonly subjects: readonly SubjectKey[]; readonly types: readonly string[] | undefined },
): Promise<StoredEvent[]> {
  const entities = subjects.map(({ entity }) => entity)
  const ids = subjects.map(({ id }) => String(id))
  const { rows } = await pool.query<EventRow>(readOf({ ...range, entities, ids, types: types ?? null }))
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

const loansOf = statement<{ organizationId: number; customerId: bigint; most: number }>(
  'loans-of-customer',
  (p) => `SELECT id FROM loan WHERE organization_id = ${p('organizationId')} AND customer_id = ${p('customerId')}
    ORDER BY id LIMIT ${p('most')}`,
)

/** Returns the ids of the loans of a customer. */
export async function findLoanIdsOf(
  { pool }: Pick<Db, 'pool'>,
  organizationId: number,
  { customerId, most }: { readonly customerId: bigint; readonly most: number },
): Promise<bigint[]> {
  const { rows } = await pool.query<{ id: bigint }>(loansOf({ organizationId, customerId, most }))
  return rows.map(({ id }) => id)
}

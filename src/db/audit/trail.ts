import { isUniqueViolation } from '../postgres/errors.ts'
import { type ColumnTypes, jsonbText, moment, type Table } from '../queries/rows.ts'
import type { Parameter } from '../queries/statement.ts'
import { instantText, type Stamping, stampOf } from './stamp.ts'

/** The author of a change of the book, the request, and its Idempotency-Key if there is one. */
export interface Author {
  readonly organizationId: number
  /** Null: the service itself, or an operator at the command line. */
  readonly accountId: number | null
  readonly requestId: string | null
  readonly claim?: Claim | undefined
  /** True where no receiver is told of the change, as of an import of an old book. */
  readonly isUnannounced?: boolean
  /** True for an import of a book that was kept elsewhere: the journal opens what it makes. */
  readonly isImport?: boolean
}

/** An Idempotency-Key, and the hash of its request. */
export interface Claim {
  readonly key: string
  readonly requestHash: string
  /** When the request came, by the clock of the machine: the key is kept for days of that clock. */
  readonly claimedAt: number
}

/** The content of a row of the audit trail, besides the author and the time. */
export interface Trace {
  readonly action: string
  readonly before: object | null
  readonly after: object | null
  /** Of a change of a loan: the change, as `changeToText` writes it. */
  readonly change?: string
}

/** The row that a row of the audit trail is about. */
export interface Subject {
  readonly entity: string
  readonly id: bigint | number | string
}

/** The parameters that `trail` takes. */
export interface TrailValues {
  readonly organizationId: number
  readonly changedAt: string | null
  readonly accountId: number | null
  readonly requestId: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
  readonly change: string | null
  readonly unannounced: boolean | null
  /** Hexadecimal; null where the connection has no key for it. */
  readonly stamp: string | null
  readonly key: string | null
  readonly requestHash: string | null
  readonly claimedAt: string | null
}

const COLUMNS =
  'organization_id, at, account_id, request_id, action, entity, entity_id, before, after, change, unannounced, stamp'

/**
 * The CTEs that every changing statement carries: its row in the audit trail, and its Idempotency-Key. Both are made
 * from the rows of the CTE `change`, so that where nothing was changed nothing is written.
 * @param transaction SQL for the id of the transaction that the change posted or reversed
 */
export const trail = (
  p: Parameter<TrailValues>,
  change: string,
  entity: string,
  transaction = 'NULL::bigint',
): string => `
  audited AS (
    INSERT INTO audit_entry (${COLUMNS})
    SELECT ${p('organizationId')}, ${p('changedAt')}, ${p('accountId')}::int, ${p('requestId')}, ${p('action')}, '${entity}',
      ${change}.id::text, ${p('before')}::jsonb, ${p('after')}::jsonb,
      ${p('change')}::json, ${p('unannounced')}::boolean, decode(${p('stamp')}, 'hex')
    FROM ${change}
  ), keyed AS (
    INSERT INTO idempotency_key (organization_id, account_id, key, request_hash, entity, entity_id, transaction_id, created_at)
    SELECT ${p('organizationId')}, ${p('accountId')}::int, ${p('key')}, ${p('requestHash')}, '${entity}', ${change}.id,
      ${transaction}, ${p('claimedAt')}
    FROM ${change} WHERE ${p('key')}::text IS NOT NULL
  )`

/** A row of the audit trail as it is written: its values, and its stamp. */
export interface TrailRow {
  readonly changedAt: string | null
  readonly before: string | null
  readonly after: string | null
  readonly change: string | null
  readonly unannounced: boolean | null
  readonly stamp: string | null
}

/** Returns a row of the audit trail, stamped with the key of the connection that writes it. */
export function stampedRow(
  { stampMac }: Stamping,
  author: Author,
  at: number,
  { entity, id }: Subject,
  trace: Trace,
): TrailRow {
  const before = trace.before && jsonbText(trace.before)
  const after = trace.after && jsonbText(trace.after)
  const { change = null } = trace
  const unannounced = author.isUnannounced ?? null
  const stamped = () => [
    instantText(at),
    author.accountId === null ? null : String(author.accountId),
    author.requestId,
    trace.action,
    entity,
    String(id),
    before,
    after,
    change,
    unannounced === null ? null : String(unannounced),
  ]
  const { organizationId } = author
  const stamp = stampMac ? stampOf(stampMac, { organizationId, texts: stamped() }).toString('hex') : null
  return { changedAt: moment(at), before, after, change, unannounced, stamp }
}

/** The values for `trail`. */
export const trailValues = (
  stamping: Stamping,
  author: Author,
  now: number,
  subject: Subject,
  trace: Trace,
): TrailValues => ({
  ...stampedRow(stamping, author, now, subject, trace),
  organizationId: author.organizationId,
  accountId: author.accountId,
  requestId: author.requestId,
  action: trace.action,
  key: author.claim?.key ?? null,
  requestHash: author.claim?.requestHash ?? null,
  claimedAt: moment(author.claim?.claimedAt ?? null),
})

/** The columns of the trail of many changes, as a set of rows: name → type. */
export const TRAIL_COLUMNS: ColumnTypes = {
  organization_id: 'int',
  entity_id: 'bigint',
  at: 'timestamptz',
  account_id: 'int',
  request_id: 'text',
  action: 'text',
  before: 'jsonb',
  after: 'jsonb',
  change: 'json',
  unannounced: 'boolean',
  stamp: 'text',
  key: 'text',
  request_hash: 'text',
  claimed_at: 'timestamptz',
  transaction_id: 'bigint',
}

/** `trail` for many changes in one statement: of the rows given, those whose entity is in the CTE `change`. */
export function trailRows(change: string, entity: string, rows: Table): string {
  const given = `${rows('t')}
    JOIN ${change} ON ${change}.organization_id = t.organization_id AND ${change}.id = t.entity_id`
  return `
  audited AS (
    INSERT INTO audit_entry (${COLUMNS})
    SELECT t.organization_id, t.at, t.account_id, t.request_id, t.action, '${entity}', t.entity_id::text, t.before, t.after,
      t.change, t.unannounced, decode(t.stamp, 'hex')
    FROM ${given}
  ), keyed AS (
    INSERT INTO idempotency_key (organization_id, account_id, key, request_hash, entity, entity_id, transaction_id, created_at)
    SELECT t.organization_id, t.account_id, t.key, t.request_hash, '${entity}', t.entity_id, t.transaction_id, t.claimed_at
    FROM ${given} WHERE t.key IS NOT NULL
  )`
}

/** A row for `trailRows`. */
export function trailRow(
  stamping: Stamping,
  author: Author,
  at: number,
  subject: Subject,
  { trace, transactionId }: { readonly trace: Trace; readonly transactionId: bigint | null },
): unknown[] {
  const row = stampedRow(stamping, author, at, subject, trace)
  return [
    author.organizationId,
    subject.id,
    row.changedAt,
    author.accountId,
    author.requestId,
    trace.action,
    row.before,
    row.after,
    row.change,
    row.unannounced === null ? null : String(row.unannounced),
    row.stamp,
    author.claim?.key ?? null,
    author.claim?.requestHash ?? null,
    moment(author.claim?.claimedAt ?? null),
    transactionId,
  ]
}

/** The service itself as the author of a change. */
export const service = (organizationId: number): Author => ({ organizationId, accountId: null, requestId: null })

/** The same row for what is written through Prisma; to be created in the transaction of the change. */
export function auditRow(stamping: Stamping, author: Author, now: number, subject: Subject, trace: Trace) {
  const { before, after, unannounced, stamp } = stampedRow(stamping, author, now, subject, trace)
  return {
    organizationId: author.organizationId,
    at: new Date(now),
    accountId: author.accountId,
    requestId: author.requestId,
    action: trace.action,
    entity: subject.entity,
    entityId: String(subject.id),
    ...(before !== null && { before: JSON.parse(before) }),
    ...(after !== null && { after: JSON.parse(after) }),
    unannounced,
    stamp: stamp === null ? null : new Uint8Array(Buffer.from(stamp, 'hex')),
  }
}

/** The row of the change's Idempotency-Key, if it has one; to be created in the same transaction. */
export function keyRows({ organizationId, accountId, claim }: Author, entity: string, id: number) {
  if (!claim || accountId === null) return []
  const { claimedAt, ...kept } = claim
  return [{ organizationId, accountId, ...kept, entity, entityId: BigInt(id), createdAt: new Date(claimedAt) }]
}

/** Whether a statement failed because another instance stored the same Idempotency-Key at the same time. */
export const isKeyTaken = (error: unknown): boolean => isUniqueViolation(error, 'idempotency_key_pkey')

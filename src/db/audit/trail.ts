import type { EventType } from '../../domain/events/eventTypes.ts'
import { isUniqueViolation } from '../postgres/errors.ts'
import { type ColumnTypes, moment, type Table } from '../queries/rows.ts'
import type { Parameter } from '../queries/statement.ts'

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
  /** Of a change of a loan: its balances after it, as `balancesToText` writes them. */
  readonly balances?: string
  /** What followed from the change of a loan. */
  readonly consequences?: readonly EventType[]
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
  readonly balances: string | null
  readonly consequences: string | null
  readonly unannounced: boolean | null
  readonly key: string | null
  readonly requestHash: string | null
  readonly claimedAt: string | null
}

const COLUMNS =
  'organization_id, at, account_id, request_id, action, entity, entity_id, before, after, balances, consequences, unannounced'

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
      ${p('balances')}, ${p('consequences')}, ${p('unannounced')}::boolean
    FROM ${change}
  ), keyed AS (
    INSERT INTO idempotency_key (organization_id, account_id, key, request_hash, entity, entity_id, transaction_id, created_at)
    SELECT ${p('organizationId')}, ${p('accountId')}::int, ${p('key')}, ${p('requestHash')}, '${entity}', ${change}.id,
      ${transaction}, ${p('claimedAt')}
    FROM ${change} WHERE ${p('key')}::text IS NOT NULL
  )`

const consequencesToText = ({ consequences = [] }: Trace): string | null =>
  consequences.length === 0 ? null : consequences.join(' ')

/** The values of the columns from which events are made. */
const toldOf = (author: Author, trace: Trace) => ({
  balances: trace.balances ?? null,
  consequences: consequencesToText(trace),
  unannounced: author.isUnannounced ?? null,
})

/** The values for `trail`. */
export const trailValues = (author: Author, now: number, trace: Trace): TrailValues => ({
  organizationId: author.organizationId,
  changedAt: moment(now),
  accountId: author.accountId,
  requestId: author.requestId,
  action: trace.action,
  before: trace.before && toJson(trace.before),
  after: trace.after && toJson(trace.after),
  ...toldOf(author, trace),
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
  balances: 'text',
  consequences: 'text',
  unannounced: 'boolean',
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
      t.balances, t.consequences, t.unannounced
    FROM ${given}
  ), keyed AS (
    INSERT INTO idempotency_key (organization_id, account_id, key, request_hash, entity, entity_id, transaction_id, created_at)
    SELECT t.organization_id, t.account_id, t.key, t.request_hash, '${entity}', t.entity_id, t.transaction_id, t.claimed_at
    FROM ${given} WHERE t.key IS NOT NULL
  )`
}

/** A row for `trailRows`. */
export const trailRow = (
  author: Author,
  at: number,
  entityId: bigint,
  trace: Trace,
  transactionId: bigint | null,
): unknown[] => [
  author.organizationId,
  entityId,
  moment(at),
  author.accountId,
  author.requestId,
  trace.action,
  trace.before && toJson(trace.before),
  trace.after && toJson(trace.after),
  trace.balances ?? null,
  consequencesToText(trace),
  author.isUnannounced ? 'true' : null,
  author.claim?.key ?? null,
  author.claim?.requestHash ?? null,
  moment(author.claim?.claimedAt ?? null),
  transactionId,
]

/** The service itself as the author of a change. */
export const service = (organizationId: number): Author => ({ organizationId, accountId: null, requestId: null })

/** The same row for what is written through Prisma; to be created in the transaction of the change. */
export const auditRow = (author: Author, now: number, entity: string, id: number | string, trace: Trace) => ({
  organizationId: author.organizationId,
  at: new Date(now),
  accountId: author.accountId,
  requestId: author.requestId,
  action: trace.action,
  entity,
  entityId: String(id),
  ...(trace.before && { before: JSON.parse(toJson(trace.before)) }),
  ...(trace.after && { after: JSON.parse(toJson(trace.after)) }),
  ...toldOf(author, trace),
})

/** The row of the change's Idempotency-Key, if it has one; to be created in the same transaction. */
export function keyRows({ organizationId, accountId, claim }: Author, entity: string, id: number) {
  if (!claim || accountId === null) return []
  const { claimedAt, ...kept } = claim
  return [{ organizationId, accountId, ...kept, entity, entityId: BigInt(id), createdAt: new Date(claimedAt) }]
}

/** Bigints are written as JSON numbers, digit by digit. */
export const toJson = (value: object): string => JSON.stringify(withNumbers(value))

/** A copy that JSON takes: to be asked about each value takes it three times as long. */
function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return exactly(value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (Array.isArray(value)) return value.map(withNumbers)
  // Copied first: what is assigned to a name that is there is its value, also where the name is __proto__.
  const copy: Record<string, unknown> = { ...value }
  for (const key in copy) copy[key] = withNumbers(copy[key])
  return copy
}

function exactly(value: bigint): unknown {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(value.toString())
}

/** Whether a statement failed because another instance stored the same Idempotency-Key at the same time. */
export const isKeyTaken = (error: unknown): boolean => isUniqueViolation(error, 'idempotency_key_pkey')

import { LendingError } from '../domain/errors.ts'
import { isUniqueViolation } from './faults.ts'

/** Who changes the book, from which request, and under which Idempotency-Key if there is one. */
export interface Author {
  readonly organizationId: number
  /** Null: the service by itself. */
  readonly accountId: number | null
  readonly requestId: string | null
  readonly claim?: Claim | undefined
}

/** An Idempotency-Key, and the hash of the request that it stands for. */
export interface Claim {
  readonly key: string
  readonly requestHash: string
}

/** What a row of the audit trail says of a change, besides who and when. */
export interface Trace {
  readonly action: string
  readonly before: object | null
  readonly after: object | null
}

/** How many parameters `trail` takes. */
export const TRAIL_SIZE = 8

/**
 * The CTEs that every changing statement carries: its row in the audit trail, and its Idempotency-Key. Both are made
 * from the rows of the CTE `change`, so that where nothing was changed nothing is written. `$1` is the organization.
 * @param first number of the first of `TRAIL_SIZE` parameters, which `trailValues` fills
 * @param transaction SQL for the id of the transaction that the change posted or reversed
 */
export function trail(change: string, entity: string, first: number, transaction = 'NULL::bigint'): string {
  const [at, account, request, action, before, after, key, hash] = Array.from(
    { length: TRAIL_SIZE },
    (_, index) => `$${first + index}`,
  )
  return `
  audited AS (
    INSERT INTO audit_entry (organization_id, at, account_id, request_id, action, entity, entity_id, before, after)
    SELECT $1, ${at}, ${account}::int, ${request}, ${action}, '${entity}', ${change}.id::text, ${before}::jsonb, ${after}::jsonb
    FROM ${change}
  ), keyed AS (
    INSERT INTO idempotency_key (organization_id, account_id, key, request_hash, entity, entity_id, transaction_id, created_at)
    SELECT $1, ${account}::int, ${key}, ${hash}, '${entity}', ${change}.id, ${transaction}, ${at}
    FROM ${change} WHERE ${key}::text IS NOT NULL
  )`
}

/** The values for `trail`, in its order. */
export const trailValues = (author: Author, now: number, { action, before, after }: Trace): unknown[] => [
  moment(now),
  author.accountId,
  author.requestId,
  action,
  before && toJson(before),
  after && toJson(after),
  author.claim?.key ?? null,
  author.claim?.requestHash ?? null,
]

/** The service by itself, or an operator at its command line. */
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
})

/** An instant as a parameter. */
export const moment = (instant: number | null): string | null =>
  instant === null ? null : new Date(instant).toISOString()

/** Bigints are written as JSON numbers, digit by digit. */
export const toJson = (value: object): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? JSON.rawJSON(one.toString()) : one))

/** Another instance was given the same Idempotency-Key at the same time, and was faster. */
export function rethrowTakenKey(error: unknown): void {
  if (isUniqueViolation(error, 'idempotency_key_pkey'))
    throw new LendingError('aborted', 'another request with this Idempotency-Key is being answered; try again', [], 1)
}

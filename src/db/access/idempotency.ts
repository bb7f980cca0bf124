import type { Author, Claim } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { moment } from '../queries/rows.ts'
import { type Parameter, statement } from '../queries/statement.ts'

/** Days for which a key is kept (contract 1.11). */
const KEY_DAYS = 30
const DAY_MS = 86_400_000

/** The request and the answer that are kept under a key. */
export interface KeptRequest {
  readonly requestHash: string
  /** The kind and the id of the row that the request changed; null where it changed nothing. */
  readonly entity: string | null
  readonly entityId: bigint | null
  readonly transactionId: bigint | null
  /** The answer; null where a crash came between the change and its answer. */
  readonly answer: { readonly status: number; readonly body: string } | null
}

type Keyed = Pick<Author, 'organizationId' | 'accountId'>

interface KeyValues {
  readonly organizationId: number
  readonly accountId: number | null
  readonly key: string
  readonly oldest: string | null
}

/** The parameters of the statements about one key: keys made before `oldest` are forgotten. */
const valuesOf = ({ organizationId, accountId }: Keyed, key: string, now: number): KeyValues => ({
  organizationId,
  accountId,
  key,
  oldest: moment(now - KEY_DAYS * DAY_MS),
})

const isKey = (p: Parameter<KeyValues>) =>
  `organization_id = ${p('organizationId')} AND account_id = ${p('accountId')} AND key = ${p('key')}`

const find = statement<KeyValues>(
  'find-idempotency-key',
  (p) => `
  SELECT request_hash, entity, entity_id, transaction_id, status, response FROM idempotency_key
  WHERE ${isKey(p)} AND created_at > ${p('oldest')}`,
)

/** Finds an earlier request under this key in the last 30 days. */
export async function findKept(db: Db, author: Keyed, key: string, now: number): Promise<KeptRequest | undefined> {
  const { rows } = await db.pool.query<KeptRow>(find(valuesOf(author, key, now)))
  const row = rows[0]
  return (
    row && {
      requestHash: row.request_hash,
      entity: row.entity,
      entityId: row.entity_id,
      transactionId: row.transaction_id,
      answer: row.status === null || row.response === null ? null : { status: row.status, body: row.response },
    }
  )
}

const forget = statement<KeyValues>(
  'forget-idempotency-key',
  (p) => `DELETE FROM idempotency_key WHERE ${isKey(p)} AND created_at <= ${p('oldest')}`,
)

/** Forgets this key where it is older than it is kept, so that it can be used again. */
export async function forgetExpired(db: Db, author: Keyed, key: string, now: number): Promise<void> {
  await db.pool.query(forget(valuesOf(author, key, now)))
}

const keep = statement<Keyed & Omit<Claim, 'claimedAt'> & { status: number; body: string; at: string | null }>(
  'keep-idempotent-answer',
  (p) => `
  INSERT INTO idempotency_key (organization_id, account_id, key, request_hash, status, response, created_at)
  VALUES (${p('organizationId')}, ${p('accountId')}, ${p('key')}, ${p('requestHash')}, ${p('status')}, ${p('body')}, ${p('at')})
  ON CONFLICT (organization_id, account_id, key) DO UPDATE SET status = excluded.status, response = excluded.response
  WHERE idempotency_key.request_hash = excluded.request_hash AND idempotency_key.response IS NULL`,
)

/** Keeps what was answered, also where the request changed nothing and so left no key behind. */
export async function keepAnswer(
  db: Db,
  author: Keyed,
  { claimedAt, ...claim }: Claim,
  answer: { status: number; body: string },
): Promise<void> {
  const { organizationId, accountId } = author
  await db.pool.query(keep({ organizationId, accountId, ...claim, ...answer, at: moment(claimedAt) }))
}

/** Deletes keys past their days, a bounded number at a time. @returns how many */
export async function purgeKeys(db: Db, most: number, now: number): Promise<number> {
  const { rowCount } = await db.pool.query(
    `DELETE FROM idempotency_key WHERE (organization_id, account_id, key) IN (
       SELECT organization_id, account_id, key FROM idempotency_key WHERE created_at <= $1 LIMIT $2
       FOR UPDATE SKIP LOCKED)`,
    [moment(now - KEY_DAYS * DAY_MS), most],
  )
  return rowCount ?? 0
}

interface KeptRow {
  request_hash: string
  entity: string | null
  entity_id: bigint | null
  transaction_id: bigint | null
  status: number | null
  response: string | null
}

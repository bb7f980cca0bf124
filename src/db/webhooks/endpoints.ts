import { hash } from 'node:crypto'
import { type Author, type Trace, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import { cursorAt, type Found, type Position } from '../queries/cursor.ts'
import { moment } from '../queries/rows.ts'
import { type Parameter, statement } from '../queries/statement.ts'
import type { EndpointState, EventStyle, Progress } from './leases.ts'

/** The kind of thing that the trail says was changed. */
export const ENDPOINT = 'webhook endpoint'

/** An endpoint, as operators manage it. */
export interface Endpoint extends Progress {
  readonly organizationId: number
  readonly id: bigint
  readonly url: string
  readonly types: readonly string[]
  readonly style: EventStyle
  readonly description: string
  /** Encrypted. */
  readonly secret: string
  readonly previousSecret: string | null
  readonly previousUntil: number | null
  readonly createdAt: number
}

/** An endpoint about to be stored. */
export type NewEndpoint = Pick<Endpoint, 'url' | 'types' | 'style' | 'description' | 'secret' | 'position'>

/** What can be changed of an endpoint. */
export type EndpointChange = Partial<Omit<Endpoint, 'organizationId' | 'id' | 'style' | 'createdAt'>>

const COLUMNS = `organization_id AS "organizationId", id, url, types, style, description, secret,
  previous_secret AS "previousSecret", previous_until AS "previousUntil", position, state, state_reason AS "stateReason",
  failures, step, next_attempt_at AS "nextAttemptAt", created_at AS "createdAt"`

/** Returns what the trail keeps of a secret: the SHA-256 of the encrypted text, by which book check finds another one. */
export const secretSha256 = (encrypted: string): string => hash('sha256', encrypted, 'hex')

const NEXT_ID = `SELECT nextval('webhook_endpoint_id_seq') AS id`

const insert = statement<TrailValues & NewEndpoint & { id: bigint; most: number }>(
  'webhook-insert',
  (p) => `
  WITH made AS (
    INSERT INTO webhook_endpoint (organization_id, id, url, types, style, description, state, secret, position, failures, step,
      version, created_at, updated_at) OVERRIDING SYSTEM VALUE
    SELECT ${p('organizationId')}, ${p('id')}::bigint, ${p('url')}, ${p('types')}::text[], ${p('style')}, ${p('description')}, 'active',
      ${p('secret')}, ${p('position')}, 0, 0, 1, ${p('changedAt')}, ${p('changedAt')}
    WHERE (SELECT count(*) FROM webhook_endpoint WHERE organization_id = ${p('organizationId')}) < ${p('most')}
    RETURNING *
  ), ${trail(p as Parameter<TrailValues>, 'made', ENDPOINT)}
  SELECT ${COLUMNS} FROM made`,
)

/**
 * Stores an endpoint, one after the other in an organization: its number is above those of all that can be seen.
 * @returns undefined where the organization has as many as it may have
 */
export async function insertEndpoint(
  db: Db,
  author: Author,
  endpoint: NewEndpoint,
  { most, now }: { readonly most: number; readonly now: number },
): Promise<Endpoint | undefined> {
  const { url, types, style, description, secret } = endpoint
  const after = { url, types, style, description, secretSha256: secretSha256(secret) }
  const trace = { action: 'create', before: null, after }
  return inTransaction(db, async (transaction) => {
    await transaction.query("SELECT pg_advisory_xact_lock(hashtext('mkopo webhook endpoints'), $1)", [
      author.organizationId,
    ])
    const { id } = (await transaction.query<{ id: bigint }>(NEXT_ID)).rows[0]!
    const trail = trailValues(transaction, author, now, { entity: ENDPOINT, id }, trace)
    return (await transaction.query<Endpoint>(insert({ ...endpoint, id, most, ...trail }))).rows[0]
  })
}

const lock = statement<{ organizationId: number; id: bigint }>(
  'webhook-lock',
  (p) => `
  SELECT ${COLUMNS} FROM webhook_endpoint
  WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} FOR UPDATE`,
)

type Written = Omit<Endpoint, 'previousUntil' | 'nextAttemptAt' | 'createdAt' | 'style' | 'organizationId'> & {
  readonly previousUntil: string | null
  readonly nextAttemptAt: string | null
  /** The place of the key of a request that no answer can be built for again, beside the number of the endpoint. */
  readonly marked: bigint | null
}

const update = statement<TrailValues & Written>(
  'webhook-update',
  (p) => `
  WITH changed AS (
    UPDATE webhook_endpoint SET url = ${p('url')}, types = ${p('types')}::text[], description = ${p('description')},
      secret = ${p('secret')}, previous_secret = ${p('previousSecret')}, previous_until = ${p('previousUntil')},
      position = ${p('position')}, state = ${p('state')}, state_reason = ${p('stateReason')}, failures = ${p('failures')},
      step = ${p('step')}, next_attempt_at = ${p('nextAttemptAt')}, version = version + 1, updated_at = ${p('changedAt')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')}
    RETURNING *
  ), ${trail(p as Parameter<TrailValues>, 'changed', ENDPOINT, `${p('marked')}::bigint`)}
  SELECT ${COLUMNS} FROM changed`,
)

/** A change of an endpoint, as it was decided. */
export interface DecidedChange {
  readonly change: EndpointChange
  readonly trace: Trace
  /** Events above this number that wait are not waited for any more: they are sent again. */
  readonly unparkAbove?: bigint
  /** True sends at once what waits for its next attempt. */
  readonly wakesParked?: boolean
}

/**
 * Changes an endpoint. The process that sends to it reads it again.
 * @param decide called with the endpoint as it is, which nothing else changes meanwhile; undefined changes nothing
 * @returns undefined where the organization has no such endpoint
 */
export async function changeEndpoint(
  db: Db,
  author: Author,
  { id, now }: { readonly id: bigint; readonly now: number },
  decide: (current: Endpoint, transaction: Transaction) => Promise<DecidedChange | undefined>,
): Promise<Endpoint | undefined> {
  const { organizationId } = author
  return inTransaction(db, async (transaction) => {
    const current = (await transaction.query<Endpoint>(lock({ organizationId, id }))).rows[0]
    if (!current) return undefined
    const decided = await decide(current, transaction)
    if (!decided) return current
    const { change, trace, unparkAbove, wakesParked } = decided
    if (wakesParked) await transaction.query(wakeEvents({ organizationId, id, now: moment(now) }))
    if (unparkAbove !== undefined) await unpark(transaction, { organizationId, id, above: unparkAbove })
    const next = { ...current, ...change }
    const values = {
      ...next,
      previousUntil: moment(next.previousUntil),
      nextAttemptAt: moment(next.nextAttemptAt),
      marked: unparkAbove ?? null,
      ...trailValues(transaction, author, now, { entity: ENDPOINT, id }, trace),
    }
    return (await transaction.query<Endpoint>(update(values))).rows[0]
  })
}

/** An endpoint, and how far it is behind. */
export interface EndpointView {
  readonly organizationId: number
  readonly id: bigint
  readonly url: string
  readonly types: readonly string[]
  readonly style: EventStyle
  readonly description: string
  readonly state: EndpointState
  readonly stateReason: string | null
  readonly nextAttemptAt: number | null
  /** Events that it has not taken yet; where it wants only some types, of the next `MOST_COUNTED`. */
  readonly behind: number
  readonly oldestUndeliveredAt: number | null
  readonly previousUntil: number | null
  readonly createdAt: number
}

/** The order of the list of endpoints. */
export const ENDPOINTS_ORDER = 'webhook-endpoints'

/** The most events that are looked at, where an endpoint wants only some types. */
export const MOST_COUNTED = 100_000

/** Whether the endpoint `e` wants the event `v`. */
const IS_WANTED = `('*' = ANY (e.types) OR v.type = ANY (e.types) OR split_part(v.type, '.', 1) || '.*' = ANY (e.types))`

const BEHIND = `
  (SELECT count(*) FROM webhook_parked k WHERE k.organization_id = e.organization_id AND k.endpoint_id = e.id)
  + CASE WHEN '*' = ANY (e.types) THEN greatest(coalesce(c.sequence, 0) - e.position, 0) ELSE
    (SELECT count(*) FROM (SELECT FROM event v WHERE v.organization_id = e.organization_id AND v.sequence > e.position
      AND v.sequence <= e.position + ${MOST_COUNTED} AND ${IS_WANTED}) AS counted) END`

const FIRST = `
  least((SELECT min(k.sequence) FROM webhook_parked k WHERE k.organization_id = e.organization_id AND k.endpoint_id = e.id),
    (SELECT v.sequence FROM event v WHERE v.organization_id = e.organization_id AND v.sequence > e.position
      AND v.sequence <= e.position + ${MOST_COUNTED} AND ${IS_WANTED}
      ORDER BY v.sequence LIMIT 1))`

/** The endpoints `e`, as `EndpointView`. */
const VIEWS = `
  SELECT e.organization_id AS "organizationId", e.id, e.url, e.types, e.style, e.description, e.state,
    e.state_reason AS "stateReason", e.next_attempt_at AS "nextAttemptAt", e.previous_until AS "previousUntil",
    e.created_at AS "createdAt", ${BEHIND} AS behind,
    (SELECT coalesce(a.at, v.sealed_at) FROM event v
      LEFT JOIN audit_entry a ON a.organization_id = v.organization_id AND a.id = v.change_id
      WHERE v.organization_id = e.organization_id AND v.sequence = ${FIRST}) AS "oldestUndeliveredAt"
  FROM webhook_endpoint e LEFT JOIN event_chain c USING (organization_id)`

const find = statement<{ organizationId: number; id: bigint }>(
  'webhook-find',
  (p) => `${VIEWS} WHERE e.organization_id = ${p('organizationId')} AND e.id = ${p('id')}`,
)

type Row = Omit<EndpointView, 'behind'> & { readonly behind: bigint }

const list = statement<{ organizationId: number; above: bigint; skip: number; most: number }>(
  'webhook-list',
  (p) => `
  ${VIEWS} WHERE e.organization_id = ${p('organizationId')} AND e.id > ${p('above')}
  ORDER BY e.id OFFSET ${p('skip')} LIMIT ${p('most')}`,
)

/** Without a look at types: an endpoint passes what it does not want as soon as it reads on. */
const all = statement<{ most: number }>(
  'webhook-figures',
  (p) => `
  SELECT e.state, greatest(coalesce(c.sequence, 0) - e.position, 0) + k.waiting AS behind,
    (SELECT v.sealed_at FROM event v WHERE v.organization_id = e.organization_id
      AND v.sequence >= least(k.first, e.position + 1) ORDER BY v.sequence LIMIT 1) AS "oldestUndeliveredAt"
  FROM webhook_endpoint e LEFT JOIN event_chain c USING (organization_id)
  CROSS JOIN LATERAL (SELECT count(*) AS waiting, min(sequence) AS first FROM webhook_parked
    WHERE organization_id = e.organization_id AND endpoint_id = e.id) AS k
  LIMIT ${p('most')}`,
)

/** The state of an endpoint and how far it is behind, for the metrics. */
type EndpointFigures = Pick<EndpointView, 'state' | 'behind' | 'oldestUndeliveredAt'>

const countEvents = statement<{ organizationId: number; id: bigint; above: bigint; upTo: bigint }>(
  'webhook-count-wanted',
  (p) => `
  SELECT CASE WHEN '*' = ANY (e.types) THEN ${p('upTo')}::bigint - ${p('above')}::bigint ELSE (
    SELECT count(*) FROM event v WHERE v.organization_id = e.organization_id
      AND v.sequence > ${p('above')} AND v.sequence <= ${p('upTo')} AND ${IS_WANTED}) END AS queued
  FROM webhook_endpoint e WHERE e.organization_id = ${p('organizationId')} AND e.id = ${p('id')}`,
)

/** Counts the events that an endpoint wants, above one number and up to another. */
export async function countWanted(
  { pool }: Pick<Db, 'pool'>,
  range: { readonly organizationId: number; readonly id: bigint; readonly above: bigint; readonly upTo: bigint },
): Promise<number> {
  const { rows } = await pool.query<{ queued: bigint }>(countEvents(range))
  return Number(rows[0]?.queued ?? 0)
}

/** The secrets of an endpoint, encrypted. */
export type StoredSecrets = Pick<Endpoint, 'secret' | 'previousSecret' | 'previousUntil'>

/** Finds the secrets of an endpoint. */
export async function findSecrets(db: Db, organizationId: number, id: bigint): Promise<StoredSecrets | undefined> {
  const row = await db.prisma.webhookEndpoint.findUnique({
    where: { organizationId_id: { organizationId, id } },
    select: { secret: true, previousSecret: true, previousUntil: true },
  })
  return row ? { ...row, previousUntil: row.previousUntil?.getTime() ?? null } : undefined
}

const wakeEvents = statement<{ organizationId: number; id: bigint; now: string | null }>(
  'webhook-wake',
  (p) => `
  UPDATE webhook_parked SET next_attempt_at = ${p('now')}
  WHERE organization_id = ${p('organizationId')} AND endpoint_id = ${p('id')} AND next_attempt_at > ${p('now')}`,
)

const unparkEvents = statement<{ organizationId: number; id: bigint; above: bigint }>(
  'webhook-unpark',
  (p) => `
  WITH again AS (
    UPDATE webhook_attempt SET state = 'retried'
    WHERE organization_id = ${p('organizationId')} AND endpoint_id = ${p('id')} AND state = 'waiting' AND sequence > ${p('above')}
  )
  DELETE FROM webhook_parked
  WHERE organization_id = ${p('organizationId')} AND endpoint_id = ${p('id')} AND sequence > ${p('above')}`,
)

const unpark = (transaction: Transaction, values: { organizationId: number; id: bigint; above: bigint }) =>
  transaction.query(unparkEvents(values))

const remove = statement<TrailValues & { id: bigint }>(
  'webhook-delete',
  (p) => `
  WITH removed AS (
    DELETE FROM webhook_endpoint WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'removed', ENDPOINT)}
  SELECT id FROM removed`,
)

/** Deletes an endpoint with all that waits for it and was attempted. @returns false where there is no such endpoint */
export async function deleteEndpoint(
  db: Db,
  author: Author,
  endpoint: Pick<Endpoint, 'id' | 'url' | 'types' | 'style' | 'description'>,
  now: number,
): Promise<boolean> {
  const { id, url, types, style, description } = endpoint
  const trace = { action: 'delete', before: { url, types, style, description }, after: null }
  const trail = trailValues(db.pool, author, now, { entity: ENDPOINT, id }, trace)
  return (await db.pool.query(remove({ id, ...trail }))).rowCount === 1
}

const toView = (row: Row): EndpointView => ({ ...row, behind: Number(row.behind) })

/** Finds an endpoint of an organization. */
export async function findEndpoint(db: Db, organizationId: number, id: bigint): Promise<EndpointView | undefined> {
  const { rows } = await db.pool.query<Row>(find({ organizationId, id }))
  return rows[0] && toView(rows[0])
}

/** Finds a part of the endpoints of an organization, in the order in which they were made. */
export async function findEndpoints(db: Db, organizationId: number, position: Position): Promise<Found<EndpointView>> {
  const isPage = 'page' in position
  const above = isPage ? 0n : (position.cursor?.floor ?? 0n)
  const skip = isPage ? (position.page - 1) * position.rows : 0
  const { rows } = await db.pool.query<Row>(list({ organizationId, above, skip, most: position.rows }))
  const total = isPage ? await db.prisma.webhookEndpoint.count({ where: { organizationId } }) : undefined
  return { items: rows.map(toView), total, next: cursorAt(ENDPOINTS_ORDER, rows.at(-1)?.id) }
}

/** Reads how far the endpoints of all organizations are behind. */
export async function readEndpointFigures(db: Db, most: number): Promise<EndpointFigures[]> {
  const { rows } = await db.pool.query<Pick<Row, 'state' | 'behind' | 'oldestUndeliveredAt'>>(all({ most }))
  return rows.map((row) => ({ ...row, behind: Number(row.behind) }))
}

import type { Db } from '../postgres/client.ts'
import { cursorAt } from '../queries/cursor.ts'
import type { Found, Position } from '../queries/paging.ts'
import { statement } from '../queries/statement.ts'
import type { EndpointState, EventStyle } from './leases.ts'

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
export const IS_WANTED = `('*' = ANY (e.types) OR v.type = ANY (e.types) OR split_part(v.type, '.', 1) || '.*' = ANY (e.types))`

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

const toView = (row: Row): EndpointView => ({ ...row, behind: Number(row.behind) })

/** Finds an endpoint of an organization. */
export async function findEndpoint(db: Db, organizationId: number, id: bigint): Promise<EndpointView | undefined> {
  const { rows } = await db.pool.query<Row>(find({ organizationId, id }))
  return rows[0] && toView(rows[0])
}

const list = statement<{ organizationId: number; above: bigint; skip: number; most: number }>(
  'webhook-list',
  (p) => `
  ${VIEWS} WHERE e.organization_id = ${p('organizationId')} AND e.id > ${p('above')}
  ORDER BY e.id OFFSET ${p('skip')} LIMIT ${p('most')}`,
)

/** Finds a part of the endpoints of an organization, in the order in which they were made. */
export async function findEndpoints(db: Db, organizationId: number, position: Position): Promise<Found<EndpointView>> {
  const isPage = 'page' in position
  const above = isPage ? 0n : (position.cursor?.floor ?? 0n)
  const skip = isPage ? (position.page - 1) * position.rows : 0
  const { rows } = await db.pool.query<Row>(list({ organizationId, above, skip, most: position.rows }))
  const total = isPage ? await db.prisma.webhookEndpoint.count({ where: { organizationId } }) : undefined
  return { items: rows.map(toView), total, next: cursorAt(ENDPOINTS_ORDER, rows.at(-1)?.id) }
}

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
export type EndpointFigures = Pick<EndpointView, 'state' | 'behind' | 'oldestUndeliveredAt'>

/** Reads how far the endpoints of all organizations are behind. */
export async function readEndpointFigures(db: Db, most: number): Promise<EndpointFigures[]> {
  const { rows } = await db.pool.query<Pick<Row, 'state' | 'behind' | 'oldestUndeliveredAt'>>(all({ most }))
  return rows.map((row) => ({ ...row, behind: Number(row.behind) }))
}

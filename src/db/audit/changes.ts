import type { Instant } from '../../domain/dates.ts'
import { invariant } from '../../domain/errors.ts'
import type { Db } from '../postgres/client.ts'
import type { Asked, Found, Step } from '../queries/cursor.ts'
import { startOf } from '../queries/cursor.ts'
import { type List, type ListedDb, readList } from '../queries/lists.ts'
import { moment } from '../queries/rows.ts'
import type { Conditions } from '../queries/statement.ts'
import { type Parameter, unprepared } from '../queries/statement.ts'

/** The actions of the trail that change the row of a customer. */
export const CHANGES_OF_CUSTOMER = ['create', 'update', 'identify', 'activate', 'close', 'erase'] as const

/** The kinds of rows whose changes the trail tells by their own id. */
export type Changing = 'customer' | 'loan'

/** Rows in the order of their last change: how the trail leads to them. `$1` is the organization. */
export interface Changes
  extends Pick<List, 'order' | 'from' | 'place' | 'sorted' | 'within' | 'highest' | 'span' | 'isInOrder'> {
  readonly texts: readonly string[]
  /** The place of a row of the trail; its id when left out. */
  readonly toPlace?: (id: bigint) => bigint
}

/** Rows of the trail that one step of a walk looks at: a second's work at most. */
export const SPAN = 100_000n

/** The actions that change a customer himself; what is decided of his credit is in the trail, too. */
const ACTIONS: Readonly<Record<Changing, (row: string) => string>> = {
  customer: (row) => `${row}.action IN (${CHANGES_OF_CUSTOMER.map((action) => `'${action}'`).join(', ')})`,
  loan: () => 'true',
}

/**
 * Returns the changes of a table's rows, of which the trail has the ids. A row is looked up for each change, and the last
 * change of a row for each of its changes: the planner, which expects every walk to end at the end of the trail, would
 * join them whole.
 */
export const changesOf = (table: Changing, order: string): Changes => ({
  order,
  from: `audit_entry c CROSS JOIN LATERAL (
    SELECT * FROM ${table} r WHERE r.organization_id = c.organization_id AND r.id = c.entity_id::bigint OFFSET 0) AS a`,
  place: 'c.id',
  span: SPAN,
  highest: 'SELECT max(id) FROM audit_entry WHERE organization_id = $1',
  texts: [
    'c.organization_id = $1',
    `c.entity = '${table}'`,
    ACTIONS[table]('c'),
    `c.id = (SELECT max(later.id) FROM audit_entry later WHERE later.organization_id = c.organization_id
       AND later.entity = c.entity AND later.entity_id = c.entity_id AND ${ACTIONS[table]('later')})`,
  ],
})

/** What is asked for of the changes: since when, and which rows. */
export interface ChangesAsked extends Pick<Asked<unknown>, 'organizationId' | 'position'> {
  readonly since: Instant
  /** Adds the conditions of the filter, of `a`. */
  readonly where: (base: Conditions) => Conditions
}

/** Reads rows that were made or changed since an instant, in the order of their last change. */
export async function readChanges<Row extends object>(
  listed: ListedDb,
  { texts, toPlace, ...list }: Changes,
  read: Pick<List, 'columns' | 'joined'>,
  { organizationId, position, since, where }: ChangesAsked,
): Promise<Found<Row> | undefined> {
  const base = { texts: [...texts, 'c.at >= $2'], values: [organizationId, moment(since)] }
  const walk = { order: list.order, since, ...(toPlace && { toPlace }) }
  const step = await stepSince(listed.db, { organizationId, position }, walk)
  return readList(listed, { ...list, ...read }, where(base), step)
}

/** Milliseconds by which a row of the trail may stand among rows of another time: clocks differ, and changes wait. */
const DISORDER_MS = 600_000

interface Moment {
  readonly organizationId: number
  readonly at: string | null
}

/** Every row up to `low` is older than the instant, and every row above `high` is not. */
const search = unprepared<Moment>(
  (p: Parameter<Moment>) => `
  WITH RECURSIVE search (low, high) AS (
    SELECT 0::bigint, coalesce(max(id), 0) FROM audit_entry WHERE organization_id = ${p('organizationId')}
    UNION ALL
    SELECT CASE WHEN probe.id IS NULL OR probe.at < ${p('at')}::timestamptz THEN (low + high + 1) / 2 ELSE low END,
      CASE WHEN probe.at >= ${p('at')}::timestamptz THEN probe.id - 1 ELSE high END
    FROM search LEFT JOIN LATERAL (
      SELECT id, at FROM audit_entry
      WHERE organization_id = ${p('organizationId')} AND id > low AND id <= (low + high + 1) / 2 ORDER BY id DESC LIMIT 1
    ) AS probe ON true WHERE low < high
  )
  SELECT low FROM search WHERE low >= high`,
)

/** A walk through changes, and the instant with which it begins. */
type ChangeWalk = Pick<Changes, 'order' | 'toPlace'> & Pick<ChangesAsked, 'since'>

/** Returns where a walk through changes since an instant goes on, or begins. */
async function stepSince(
  db: Db,
  { organizationId, position }: Pick<Asked<unknown>, 'organizationId' | 'position'>,
  { order, since, toPlace = (id) => id }: ChangeWalk,
): Promise<Step> {
  invariant(!('page' in position), 'changes are walked, not paged')
  if (position.cursor) return position
  return { cursor: startOf(order, toPlace(await placeBefore(db, organizationId, since))), rows: position.rows }
}

/**
 * Finds the place in the trail of an organization from which on its changes since an instant stand. It halves the trail
 * until it has the place: an index by time would cost each change.
 * @returns the id of a row; no row up to it is as late as the instant
 */
async function placeBefore(db: Db, organizationId: number, since: Instant): Promise<bigint> {
  const at = moment(since - DISORDER_MS)
  const { rows } = await db.pool.query<{ low: bigint }>(search({ organizationId, at }))
  return rows[0]!.low
}

import type { Instant } from '../../domain/dates.ts'
import { invariant } from '../../domain/errors.ts'
import type { Db } from '../postgres/client.ts'
import type { Conditions } from '../queries/conditions.ts'
import { startOf } from '../queries/cursor.ts'
import { type List, type ListedDb, readList } from '../queries/lists.ts'
import type { Asked, Found, Step } from '../queries/paging.ts'
import { moment } from '../queries/rows.ts'
import { type Parameter, unprepared } from '../queries/statement.ts'

/** The kinds of rows whose changes the trail tells by their own id. */
export type Changing = 'customer' | 'loan'

/** A source of rows in the order of their last change, and the conditions that are its own; `$1` is the organization. */
interface Source extends Pick<List, 'from' | 'parts' | 'sorted' | 'above'> {
  readonly texts: readonly string[]
}

/** Rows in the order of their last change. Whether a walk goes by the changes or by the rows, the places are the same. */
export interface Changes extends Pick<List, 'place' | 'highest'> {
  readonly order: string
  /** The rows themselves, with the alias `a`. */
  readonly rows: string
  /** By the changes: each of them is looked at until enough rows are found. */
  readonly many: Source
  /** By the rows: the last change of each is looked up. */
  readonly few: Source
  /** The place of a row of the trail; its id when left out. */
  readonly toPlace?: (id: bigint) => bigint
}

/**
 * Returns the changes of a table's rows, of which the trail has the ids. A row is looked up for each change, and the last
 * change of a row for each of its changes: the planner, which expects every walk to end at the end of the trail, would
 * join them whole.
 */
export const changesOf = (table: Changing, order: string): Changes => ({
  order,
  rows: `${table} a`,
  place: 'c.id',
  highest: 'SELECT max(id) FROM audit_entry WHERE organization_id = $1',
  many: {
    from: `audit_entry c CROSS JOIN LATERAL (
      SELECT * FROM ${table} r WHERE r.organization_id = c.organization_id AND r.id = c.entity_id::bigint OFFSET 0) AS a`,
    texts: [
      'c.organization_id = $1',
      `c.entity = '${table}'`,
      `c.id = (SELECT max(later.id) FROM audit_entry later
        WHERE later.organization_id = c.organization_id AND later.entity = c.entity AND later.entity_id = c.entity_id)`,
    ],
  },
  few: {
    from: `${table} a CROSS JOIN LATERAL (
      SELECT t.id, t.at FROM audit_entry t
      WHERE t.organization_id = a.organization_id AND t.entity = '${table}' AND t.entity_id = a.id::text
      ORDER BY t.id DESC LIMIT 1) AS c`,
    texts: ['a.organization_id = $1'],
  },
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
  { few, many, order, rows, place, highest, toPlace }: Changes,
  read: Pick<List, 'columns' | 'joined'>,
  { organizationId, position, since, where }: ChangesAsked,
): Promise<Found<Row> | undefined> {
  const asked = where({ texts: ['a.organization_id = $1'], values: [organizationId] })
  const { texts, ...source } = asked.texts.length > 1 && (await areFew(listed.db, rows, asked)) ? few : many
  const list = { order, place, highest, ...source, ...read }
  const base = { texts: [...texts, 'c.at >= $2'], values: [organizationId, moment(since)] }
  const step = await stepSince(listed.db, { organizationId, position }, { order, since, ...(toPlace && { toPlace }) })
  return readList(listed, list, where(base), step)
}

/** Rows of a filter from which on they are found among the changes. */
const MANY = 5_000

async function areFew(db: Db, rows: string, { texts, values }: Conditions): Promise<boolean> {
  const { rows: counted } = await db.pool.query<{ rows: bigint }>(
    `SELECT count(*) AS rows FROM (SELECT 1 FROM ${rows} WHERE ${texts.join(' AND ')} LIMIT ${MANY}) AS met`,
    [...values],
  )
  return counted[0]!.rows < MANY
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

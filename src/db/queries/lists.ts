import { LARGEST_INT64 } from '../../toolbox/integers.ts'
import type { Db } from '../postgres/client.ts'
import type { Found, Position } from './cursor.ts'
import { advance, type Cursor, MOST_GIVEN, type Moment, startOf } from './cursor.ts'
import type { Conditions, Queries } from './statement.ts'

/**
 * The places of lists up to which every row is settled: committed, or never to come. A place is drawn when a row is
 * inserted and seen when it is committed, so a lower one may appear after a higher one; up to a settled place, none does.
 */
export interface SettledPlaces {
  /**
   * Takes note of the moment of a statement, and returns the place up to which a list is settled in that moment.
   * @param list the numbers that its places are drawn from
   * @param highest a place that is seen in the moment
   */
  note(list: string, moment: Moment, highest: bigint): bigint
}

/** A place that is settled in every moment in which all transactions below `before` have ended. */
interface Settling {
  readonly place: bigint
  readonly before: bigint
}

const NONE: Settling = { place: 0n, before: 0n }

/** The database, and what is known of how far its lists are settled. */
export interface ListedDb {
  readonly db: Db
  readonly settledPlaces: SettledPlaces
}

/** A list: its rows in the order of their places, numbers that are drawn when a row is inserted. */
export interface List {
  /** The name of the order, part of every cursor of it. */
  readonly order: string
  /** The sources of the rows, with the alias `a` for the row itself; conditions may name all of them. */
  readonly from: string
  /** Conditions that divide the rows, each of which has an index of its own; undivided when left out. */
  readonly parts?: readonly string[]
  /** The place of a row. */
  readonly place: string
  /** The columns by which an index gives the rows in the order of the places; the place itself when left out. */
  readonly sorted?: string
  /** The condition by which an index gives the places above one and up to another, given their parameters. */
  readonly within?: (floor: string, end: string) => string
  /** The places that one step looks at, where many of them may have no row that meets the conditions. */
  readonly span?: bigint
  /** SQL for the highest place that is seen; `$1` is the organization. */
  readonly highest: string
  /** True where a place is never seen after a higher one: the rows of one loan are inserted one after the other. */
  readonly isInOrder?: true
  /** True where the conditions ask for a window of time, which may lie anywhere in the order. */
  readonly isWindow?: boolean
  /** The columns that are read of each row, of `a` and of the tables joined to it. */
  readonly columns: string
  readonly joined?: string
}

/**
 * The condition of an insert into a table that is walked: the transaction gets its number before the row draws its place.
 * An insert that locks or changes a row first needs no such condition.
 */
export const AFTER_TRANSACTION_ID = 'WHERE pg_current_xact_id() IS NOT NULL'

/**
 * The columns of a `Moment`, of the snapshot in `now`. The `xmax` of a snapshot is the number after the last transaction
 * that has ended: others above it may be under way. The next number is its age above that.
 */
const MOMENT = `
    pg_snapshot_xmin(now.snapshot)::text::bigint AS "endedBelow",
    pg_snapshot_xmax(now.snapshot)::text::bigint + age(pg_snapshot_xmax(now.snapshot)::xid) AS "nextId"`

/** The transactions of the statement's own snapshot, and the highest place in it. */
const momentOf = ({ highest }: List) => `
  SELECT ${MOMENT}, coalesce((${highest}), 0)::bigint AS highest
  FROM (SELECT pg_current_snapshot() AS snapshot) AS now`

interface MomentRow extends Moment {
  readonly highest: bigint
}

interface Placed {
  /** Null in the one row of an answer without items. */
  readonly place: bigint | null
}

/**
 * Reads a page of a list, or a step of a walk through it.
 * @returns the rows, and the cursor after them; undefined where so much was given above the last settled place, because a
 *   transaction has been open for long, that no cursor can hold it
 */
export function readList<Row extends object>(
  listed: ListedDb,
  list: List,
  conditions: Conditions,
  position: Position,
): Promise<Found<Row> | undefined> {
  return 'page' in position
    ? readPage(listed, list, conditions, position)
    : readStep(listed, list, conditions, { cursor: position.cursor ?? startOf(list.order), rows: position.rows })
}

/**
 * Reads the rows after a cursor. A row that was committed late, below a place that was given, is given too: the cursor
 * knows what was given above the last settled place.
 */
async function readStep<Row extends object>(
  listed: ListedDb,
  list: List,
  { texts, values }: Conditions,
  { cursor, rows }: { readonly cursor: Cursor; readonly rows: number },
): Promise<Found<Row> | undefined> {
  const { place, within, span, columns, joined = '' } = list
  const parameter = (more: number) => `$${values.length + more}::bigint`
  const [floor, given, limit, end] = [parameter(1), parameter(2), parameter(3), parameter(4)]
  const ceiling = span === undefined ? LARGEST_INT64 : cursor.floor + span
  const conditions = [
    ...texts,
    ...(within ? [within(floor, end)] : []),
    `${place} > ${floor}`,
    `${place} <= ${end}`,
    // An empty array is not compared with each row.
    cursor.given.length > 0 ? `${place} <> ALL (${given}[])` : `${given}[] = '{}'`,
  ]
  const text = `
    SELECT moment.*, item.* FROM (${momentOf(list)}) AS moment LEFT JOIN (
      SELECT a.list_place AS place, ${columns}
      FROM (${inOrder(list, `a.*, ${place}`, conditions, { limit, offset: '0' })}) AS a ${joined}
    ) AS item ON true ORDER BY item.place`
  const sent = [...values, cursor.floor, cursor.given, rows, ceiling]
  const answer = await listed.db.pool.query<Row & Placed & MomentRow>(text, sent)
  const items = answer.rows.filter(({ place: there }) => there !== null)
  const isFull = items.length === rows
  const next = cursorAfter(listed, list, answer.rows, { cursor, readTo: isFull ? undefined : ceiling })
  const hasMore = ceiling < answer.rows[0]!.highest
  const isHeldUp = items.length === 0 && hasMore && next.floor === cursor.floor
  if (isHeldUp || next.given.length > MOST_GIVEN) return undefined
  const goesOn = items.length > 0 || hasMore || next.floor - cursor.floor > WORTH_KEEPING
  return { items, next: goesOn ? next : undefined }
}

/** Places after which a cursor is given although nothing was found, so that the next step does not look there again. */
const WORTH_KEEPING = 10_000n

/** Pages that are read from the beginning of the order, whatever their number is of the last. */
const NEAR_PAGES = 10

/** Reads one page and the count of all rows, of one moment. */
async function readPage<Row extends object>(
  listed: ListedDb,
  list: List,
  { texts, values }: Conditions,
  { page, rows }: Extract<Position, { page: number }>,
): Promise<Found<Row>> {
  const { place, columns, joined = '' } = list
  const [skip, limit] = [1, 2].map((more) => `$${values.length + more}::bigint`) as [string, string]
  const isSmall = list.isWindow && (await areFew(listed.db, list, { texts, values }))
  const found = isSmall ? sortedPage : page <= NEAR_PAGES ? nearPage : farPage
  const onPage = `${place} = ANY (ARRAY(SELECT page.list_place FROM page))`
  const shown = ofParts(list, `a.*, ${place} AS list_place`, [...texts, onPage])
  const text = `
    WITH ${found(list, texts, { limit, offset: skip })}
    SELECT counted.total, moment.*, item.* FROM counted CROSS JOIN (${momentOf(list)}) AS moment LEFT JOIN (
      SELECT a.list_place AS place, ${columns} FROM (${shown.join(' UNION ALL ')}) AS a ${joined}
    ) AS item ON true ORDER BY item.place`
  const sent = [...values, (page - 1) * rows, rows]
  const answer = await listed.db.pool.query<Row & Placed & MomentRow & { readonly total: bigint }>(text, sent)
  const items = answer.rows.filter(({ place: there }) => there !== null)
  // A client that continues from a later page has the pages before it.
  const first = page > 1 ? BigInt(items[0]?.place ?? 0n) - 1n : 0n
  const cursor = startOf(list.order, first)
  const next = items.length > 0 ? cursorAfter(listed, list, answer.rows, { cursor }) : undefined
  return { items, total: Number(answer.rows[0]!.total), next }
}

/** Rows up to which those of a window are sorted. */
const MANY = 50_000

/** Returns whether few rows meet the conditions. */
async function areFew(db: Db, list: List, { texts, values }: Conditions): Promise<boolean> {
  const { rows } = await db.pool.query<{ rows: bigint }>(
    `SELECT count(*) AS rows FROM (${ofParts(list, '1', texts).join(' UNION ALL ')} LIMIT ${MANY}) AS met`,
    [...values],
  )
  return rows[0]!.rows < MANY
}

/** Writes the selects of a list, one of each part: the indexes of the parts give the rows. */
const ofParts = ({ from, parts = UNDIVIDED }: List, columns: string, texts: readonly string[], more = '') =>
  parts.map((part) => `(SELECT ${columns} FROM ${from} WHERE ${texts.join(' AND ')} AND ${part} ${more})`)

/** Finds the page from the beginning of the order. */
const nearPage = (list: List, texts: readonly string[], cut: Cut): string => `
    counted AS (SELECT sum(rows)::bigint AS total FROM (${ofParts(list, 'count(*) AS rows', texts).join(' UNION ALL ')}) AS part),
    page AS (${inOrder(list, list.place, texts, cut)})`

/** Finds the page from whichever end of the order is nearer: the last page costs what the first does. */
function farPage(list: List, texts: readonly string[], { limit, offset }: Cut): string {
  const fromStart = { limit: `(SELECT CASE WHEN from_end THEN 0 ELSE ${limit} END FROM counted)`, offset }
  const fromEnd = {
    limit: `(SELECT CASE WHEN from_end THEN greatest(least(${limit}, total - ${offset}), 0) ELSE 0 END FROM counted)`,
    offset: `(SELECT CASE WHEN from_end THEN greatest(total - ${offset} - ${limit}, 0) ELSE 0 END FROM counted)`,
    descending: true,
  }
  const counts = ofParts(list, 'count(*) AS rows', texts)
  return `
    counted AS (
      SELECT sum(rows)::bigint AS total, ${offset} * 2 > sum(rows) AS from_end
      FROM (${counts.join(' UNION ALL ')}) AS part
    ), page AS (
      (${inOrder(list, list.place, texts, fromStart)}) UNION ALL (${inOrder(list, list.place, texts, fromEnd)})
    )`
}

/** Finds all rows, by the index of what the conditions ask for, and sorts them. */
const sortedPage = (list: List, texts: readonly string[], { limit, offset }: Cut): string => `
    matching AS MATERIALIZED (${ofParts(list, `${list.place} AS list_place`, texts).join(' UNION ALL ')}),
    counted AS (SELECT count(*) AS total FROM matching),
    page AS (SELECT list_place FROM matching ORDER BY list_place LIMIT ${limit} OFFSET ${offset})`

const UNDIVIDED = ['true']

/** The rows of a statement that are given: how many, and how many before them are not. */
interface Cut {
  readonly limit: string
  readonly offset: string
  readonly descending?: boolean
}

/** Writes the query of rows in the order of their places, the place last; of each part it reads what may be needed. */
function inOrder(list: List, columns: string, texts: readonly string[], cut: Cut): string {
  const { place, sorted = place } = list
  const direction = cut.descending ? 'DESC' : 'ASC'
  const order = sorted.split(', ').map((column) => `${column} ${direction}`)
  const most = `ORDER BY ${order.join(', ')} LIMIT ${cut.limit} + ${cut.offset}`
  const selects = ofParts(list, `${columns} AS list_place`, texts, most)
  return `SELECT * FROM (${selects.join(' UNION ALL ')}) AS a
    ORDER BY list_place ${direction} LIMIT ${cut.limit} OFFSET ${cut.offset}`
}

/**
 * Returns the cursor after the rows of an answer, of which there is one at least.
 * @param readTo the place up to which all rows were read; that of the last row when left out
 */
function cursorAfter(
  { settledPlaces }: ListedDb,
  { order, isInOrder }: List,
  rows: readonly (Placed & MomentRow)[],
  { cursor, readTo }: { readonly cursor: Cursor; readonly readTo?: bigint | undefined },
): Cursor {
  const { endedBelow, nextId, highest } = rows[0]!
  const moment = { endedBelow, nextId }
  // A place that is no bigint in the database comes as a number.
  const places = rows.flatMap(({ place }) => (place === null ? [] : [BigInt(place)]))
  const settled = isInOrder ? highest : settledPlaces.note(order, moment, highest)
  return advance(cursor, { places, readTo: readTo ?? places.at(-1) }, moment, settled)
}

/** Reads which transactions of the server have ended by now, and which have begun. */
export async function readMoment({ pool }: Queries): Promise<Moment> {
  const { rows } = await pool.query<Moment>({
    name: 'read-moment',
    text: `SELECT ${MOMENT} FROM (SELECT pg_current_snapshot() AS snapshot) AS now`,
  })
  return rows[0]!
}

/** Creates the settled places of a process; at its start none is known. */
export function createSettledPlaces(): SettledPlaces {
  const lists = new Map<string, { settled: Settling; next: Settling | undefined }>()
  return {
    note(list, moment, highest) {
      const known = lists.get(list) ?? { settled: NONE, next: undefined }
      lists.set(list, known)
      // A place up to the highest that is seen was drawn before the moment, by a transaction that had begun by then.
      const fresh = { place: highest, before: moment.nextId }
      known.next ??= fresh
      for (const one of [known.next, fresh])
        if (one.before <= moment.endedBelow && one.place > known.settled.place) known.settled = one
      if (known.next.before <= moment.endedBelow) known.next = undefined
      // A statement that began earlier and answered later does not see all that a later one has settled.
      return known.settled.before <= moment.endedBelow ? known.settled.place : 0n
    },
  }
}

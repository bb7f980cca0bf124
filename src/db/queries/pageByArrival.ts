import type { Db } from '../postgres/client.ts'
import type { Listed, Page } from './paging.ts'

/** A list in the order in which its rows came. */
export interface Arrivals {
  readonly table: string
  /** The condition that its rows meet, of `a`; `$1` is the organization, `$4` and on are the caller's own. */
  readonly where: string
  /** What is read of each row: columns, of `a` and of what is joined to it. */
  readonly columns: string
  readonly joined?: string
  /** The column that says the order, where an index begins with what `where` fixes and goes on with it. */
  readonly by?: 'arrival' | 'ordinal'
}

/**
 * SQL of one page and of the count of all, in one statement and so of one moment. `$2` rows stand before the page, which
 * has `$3`. The place of the page is found in the index, from whichever end is nearer: the last page costs what the
 * first does.
 */
export const byArrivalSql = ({ table, where, columns, joined = '', by = 'arrival' }: Arrivals): string => `
  WITH counted AS (
    SELECT count(*) AS total, $2::bigint * 2 > count(*) AS from_end FROM ${table} a WHERE ${where}
  ), page AS (
    (SELECT a.${by} FROM ${table} a WHERE ${where} ORDER BY a.${by}
     LIMIT (SELECT CASE WHEN from_end THEN 0 ELSE $3::bigint END FROM counted) OFFSET $2::bigint)
    UNION ALL
    (SELECT a.${by} FROM ${table} a WHERE ${where} ORDER BY a.${by} DESC
     LIMIT (SELECT CASE WHEN from_end THEN greatest(least($3::bigint, total - $2::bigint), 0) ELSE 0 END FROM counted)
     OFFSET (SELECT greatest(total - $2::bigint - $3::bigint, 0) FROM counted))
  )
  SELECT counted.total, item.* FROM counted LEFT JOIN (
    SELECT a.arrival, ${columns} FROM ${table} a ${joined} WHERE ${where} AND a.${by} = ANY (ARRAY(SELECT ${by} FROM page))
  ) AS item ON true
  ORDER BY item.arrival`

/** A row of such a page; past the end there is one with nothing but the total. */
interface Counted {
  readonly total: bigint
  readonly arrival: bigint | null
}

/**
 * Runs what `byArrivalSql` made. A row's place is drawn when it is inserted, and the row is seen when that is committed:
 * what comes while somebody walks through the pages stands behind those he has seen, unless it took long to commit.
 * @param name of the prepared statement
 * @param values of the parameters from `$4` on
 */
export async function listByArrival<Row extends object>(
  db: Db,
  name: string,
  text: string,
  organizationId: number,
  { page, rows }: Page,
  values: readonly unknown[] = [],
): Promise<Listed<Row>> {
  const answer = await db.pool.query<Row & Counted>({
    name,
    text,
    values: [organizationId, (page - 1) * rows, rows, ...values],
  })
  return {
    items: answer.rows.filter(({ arrival }) => arrival !== null),
    total: Number(answer.rows[0]!.total),
  }
}

import type { Db } from '../postgres/client.ts'
import type { Listed, Page } from './paging.ts'
import { type Parameter, type Prepared, statement } from './statement.ts'

/** The rows of a list, in the order in which they were inserted. */
export interface Arrivals {
  readonly table: string
  /** The condition that the rows meet, of `a`. */
  readonly where: string
  /** The columns that are read of each row, of `a` and of the tables joined to it. */
  readonly columns: string
  readonly joined?: string
  /** The column of the order, where an index begins with the columns that `where` fixes and continues with it. */
  readonly by?: 'arrival' | 'ordinal'
}

/** The parameters of a page: `skip` rows come before it, and it has `rows`. */
interface PageValues {
  readonly organizationId: number
  readonly skip: number
  readonly rows: number
}

/** A statement that reads a page of a list. */
export type ArrivalsStatement<Own extends object> = (values: PageValues & Own) => Prepared

/**
 * Writes the statement that reads one page and the count of all rows, of one moment. The place of the page is found in
 * the index, from whichever end is nearer: the last page costs what the first does.
 * @param arrivals the list, given the numbers of its parameters: the organization, and the caller's own
 */
export const pageByArrival = <Own extends object = object>(
  name: string,
  arrivals: (p: Parameter<PageValues & Own>) => Arrivals,
): ArrivalsStatement<Own> =>
  statement<PageValues & Own>(name, (p) => {
    const { table, where, columns, joined = '', by = 'arrival' } = arrivals(p)
    const [skip, rows] = [`${p('skip')}::bigint`, `${p('rows')}::bigint`]
    return `
  WITH counted AS (
    SELECT count(*) AS total, ${skip} * 2 > count(*) AS from_end FROM ${table} a WHERE ${where}
  ), page AS (
    (SELECT a.${by} FROM ${table} a WHERE ${where} ORDER BY a.${by}
     LIMIT (SELECT CASE WHEN from_end THEN 0 ELSE ${rows} END FROM counted) OFFSET ${skip})
    UNION ALL
    (SELECT a.${by} FROM ${table} a WHERE ${where} ORDER BY a.${by} DESC
     LIMIT (SELECT CASE WHEN from_end THEN greatest(least(${rows}, total - ${skip}), 0) ELSE 0 END FROM counted)
     OFFSET (SELECT greatest(total - ${skip} - ${rows}, 0) FROM counted))
  )
  SELECT counted.total, item.* FROM counted LEFT JOIN (
    SELECT a.arrival, ${columns} FROM ${table} a ${joined} WHERE ${where} AND a.${by} = ANY (ARRAY(SELECT ${by} FROM page))
  ) AS item ON true
  ORDER BY item.arrival`
  })

/** A row of such a page; past the end there is one with nothing but the total. */
interface Counted {
  readonly total: bigint
  readonly arrival: bigint | null
}

/**
 * Reads a page of a list. The place of a row is drawn when the row is inserted, and the row is visible when it is
 * committed: a row that comes while a client walks through the pages comes after those that the client has seen, unless
 * its commit took long.
 */
export async function listByArrival<Row extends object, Own extends object = object>(
  db: Db,
  read: ArrivalsStatement<Own>,
  { page, rows }: Page,
  values: Own & { readonly organizationId: number },
): Promise<Listed<Row>> {
  const answer = await db.pool.query<Row & Counted>(read({ ...values, skip: (page - 1) * rows, rows }))
  return {
    items: answer.rows.filter(({ arrival }) => arrival !== null),
    total: Number(answer.rows[0]!.total),
  }
}

import type { Db } from '../postgres/client.ts'
import { cursorAt, type Found, type Position } from './cursor.ts'
import { type Queries, statement } from './statement.ts'

/** Rows that belong to one other row, such as the consents of a customer. */
interface Owned {
  readonly table: string
  /** The column that names the owner. */
  readonly owner: string
  /** The columns that are read, of `t`. */
  readonly columns: string
  /** The name of the order, in cursors. */
  readonly order: string
}

/**
 * Makes the list of what belongs to one row, by id. The ids are committed in that order, because each is drawn while the owner is
 * locked.
 */
export function ownedList<Row extends { readonly id: bigint }>({ table, owner, columns, order }: Owned) {
  const list = statement<{ organizationId: number; ownerId: bigint; above: bigint; skip: number; rows: number }>(
    `list-${order}`,
    (
      p,
    ) => `SELECT ${columns} FROM ${table} t WHERE t.organization_id = ${p('organizationId')} AND t.${owner} = ${p('ownerId')}
      AND t.id > ${p('above')} ORDER BY t.id OFFSET ${p('skip')} LIMIT ${p('rows')}`,
  )
  const count = statement<{ organizationId: number; ownerId: bigint }>(
    `count-${order}`,
    (p) => `SELECT count(*)::int AS total FROM ${table} t
      WHERE t.organization_id = ${p('organizationId')} AND t.${owner} = ${p('ownerId')}`,
  )
  return async (
    { pool }: Pick<Db, 'pool'>,
    of: { readonly organizationId: number; readonly ownerId: bigint },
    position: Position,
  ): Promise<Found<Row>> => {
    const isPage = 'page' in position
    const above = isPage ? 0n : (position.cursor?.floor ?? 0n)
    const skip = isPage ? (position.page - 1) * position.rows : 0
    const { rows } = await pool.query<Row>(list({ ...of, above, skip, rows: position.rows }))
    const total = isPage ? (await pool.query<{ total: number }>(count(of))).rows[0]!.total : undefined
    return { items: rows, total, next: cursorAt(order, rows.at(-1)?.id) }
  }
}

/** Makes the reading of one row of an organization by its id; undefined where there is none. */
export function ownedRow<Row extends { readonly id: bigint }>({ table, columns }: Pick<Owned, 'table' | 'columns'>) {
  const read = statement<{ organizationId: number; id: bigint }>(
    `read-${table}`,
    (p) => `SELECT ${columns} FROM ${table} t WHERE t.organization_id = ${p('organizationId')} AND t.id = ${p('id')}`,
  )
  return async ({ pool }: Queries, organizationId: number, id: bigint): Promise<Row | undefined> =>
    (await pool.query<Row>(read({ organizationId, id }))).rows[0]
}

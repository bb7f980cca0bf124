import type { Db } from '../postgres/client.ts'
import type { Kind, NumberedDb } from '../queries/idBlocks.ts'
import { statement } from '../queries/statement.ts'

/** The tables whose rows have an account number. */
export type Numbered = 'customer' | 'loan'

const draw = statement<{ organizationId: number; table: Numbered; count: number }>(
  'draw-account-numbers',
  (p) => `
  INSERT INTO account_number AS n (organization_id, kind, last)
  VALUES (${p('organizationId')}, ${p('table')}, ${p('count')})
  ON CONFLICT (organization_id, kind) DO UPDATE SET last = n.last + EXCLUDED.last
  RETURNING last`,
)

const kindOf = (db: Db, organizationId: number, table: Numbered): Kind => ({
  name: `account number ${table} ${organizationId}`,
  // Few are lost when the process ends, unless many are drawn a second.
  block: { least: 1, most: 128 },
  async fetch(count) {
    const { rows } = await db.pool.query<{ last: bigint }>(draw({ organizationId, table, count }))
    const first = rows[0]!.last - BigInt(count) + 1n
    return Array.from({ length: count }, (_, index) => first + BigInt(index))
  },
})

/**
 * Draws account numbers of an organization, by a statement of its own: in the statement that inserts, an import under
 * way would hold up every other new loan of the organization.
 * @returns takes the next one; to be called `count` times at most, before anything is awaited
 */
export const reserveAccountNumbers = (
  { db, idBlocks }: NumberedDb,
  organizationId: number,
  table: Numbered,
  count: number,
) => idBlocks.reserve(kindOf(db, organizationId, table), count)

/** Gives back a number whose row was not made, for the next one. */
export const returnAccountNumber = (
  { db, idBlocks }: NumberedDb,
  organizationId: number,
  table: Numbered,
  unused: bigint,
): void => idBlocks.giveBack(kindOf(db, organizationId, table), unused)

/** Rows that are numbered in one statement: each is locked for some tens of milliseconds. */
const BATCH = 1_000

const fill = (table: Numbered) => `
  WITH locked AS (
    SELECT organization_id, id, arrival FROM ${table} WHERE organization_id = $1 AND account_no IS NULL
    ORDER BY arrival LIMIT ${BATCH} FOR NO KEY UPDATE
  ), missing AS (
    SELECT organization_id, id, row_number() OVER (ORDER BY arrival) AS place FROM locked
  ), drawn AS (
    INSERT INTO account_number AS n (organization_id, kind, last)
    SELECT $1, '${table}', count(*) FROM missing HAVING count(*) > 0
    ON CONFLICT (organization_id, kind) DO UPDATE SET last = n.last + EXCLUDED.last
    RETURNING last - (SELECT count(*) FROM missing) AS before
  )
  UPDATE ${table} AS t SET account_no = drawn.before + missing.place
  FROM missing, drawn WHERE t.organization_id = missing.organization_id AND t.id = missing.id`

const FILL: Readonly<Record<Numbered, string>> = { customer: fill('customer'), loan: fill('loan') }

/** Numbers the rows of an organization that have no account number, oldest first. */
export async function fillAccountNumbers(
  { pool }: Pick<Db, 'pool'>,
  organizationId: number,
  table: Numbered,
): Promise<number> {
  for (let filled = 0; ; ) {
    const { rowCount } = await pool.query(FILL[table], [organizationId])
    filled += rowCount ?? 0
    if ((rowCount ?? 0) < BATCH) return filled
  }
}

/**
 * Numbers every row of the book that has no account number: those of a book of an earlier version. It goes in batches,
 * while other instances serve.
 * @returns how many rows were numbered
 */
export async function fillAllAccountNumbers(db: Pick<Db, 'pool'>): Promise<number> {
  let filled = 0
  for (const table of ['customer', 'loan'] as const) {
    const { rows } = await db.pool.query<{ organization_id: number }>(
      `SELECT DISTINCT organization_id FROM ${table} WHERE account_no IS NULL ORDER BY organization_id`,
    )
    for (const { organization_id } of rows) filled += await fillAccountNumbers(db, organization_id, table)
  }
  return filled
}

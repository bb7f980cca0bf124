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

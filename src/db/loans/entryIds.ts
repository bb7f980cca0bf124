import { statementOver } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'

/** An entry by its id, whichever loan of the organization it is on. */
export interface EntryKey {
  readonly organizationId: number
  readonly id: bigint
}

const find = statementOver(
  'find-entry-ids',
  [{ organization_id: 'int', id: 'bigint' }],
  (keys) => `SELECT e.organization_id, e.id FROM ${keys('k')}
    JOIN loan_entry e ON e.organization_id = k.organization_id AND e.id = k.id`,
)

/** The ids that entries have, in the order of the keys; undefined where no entry has it. */
export async function findEntryIds(db: Queries, keys: readonly EntryKey[]): Promise<(bigint | undefined)[]> {
  const { rows } = await db.pool.query<{ organization_id: number; id: bigint }>(
    find(keys.map(({ organizationId, id }) => [organizationId, id])),
  )
  const taken = new Set(rows.map((row) => `${row.organization_id} ${row.id}`))
  return keys.map(({ organizationId, id }) => (taken.has(`${organizationId} ${id}`) ? id : undefined))
}

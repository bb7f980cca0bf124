import type { Db } from '../postgres/client.ts'
import { type ColumnTypes, columnsOf, moment, rowsOf } from '../queries/rows.ts'
import { unprepared } from '../queries/statement.ts'

/** A sign-in, or a refusal of access: who it was, from which address, and what came of it. */
export interface AccessEntry {
  /** 0: the caller was not identified. */
  readonly organizationId: number
  readonly at: number
  readonly accountId: number | null
  /** `signed in`, or the code of the refusal. */
  readonly outcome: string
  /** The style and the pattern of the path. */
  readonly route: string
  readonly address: string
  readonly requestId: string
}

const ENTRY: ColumnTypes = {
  organization_id: 'int',
  at: 'timestamptz',
  account_id: 'int',
  outcome: 'text',
  route: 'text',
  address: 'text',
  request_id: 'text',
}

const INSERT = `
  INSERT INTO access_entry (${Object.keys(ENTRY).join(', ')}) SELECT * FROM ${rowsOf('e', ENTRY, 1)}`

/** Adds entries to the access trail, in one statement. */
export async function insertAccessEntries(db: Pick<Db, 'pool'>, entries: readonly AccessEntry[]): Promise<void> {
  const rows = entries.map(({ organizationId, at, accountId, outcome, route, address, requestId }) => [
    organizationId,
    moment(at),
    accountId,
    outcome,
    route,
    address,
    requestId,
  ])
  await db.pool.query({ name: 'insert-access-entries', text: INSERT, values: columnsOf(ENTRY, rows) })
}

/**
 * Removes the oldest entries beyond `most` of each organization, by a function that may: the role of the service may not delete.
 * @param most at least 10,000
 * @returns how many
 */
export async function purgeAccessEntries(db: Pick<Db, 'pool'>, most: number): Promise<number> {
  const text = 'SELECT purge_access_entries($1) AS purged'
  const { rows } = await db.pool.query<{ purged: bigint }>({ name: 'purge-access-entries', text, values: [most] })
  return Number(rows[0]!.purged)
}

/** The entries to read; a property that is left out sets no condition. */
export interface AccessFilter {
  readonly organizationId?: number | undefined
  readonly accountId?: number | undefined
  readonly outcome?: string | undefined
  readonly since?: number | undefined
}

interface ListValues {
  readonly organizationId: number | null
  readonly accountId: number | null
  readonly outcome: string | null
  readonly since: string | null
  readonly most: number
}

const list = unprepared<ListValues>(
  (p) => `
  WITH whose AS (SELECT id FROM organization UNION ALL SELECT 0)
  SELECT a.* FROM whose CROSS JOIN LATERAL (
    SELECT organization_id AS "organizationId", id, at, account_id AS "accountId", outcome, route, address,
      request_id AS "requestId"
    FROM access_entry WHERE organization_id = whose.id
      AND (${p('accountId')}::int IS NULL OR account_id = ${p('accountId')})
      AND (${p('outcome')}::text IS NULL OR outcome = ${p('outcome')})
      AND (${p('since')}::timestamptz IS NULL OR at >= ${p('since')})
    ORDER BY id DESC LIMIT ${p('most')}
  ) AS a
  WHERE ${p('organizationId')}::int IS NULL OR whose.id = ${p('organizationId')} ORDER BY a.id DESC LIMIT ${p('most')}`,
)

/** The latest entries of the access trail, oldest first; of one organization, or of all and of unidentified callers. */
export async function latestAccess(db: Db, filter: AccessFilter, most: number): Promise<AccessEntry[]> {
  const { organizationId = null, accountId = null, outcome = null, since = null } = filter
  const { rows } = await db.pool.query<AccessEntry>(
    list({ organizationId, accountId, outcome, since: moment(since), most }),
  )
  return rows.toReversed()
}

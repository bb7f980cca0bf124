import pg from 'pg'
import { type Author, auditRow } from '../audit/trail.ts'
import type { Db } from './client.ts'
import { MIGRATION_LOCK } from './migrate.ts'
import { inTransaction, type Transaction } from './transaction.ts'

/** A role of the database that reads the views of `reporting`, of its organization alone. */
export interface Reader {
  readonly role: string
  readonly organizationId: number
}

/** The rights of a role that reads. */
export interface ReaderRights extends Reader {
  /** The verifier of its password, `SCRAM-SHA-256$…`: the password itself never gets to the server. */
  readonly verifier: string
  /** The most sessions at a time. */
  readonly connections: number
  /** The most that a statement takes, unless a session says otherwise. */
  readonly statementTimeoutMs: number
}

/** What came of a grant: the role reads, or why it does not. */
export type Granted = 'granted' | 'of another organization' | 'not made here'

const FIND = 'SELECT role_name::text AS role, organization_id AS "organizationId" FROM reporting_rows.reader'

/** Returns the roles that read, in the order of their organizations. */
export async function findReaders({ pool }: Pick<Db, 'pool'>): Promise<Reader[]> {
  return (await pool.query<Reader>(`${FIND} ORDER BY organization_id, role_name`)).rows
}

/** Locks the roles that read until the end of the transaction, and returns the one of a name; undefined where there is none. */
async function lockReader(transaction: Transaction, role: string): Promise<Reader | undefined> {
  await transaction.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
  return (await transaction.query<Reader>(`${FIND} WHERE role_name = $1`, [role])).rows[0]
}

/**
 * Makes a role that reads the views of its organization, or gives it another password, with its row of the trail.
 * @param db as the owner of the tables, who may make roles
 */
export const grantReader = (
  db: Db,
  author: Author,
  now: number,
  { role, organizationId, ...rights }: ReaderRights,
): Promise<Granted> =>
  inTransaction<Granted>(db, async (transaction) => {
    const known = await lockReader(transaction, role)
    if (known && known.organizationId !== organizationId) return 'of another organization'
    const { rowCount } = await transaction.query('SELECT FROM pg_roles WHERE rolname = $1', [role])
    const isThere = rowCount !== 0
    if (isThere && !known) return 'not made here'
    const name = pg.escapeIdentifier(role)
    const { rows } = await transaction.query<{ database: string }>('SELECT current_database() AS database')
    const sign = `LOGIN CONNECTION LIMIT ${rights.connections} PASSWORD ${pg.escapeLiteral(rights.verifier)}`
    const making = `${sign} NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS`
    for (const text of [
      isThere ? `ALTER ROLE ${name} ${sign}` : `CREATE ROLE ${name} ${making}`,
      `ALTER ROLE ${name} SET statement_timeout = ${rights.statementTimeoutMs}`,
      `ALTER ROLE ${name} SET idle_in_transaction_session_timeout = ${rights.statementTimeoutMs}`,
      `ALTER ROLE ${name} SET default_transaction_read_only = on`,
      `ALTER ROLE ${name} SET search_path = reporting`,
      `GRANT CONNECT ON DATABASE ${pg.escapeIdentifier(rows[0]!.database)} TO ${name}`,
      `GRANT USAGE ON SCHEMA reporting TO ${name}`,
      `GRANT SELECT ON ALL TABLES IN SCHEMA reporting TO ${name}`,
    ])
      await transaction.query(text)
    const values = [role, organizationId]
    await transaction.query('INSERT INTO reporting_rows.reader VALUES ($1, $2) ON CONFLICT DO NOTHING', values)
    await writeTrail(transaction, author, now, { role, action: known ? 'set password' : 'grant' })
    return 'granted'
  })

/**
 * Takes the rights of a role that reads, ends its sessions and drops it, with its row of the trail.
 * @param db as the owner of the tables, who has made the role
 * @returns false where the organization has no such role
 */
export async function revokeReader(
  db: Db,
  author: Author,
  now: number,
  { role, organizationId }: Reader,
): Promise<boolean> {
  const name = pg.escapeIdentifier(role)
  const isTaken = await inTransaction(db, async (transaction) => {
    if ((await lockReader(transaction, role))?.organizationId !== organizationId) return false
    // An owner who is no superuser may end the sessions of its members alone.
    await transaction.query(`GRANT ${name} TO CURRENT_USER`)
    await transaction.query('DELETE FROM reporting_rows.reader WHERE role_name = $1', [role])
    await transaction.query(`REVOKE ALL ON ALL TABLES IN SCHEMA reporting FROM ${name}`)
    await transaction.query(`REVOKE ALL ON SCHEMA reporting FROM ${name}`)
    const { rows } = await transaction.query<{ database: string }>('SELECT current_database() AS database')
    await transaction.query(`REVOKE ALL ON DATABASE ${pg.escapeIdentifier(rows[0]!.database)} FROM ${name}`)
    await transaction.query(`ALTER ROLE ${name} NOLOGIN`)
    await writeTrail(transaction, author, now, { role, action: 'revoke' })
    return true
  })
  if (!isTaken) return false
  // Nothing is readable by now. A session that goes on would keep the role from being dropped where it has made something.
  await db.pool.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1', [role])
  await db.pool.query(`DROP ROLE ${name}`)
  return true
}

/** Writes the row of the trail of a role that reads. */
async function writeTrail(
  transaction: Transaction,
  author: Author,
  now: number,
  { role, action }: { readonly role: string; readonly action: string },
): Promise<void> {
  const granted = action === 'revoke' ? null : { role }
  const trace = { action, before: granted === null ? { role } : null, after: granted }
  const row = auditRow(transaction, author, now, { entity: 'reporting role', id: role }, trace)
  await transaction.query(
    `INSERT INTO audit_entry (organization_id, at, account_id, request_id, action, entity, entity_id, before, after, unannounced, stamp)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9::jsonb, $10, $11)`,
    [
      ...[row.organizationId, row.at, row.accountId, row.requestId, row.action, row.entity, row.entityId],
      ...[trace.before && JSON.stringify(trace.before), trace.after && JSON.stringify(trace.after)],
      ...[row.unannounced, row.stamp && Buffer.from(row.stamp)],
    ],
  )
}

import pg from 'pg'
import type { Queries } from '../queries/statement.ts'
import type { Db } from './client.ts'
import { MIGRATION_LOCK } from './migrate.ts'
import { inTransaction, type Transaction } from './transaction.ts'

/** The rights of the service on the rows of a table: the privileges of Postgres, and the columns that it may change. */
interface Rights {
  readonly privileges: readonly string[]
  readonly columns?: readonly string[]
}

const USUAL: Rights = { privileges: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] }

/**
 * The tables whose rows are evidence: the service adds to them. Of an entry it sets the mark of a reversal, of a document the name of a
 * borrower who was erased, of a pending action
 * and of a month the end, which triggers let be set once; the record of migrations is the owner's.
 */
const LIMITED: Readonly<Record<string, Rights>> = {
  access_entry: { privileges: ['SELECT', 'INSERT'] },
  accounting_period: {
    privileges: ['SELECT', 'INSERT'],
    columns: ['closed_at', 'close_sequence', 'trial_balance_hash'],
  },
  audit_entry: { privileges: ['SELECT', 'INSERT'] },
  document: { privileges: ['SELECT', 'INSERT'], columns: ['borrower'] },
  event: { privileges: ['SELECT', 'INSERT'] },
  loan_earlier_terms: { privileges: ['SELECT', 'INSERT'] },
  loan_entry: { privileges: ['SELECT', 'INSERT'], columns: ['reversed_at'] },
  pending_action: {
    privileges: ['SELECT', 'INSERT'],
    columns: ['state', 'reason', 'posted_id', 'decided_at', 'decided_by', 'decided_request_id'],
  },
  posting: { privileges: ['SELECT', 'INSERT'] },
  _prisma_migrations: { privileges: ['SELECT'] },
}

/** The role that grants, and the role that is granted to. */
interface Standing {
  readonly grantor: string
  readonly exists: boolean
  /** The owner of the tables. */
  readonly owner: string
  readonly mayGrant: boolean
}

const STANDING = `
  SELECT current_user AS grantor, EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS exists,
    pg_get_userbyid(relowner) AS owner, coalesce(pg_has_role(current_user, relowner, 'MEMBER'), true) AS "mayGrant"
  FROM (SELECT to_regclass('loan_entry') AS oid) AS entries LEFT JOIN pg_class USING (oid)`

/** A table or sequence, with what a role was granted on it. */
interface Granted {
  readonly schema: string
  /** Whether the role may use what is in the schema. */
  readonly mayUse: boolean
  readonly name: string
  readonly isSequence: boolean
  /** Sorted. */
  readonly privileges: readonly string[]
  /** `UPDATE reversed_at`, sorted. */
  readonly columns: readonly string[]
}

const GRANTED = `
  SELECT n.nspname AS schema, has_schema_privilege(r.oid, n.oid, 'USAGE') AS "mayUse", c.relname AS name, c.relkind = 'S' AS "isSequence",
    ARRAY(SELECT a.privilege_type FROM aclexplode(c.relacl) a WHERE a.grantee = r.oid ORDER BY 1) AS privileges,
    ARRAY(SELECT a.privilege_type || ' ' || t.attname FROM pg_attribute t, aclexplode(t.attacl) a
      WHERE t.attrelid = c.oid AND t.attnum > 0 AND a.grantee = r.oid ORDER BY 1) AS columns
  FROM pg_roles r, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE r.rolname = $1 AND c.relkind IN ('r', 'p', 'S') AND pg_has_role(current_user, c.relowner, 'MEMBER')
    AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('_prisma_migrations'))
  ORDER BY c.relname`

/** The role that a URL connects as; as the driver finds it, `PGUSER` included. */
export const roleOf = (url: string): string => new pg.Client({ connectionString: url }).user ?? ''

/**
 * Grants the service's role what it needs of every table and sequence, and takes away what it should not have. A second
 * call finds nothing to do; one after a migration covers the tables that this made.
 * @param pool as the owner of the tables
 * @throws Error when there is no such role, or the owner may not grant
 */
export async function grantService({ pool }: Pick<Db, 'pool'>, role: string): Promise<void> {
  await inTransaction({ pool }, async (transaction) => {
    // Another instance may be migrating; two that grant at once would break each other's statements.
    await transaction.query('SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0')
    await transaction.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    const { rows } = await transaction.query<Standing>(STANDING, [role])
    const { grantor, exists, owner, mayGrant } = rows[0]!
    if (!exists)
      throw new Error(
        `DATABASE_URL: the server has no role ${role}; make it, as ${grantor}, with CREATE ROLE ${pg.escapeIdentifier(role)} LOGIN PASSWORD '…'`,
      )
    if (!mayGrant)
      throw new Error(
        `DATABASE_OWNER_URL: its role ${grantor} does not own the tables, ${owner} does; set it to the URL of ${owner}`,
      )
    // With its own tables a role may do anything, whatever is granted; the start warns of that.
    if (owner === role) return undefined
    const granted = await transaction.query<Granted>(GRANTED, [role])
    const changes = [
      ...changesOf(granted.rows, role),
      ...(await functionChanges(transaction, role)),
      ...(await viewChanges(transaction, role)),
    ]
    for (const text of changes) await transaction.query(text)
    return true
  })
}

/** The functions that do for the service, as their owner, what its role may not. */
const FUNCTIONS = ['empty_test_organization(integer)', 'purge_access_entries(integer)']

/** Returns the statements that let the role call these functions where it may not yet. */
async function functionChanges(transaction: Transaction, role: string): Promise<string[]> {
  const { rows } = await transaction.query<{ name: string }>(
    `SELECT to_regprocedure(name)::text AS name FROM unnest($2::text[]) AS name
     WHERE to_regprocedure(name) IS NOT NULL AND NOT has_function_privilege($1, to_regprocedure(name), 'EXECUTE')`,
    [role, FUNCTIONS],
  )
  return rows.map(({ name }) => `GRANT EXECUTE ON FUNCTION ${name} TO ${pg.escapeIdentifier(role)}`)
}

/** Returns the statements that let the role read the rows of reporting where it may not yet; who reads them is the owner's to know. */
async function viewChanges(transaction: Transaction, role: string): Promise<string[]> {
  const { rows } = await transaction.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
     WHERE c.relnamespace = to_regnamespace('reporting_rows') AND c.relkind = 'v' AND NOT has_table_privilege($1, c.oid, 'SELECT')`,
    [role],
  )
  const to = pg.escapeIdentifier(role)
  const views = rows.map(({ name }) => `GRANT SELECT ON reporting_rows.${pg.escapeIdentifier(name)} TO ${to}`)
  return views.length === 0 ? [] : [`GRANT USAGE ON SCHEMA reporting_rows TO ${to}`, ...views]
}

/** The statements that give the role its rights where they are others. */
function changesOf(granted: readonly Granted[], role: string): string[] {
  const to = pg.escapeIdentifier(role)
  const changes: string[] = []
  const [first] = granted
  if (first && !first.mayUse) changes.push(`GRANT USAGE ON SCHEMA ${pg.escapeIdentifier(first.schema)} TO ${to}`)
  for (const one of granted) {
    const { privileges, columns = [] } = one.isSequence ? { privileges: ['USAGE'] } : (LIMITED[one.name] ?? USUAL)
    const isRight =
      one.privileges.join() === [...privileges].sort().join() &&
      one.columns.join() === columns.map((column) => `UPDATE ${column}`).join()
    if (isRight) continue
    const what = `${one.isSequence ? 'SEQUENCE' : 'TABLE'} ${pg.escapeIdentifier(one.schema)}.${pg.escapeIdentifier(one.name)}`
    changes.push(`REVOKE ALL ON ${what} FROM ${to}`)
    const all = [...privileges, ...columns.map((column) => `UPDATE (${pg.escapeIdentifier(column)})`)]
    changes.push(`GRANT ${all.join(', ')} ON ${what} TO ${to}`)
  }
  return changes
}

/** More than the service's role should be able to do: as a superuser, as the tables' owner, or by what it was granted. */
interface Excess {
  readonly role: string
  readonly attributes: readonly string[]
  readonly tables: readonly string[]
}

const EXCESS = `
  SELECT r.rolname AS role,
    array_remove(ARRAY[CASE WHEN r.rolsuper THEN 'is a superuser' END,
      CASE WHEN r.rolcreaterole AND NOT r.rolsuper THEN 'may make roles' END], NULL) AS attributes,
    ARRAY(
      SELECT c.relname::text FROM pg_class c
      WHERE c.oid IN (to_regclass('audit_entry'), to_regclass('loan_entry'), to_regclass('event')) AND (
        pg_has_role(r.oid, c.relowner, 'MEMBER') OR has_table_privilege(r.oid, c.oid, 'UPDATE, DELETE, TRUNCATE, TRIGGER')
        OR EXISTS (
          SELECT FROM pg_attribute a
          WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            AND (c.relname, a.attname) <> ('loan_entry', 'reversed_at') AND has_column_privilege(r.oid, c.oid, a.attnum, 'UPDATE')))
      ORDER BY 1) AS tables
  FROM pg_roles r WHERE r.rolname = current_user`

/** The excess rights of the pool's role, as a line for the log; undefined where it has none. */
export async function roleWarning({ pool }: Queries): Promise<string | undefined> {
  const { rows } = await pool.query<Excess>(EXCESS)
  const { role, attributes, tables } = rows[0]!
  const may = tables.length > 0 ? [`may change and delete rows of ${new Intl.ListFormat('en').format(tables)}`] : []
  const found = [...attributes, ...may]
  if (found.length === 0) return undefined
  return `DATABASE_URL: its role ${role} ${found.join(' and ')}; give the service a role that may not, and set DATABASE_OWNER_URL to that of the tables' owner`
}

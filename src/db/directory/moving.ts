import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { CONNECT_PATIENTLY_MS } from '../postgres/client.ts'

/** A connection of the owner of the tables of a book, for the statements of a move. */
export interface OwnerConnection {
  /** The URL, by which the other server reaches this book. */
  readonly url: string
  query<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>
  end(): Promise<void>
}

/** The tables whose rows stay where they are: of the directory, and what each book computes by itself. */
const NOT_MOVED = ['absent_organization', 'book_figures', 'credential_place', 'organization_place']

/** Rows that are deleted in one transaction: events of all lenders wait for each transaction that writes. */
const ROWS_AT_ONCE = 5_000
/** The waits of one try at a trigger: others wait behind it. A server process that cleans up gives way after the first. */
const SHORT_WAITS = "SET deadlock_timeout = '50ms'; SET lock_timeout = '100ms'"
const USUAL_WAITS = "SET deadlock_timeout = DEFAULT; SET lock_timeout = '60s'"
const MOST_TRIES = 300
const AGAIN_MS = 100
const LOOK_EVERY_MS = 20

/** Connects as the owner of the tables. Its statements take as long as they need. */
export async function connectAsOwner(url: string): Promise<OwnerConnection> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'mkopo move',
    connectionTimeoutMillis: CONNECT_PATIENTLY_MS,
    keepAlive: true,
  })
  client.on('error', () => undefined)
  await client.connect()
  await client.query("SET timezone = 'UTC'; SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0")
  await client.query(USUAL_WAITS)
  return {
    url,
    query: async <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows,
    end: () => client.end(),
  }
}

/** A table whose rows are moved, and the column that has the organization. */
export interface MovedTable {
  readonly name: string
  readonly column: string
}

const nameOf = (organizationId: number) => `mkopo_move_${organizationId}`
const triggerOf = (organizationId: number) => `mkopo_moved_${organizationId}`
const quoted = pg.escapeIdentifier

/** Returns the tables whose rows belong to organizations. */
export async function listMovedTables(book: OwnerConnection): Promise<MovedTable[]> {
  const rows = await book.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND a.attname = 'organization_id'
       AND NOT a.attisdropped AND c.relname <> ALL ($1::text[]) ORDER BY 1`,
    [NOT_MOVED],
  )
  return [{ name: 'organization', column: 'id' }, ...rows.map(({ name }) => ({ name, column: 'organization_id' }))]
}

/** What keeps a book from giving or taking an organization; undefined where nothing does. */
export async function faultOf(book: OwnerConnection, as: 'source' | 'target'): Promise<string | undefined> {
  const [row] = await book.query<{
    version: number
    level: string
    replicates: boolean
    subscribes: boolean
    sets: boolean
  }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('wal_level') AS level,
       rolsuper OR rolreplication AS replicates,
       rolsuper OR coalesce(pg_has_role(to_regrole('pg_create_subscription'), 'MEMBER'), false) AS subscribes,
       rolsuper OR (current_setting('server_version_num')::int >= 150000
         AND has_parameter_privilege('session_replication_role', 'SET')) AS sets
     FROM pg_roles WHERE rolname = current_user`,
  )
  const { level, replicates, subscribes, sets } = row!
  if (as === 'source' && level !== 'logical')
    return `its server has wal_level ${level}: set it to logical, which takes a restart of the server`
  if (as === 'source' && !replicates) return 'the role of its owner may not replicate: ALTER ROLE … REPLICATION'
  if (as === 'target' && !subscribes)
    return 'the role of its owner may make no subscription: GRANT pg_create_subscription TO …, or on PostgreSQL 15 a superuser'
  if (!sets)
    return 'the role of its owner may not delete rows that are evidence: GRANT SET ON PARAMETER session_replication_role TO …'
  return undefined
}

/** Returns whether a book has an organization. */
export async function hasOrganization(book: OwnerConnection, organizationId: number): Promise<boolean> {
  return (await book.query('SELECT FROM organization WHERE id = $1', [organizationId])).length > 0
}

/**
 * Makes the triggers by which a book refuses changes of an organization once it is marked as gone; until then they let all pass. A table
 * that others hold is tried again.
 */
export async function makeFence(
  book: OwnerConnection,
  tables: readonly MovedTable[],
  organizationId: number,
): Promise<void> {
  for (const { name, column } of tables)
    await withShortWaits(book, () =>
      book.query(
        `CREATE OR REPLACE TRIGGER ${triggerOf(organizationId)} BEFORE INSERT OR UPDATE ON ${quoted(name)} FOR EACH ROW
         WHEN (NEW.${quoted(column)} = ${organizationId}) EXECUTE FUNCTION refuse_moved('${organizationId}')`,
      ),
    )
}

/** Removes the triggers of `makeFence`. */
export async function dropFence(
  book: OwnerConnection,
  tables: readonly MovedTable[],
  organizationId: number,
): Promise<void> {
  for (const { name } of tables)
    await withShortWaits(book, () =>
      book.query(`DROP TRIGGER IF EXISTS ${triggerOf(organizationId)} ON ${quoted(name)}`),
    )
}

/** SQLSTATE: a lock was not given in time; two waited for each other; a slot whose sender was told to end, and has not ended yet. */
const BUSY: ReadonlySet<unknown> = new Set(['55P03', '40P01', '55006'])

/** Does what waits for others only shortly, and again until it is done: who came after it waits behind it. */
async function withShortWaits(book: OwnerConnection, make: () => Promise<unknown>): Promise<void> {
  await book.query(SHORT_WAITS)
  try {
    await trying(make)
  } finally {
    await book.query(USUAL_WAITS)
  }
}

async function trying(make: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await make()
      return
    } catch (error) {
      if (tries === MOST_TRIES || !BUSY.has((error as { code?: unknown }).code)) throw error
      await pause(AGAIN_MS)
    }
  }
}

/** Waits until every transaction has ended that had written something by now. @returns whether they did in time */
export async function writersEnded(book: OwnerConnection, withinMs: number): Promise<boolean> {
  const [{ next }] = (await book.query<{ next: string }>(
    'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next',
  )) as [{ next: string }]
  const end = performance.now() + withinMs
  for (;;) {
    const [row] = await book.query<{ ended: boolean }>(
      'SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= $1::bigint AS ended',
      [next],
    )
    if (row!.ended) return true
    if (performance.now() > end) return false
    await pause(LOOK_EVERY_MS)
  }
}

/** Publishes the rows of an organization, and keeps what is changed from now on for the one who subscribes. */
export async function publish(
  book: OwnerConnection,
  tables: readonly MovedTable[],
  organizationId: number,
): Promise<void> {
  const parts = tables.map(({ name, column }) => `TABLE ${quoted(name)} WHERE (${quoted(column)} = ${organizationId})`)
  await book.query(`CREATE PUBLICATION ${nameOf(organizationId)} FOR ${parts.join(', ')}`)
  // Made apart from the subscription, so that two books of one server can be moved between, too.
  await book.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [nameOf(organizationId)])
}

/** Subscribes a book to the rows of an organization in another one: they are copied, and then followed. */
export async function subscribe(book: OwnerConnection, source: OwnerConnection, organizationId: number): Promise<void> {
  const name = nameOf(organizationId)
  await book.query(
    `CREATE SUBSCRIPTION ${name} CONNECTION ${pg.escapeLiteral(source.url)} PUBLICATION ${name}
     WITH (create_slot = false, slot_name = ${pg.escapeLiteral(name)}, disable_on_error = true)`,
  )
}

/** How far a subscription is. */
export interface Copied {
  /** Whether it goes on: an error ends it, and the log of the server has the reason. */
  readonly isEnabled: boolean
  readonly tables: number
  /** The tables that are copied and followed. */
  readonly ready: number
}

/** Returns how far the copy of an organization is; undefined where there is none. */
export async function readCopied(book: OwnerConnection, organizationId: number): Promise<Copied | undefined> {
  const [row] = await book.query<{ isEnabled: boolean; tables: number; ready: number }>(
    `SELECT s.subenabled AS "isEnabled", count(r.srrelid)::int AS tables,
       count(*) FILTER (WHERE r.srsubstate = 'r')::int AS ready
     FROM pg_subscription s LEFT JOIN pg_subscription_rel r ON r.srsubid = s.oid
     WHERE s.subname = $1 AND s.subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
     GROUP BY s.subenabled`,
    [nameOf(organizationId)],
  )
  return row
}

/** Has a book know how many rows its tables have by now: planned as if they were empty, a statement would take minutes. */
export async function analyze(book: OwnerConnection, tables: readonly MovedTable[]): Promise<void> {
  for (const { name } of tables) await book.query(`ANALYZE ${quoted(name)}`)
}

/** Has each change on the disk of this book before it counts as taken over: nothing is waited for after the last one. */
export const takeOverAtOnce = (book: OwnerConnection, organizationId: number) =>
  book.query(`ALTER SUBSCRIPTION ${nameOf(organizationId)} SET (synchronous_commit = 'on')`)

/** Returns the bytes of the log that the subscriber has not taken over yet. */
export async function bytesBehind(book: OwnerConnection, organizationId: number): Promise<number> {
  const [row] = await book.query<{ behind: string }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), confirmed_flush_lsn)::text AS behind FROM pg_replication_slots WHERE slot_name = $1`,
    [nameOf(organizationId)],
  )
  return Number(row?.behind ?? Number.POSITIVE_INFINITY)
}

/** Waits until the subscriber has taken over all that was written by now. @returns whether it did in time */
export async function takenOver(book: OwnerConnection, organizationId: number, withinMs: number): Promise<boolean> {
  const [{ lsn }] = (await book.query<{ lsn: string }>('SELECT pg_current_wal_insert_lsn()::text AS lsn')) as [
    { lsn: string },
  ]
  const end = performance.now() + withinMs
  for (;;) {
    const [row] = await book.query<{ done: boolean }>(
      'SELECT confirmed_flush_lsn >= $2::pg_lsn AS done FROM pg_replication_slots WHERE slot_name = $1',
      [nameOf(organizationId), lsn],
    )
    if (row?.done) return true
    if (performance.now() > end) return false
    await pause(LOOK_EVERY_MS)
  }
}

/** What is compared of an organization on both sides: rows of each table, and sums over what money depends on. */
export type Likeness = Readonly<Record<string, string>>

/** Whether a statement was ended because it took longer than it may. */
export const tookTooLong = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '57014'

/**
 * Returns the likeness of an organization, and the head of its chain in it.
 * @param withinMs the milliseconds that it may take
 * @throws an error of which `tookTooLong` is true
 */
export async function readLikeness(
  book: OwnerConnection,
  { tables, organizationId }: { readonly tables: readonly MovedTable[]; readonly organizationId: number },
  withinMs: number,
): Promise<Likeness> {
  const counts = tables.map(
    ({ name, column }) =>
      `SELECT '${name}' AS what, count(*)::text AS value FROM ${quoted(name)} WHERE ${quoted(column)} = $1`,
  )
  const sums = [
    `SELECT 'loan: versions and balances', concat_ws(' ', sum(version), sum(principal_outstanding), sum(interest_outstanding),
       sum(fees_outstanding), sum(penalty_outstanding)) FROM loan WHERE organization_id = $1`,
    `SELECT 'loan_entry: amounts', concat_ws(' ', sum(amount), max(id), count(reversed_at)) FROM loan_entry WHERE organization_id = $1`,
    `SELECT 'audit_entry: last', max(id)::text FROM audit_entry WHERE organization_id = $1`,
    `SELECT 'event_chain: head', concat_ws(' ', change_id, sequence, encode(hash, 'hex'), key_id) FROM event_chain WHERE organization_id = $1`,
    `SELECT 'posting: last', concat_ws(' ', max(id), count(*)) FROM posting WHERE organization_id = $1`,
  ]
  await book.query(`SET statement_timeout = ${Math.max(1, Math.ceil(withinMs))}`)
  try {
    const text = [...counts, ...sums].join(' UNION ALL ')
    const rows = await book.query<{ what: string; value: string | null }>(text, [organizationId])
    return Object.fromEntries(rows.map(({ what, value }) => [what, value ?? '']))
  } finally {
    await book.query('SET statement_timeout = 0')
  }
}

/** Returns the last number of each sequence. */
export async function readSequences(book: OwnerConnection): Promise<ReadonlyMap<string, string>> {
  const rows = await book.query<{ name: string; last: string }>(
    `SELECT sequencename AS name, last_value::text AS last FROM pg_sequences
     WHERE schemaname = current_schema() AND last_value IS NOT NULL`,
  )
  return new Map(rows.map(({ name, last }) => [name, last]))
}

/** Raises the sequences of a book to these numbers, where they are lower: what it numbers next comes after what has come to it. */
export async function raiseSequences(book: OwnerConnection, to: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, last] of to)
    await book.query(
      `SELECT setval(to_regclass(quote_ident($1)), $2::bigint) FROM pg_sequences
       WHERE schemaname = current_schema() AND sequencename = $1 AND coalesce(last_value, 0) < $2::bigint`,
      [name, last],
    )
}

/** Ends the subscription of a book, where there is one. The slot is not touched: it is of the other book. */
export async function unsubscribe(book: OwnerConnection, organizationId: number): Promise<void> {
  if (!(await readCopied(book, organizationId))) return
  const name = nameOf(organizationId)
  await book.query(`ALTER SUBSCRIPTION ${name} DISABLE`)
  await book.query(`ALTER SUBSCRIPTION ${name} SET (slot_name = NONE)`)
  await book.query(`DROP SUBSCRIPTION ${name}`)
}

/** Ends the publication of a book and what it keeps for a subscriber, where there is one. */
export async function unpublish(book: OwnerConnection, organizationId: number): Promise<void> {
  const name = nameOf(organizationId)
  await book.query(`DROP PUBLICATION IF EXISTS ${name}`)
  // The first is the slot of the subscription, the others those of the tables that were being copied.
  await trying(async () => {
    const slots = await book.query<{ slot: string; pid: number | null }>(
      `SELECT slot_name AS slot, active_pid AS pid FROM pg_replication_slots
       WHERE slot_name = $1 AND database = current_database()`,
      [name],
    )
    for (const { slot, pid } of slots) {
      if (pid !== null) await book.query('SELECT pg_terminate_backend($1, 2000)', [pid])
      await book.query('SELECT pg_drop_replication_slot($1)', [slot])
    }
  })
}

/** Deletes the rows of an organization, some at a time. @param onProgress called with the rows that were deleted so far */
export async function deleteOrganization(
  book: OwnerConnection,
  tables: readonly MovedTable[],
  organizationId: number,
  onProgress: (rows: number) => void = () => undefined,
): Promise<void> {
  let deleted = 0
  // Neither foreign keys nor the triggers that keep evidence look at what goes as a whole.
  await book.query("SET session_replication_role = 'replica'")
  try {
    for (const { name, column } of [...tables].reverse())
      for (;;) {
        const [row] = await book.query<{ rows: number }>(
          `WITH gone AS (DELETE FROM ${quoted(name)} WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM ${quoted(name)} WHERE ${quoted(column)} = $1 LIMIT ${ROWS_AT_ONCE})) RETURNING 1)
           SELECT count(*)::int AS rows FROM gone`,
          [organizationId],
        )
        deleted += row!.rows
        onProgress(deleted)
        if (row!.rows < ROWS_AT_ONCE) break
      }
    await book.query('DELETE FROM book_figures WHERE organization_id = $1', [organizationId])
  } finally {
    await book.query("SET session_replication_role = 'origin'")
  }
}

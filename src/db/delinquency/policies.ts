import { createHash } from 'node:crypto'
import type { StoredPolicy } from '../../domain/delinquency/policy.ts'
import { type Author, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction } from '../postgres/transaction.ts'
import { moment } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import { type Parameter, statement } from '../queries/statement.ts'

/** The entity of the trail of which a new policy is a change. */
const ENTITY = 'delinquency policy'

const LOCK = createHash('sha256').update('mkopo delinquency policy').digest().readInt32BE()

/** A policy as an organization set it. */
export interface PolicyRow {
  readonly version: number
  /** The preset that was set by its name; null: the organization's own rules. */
  readonly name: string | null
  /** As `toStoredPolicy` writes them. */
  readonly rules: unknown
  readonly createdAt: number
}

const COLUMNS = `version, name, rules, created_at AS "createdAt"`

const newest = statement<{ organizationId: number }>(
  'read-newest-delinquency-policy',
  (p) => `SELECT ${COLUMNS} FROM delinquency_policy WHERE organization_id = ${p('organizationId')}
    ORDER BY version DESC LIMIT 1`,
)

/** Reads the policy that an organization set last; undefined where it has set none. */
export async function readNewestPolicy({ pool }: Queries, organizationId: number): Promise<PolicyRow | undefined> {
  return (await pool.query<PolicyRow>(newest({ organizationId }))).rows[0]
}

const newestOfSome = statement<{ organizationIds: readonly number[] }>(
  'read-newest-delinquency-policies',
  (p) => `SELECT k.id AS "organizationId", n.*
    FROM (SELECT DISTINCT unnest(${p('organizationIds')}::int[]) AS id) k CROSS JOIN LATERAL (
      SELECT ${COLUMNS} FROM delinquency_policy WHERE organization_id = k.id ORDER BY version DESC LIMIT 1) n`,
)

/** Reads the policies that organizations set last, in the order in which they are named; undefined where one has set none. */
export async function readNewestPolicies(
  { pool }: Queries,
  organizationIds: readonly number[],
): Promise<(PolicyRow | undefined)[]> {
  const { rows } = await pool.query<PolicyRow & { organizationId: number }>(newestOfSome({ organizationIds }))
  const found = new Map(rows.map((row) => [row.organizationId, row]))
  return organizationIds.map((id) => found.get(id))
}

const asOf = statement<{ organizationId: number; at: string | null }>(
  'read-delinquency-policy-at',
  (p) => `SELECT ${COLUMNS} FROM delinquency_policy
    WHERE organization_id = ${p('organizationId')} AND created_at <= ${p('at')} ORDER BY version DESC LIMIT 1`,
)

/** Reads the policy that was the newest at an instant; undefined where none was set by then. */
export async function readPolicyAt(
  { pool }: Queries,
  organizationId: number,
  at: number,
): Promise<PolicyRow | undefined> {
  return (await pool.query<PolicyRow>(asOf({ organizationId, at: moment(at) }))).rows[0]
}

const ofVersion = statement<{ organizationId: number; version: number }>(
  'read-delinquency-policy',
  (p) => `SELECT ${COLUMNS} FROM delinquency_policy
    WHERE organization_id = ${p('organizationId')} AND version = ${p('version')}`,
)

/** Reads a version; undefined where there is none. */
export async function readPolicy(
  { pool }: Queries,
  organizationId: number,
  version: number,
): Promise<PolicyRow | undefined> {
  return (await pool.query<PolicyRow>(ofVersion({ organizationId, version }))).rows[0]
}

const latest = statement<{ organizationId: number; most: number }>(
  'list-delinquency-policies',
  (p) => `SELECT ${COLUMNS} FROM delinquency_policy WHERE organization_id = ${p('organizationId')}
    ORDER BY version DESC LIMIT ${p('most')}`,
)

/** Lists the policies of an organization, the newest first. @param most how many at most */
export const listPolicies = async ({ pool }: Queries, organizationId: number, most: number): Promise<PolicyRow[]> =>
  (await pool.query<PolicyRow>(latest({ organizationId, most }))).rows

const insert = statement<TrailValues & { version: number; name: string | null; rules: string }>(
  'insert-delinquency-policy',
  (p) => `
  WITH made AS (
    INSERT INTO delinquency_policy (organization_id, version, name, rules, created_at)
    VALUES (${p('organizationId')}, ${p('version')}, ${p('name')}, ${p('rules')}::jsonb, ${p('changedAt')})
    RETURNING version AS id
  ), ${trail(p as Parameter<TrailValues>, 'made', ENTITY)}
  SELECT id FROM made`,
)

/** A policy that was decided on, and the one before it. */
export interface DecidedPolicy {
  readonly version: number
  readonly name: string | null
  readonly rules: StoredPolicy
  readonly before: { readonly name: string | null; readonly rules: StoredPolicy }
}

/**
 * Sets a policy of an organization, with its row of the trail; it is in force from the next request on.
 * @param decide called with the newest policy, which nothing else replaces meanwhile; undefined sets none
 */
export const insertPolicy = (
  db: Db,
  author: Author,
  now: number,
  decide: (newest: PolicyRow | undefined) => DecidedPolicy | undefined,
): Promise<DecidedPolicy | undefined> =>
  inTransaction(db, async (transaction) => {
    const { organizationId } = author
    await transaction.query('SELECT pg_advisory_xact_lock($1, $2)', [LOCK, organizationId])
    const decided = decide(await readNewestPolicy({ pool: transaction }, organizationId))
    if (!decided) return undefined
    const { version, name, rules, before } = decided
    const trace = { action: 'set', before, after: { name, rules } }
    const trail = trailValues(transaction, author, now, { entity: ENTITY, id: version }, trace)
    await transaction.query(insert({ version, name, rules: JSON.stringify(rules), ...trail }))
    return decided
  })

import type { Json } from '../../domain/credit/stored.ts'
import { type Author, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { isUniqueViolation } from '../postgres/errors.ts'
import { statement } from '../queries/statement.ts'

/** An organization's own policy of that version, as stored. */
export async function findPolicy(db: Db, organizationId: number, version: string): Promise<Json | undefined> {
  const where = { organizationId_version: { organizationId, version } }
  const row = await db.prisma.creditPolicy.findUnique({ where })
  return row ? (row.policy as Json) : undefined
}

const insert = statement<TrailValues & { version: string; policy: string }>(
  'insert-credit-policy',
  (p) => `
  WITH made AS (
    INSERT INTO credit_policy (organization_id, version, policy, created_at)
    VALUES (${p('organizationId')}, ${p('version')}, ${p('policy')}::jsonb, ${p('changedAt')})
    RETURNING organization_id AS id
  ), ${trail(p, 'made', 'organization')}
  SELECT id FROM made`,
)

/**
 * Stores a policy, which is then the one in force.
 * @returns false when the organization has one of that version
 */
export async function insertPolicy(
  db: Db,
  author: Author,
  { version, policy }: { version: string; policy: Json },
  now: number,
): Promise<boolean> {
  const trace = { action: 'set credit policy', before: null, after: { version } }
  try {
    const subject = { entity: 'organization', id: author.organizationId }
    const trail = trailValues(db.pool, author, now, subject, trace)
    await db.pool.query(insert({ version, policy: JSON.stringify(policy), ...trail }))
    return true
  } catch (error) {
    if (isUniqueViolation(error, 'credit_policy_pkey')) return false
    throw error
  }
}

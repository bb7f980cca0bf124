import type { LocalDate } from '../../domain/dates.ts'
import { type Author, trail } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { isUniqueViolation } from '../postgres/errors.ts'
import { type Parameter, statement } from '../queries/statement.ts'
import { type DecisionValues, decisionValues, type NewDecision } from './credit.ts'

/** The digests by which a statement is recognised. SHA-256, hexadecimal. */
export interface StatementPrint {
  /** Of the file. */
  readonly hash: string
  /** Of its transactions. */
  readonly fingerprint: string
}

/** Whether the statement has raised a limit in the organization, of this customer or of another. */
export async function hasRaised(
  db: Db,
  organizationId: number,
  { hash, fingerprint }: StatementPrint,
): Promise<boolean> {
  const where = { organizationId, OR: [{ hash }, { fingerprint }] }
  return (await db.prisma.creditStatement.findFirst({ where, select: { hash: true } })) !== null
}

/** The CTE `decided`, which keeps a decision; the caller adds the rows that the statement depends on. */
const decided = (p: Parameter<DecisionValues>, from = '') => `
  decided AS (
    INSERT INTO credit_decision (organization_id, customer_id, at, kind, policy_version, inputs, result)
    SELECT ${p('organizationId')}, ${p('customerId')}, ${p('changedAt')}, 'boost', ${p('policyVersion')},
      ${p('inputs')}::jsonb, ${p('result')}::jsonb ${from}
    RETURNING id, customer_id
  )`

const kept = (p: Parameter<DecisionValues>) => `
  change AS (
    SELECT customer_id AS id, id AS decision_id FROM decided
  ), ${trail(p, 'change', 'customer', 'change.decision_id')}
  SELECT decision_id FROM change`

const keep = statement<DecisionValues>('keep-credit-boost', (p) => `WITH ${decided(p)}, ${kept(p)}`)

/** Limit, decision and statement in one statement, or none of them: a statement that is taken undoes the raise. */
const raise = statement<DecisionValues & Raise>(
  'raise-credit-limit',
  (p) => `
  WITH raised AS (
    INSERT INTO credit_standing AS s (organization_id, customer_id, boosted_limit, boosted_on, boosts)
    VALUES (${p('organizationId')}, ${p('customerId')}, ${p('limit')}, ${p('on')}, ${p('boosts')}::int + 1)
    ON CONFLICT (organization_id, customer_id) DO UPDATE SET
      boosted_limit = excluded.boosted_limit, boosted_on = excluded.boosted_on, boosts = excluded.boosts
    WHERE s.boosts = ${p('boosts')}::int
    RETURNING s.customer_id
  ), ${decided(p, 'FROM raised')}, used AS (
    INSERT INTO credit_statement (organization_id, hash, fingerprint, customer_id, decision_id, at)
    SELECT ${p('organizationId')}, ${p('hash')}, ${p('fingerprint')}, customer_id, id, ${p('changedAt')} FROM decided
  ), ${kept(p)}`,
)

/** Keeps a boost that left the limit as it is. */
export async function keepBoost(db: Db, author: Author, decision: NewDecision): Promise<void> {
  await db.pool.query(keep(decisionValues(db.pool, author, decision)))
}

/** A limit that a statement raises. */
export interface Raise extends StatementPrint {
  /** Minor units. */
  readonly limit: bigint
  readonly on: LocalDate
  /** The raises of the customer that it was decided upon. */
  readonly boosts: number
}

/**
 * Raises a limit by a statement, and keeps the decision.
 * @returns false, and nothing is changed, when another raise of the customer or by the statement was faster
 */
export async function raiseLimit(db: Db, author: Author, decision: NewDecision, raised: Raise): Promise<boolean> {
  try {
    const { rows } = await db.pool.query(raise({ ...decisionValues(db.pool, author, decision), ...raised }))
    return rows.length > 0
  } catch (error) {
    if (isUniqueViolation(error, 'credit_statement_pkey') || isUniqueViolation(error, 'credit_statement_fingerprint'))
      return false
    throw error
  }
}

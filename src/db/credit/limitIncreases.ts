import type { LocalDate } from '../../domain/dates.ts'
import { type Author, TRAIL_SIZE, trail } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { isUniqueViolation } from '../postgres/errors.ts'
import { DECISION_SIZE, decisionValues, type NewDecision } from './credit.ts'

/** By which a statement is known again. SHA-256, hexadecimal. */
export interface StatementPrint {
  /** Of the file. */
  readonly hash: string
  /** Of its transactions. */
  readonly fingerprint: string
}

/** Whether the statement has raised a limit in the organization, whosever. */
export async function hasRaised(
  db: Db,
  organizationId: number,
  { hash, fingerprint }: StatementPrint,
): Promise<boolean> {
  const { rows } = await db.pool.query<{ known: boolean }>({
    name: 'find-credit-statement',
    text: `SELECT EXISTS (SELECT FROM credit_statement WHERE organization_id = $1 AND hash = $2)
      OR EXISTS (SELECT FROM credit_statement WHERE organization_id = $1 AND fingerprint = $3) AS known`,
    values: [organizationId, hash, fingerprint],
  })
  return rows[0]!.known
}

const AT_RAISE = DECISION_SIZE + TRAIL_SIZE + 1
const at = (offset: number) => `$${AT_RAISE + offset}`

const DECIDED = `
    INSERT INTO credit_decision (organization_id, customer_id, at, kind, policy_version, inputs, result)
    SELECT $1, $2, $3, 'boost', $4, $5::jsonb, $6::jsonb`

const KEPT = `change AS (
    SELECT customer_id AS id, id AS decision_id FROM decided
  ), ${trail('change', 'customer', DECISION_SIZE + 1, 'change.decision_id')}
  SELECT decision_id FROM change`

const KEEP = `WITH decided AS (${DECIDED} RETURNING id, customer_id), ${KEPT}`

/** Limit, decision and statement in one statement, or none of them: a statement that is taken undoes the raise. */
const RAISE = `
  WITH raised AS (
    INSERT INTO credit_standing AS s (organization_id, customer_id, boosted_limit, boosted_on, boosts)
    VALUES ($1, $2, ${at(0)}, ${at(1)}, ${at(2)}::int + 1)
    ON CONFLICT (organization_id, customer_id) DO UPDATE SET
      boosted_limit = excluded.boosted_limit, boosted_on = excluded.boosted_on, boosts = excluded.boosts
    WHERE s.boosts = ${at(2)}::int
    RETURNING s.customer_id
  ), decided AS (${DECIDED} FROM raised RETURNING id, customer_id
  ), used AS (
    INSERT INTO credit_statement (organization_id, hash, fingerprint, customer_id, decision_id, at)
    SELECT $1, ${at(3)}, ${at(4)}, customer_id, id, $3 FROM decided
  ), ${KEPT}`

/** Keeps a boost that left the limit as it is. */
export async function keepBoost(db: Db, author: Author, decision: NewDecision): Promise<void> {
  await db.pool.query({ name: 'keep-credit-boost', text: KEEP, values: decisionValues(author, decision) })
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
export async function raiseLimit(db: Db, author: Author, decision: NewDecision, raise: Raise): Promise<boolean> {
  const { limit, on, boosts, hash, fingerprint } = raise
  try {
    const { rows } = await db.pool.query({
      name: 'raise-credit-limit',
      text: RAISE,
      values: [...decisionValues(author, decision), limit, on, boosts, hash, fingerprint],
    })
    return rows.length > 0
  } catch (error) {
    if (isUniqueViolation(error, 'credit_statement_pkey') || isUniqueViolation(error, 'credit_statement_fingerprint'))
      return false
    throw error
  }
}

import type { Json } from '../../domain/credit/policyJson.ts'
import type { LocalDate } from '../../domain/dates.ts'
import type { Stamping } from '../audit/stamp.ts'
import { type Author, type Trace, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import { findLoansOfCustomers } from '../loans/loans.ts'
import { type LoanRow, type StoredLoan, toStoredLoan } from '../loans/storedLoan.ts'
import type { Db } from '../postgres/client.ts'
import { isUniqueViolation } from '../postgres/errors.ts'
import { type Listed, type Page, sliceOf } from '../queries/cursor.ts'
import type { Queries } from '../queries/statement.ts'
import { statement } from '../queries/statement.ts'

/** A customer by the partner's own id or the service's number, where it is not known which: the partner's id comes first. */
export interface CustomerNames {
  readonly externalId: string | null
  readonly id: bigint | null
}

/** The credit position of a customer between two decisions. */
export interface CreditPosition {
  readonly customerId: bigint
  readonly externalId: string | null
  /** The organization's, in which its limits are. */
  readonly currency: string
  /** The organization's own policy in force, as stored; null: it has none. */
  readonly policy: unknown
  /** Of the last kept score. */
  readonly scoreDigest: string | null
  /** Minor units. */
  readonly boosted: { readonly limit: bigint; readonly on: LocalDate } | null
  /** The number of times that a statement has raised the limit; the next raise has to name it. */
  readonly boosts: number
}

const policyOf = (organizationId: string) =>
  `SELECT p.policy FROM credit_policy p WHERE p.organization_id = ${organizationId} ORDER BY p.arrival DESC LIMIT 1`

const find = statement<{ organizationId: number } & CustomerNames>(
  'find-credit-standing',
  (p) => `
  SELECT c.id, c.external_id, o.currency, (${policyOf(p('organizationId'))}) AS policy, s.score_digest, s.boosted_limit,
    s.boosted_on, coalesce(s.boosts, 0) AS boosts
  FROM organization o
  JOIN customer c ON c.organization_id = o.id
  LEFT JOIN credit_standing s ON s.organization_id = c.organization_id AND s.customer_id = c.id
  WHERE o.id = ${p('organizationId')} AND c.organization_id = ${p('organizationId')}
    AND (c.external_id = ${p('externalId')} OR c.id = ${p('id')})
  ORDER BY c.external_id = ${p('externalId')} DESC NULLS LAST LIMIT 1`,
)

/**
 * Finds the credit position of a customer, with its organization's own policy. Where one customer has the externalId and
 * another the number, the customer with the externalId is found.
 */
export async function findCreditPosition(
  db: Queries,
  organizationId: number,
  { externalId, id }: CustomerNames,
): Promise<CreditPosition | undefined> {
  const { rows } = await db.pool.query<PositionRow>(find({ organizationId, externalId, id }))
  const row = rows[0]
  return (
    row && {
      customerId: row.id,
      externalId: row.external_id,
      currency: row.currency,
      policy: row.policy,
      scoreDigest: row.score_digest,
      boosted:
        row.boosted_limit === null || row.boosted_on === null ? null : { limit: row.boosted_limit, on: row.boosted_on },
      boosts: row.boosts,
    }
  )
}

interface PositionRow {
  id: bigint
  external_id: string | null
  currency: string
  policy: unknown
  score_digest: string | null
  boosted_limit: bigint | null
  boosted_on: LocalDate | null
  boosts: number
}

const findInForce = statement<{ organizationId: number }>(
  'find-credit-policy',
  (p) =>
    `SELECT o.currency, (${policyOf(p('organizationId'))}) AS policy FROM organization o WHERE o.id = ${p('organizationId')}`,
)

/** The currency of an organization's limits, and its own policy in force; null: it has none. */
export async function findPolicyInForce(
  db: Db,
  organizationId: number,
): Promise<{ currency: string; policy: unknown } | undefined> {
  const { rows } = await db.pool.query<{ currency: string; policy: unknown }>(findInForce({ organizationId }))
  return rows[0]
}

/** The loans of some customers, with their schedules and entries, in one statement. Who has none is not in the answer. */
export async function readLoansOf(
  db: Queries,
  zone: string,
  organizationId: number,
  customerIds: readonly bigint[],
): Promise<ReadonlyMap<bigint, StoredLoan[]>> {
  const { rows } = await db.pool.query<LoanRow>(findLoansOfCustomers({ organizationId, customerIds }))
  return Map.groupBy(
    rows.map((row) => toStoredLoan(row, zone)),
    ({ customerId }) => customerId,
  )
}

/** A decision about to be kept. */
export interface NewDecision {
  readonly customerId: bigint
  readonly at: number
  readonly policyVersion: string
  /** As JSON text. */
  readonly inputs: string
  readonly result: string
  readonly trace: Trace
}

/** The parameters of a statement that keeps a decision. */
export interface DecisionValues extends TrailValues {
  readonly customerId: bigint
  readonly policyVersion: string
  readonly inputs: string
  readonly result: string
}

export const decisionValues = (stamping: Stamping, author: Author, decision: NewDecision): DecisionValues => ({
  customerId: decision.customerId,
  policyVersion: decision.policyVersion,
  inputs: decision.inputs,
  result: decision.result,
  ...trailValues(stamping, author, decision.at, { entity: 'customer', id: decision.customerId }, decision.trace),
})

/** The customer's row makes reads that arrive together wait for each other; the second finds nothing left to keep. */
const keep = statement<DecisionValues & { digest: string }>(
  'keep-credit-score',
  (p) => `
  WITH changed AS (
    INSERT INTO credit_standing AS s (organization_id, customer_id, score_digest)
    VALUES (${p('organizationId')}, ${p('customerId')}, ${p('digest')})
    ON CONFLICT (organization_id, customer_id) DO UPDATE SET score_digest = excluded.score_digest
    WHERE s.score_digest IS DISTINCT FROM excluded.score_digest
    RETURNING s.customer_id AS id
  ), decided AS (
    INSERT INTO credit_decision (organization_id, customer_id, at, kind, policy_version, inputs, result)
    SELECT ${p('organizationId')}, id, ${p('changedAt')}, 'score', ${p('policyVersion')}, ${p('inputs')}::jsonb, ${p('result')}::jsonb
    FROM changed
  ), ${trail(p, 'changed', 'customer')}
  SELECT id FROM changed`,
)

/**
 * Keeps a score, unless it is the one that was kept last.
 * @param digest of inputs and result, without the figures that change from day to day
 */
export async function keepScore(db: Db, author: Author, decision: NewDecision, digest: string): Promise<void> {
  await db.pool.query(keep({ ...decisionValues(db.pool, author, decision), digest }))
}

/** A decision as it is kept. */
export interface KeptDecision {
  readonly id: bigint
  readonly customerId: bigint
  readonly at: number
  readonly kind: 'score' | 'boost'
  readonly policyVersion: string
  readonly inputs: Json
  readonly result: Json
}

interface Told {
  readonly inputs: unknown
  readonly result: unknown
}

export async function findDecision(db: Db, organizationId: number, id: bigint): Promise<KeptDecision | undefined> {
  const row = await db.prisma.creditDecision.findUnique({ where: { organizationId_id: { organizationId, id } } })
  return row ? toKept(row) : undefined
}

/** A page of what was decided of a customer, newest first. */
export async function listDecisions(
  db: Db,
  organizationId: number,
  customerId: bigint,
  page: Page,
): Promise<Listed<KeptDecision>> {
  const where = { organizationId, customerId }
  const [total, items] = await Promise.all([
    db.prisma.creditDecision.count({ where }),
    db.prisma.creditDecision.findMany({ where, orderBy: { id: 'desc' }, ...sliceOf(page) }),
  ])
  return { items: items.map(toKept), total }
}

const toKept = (row: { id: bigint; customerId: bigint; at: Date; kind: string; policyVersion: string } & Told) => ({
  id: row.id,
  customerId: row.customerId,
  at: row.at.getTime(),
  kind: row.kind as KeptDecision['kind'],
  policyVersion: row.policyVersion,
  inputs: row.inputs as Json,
  result: row.result as Json,
})

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

/** An organization's own policy of that version, as stored. */
export async function findPolicy(db: Db, organizationId: number, version: string): Promise<Json | undefined> {
  const where = { organizationId_version: { organizationId, version } }
  const row = await db.prisma.creditPolicy.findUnique({ where })
  return row ? (row.policy as Json) : undefined
}

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

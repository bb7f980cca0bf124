import type { Transaction } from '../postgres/transaction.ts'
import { statement } from '../queries/statement.ts'
import { absent, isBigint, SEALED, type SealedName, type Texts, textsOf } from './sealedColumns.ts'
import type { SealedRow, TrailedRow } from './trailedChange.ts'

/** A row of the trail about a customer's credit, with what it made true; null: the row is not there. */
interface CreditRow {
  id: bigint
  entity: string
  customerId: string
  version: string | null
  statement: string | null
  raised: boolean
  decision: string | null
  decisionValues: Texts | null
  standingValues: Texts | null
  statementValues: Texts | null
  policyValues: Texts | null
}

/** The parameters of the statement: the changes, and for each its customer; null: another entity. */
interface CreditValues {
  readonly organizationId: number
  readonly ids: readonly bigint[]
  readonly customers: readonly (string | null)[]
}

/**
 * A decision has no mark of its own in the trail: it is the customer's, of the same kind and time; of a statement also of
 * the same file. Where there are several, they are in the order of the trail.
 */
const find = statement<CreditValues>(
  'read-sealed-credit',
  (p) => `
  SELECT a.id, a.entity, a.entity_id AS "customerId", a.after ->> 'version' AS version, a.after ->> 'statement' AS statement,
    a.after ->> 'boostStatus' IS NOT DISTINCT FROM 'raised' AS raised,
    d.id::text AS decision, d.values AS "decisionValues", s.values AS "standingValues", t.values AS "statementValues",
    p.values AS "policyValues"
  FROM unnest((SELECT ${p('ids')}::bigint[]), ${p('customers')}::bigint[]) AS k (id, customer_id)
  JOIN audit_entry a ON a.organization_id = ${p('organizationId')} AND a.id = k.id
  LEFT JOIN LATERAL (
    SELECT d.id, ${textsOf(SEALED.credit_decision.columns, 'd')} AS values FROM credit_decision d
    WHERE d.organization_id = a.organization_id AND d.customer_id = k.customer_id AND d.kind = a.action
      AND d.at = a.at AND (a.action = 'score' OR d.inputs ->> 'hash' = a.after ->> 'statement')
    ORDER BY d.id OFFSET (
      SELECT count(*) FROM audit_entry e WHERE e.organization_id = a.organization_id AND e.entity = a.entity
        AND e.entity_id = a.entity_id AND e.id < a.id AND e.action = a.action AND e.at = a.at
        AND e.after ->> 'statement' IS NOT DISTINCT FROM a.after ->> 'statement') LIMIT 1
  ) d ON true
  LEFT JOIN LATERAL (
    SELECT ${textsOf(SEALED.credit_standing.columns, 's')} AS values FROM credit_standing s
    WHERE s.organization_id = a.organization_id AND s.customer_id = k.customer_id
  ) s ON true
  LEFT JOIN LATERAL (
    SELECT ${textsOf(SEALED.credit_statement.columns, 't')} AS values FROM credit_statement t
    WHERE t.organization_id = a.organization_id AND t.hash = a.after ->> 'statement'
  ) t ON a.entity = 'customer'
  LEFT JOIN LATERAL (
    SELECT ${textsOf(SEALED.credit_policy.columns, 'p')} AS values FROM credit_policy p
    WHERE p.organization_id = a.organization_id AND p.version = a.after ->> 'version'
  ) p ON a.entity = 'organization'`,
)

const DECIDES: ReadonlySet<string> = new Set(['score', 'boost'])

/** Returns whether a change decided upon credit, or set the policy of it. */
const isOfCredit = ({ entity, action }: TrailedRow): boolean =>
  entity === 'customer' ? DECIDES.has(action) : entity === 'organization' && action === 'set credit policy'

/** Reads the rows of credit that changes made true: decisions, limits that were raised, statements, policies. */
export async function readCreditRows(
  transaction: Transaction,
  organizationId: number,
  changes: readonly TrailedRow[],
): Promise<Map<bigint, SealedRow[]>> {
  const asked = changes.filter(isOfCredit)
  if (asked.length === 0) return new Map()
  const customers = asked.map(({ entity, entityId }) => (entity === 'customer' && isBigint(entityId) ? entityId : null))
  const ids = asked.map(({ id }) => id)
  const { rows } = await transaction.query<CreditRow>(find({ organizationId, ids, customers }))
  return new Map(rows.map((row) => [row.id, subjectsOf(row)]))
}

function subjectsOf(row: CreditRow): SealedRow[] {
  const subject = (table: SealedName, key: string | null, values: Texts | null): SealedRow => ({
    table,
    key: key ?? '',
    values: values ?? absent(table),
  })
  if (row.entity === 'organization') return [subject('credit_policy', row.version, row.policyValues)]
  // A decision that is not there has no id: it is named by its customer.
  const decision = subject('credit_decision', row.decision ?? `of customer ${row.customerId}`, row.decisionValues)
  if (!row.raised || row.statement === null) return [decision]
  return [
    decision,
    subject('credit_standing', row.customerId, row.standingValues),
    subject('credit_statement', row.statement, row.statementValues),
  ]
}

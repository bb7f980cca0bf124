import type { LoanTrail } from '../../domain/bookCheck/trailRules.ts'
import type { Snapshot } from '../postgres/transaction.ts'

/** A loan, by its organization and its id. */
interface LoanKey {
  readonly organizationId: number
  readonly id: bigint
}

/** Ids and amounts go as text: as numbers of JSON they would be rounded here. */
const READ = `
  SELECT a.organization_id, a.entity_id, a.action, a.at,
    a.after ->> 'customerId' AS "customerId", a.after ->> 'productId' AS "productId",
    a.after ->> 'totalOutstanding' AS outstanding, a.after ->> 'principal' AS principal,
    a.after ->> 'disbursedOn' AS "disbursedOn", a.after ->> 'dueOn' AS "dueOn",
    a.after #>> '{posted,id}' AS "postedId", a.after #>> '{posted,type}' AS "postedType",
    a.after #>> '{posted,amount}' AS "postedAmount", a.after #>> '{posted,valueDate}' AS "postedOn",
    a.after #>> '{posted,note}' AS "postedNote", a.after #>> '{reversed,id}' AS "reversedId"
  FROM unnest($1::int[], $2::text[]) AS k (organization_id, id)
  CROSS JOIN LATERAL (
    SELECT * FROM audit_entry a WHERE a.organization_id = k.organization_id AND a.entity = 'loan' AND a.entity_id = k.id
    ORDER BY a.id
  ) a`

/** The rows of the audit trail about each of the loans, oldest first, by `organization id`. */
export async function readLoanTrails(snapshot: Snapshot, loans: readonly LoanKey[]): Promise<Map<string, LoanTrail[]>> {
  const { rows } = await snapshot.query<LoanTrail & { organization_id: number; entity_id: string }>({
    name: 'read-loan-trails',
    text: READ,
    values: [loans.map(({ organizationId }) => organizationId), loans.map(({ id }) => String(id))],
  })
  return Map.groupBy(rows, ({ organization_id, entity_id }) => `${organization_id} ${entity_id}`)
}

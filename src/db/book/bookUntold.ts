/** SQL for "the trail has a row of this kind about `e`". */
const told = (entity: string, entityId: string, action: string): string =>
  `EXISTS (SELECT FROM audit_entry a WHERE a.organization_id = e.organization_id AND a.entity = '${entity}'
     AND a.entity_id = ${entityId} AND a.action = '${action}')`

const RAISES = `(SELECT count(*) FROM audit_entry a WHERE a.organization_id = e.organization_id AND a.entity = 'customer'
     AND a.entity_id = e.customer_id::text AND a.action = 'boost' AND a.after ->> 'boostStatus' = 'raised')`

/**
 * Statements that find rows of which the trail does not say that they were made; loans, entries and customers have checks
 * of their own. Each finds `organization_id`, `of_row` and `message`.
 */
export const UNTOLD: readonly string[] = [
  `SELECT e.id, 'organization ' || e.id, 'is not in the trail: nothing says that it was made'
   FROM (SELECT id, id AS organization_id FROM organization) e WHERE NOT ${told('organization', 'e.id::text', 'create')}`,
  ...(['account', 'api_key', 'loan_product'] as const).map(
    (table) => `SELECT e.organization_id, '${table} ' || e.id, 'is not in the trail: nothing says that it was made'
   FROM ${table} e WHERE NOT ${told(table.replace('_', ' '), 'e.id::text', 'create')}`,
  ),
  `SELECT e.organization_id, 'signing_key ' || e.kid, 'is not in the trail: nothing says that it was made'
   FROM (SELECT kid, 0 AS organization_id FROM signing_key) e WHERE NOT ${told('signing key', 'e.kid', 'create')}`,
  `SELECT e.organization_id, 'credit_policy ' || e.version, 'is not in the trail: nothing says that it was set'
   FROM credit_policy e WHERE NOT EXISTS (SELECT FROM audit_entry a WHERE a.organization_id = e.organization_id
     AND a.entity = 'organization' AND a.entity_id = e.organization_id::text AND a.action = 'set credit policy'
     AND a.after ->> 'version' = e.version)`,
  `SELECT e.organization_id, 'delinquency_policy ' || e.version, 'is not in the trail: nothing says that it was set'
   FROM delinquency_policy e WHERE NOT ${told('delinquency policy', 'e.version::text', 'set')}`,
  `SELECT e.organization_id, 'pending action ' || e.id, 'is not in the trail: nothing says that it was asked for'
   FROM pending_action e WHERE NOT ${told('pending action', 'e.id::text', 'request')}`,
  `SELECT e.organization_id, 'pending action ' || e.id, 'is approved, and the trail has no change of loan ' || e.loan_id || ' by it'
   FROM pending_action e WHERE e.state = 'approved' AND NOT EXISTS (SELECT FROM audit_entry a
     WHERE a.organization_id = e.organization_id AND a.entity = 'loan' AND a.entity_id = e.loan_id::text
       AND a.request_id = 'approval-' || e.id)`,
  `SELECT e.organization_id, 'pending action ' || e.id, 'was decided by the one who asked for it'
   FROM pending_action e WHERE e.state IN ('approved', 'rejected') AND e.decided_by IS NOT DISTINCT FROM e.asked_by`,
  `SELECT e.organization_id, 'credit_decision ' || e.id, 'is not in the trail: nothing says that it was decided'
   FROM (
     SELECT d.*, row_number() OVER (PARTITION BY d.organization_id, d.customer_id, d.kind, d.at ORDER BY d.id) AS place
     FROM credit_decision d
   ) e WHERE e.place > (SELECT count(*) FROM audit_entry a WHERE a.organization_id = e.organization_id
     AND a.entity = 'customer' AND a.entity_id = e.customer_id::text AND a.action = e.kind AND a.at = e.at)`,
  `SELECT e.organization_id, 'credit_standing ' || e.customer_id,
     'boosts is ' || e.boosts || ', and the trail has ' || ${RAISES} || ' raises'
   FROM credit_standing e WHERE e.boosts <> ${RAISES} OR (e.boosts = 0 AND e.boosted_limit IS NOT NULL)`,
  `SELECT e.organization_id, 'credit_statement ' || e.hash, 'is not in the trail: nothing says that it raised a limit'
   FROM credit_statement e WHERE NOT EXISTS (SELECT FROM audit_entry a WHERE a.organization_id = e.organization_id
     AND a.entity = 'customer' AND a.entity_id = e.customer_id::text AND a.action = 'boost'
     AND a.after ->> 'boostStatus' = 'raised' AND a.after ->> 'statement' = e.hash)`,
]

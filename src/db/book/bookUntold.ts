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

/** SQL for what the newest row of the trail that names a member says of it, about `e`. */
const lastTold = (entity: string, entityId: string, member: string): string =>
  `(SELECT a.after -> '${member}' FROM audit_entry a WHERE a.organization_id = e.organization_id AND a.entity = '${entity}'
     AND a.entity_id = ${entityId} AND a.after ? '${member}' ORDER BY a.id DESC LIMIT 1)`

const ENDPOINT = 'webhook endpoint'

/** Columns of an endpoint, with the members of the trail that say what they are. */
const OF_ENDPOINT: Readonly<Record<string, string>> = {
  url: 'to_jsonb(e.url)',
  types: 'to_jsonb(e.types)',
  style: 'to_jsonb(e.style)',
  description: 'to_jsonb(e.description)',
  secretSha256: `to_jsonb(encode(sha256(convert_to(e.secret, 'UTF8')), 'hex'))`,
}

/** Statements that find rows of which the trail says otherwise, and which no seal covers. */
export const TOLD_OTHERWISE: readonly string[] = [
  `SELECT e.id, 'organization ' || e.id, 'is a ' || e.mode || ' organization, and the trail says otherwise'
   FROM (SELECT id, id AS organization_id, mode FROM organization) e
   WHERE to_jsonb(e.mode) IS DISTINCT FROM coalesce(${lastTold('organization', 'e.id::text', 'mode')}, '"live"'::jsonb)`,
  `SELECT e.organization_id, 'test_clock ' || e.organization_id, 'is of an organization that is not a test organization'
   FROM test_clock e WHERE e.mode IS DISTINCT FROM (SELECT mode FROM organization WHERE id = e.organization_id)`,
  `SELECT e.organization_id, 'organization_logo ' || e.organization_id, 'is not what the trail says was set'
   FROM (SELECT o.id AS organization_id, l.type, l.content FROM organization o
     LEFT JOIN organization_logo l ON l.organization_id = o.id) e
   WHERE CASE WHEN e.content IS NULL THEN 'null'::jsonb ELSE jsonb_build_object('type', e.type,
       'sha256', encode(sha256(e.content), 'hex')) END
     IS DISTINCT FROM coalesce(${lastTold('organization', 'e.organization_id::text', 'logo')}, 'null'::jsonb)`,
  ...Object.entries(OF_ENDPOINT).map(
    ([member, value]) => `SELECT e.organization_id, 'webhook_endpoint ' || e.id, '${member} is not what the trail says'
   FROM webhook_endpoint e WHERE ${value} IS DISTINCT FROM ${lastTold(ENDPOINT, 'e.id::text', member)}`,
  ),
  `SELECT e.organization_id, 'webhook_endpoint ' || e.id, 'previous_secret is none that the trail has of the endpoint'
   FROM webhook_endpoint e WHERE e.previous_secret IS NOT NULL AND NOT EXISTS (
     SELECT FROM audit_entry a WHERE a.organization_id = e.organization_id AND a.entity = '${ENDPOINT}' AND a.entity_id = e.id::text
       AND a.after ->> 'secretSha256' = encode(sha256(convert_to(e.previous_secret, 'UTF8')), 'hex'))`,
  `SELECT e.organization_id, 'webhook_endpoint ' || e.entity_id, 'is not there, and the trail says that it was made'
   FROM audit_entry e WHERE e.entity = '${ENDPOINT}' AND e.action = 'create'
     AND NOT EXISTS (SELECT FROM webhook_endpoint w WHERE w.organization_id = e.organization_id AND w.id::text = e.entity_id)
     AND NOT EXISTS (SELECT FROM audit_entry a WHERE a.organization_id = e.organization_id AND a.entity = '${ENDPOINT}'
       AND a.entity_id = e.entity_id AND a.action = 'delete')`,
  `SELECT e.organization_id, 'accounting_chart ' || e.version, 'was not set at ' || e.created_at || ', by the trail'
   FROM accounting_chart e WHERE NOT EXISTS (SELECT FROM audit_entry a WHERE a.organization_id = e.organization_id
     AND a.entity = 'accounting chart' AND a.entity_id = e.version::text AND a.action = 'set' AND a.at = e.created_at)`,
  `SELECT e.organization_id, 'accounting_period ' || e.month, 'was not asked for at ' || e.requested_at || ', by the trail'
   FROM accounting_period e WHERE NOT EXISTS (SELECT FROM audit_entry a WHERE a.organization_id = e.organization_id
     AND a.entity = 'accounting period' AND a.entity_id = to_char(e.month, 'YYYY-MM') AND a.action = 'close'
     AND a.at = e.requested_at)`,
  `SELECT e.organization_id, 'book_import ' || e.kind, 'has done ' || e.lines_done || ' lines, and counts ' ||
     (e.imported + e.present + e.refused)
   FROM book_import e WHERE e.lines_done <> e.imported + e.present + e.refused`,
]

/** Counters and the columns whose numbers come from nowhere else: one that was set back draws numbers a second time. */
const DRAWN: Readonly<Record<string, readonly string[]>> = {
  audit_entry_id_seq: ['audit_entry.id'],
  customer_arrival_seq: ['customer.arrival'],
  loan_arrival_seq: ['loan.arrival'],
  loan_entry_arrival_seq: ['loan_entry.arrival'],
  account_id_seq: ['account.id', 'api_key.id'],
  credit_decision_id_seq: ['credit_decision.id'],
  credit_policy_arrival_seq: ['credit_policy.arrival'],
  pending_action_id_seq: ['pending_action.id'],
  webhook_endpoint_id_seq: ['webhook_endpoint.id'],
  webhook_attempt_id_seq: ['webhook_attempt.id'],
  access_entry_id_seq: ['access_entry.id'],
}

/** Statements that find counters which were set back. */
export const COUNTERS: readonly string[] = [
  ...Object.entries(DRAWN).flatMap(([sequence, columns]) =>
    columns.map((column) => {
      const [table, name] = column.split('.')
      return `SELECT 0, '${sequence}', 'was set back: it drew ' || coalesce(c.last, 0) || ', and ${column} goes to ' || m.last
        FROM (SELECT max(${name}) AS last FROM ${table}) AS m, (SELECT pg_sequence_last_value('${sequence}') AS last) AS c
        WHERE m.last > coalesce(c.last, 0)`
    }),
  ),
  ...(['customer', 'loan'] as const).map(
    (table) => `SELECT e.organization_id, 'account_number ' || '${table}', 'was set back: it is ' || coalesce(a.last, 0)
     || ', and the largest number is ' || e.last
   FROM (SELECT organization_id, max(account_no) AS last FROM ${table} GROUP BY organization_id) e
   LEFT JOIN account_number a ON a.organization_id = e.organization_id AND a.kind = '${table}'
   WHERE e.last > coalesce(a.last, 0)`,
  ),
]

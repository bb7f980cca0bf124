/**
 * The Idempotency-Keys that name more changes than their account made, by the trail. The statement that makes a change
 * inserts its row of the trail and its key, so each key that names a row has a change of its own. What the key names
 * besides the row is the entry that was posted, else the one that was reversed; the decision of a boost; or the event to
 * which an endpoint was set back. All ids are compared as texts, because a damaged one may be no number. The moment of a
 * key proves nothing: it is when the request came, by the clock of the machine.
 */
const KEYS = `
  WITH named AS (
    SELECT organization_id, account_id, entity, entity_id::text AS entity_id, coalesce(transaction_id::text, '') AS part,
      count(*) AS keys
    FROM idempotency_key WHERE entity IS NOT NULL OR entity_id IS NOT NULL OR transaction_id IS NOT NULL GROUP BY 1, 2, 3, 4, 5
  ), changed AS (
    SELECT a.organization_id, a.account_id, a.entity, a.entity_id, coalesce(CASE
        WHEN a.entity = 'loan' THEN coalesce(a.change #>> '{posted,id}', a.change #>> '{reversed,id}')
        WHEN a.entity = 'customer' THEN d.id::text
        WHEN a.action = 'recover' AND a.before IS NOT NULL THEN a.after ->> 'position'
      END, '') AS part, count(*) AS changes
    FROM audit_entry a
    LEFT JOIN credit_decision d ON d.organization_id = a.organization_id AND d.customer_id::text = a.entity_id
      AND d.at = a.at AND d.kind = 'boost' AND a.action = 'boost' AND a.entity = 'customer'
    WHERE EXISTS (SELECT FROM named n WHERE n.organization_id = a.organization_id AND n.account_id = a.account_id
      AND n.entity = a.entity AND n.entity_id = a.entity_id)
    GROUP BY 1, 2, 3, 4, 5
  )
  SELECT e.organization_id, coalesce(e.entity || ' ' || e.entity_id, 'Idempotency-Key'),
    e.keys || CASE e.keys WHEN 1 THEN ' Idempotency-Key' ELSE ' Idempotency-Keys' END || ' of account ' || e.account_id
      || CASE WHEN e.keys = 1 THEN ' names ' ELSE ' name ' END
      || CASE WHEN e.part = '' THEN 'a change of it' ELSE 'its ' || CASE e.entity
           WHEN 'loan' THEN 'entry ' WHEN 'customer' THEN 'credit decision ' ELSE 'place ' END || e.part END
      || ', and by the trail that account made ' || coalesce(c.changes, 0) || ' such changes'
  FROM named e LEFT JOIN changed c ON c.organization_id = e.organization_id AND c.account_id = e.account_id
    AND c.entity = e.entity AND c.entity_id = e.entity_id AND c.part = e.part
  WHERE e.keys > coalesce(c.changes, 0)`

/** SQL for "the trail has a row of this kind about `e`". */
const told = (entity: string, entityId: string, action: string): string =>
  `EXISTS (SELECT FROM audit_entry a WHERE a.organization_id = e.organization_id AND a.entity = '${entity}'
     AND a.entity_id = ${entityId} AND a.action = '${action}')`

const RAISES = `(SELECT count(*) FROM audit_entry a WHERE a.organization_id = e.organization_id AND a.entity = 'customer'
     AND a.entity_id = e.customer_id::text AND a.action = 'boost' AND a.after ->> 'boostStatus' = 'raised')`

/** The tables whose rows are each in the trail as made. */
const EACH_MADE = [
  ...(['account', 'api_key', 'loan_product', 'consent', 'guarantor', 'collateral'] as const),
  ...(['contact', 'promise', 'loan_hold', 'loan_assignment'] as const),
]

/**
 * Statements that find rows of which the trail does not say that they were made; loans, entries and customers have checks
 * of their own. Each finds `organization_id`, `of_row` and `message`.
 */
const UNTOLD: readonly string[] = [
  ...(['listing_notice', 'dispute', 'export_format', 'export_file'] as const).map(
    (table) => `SELECT e.organization_id, '${table} ' || e.id, 'is not in the trail: nothing says that it was made'
   FROM ${table} e WHERE NOT ${told(table.replace('_', ' '), 'e.id::text', table === 'export_file' ? 'request' : 'create')}`,
  ),
  `SELECT e.id, 'organization ' || e.id, 'is not in the trail: nothing says that it was made'
   FROM (SELECT id, id AS organization_id FROM organization) e WHERE NOT ${told('organization', 'e.id::text', 'create')}`,
  ...EACH_MADE.map(
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
  `SELECT e.organization_id, 'data request ' || e.id, 'is not in the trail: nothing says that it was asked for'
   FROM data_request e WHERE NOT ${told('data request', 'e.id::text', 'create')}`,
  `SELECT e.organization_id, 'pending action ' || e.id, 'is not in the trail: nothing says that it was asked for'
   FROM pending_action e WHERE NOT ${told('pending action', 'e.id::text', 'request')}`,
  ...(['loan', 'payment'] as const).map(
    (target) => `SELECT e.organization_id, 'pending action ' || e.id,
     'is approved, and the trail has no change of ${target} ' || e.${target}_id || ' by it'
   FROM pending_action e WHERE e.state = 'approved' AND e.${target}_id IS NOT NULL AND NOT EXISTS (SELECT FROM audit_entry a
     WHERE a.organization_id = e.organization_id AND a.entity = '${target}' AND a.entity_id = e.${target}_id::text
       AND a.request_id = 'approval-' || e.id)`,
  ),
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
const ROLE = 'role'

/** Columns of an endpoint, with the members of the trail that say what they are. */
const OF_ENDPOINT: Readonly<Record<string, string>> = {
  url: 'to_jsonb(e.url)',
  types: 'to_jsonb(e.types)',
  style: 'to_jsonb(e.style)',
  description: 'to_jsonb(e.description)',
  secretSha256: `to_jsonb(encode(sha256(convert_to(e.secret, 'UTF8')), 'hex'))`,
}

/** Columns of how people sign in, with the members of the trail that say what they are. */
const OF_SIGN_IN: Readonly<Record<string, string>> = {
  secondFactorRequired: 'to_jsonb(e.second_factor_required)',
  issuer: 'to_jsonb(e.issuer)',
  clientId: 'to_jsonb(e.client_id)',
  clientSecretSha256: `to_jsonb(encode(sha256(convert_to(e.client_secret, 'UTF8')), 'hex'))`,
  roleClaim: 'to_jsonb(e.role_claim)',
  roles: 'e.role_map',
}

/** SQL for whether the last row of the trail about something says that it was deleted. */
const lastDeleted = (entity: string, id: string): string =>
  `(SELECT a.action = 'delete' FROM audit_entry a WHERE a.organization_id = e.organization_id AND a.entity = '${entity}'
     AND a.entity_id = ${id} ORDER BY a.id DESC LIMIT 1)`

/** Statements that find rows of which the trail says otherwise, and which no seal covers. */
const TOLD_OTHERWISE: readonly string[] = [
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
  ...Object.entries(OF_SIGN_IN).map(
    ([
      member,
      value,
    ]) => `SELECT e.organization_id, 'office_sign_in ' || e.organization_id, '${member} is not what the trail says'
   FROM office_sign_in e WHERE coalesce(${value}, 'null'::jsonb) IS DISTINCT FROM ${lastTold('office sign-in', 'e.organization_id::text', member)}`,
  ),
  `SELECT DISTINCT e.organization_id, 'office_sign_in ' || e.entity_id, 'is not there, and the trail says that it was made'
   FROM audit_entry e WHERE e.entity = 'office sign-in'
     AND NOT EXISTS (SELECT FROM office_sign_in s WHERE s.organization_id = e.organization_id)`,
  ...['permissions', 'description'].map(
    (member) => `SELECT e.organization_id, 'role ' || e.name, '${member} is not what the trail says'
   FROM role e WHERE to_jsonb(e.${member}) IS DISTINCT FROM ${lastTold(ROLE, 'e.name', member)}`,
  ),
  `SELECT e.organization_id, 'role ' || e.name, 'is there, and the trail says that it was deleted'
   FROM role e WHERE ${lastDeleted(ROLE, 'e.name')}`,
  `SELECT DISTINCT e.organization_id, 'role ' || e.entity_id, 'is not there, and the trail says that it was made'
   FROM audit_entry e WHERE e.entity = '${ROLE}' AND e.action = 'create' AND NOT ${lastDeleted(ROLE, 'e.entity_id')}
     AND NOT EXISTS (SELECT FROM role r WHERE r.organization_id = e.organization_id AND r.name = e.entity_id)`,
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
  payment_inbox_id_seq: ['payment_inbox.id'],
  account_id_seq: ['account.id', 'api_key.id'],
  credit_decision_id_seq: ['credit_decision.id'],
  credit_policy_arrival_seq: ['credit_policy.arrival'],
  data_request_id_seq: ['data_request.id'],
  pending_action_id_seq: ['pending_action.id'],
  consent_id_seq: ['consent.id'],
  guarantor_id_seq: ['guarantor.id'],
  collateral_id_seq: ['collateral.id'],
  contact_id_seq: ['contact.id'],
  promise_id_seq: ['promise.id'],
  loan_hold_id_seq: ['loan_hold.id'],
  loan_assignment_id_seq: ['loan_assignment.id'],
  webhook_endpoint_id_seq: ['webhook_endpoint.id'],
  webhook_attempt_id_seq: ['webhook_attempt.id'],
  access_entry_id_seq: ['access_entry.id'],
}

/** Statements that find counters which were set back. */
const COUNTERS: readonly string[] = [
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

/**
 * Statements that find rows which refer to nothing, and rows that the trail and the keys contradict. Each finds
 * `organization_id`, `of_row` and `message`; where all is well, none finds anything.
 */
export const BOOK_FAULTS: readonly string[] = [
  `SELECT e.organization_id, 'loan ' || e.loan_id AS of_row, 'is not there, and entry ' || e.id || ' is of it' AS message
   FROM loan_entry e WHERE ${gone('loan', 'e.loan_id')}`,
  `SELECT e.organization_id, 'loan ' || e.loan_id, 'is not there, and instalment ' || e.period || ' is of it'
   FROM loan_period e WHERE ${gone('loan', 'e.loan_id')}`,
  ...(['loan', 'payment'] as const).map(
    (
      target,
    ) => `SELECT e.organization_id, '${target} ' || e.${target}_id, 'is not there, and pending action ' || e.id || ' is of it'
   FROM pending_action e WHERE e.${target}_id IS NOT NULL AND ${gone(target, `e.${target}_id`)}`,
  ),
  `SELECT e.organization_id, 'loan ' || e.id, 'is of customer ' || e.customer_id || ', who is not there'
   FROM loan e WHERE ${gone('customer', 'e.customer_id')}`,
  `SELECT e.organization_id, 'loan ' || e.id, 'has the product ' || e.product_id || ', which is not there'
   FROM loan e WHERE e.product_id IS NOT NULL AND ${gone('loan_product', 'e.product_id')}`,
  `SELECT e.organization_id, 'loan ' || e.id, 'paid off ' || coalesce(s ->> 'amount', 'nothing') || ' of loan '
     || coalesce(s ->> 'loanId', 'no number') || ', which has no such repayment'
   FROM loan e CROSS JOIN LATERAL jsonb_array_elements(
     CASE WHEN jsonb_typeof(e.rules -> 'settled') = 'array' THEN e.rules -> 'settled' END) AS s
   WHERE NOT EXISTS (SELECT FROM loan_entry p WHERE p.organization_id = e.organization_id
     AND p.loan_id = CASE WHEN s ->> 'loanId' ~ '^[0-9]{1,18}$' THEN (s ->> 'loanId')::bigint END
     AND p.type = 'Repayment' AND p.payment_method = 'Top-up' AND p.amount::text = s ->> 'amount')`,
  `SELECT e.organization_id, 'loan ' || e.id, 'paid off the loan ' || coalesce(s ->> 'externalId', 'without a name') || ', and loan '
     || p.id || ' has the externalId ' || coalesce(p.external_id, 'none')
   FROM loan e CROSS JOIN LATERAL jsonb_array_elements(
     CASE WHEN jsonb_typeof(e.rules -> 'settled') = 'array' THEN e.rules -> 'settled' END) AS s
   JOIN loan p ON p.organization_id = e.organization_id
     AND p.id = CASE WHEN s ->> 'loanId' ~ '^[0-9]{1,18}$' THEN (s ->> 'loanId')::bigint END
   WHERE coalesce(p.external_id, '') IS DISTINCT FROM s ->> 'externalId'`,
  ...['customer', 'loan', 'loan_product', 'account', 'api_key'].map(
    (
      table,
    ) => `SELECT e.organization_id, '${table.replace('_', ' ')} ' || e.id, 'is of an organization that is not there'
   FROM ${table} e WHERE NOT EXISTS (SELECT 1 FROM organization o WHERE o.id = e.organization_id)`,
  ),
  `SELECT e.organization_id, 'entry ' || e.id, 'was posted by account ' || e.account_id || ', which is not there'
   FROM loan_entry e WHERE e.account_id IS NOT NULL
     AND ${gone('account', 'e.account_id')} AND ${gone('api_key', 'e.account_id')}`,
  `SELECT e.organization_id, 'credit decision ' || e.id, 'is about customer ' || e.customer_id || ', who is not there'
   FROM credit_decision e WHERE ${gone('customer', 'e.customer_id')}`,
  `SELECT e.organization_id, 'customer ' || e.id, 'is not in the trail: nothing says that the customer was made'
   FROM customer e WHERE NOT EXISTS (SELECT 1 FROM audit_entry a WHERE a.organization_id = e.organization_id
     AND a.entity = 'customer' AND a.entity_id = e.id::text AND a.action = 'create')`,
  `SELECT e.organization_id, 'customer ' || e.id, 'has not the words that the trail says'
   FROM customer e JOIN (
     SELECT DISTINCT ON (organization_id, entity_id) organization_id, entity_id, after ->> 'words' AS words
     FROM audit_entry WHERE entity = 'customer' AND after ? 'words' ORDER BY organization_id, entity_id, id DESC
   ) a ON a.organization_id = e.organization_id AND a.entity_id = e.id::text
   WHERE e.words IS DISTINCT FROM a.words`,
  `SELECT e.organization_id, 'customer ' || e.id, 'is ' || e.status || ', and the trail says ' || a.status
   FROM customer e JOIN (
     SELECT DISTINCT ON (organization_id, entity_id) organization_id, entity_id, after ->> 'status' AS status
     FROM audit_entry WHERE entity = 'customer' AND after ? 'status' ORDER BY organization_id, entity_id, id DESC
   ) a ON a.organization_id = e.organization_id AND a.entity_id = e.id::text WHERE a.status <> e.status`,
  ...['customer', 'loan'].map(
    (
      table,
    ) => `SELECT e.organization_id, '${table} ' || e.entity_id, 'is not there, and the trail says that it was made'
   FROM audit_entry e WHERE e.entity = '${table}' AND e.action = 'create' AND ${gone(table, 'e.entity_id', 'g.id::text')}`,
  ),
  ...['customer', 'loan'].map(
    (table) => `SELECT e.organization_id, '${table} ' || e.entity_id, 'is not there, and an Idempotency-Key of account '
     || e.account_id || ' names it'
   FROM idempotency_key e WHERE e.entity = '${table}' AND ${gone(table, 'e.entity_id')}`,
  ),
  `SELECT e.organization_id, 'loan ' || e.entity_id, 'has no entry ' || e.transaction_id
     || ', and an Idempotency-Key of account ' || e.account_id || ' names it'
   FROM idempotency_key e WHERE e.entity = 'loan' AND e.transaction_id IS NOT NULL AND NOT EXISTS (
     SELECT 1 FROM loan_entry t WHERE t.organization_id = e.organization_id AND t.id = e.transaction_id
       AND t.loan_id = e.entity_id)`,
  KEYS,
  `SELECT e.organization_id, 'loan_earlier_terms ' || e.loan_id || '/' || e.version,
     'is not what the trail says of the terms before a change'
   FROM loan_earlier_terms e WHERE NOT EXISTS (
     SELECT FROM audit_entry a WHERE a.organization_id = e.organization_id AND a.entity = 'loan'
       AND a.entity_id = e.loan_id::text AND a.action = 'update' AND a.at = e.until
       AND a.after #>> '{earlierTerms,version}' = e.version::text
       AND a.after #>> '{earlierTerms,sha256}' = encode(sha256(convert_to(e.terms, 'UTF8')), 'hex'))`,
  `SELECT e.organization_id, 'loan_earlier_terms ' || e.entity_id || '/' || (e.after #>> '{earlierTerms,version}'),
     'is not there, and the trail says that the terms before a change were kept'
   FROM audit_entry e WHERE e.entity = 'loan' AND e.action = 'update'
     AND e.after #>> '{earlierTerms,version}' IS NOT NULL AND NOT EXISTS (
       SELECT FROM loan_earlier_terms t WHERE t.organization_id = e.organization_id AND t.loan_id::text = e.entity_id
         AND t.version::text = e.after #>> '{earlierTerms,version}')`,
  ...UNTOLD,
  ...TOLD_OTHERWISE,
  ...COUNTERS,
]

/** @param of SQL for the id of the row `g` that is looked for, in the type of `id` */
function gone(table: string, id: string, of = 'g.id'): string {
  return `NOT EXISTS (SELECT 1 FROM ${table} g WHERE g.organization_id = e.organization_id AND ${of} = ${id})`
}

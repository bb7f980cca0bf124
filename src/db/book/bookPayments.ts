import { PAYMENT } from '../../domain/payments/paymentText.ts'

/** The repayments of the payment `e` that stand, and all that were ever allocated from it. */
const STANDING = `(SELECT coalesce(sum(l.amount), 0) FROM loan_entry l
  WHERE l.organization_id = e.organization_id AND l.payment_id = e.id AND l.reversed_at IS NULL)`
const ALL = `(SELECT count(*) FROM loan_entry l WHERE l.organization_id = e.organization_id AND l.payment_id = e.id)`
const CHANGES = `(SELECT count(*) FROM audit_entry a WHERE a.organization_id = e.organization_id AND a.entity = '${PAYMENT}'
  AND a.entity_id = e.id::text)`
const LEFT = '(e.amount - e.allocated - e.returned - e.reversed)'
/** What was taken back of the payment `e`, by the reversals that were applied to it. */
const TAKEN_BACK = `(SELECT coalesce(sum(r.amount), 0) FROM payment_reversal r WHERE r.organization_id = e.organization_id
  AND r.channel_id = e.channel_id AND r.reverses = e.receipt AND r.payment_id = e.id)`

const untold = (table: string): string => `
  SELECT e.organization_id, '${table} ' || e.id, 'is not in the trail: nothing says that it was made'
  FROM ${table} e WHERE NOT EXISTS (SELECT FROM audit_entry a WHERE a.organization_id = e.organization_id
    AND a.entity = '${table.replace('_', ' ')}' AND a.entity_id = e.id::text AND a.action IN ('create', 'receive', 'complete'))`

/** What a payment says of itself that is not so, in SQL: the fault, and the condition. */
const PAYMENT_RULES: readonly (readonly [message: string, isBroken: string])[] = [
  [`'allocated is ' || e.allocated || ', and its repayments sum to ' || ${STANDING}`, `e.allocated <> ${STANDING}`],
  [`'parts is ' || e.parts || ', and it has ' || ${ALL} || ' repayments'`, `e.parts <> ${ALL}`],
  [`'version is ' || e.version || ', and the trail has ' || ${CHANGES} || ' changes'`, `e.version <> ${CHANGES}`],
  [`'reversed is ' || e.reversed || ', and the provider took back ' || ${TAKEN_BACK}`, `e.reversed > ${TAKEN_BACK}`],
  [
    `'is ' || e.status || ', and ' || ${LEFT} || ' of it is in suspense and ' || e.allocated || ' with loans'`,
    `e.status <> 'received' AND e.status <> CASE WHEN e.allocated > 0 AND ${LEFT} = 0 THEN 'allocated' WHEN e.allocated > 0 THEN 'partly_allocated'
      WHEN ${LEFT} > 0 THEN 'unmatched' WHEN e.reversed > 0 THEN 'reversed' ELSE 'returned' END OR e.status = 'received' AND ${LEFT} <> e.amount`,
  ],
]

/** The posting that each change of a payment must have, by the trail, and those that there are. */
const POSTINGS = `
  WITH told AS (
    SELECT a.organization_id, a.id AS change_id, a.entity_id AS payment, a.after ->> 'currency' AS currency, a.after #>> '{moved,on}' AS on,
      a.after #>> '{moved,account}' AS account, a.after #>> '{moved,amount}' AS amount, date_trunc('milliseconds', a.at) AS at,
      CASE a.action WHEN 'return' THEN 'payment_returned' WHEN 'reverse' THEN 'payment_reversed' ELSE 'payment_received' END AS kind,
      (SELECT min(v.sequence) FROM event v WHERE v.organization_id = a.organization_id AND v.change_id = a.id) AS sequence
    FROM audit_entry a JOIN journal j ON j.organization_id = a.organization_id AND a.id <= j.change_id
    WHERE a.entity = '${PAYMENT}' AND jsonb_typeof(a.after -> 'moved') = 'object'
  ), posted AS (SELECT * FROM posting WHERE payment_id IS NOT NULL OR kind LIKE 'payment\\_%')
  SELECT coalesce(t.organization_id, p.organization_id), coalesce('posting ' || p.id, 'payment ' || t.payment),
    CASE WHEN p.id IS NULL THEN 'has no posting of change ' || t.change_id
      WHEN t.change_id IS NULL THEN 'is of payment ' || coalesce(p.payment_id::text, 'none') || ', which did not change so, by the trail'
      ELSE 'is not what change ' || t.change_id || ' of payment ' || t.payment || ' says' END
  FROM told t FULL JOIN posted p ON p.organization_id = t.organization_id AND p.change_id = t.change_id
  WHERE t.change_id IS NULL OR p.id IS NULL OR (p.payment_id::text, p.currency, p.value_date::text, coalesce(p.cash_account, ''),
      coalesce(p.cash, 0)::text, coalesce(p.payments_in_suspense, 0)::text, p.posted_at, p.kind, coalesce(t.sequence, p.sequence))
    IS DISTINCT FROM (t.payment, t.currency, t.on, coalesce(t.account, ''), t.amount, (-t.amount::bigint)::text, t.at, t.kind, p.sequence)
    OR p.loan_id IS NOT NULL OR p.product_id <> 0 OR p.transaction_id IS NOT NULL OR p.method IS NOT NULL OR p.contribution IS NOT NULL
    OR p.moved_from IS NOT NULL`

/** The money in suspense by the payments, and by the journal where it has come to the last change. */
const SUSPENSE = `
  WITH kept AS (
    SELECT j.organization_id FROM journal j WHERE j.change_id >= coalesce(
      (SELECT max(a.id) FROM audit_entry a WHERE a.organization_id = j.organization_id AND a.entity IN ('loan', '${PAYMENT}')), 0)
  ), waiting AS (
    SELECT organization_id, currency, sum(amount - allocated - returned - reversed) AS amount FROM payment GROUP BY 1, 2
  ), booked AS (
    SELECT organization_id, currency, sum(credit - debit) AS amount FROM posting_day WHERE slot = 'payments_in_suspense' GROUP BY 1, 2
  )
  SELECT organization_id, 'payments in suspense ' || m.currency, 'sum to ' || m.waiting || ', and the journal has ' || m.booked
  FROM kept JOIN (SELECT organization_id, currency, coalesce(w.amount, 0) AS waiting, coalesce(b.amount, 0) AS booked
    FROM waiting w FULL JOIN booked b USING (organization_id, currency)) AS m USING (organization_id)
  WHERE m.waiting <> m.booked`

/**
 * Statements that find payments, channels and reversals that the trail, the loans or the journal contradict. Each finds the
 * organization, the row and a message.
 */
export const PAYMENT_FAULTS: readonly string[] = [
  ...['payment', 'payment_channel', 'payment_reversal', 'reconciliation'].map(untold),
  ...PAYMENT_RULES.map(
    ([message, isBroken]) =>
      `SELECT e.organization_id, 'payment ' || e.id, ${message} FROM payment e WHERE ${isBroken}`,
  ),
  `SELECT e.organization_id, 'loan ' || e.loan_id, 'has entry ' || e.id || ' from payment ' || e.payment_id || ', which is not there or is another'
   FROM loan_entry e JOIN loan l ON l.organization_id = e.organization_id AND l.id = e.loan_id
   LEFT JOIN payment p ON p.organization_id = e.organization_id AND p.id = e.payment_id
   WHERE e.payment_id IS NOT NULL AND (p.id IS NULL OR p.currency <> l.currency OR e.type NOT IN ('Repayment', 'Recovery Repayment'))`,
  `SELECT e.organization_id, 'payment_reversal ' || e.id, 'was applied to payment ' || e.payment_id || ', which has another receipt'
   FROM payment_reversal e WHERE e.payment_id IS NOT NULL AND NOT EXISTS (SELECT FROM payment p WHERE p.organization_id = e.organization_id
     AND p.id = e.payment_id AND p.channel_id = e.channel_id AND p.receipt = e.reverses)`,
  `SELECT e.organization_id, 'reconciliation ' || e.id, 'version is ' || e.version || ', and the trail has ' || c.changes || ' changes'
   FROM reconciliation e CROSS JOIN LATERAL (SELECT count(*) AS changes FROM audit_entry a WHERE a.organization_id = e.organization_id
     AND a.entity = 'reconciliation' AND a.entity_id = e.id::text) AS c WHERE e.version <> c.changes`,
  POSTINGS,
  SUSPENSE,
]

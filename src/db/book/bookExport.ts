import { READ_DETAILS } from '../customers/borrowers.ts'
import { openTexts } from '../customers/words.ts'
import type { Snapshot } from '../postgres/transaction.ts'

/** Rows fetched at once. */
const BATCH = 2_000

/** The kinds of rows of which an export has a file each. */
export const EXPORT_KINDS = [
  'customers',
  'consents',
  'loans',
  'guarantors',
  'collateral',
  'instalments',
  'transactions',
  'payments',
] as const
export type ExportKind = (typeof EXPORT_KINDS)[number]

/** A row as stored: amounts in minor units of its `currency`, instants in milliseconds. */
export type ExportRow = Readonly<Record<string, unknown>>

const ROWS: Readonly<Record<ExportKind, string>> = {
  customers: `
    SELECT id, account_no AS "accountNo", external_id AS "externalId", status, activation_date AS "activationDate", closed_on AS "closedOn",
      close_reason AS "closeReason", ${READ_DETAILS}, created_at AS "createdAt", person_key AS "personKey", identity
    FROM customer a WHERE organization_id = $1 ORDER BY id`,
  consents: `
    SELECT n.id, c.external_id AS "customerId", n.customer_id AS "customerNumber", n.purpose, n.channel, n.given_at AS "givenAt",
      n.withdrawn_at AS "withdrawnAt", n.withdrawn_by AS "withdrawnBy", n.created_at AS "createdAt"
    FROM consent n JOIN customer c ON c.organization_id = n.organization_id AND c.id = n.customer_id
    WHERE n.organization_id = $1 ORDER BY n.id`,
  guarantors: `
    SELECT g.id, g.loan_id AS "loanId", l.external_id AS "loanExternalId", c.external_id AS "customerId", g.customer_id AS "customerNumber",
      g.relationship, l.currency AS "currencyCode", g.amount, g.from_date AS "from", g.until_date AS "until", g.released_on AS "releasedOn",
      g.release_reason AS "releaseReason", g.created_at AS "createdAt"
    FROM guarantor g JOIN loan l ON l.organization_id = g.organization_id AND l.id = g.loan_id
    LEFT JOIN customer c ON c.organization_id = g.organization_id AND c.id = g.customer_id
    WHERE g.organization_id = $1 ORDER BY g.id`,
  collateral: `
    SELECT g.id, g.loan_id AS "loanId", l.external_id AS "loanExternalId", g.kind, l.currency AS "currencyCode", g.value,
      g.valued_on AS "valuedOn", g.released_on AS "releasedOn", g.release_reason AS "releaseReason", g.created_at AS "createdAt"
    FROM collateral g JOIN loan l ON l.organization_id = g.organization_id AND l.id = g.loan_id
    WHERE g.organization_id = $1 ORDER BY g.id`,
  loans: `
    SELECT l.id, l.account_no AS "accountNo", l.external_id AS "externalId", c.external_id AS "customerId", l.customer_id AS "customerNumber",
      l.product_id AS "productId", l.currency AS "currencyCode", l.principal, l.disbursed_at AS "disbursedAt",
      l.principal - coalesce((l.rules->>'deducted')::bigint, 0) - coalesce((
        SELECT sum((s->>'amount')::bigint) FROM jsonb_array_elements(l.rules->'settled') AS s), 0)::bigint AS "netDisbursed",
      l.number_of_repayments AS "numberOfRepayments", l.rate_per_period AS "interestRatePerPeriod",
      l.due_on AS "dueDate", l.due_at AS "dueDateTime", l.status, l.principal_outstanding AS "principalOutstanding",
      l.interest_outstanding AS "interestOutstanding", l.fees_outstanding AS "feesOutstanding",
      l.penalty_outstanding AS "penaltyOutstanding", l.total_paid AS "totalPaid", l.total_overpaid AS "totalOverpaid",
      l.total_overdue AS "totalOverdue", l.total_written_off AS "totalWrittenOff", l.total_recovered AS "totalRecovered",
      l.next_due_on AS "nextDueDate", l.overdue_since AS "overdueSince", l.charged_off_on AS "chargedOffOn",
      l.closed_on AS "closedOn", l.created_at AS "createdAt", l.updated_at AS "updatedAt"
    FROM loan l JOIN customer c ON c.organization_id = l.organization_id AND c.id = l.customer_id
    WHERE l.organization_id = $1 ORDER BY l.id`,
  instalments: `
    SELECT s.loan_id AS "loanId", l.external_id AS "loanExternalId", s.period, s.from_date AS "fromDate",
      s.due_date AS "dueDate", l.currency AS "currencyCode", s.principal, s.interest, s.fees
    FROM loan_period s JOIN loan l ON l.organization_id = s.organization_id AND l.id = s.loan_id
    WHERE s.organization_id = $1 ORDER BY s.loan_id, s.period`,
  transactions: `
    SELECT e.id, e.loan_id AS "loanId", l.external_id AS "loanExternalId", e.ordinal, e.type,
      l.currency AS "currencyCode", e.amount AS "transactionAmount", e.value_date AS "transactionDate",
      e.due_on AS "dueDate",
      e.posted_at AS "transactionAt", e.token AS "idempotencyKey", e.note,
      CASE WHEN e.type IN ('Repayment', 'Recovery Repayment', 'Refund', 'Credit Balance Refund')
        THEN coalesce(e.record->>'method', e.payment_method) END AS "paymentMethod",
      CASE WHEN e.reversed_at IS NULL THEN 'posted' ELSE 'reversed' END AS status, e.reversed_at AS "reversedAt",
      e.account_id AS "accountId", e.replaces, e.restructure, e.payment_id AS "paymentId"
    FROM loan_entry e JOIN loan l ON l.organization_id = e.organization_id AND l.id = e.loan_id
    WHERE e.organization_id = $1 ORDER BY e.loan_id, e.ordinal`,
  payments: `
    SELECT p.id, p.channel_id AS "channelId", c.name AS "channelName", p.receipt, p.status, p.currency AS "currencyCode", p.amount, p.allocated,
      p.returned, p.reversed, p.paid_at AS "paidAt", p.value_date AS "valueDate", p.reference, p.cause, p.received_at AS "receivedAt"
    FROM payment p JOIN payment_channel c ON c.organization_id = p.organization_id AND c.id = p.channel_id
    WHERE p.organization_id = $1 ORDER BY p.id`,
}

const TABLES: Readonly<Record<ExportKind, string>> = {
  customers: 'customer',
  consents: 'consent',
  guarantors: 'guarantor',
  collateral: 'collateral',
  loans: 'loan',
  instalments: 'loan_period',
  transactions: 'loan_entry',
  payments: 'payment',
}

/** An organization's rows of a kind, in the order of their keys, a bounded number at a time. */
export async function* readForExport(
  snapshot: Snapshot,
  kind: ExportKind,
  organizationId: number,
): AsyncGenerator<readonly ExportRow[]> {
  const cursor = `export_${kind}`
  await snapshot.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${ROWS[kind]}`, [organizationId])
  for (;;) {
    const { rows } = await snapshot.query<ExportRow>(`FETCH ${BATCH} FROM ${cursor}`)
    if (rows.length > 0) yield await openTexts({ pool: snapshot }, rows, () => organizationId)
    if (rows.length < BATCH) break
  }
  await snapshot.query(`CLOSE ${cursor}`)
}

/** The number of rows that `readForExport` yields from the same snapshot. */
export async function countForExport(snapshot: Snapshot, kind: ExportKind, organizationId: number): Promise<number> {
  const { rows } = await snapshot.query<{ rows: bigint }>(
    `SELECT count(*) AS rows FROM ${TABLES[kind]} WHERE organization_id = $1`,
    [organizationId],
  )
  return Number(rows[0]!.rows)
}

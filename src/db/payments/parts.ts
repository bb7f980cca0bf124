import type { Instant } from '../../domain/dates.ts'
import { type Queries, statement } from '../queries/statement.ts'

/** A repayment that was allocated from a payment. */
export interface PaymentPart {
  readonly paymentId: bigint
  readonly loanId: bigint
  readonly loanExternalId: string | null
  readonly transactionId: bigint
  readonly amount: bigint
  readonly valueDate: string
  readonly reversedAt: Instant | null
}

const partsOf = statement<{ organizationId: number; ids: readonly bigint[] }>(
  'parts-of-payments',
  (p) => `
  SELECT e.payment_id AS "paymentId", e.loan_id AS "loanId", l.external_id AS "loanExternalId", e.id AS "transactionId", e.amount,
    e.value_date AS "valueDate", e.reversed_at AS "reversedAt"
  FROM loan_entry e JOIN loan l ON l.organization_id = e.organization_id AND l.id = e.loan_id
  WHERE e.organization_id = ${p('organizationId')} AND e.payment_id = ANY (${p('ids')}::bigint[])
  ORDER BY e.payment_id, e.posted_at, e.id`,
)

/** Reads the repayments that were allocated from payments, reversed ones too, in the order in which they were posted. */
export async function readParts(
  { pool }: Queries,
  organizationId: number,
  ids: readonly bigint[],
): Promise<PaymentPart[]> {
  if (ids.length === 0) return []
  return (await pool.query<PaymentPart>(partsOf({ organizationId, ids }))).rows
}

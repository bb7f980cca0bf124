import type { Instant } from '../../domain/dates.ts'
import { moment } from '../queries/rows.ts'
import { type Queries, statement } from '../queries/statement.ts'

/** What a customer agrees to. */
export type ConsentPurpose = 'bureau' | 'scoring' | 'marketing'

const standing = statement<{
  organizationId: number
  customerIds: readonly bigint[]
  purpose: ConsentPurpose
  asOf: string | null
}>(
  'consents-that-stand',
  (p) => `
  SELECT DISTINCT customer_id AS "customerId" FROM consent
  WHERE organization_id = ${p('organizationId')} AND customer_id = ANY (${p('customerIds')}::bigint[])
    AND purpose = ${p('purpose')} AND given_at <= ${p('asOf')} AND (withdrawn_at IS NULL OR withdrawn_at > ${p('asOf')})`,
)

/** Returns those of some customers whose consent to a purpose stood at an instant. */
export async function consentStands(
  { pool }: Queries,
  organizationId: number,
  customerIds: readonly bigint[],
  { purpose, asOf }: { readonly purpose: ConsentPurpose; readonly asOf: Instant },
): Promise<ReadonlySet<bigint>> {
  const { rows } = await pool.query<{ customerId: bigint }>(
    standing({ organizationId, customerIds, purpose, asOf: moment(asOf) }),
  )
  return new Set(rows.map(({ customerId }) => customerId))
}

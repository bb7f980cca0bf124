import type { CustomerStatus } from '../../domain/customer/customer.ts'
import type { LocalDate, PeriodUnit } from '../../domain/dates.ts'
import { currencyOf } from '../../domain/money.ts'
import type { Product } from '../../domain/product/product.ts'
import { fromStoredTerms } from '../../domain/product/storedTerms.ts'
import type { Customer } from '../customers/customers.ts'
import { type ColumnTypes, statementOver } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'

/** The customer and the product that an application names. */
export interface ApplicationKey {
  readonly organizationId: number
  readonly customerExternalId: string
  readonly productId: number
}

/** The customer and the product of an application; undefined where there is none. */
export interface Applicants {
  readonly customer: Applicant | undefined
  readonly product: Product | undefined
}

/** A customer as far as a new loan asks. */
export type Applicant = Omit<Customer, 'accountNo' | 'createdAt' | 'updatedAt'>

const KEY: ColumnTypes = { place: 'int', organization_id: 'int', external_id: 'text', product_id: 'int' }

const find = statementOver(
  'find-applicants',
  [KEY],
  (keys) => `
  SELECT k.place, c.id AS customer_id, c.external_id, c.status, c.activation_date, c.business_name,
    p.id AS product_id, p.name, p.currency, p.principal_min, p.principal_max, p.number_of_repayments, p.repay_every,
    p.repay_unit, p.rate_per_period, p.total_multiple_of, p.penalty_rate, p.terms,
    p.enforce_credit_limit, p.retired_at IS NOT NULL AS retired
  FROM ${keys('k')}
  LEFT JOIN customer c ON c.organization_id = k.organization_id AND c.external_id = k.external_id
  LEFT JOIN loan_product p ON p.organization_id = k.organization_id AND p.id = k.product_id`,
)

/** The customers and products of several applications, in one round trip and in their order. */
export async function findApplicants(db: Queries, keys: readonly ApplicationKey[]): Promise<Applicants[]> {
  const { rows } = await db.pool.query<ApplicantsRow>(
    find(
      keys.map(({ organizationId, customerExternalId, productId }, place) => [
        place,
        organizationId,
        customerExternalId,
        productId,
      ]),
    ),
  )
  const parties = new Map(rows.map((row) => [row.place, toParties(row)]))
  return keys.map((_, index) => parties.get(index) ?? { customer: undefined, product: undefined })
}

interface ApplicantsRow {
  place: number
  customer_id: bigint | null
  external_id: string
  status: CustomerStatus
  activation_date: LocalDate | null
  business_name: string | null
  product_id: number | null
  name: string
  currency: string
  principal_min: bigint
  principal_max: bigint
  number_of_repayments: number
  repay_every: number
  repay_unit: PeriodUnit
  rate_per_period: bigint
  total_multiple_of: bigint | null
  penalty_rate: bigint | null
  terms: unknown
  enforce_credit_limit: boolean
  retired: boolean
}

const toParties = (row: ApplicantsRow): Applicants => ({
  customer:
    row.customer_id === null
      ? undefined
      : {
          id: row.customer_id,
          externalId: row.external_id,
          status: row.status,
          activationDate: row.activation_date,
          businessName: row.business_name,
        },
  product:
    row.product_id === null
      ? undefined
      : {
          id: row.product_id,
          name: row.name,
          currency: currencyOf(row.currency),
          principalMin: row.principal_min,
          principalMax: row.principal_max,
          numberOfRepayments: row.number_of_repayments,
          repayEvery: row.repay_every,
          repayUnit: row.repay_unit,
          ratePerPeriod: row.rate_per_period,
          totalMultipleOf: row.total_multiple_of,
          penaltyRate: row.penalty_rate,
          terms: fromStoredTerms(row.terms),
          enforceCreditLimit: row.enforce_credit_limit,
          retired: row.retired,
        },
})

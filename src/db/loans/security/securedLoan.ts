import { lockPerson } from '../../customers/identities.ts'
import type { Transaction } from '../../postgres/transaction.ts'
import { type Queries, statement } from '../../queries/statement.ts'
import type { LoanRef } from '../loans.ts'

/** What guarantors and collateral have to know of their loan. */
export interface SecuredLoan {
  readonly id: bigint
  /** The customer of the loan. */
  readonly customerId: bigint
  /** The currency of the loan, by its code. */
  readonly currency: string
}

/** A loan whose customer is locked. */
export interface LockedLoan extends SecuredLoan {
  /** The key of the customer, encrypted; null: there is none yet. */
  readonly personKey: string | null
}

const by = (column: 'id' | 'external_id') =>
  statement<{ organizationId: number; name: bigint | string }>(
    `find-secured-loan-by-${column}`,
    (p) => `SELECT id, customer_id AS "customerId", currency FROM loan
      WHERE organization_id = ${p('organizationId')} AND ${column} = ${p('name')}`,
  )

const [byId, byExternalId] = [by('id'), by('external_id')]

/** Finds a loan. */
export async function findSecuredLoan(
  { pool }: Queries,
  organizationId: number,
  ref: LoanRef,
): Promise<SecuredLoan | undefined> {
  const ask =
    'id' in ref ? byId({ organizationId, name: ref.id }) : byExternalId({ organizationId, name: ref.externalId })
  return (await pool.query<SecuredLoan>(ask)).rows[0]
}

/**
 * Finds a loan and locks its customer until the end of the transaction: guarantors and collateral of a loan are added and released
 * one after the other, and nobody waits who posts to the loan.
 */
export async function lockSecuredLoan(
  transaction: Transaction,
  organizationId: number,
  ref: LoanRef,
): Promise<LockedLoan | undefined> {
  const loan = await findSecuredLoan({ pool: transaction }, organizationId, ref)
  const customer = loan && (await lockPerson(transaction, organizationId, { id: loan.customerId }))
  return customer && { ...loan, personKey: customer.personKey }
}

/** The end of what secured a loan. */
export interface Release {
  readonly releasedOn: string
  readonly releaseReason: string
}

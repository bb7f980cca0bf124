import type { Db } from '../postgres/client.ts'
import { inTransaction } from '../postgres/transaction.ts'
import type { Queries } from '../queries/statement.ts'
import { type Inserted, insertLoans, type NewLoan } from './insertLoans.ts'
import { type ChangeBatch, saveLoans } from './saveLoans.ts'

const HOLD = 'SELECT FROM customer WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE'

const LOCK = `SELECT FROM loan WHERE organization_id = $1 AND id = ANY ($2::bigint[]) ORDER BY id FOR NO KEY UPDATE`

/** What is done with a loan that is inserted alone. */
export interface Locked {
  /** Changes of other loans, which are saved together with the new one, or not at all. */
  readonly changes: readonly ChangeBatch[]
  /** Throws where something is against the loan, on the book as the changes leave it. */
  readonly check: (queries: Queries) => Promise<void>
}

/**
 * Inserts a loan once the changes of other loans are saved and `check` has found nothing against it. The customer's row is locked
 * meanwhile, and another loan for the same customer waits for it: of two at once, the second is checked on a book that has the
 * first. The other loans are locked after it, by ascending id. Because the transaction waits for `check`, only loans that need it
 * are inserted this way.
 * @returns the outcome; `leftOut` when the customer is no longer Active; `stale` when another change of one of the loans was saved
 *   first; nothing is saved unless it is `made`
 * @throws what `check` throws, and a unique violation as `insertLoans` does; no loan is made then
 */
export async function insertLoanLocked(db: Db, loan: NewLoan, { changes, check }: Locked): Promise<Inserted | 'stale'> {
  const { organizationId } = loan.author
  let outcome: Inserted | 'stale' = 'stale'
  await inTransaction(db, async (transaction) => {
    await transaction.query(HOLD, [organizationId, loan.customerId])
    if (changes.length > 0) {
      await transaction.query(LOCK, [organizationId, changes.map(({ loan }) => loan.id)])
      const saved = await saveLoans({ pool: transaction }, changes)
      if (saved.includes(false)) return undefined
    }
    await check({ pool: transaction })
    const [inserted] = await insertLoans({ pool: transaction }, [loan])
    outcome = inserted!
    return outcome === 'made' ? true : undefined
  })
  return outcome
}

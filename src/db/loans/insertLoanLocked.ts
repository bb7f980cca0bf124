import type { Db } from '../postgres/client.ts'
import { inTransaction } from '../postgres/transaction.ts'
import type { Queries } from '../queries/statement.ts'
import { type Inserted, insertLoans, type NewLoan } from './insertLoans.ts'

const HOLD = 'SELECT FROM customer WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE'

/**
 * Inserts a loan once `check` has found nothing against it. The customer's row is locked meanwhile, and another loan for
 * the same customer waits for it: of two at once, the second is checked on a book that has the first. Because the
 * transaction waits for `check`, only loans that need the check are inserted this way.
 * @returns the outcome; `leftOut` when the customer is no longer Active
 * @throws what `check` throws, and a unique violation as `insertLoans` does; no loan is made then
 */
export async function insertLoanLocked(
  db: Db,
  loan: NewLoan,
  check: (queries: Queries) => Promise<void>,
): Promise<Inserted> {
  return inTransaction(db, async (transaction) => {
    await transaction.query(HOLD, [loan.author.organizationId, loan.customerId])
    await check({ pool: transaction })
    const [inserted] = await insertLoans({ pool: transaction }, [loan])
    return inserted!
  })
}

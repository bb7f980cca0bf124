import type { Deps } from '../../app/deps.ts'
import type { Customer } from '../../db/customers/customers.ts'
import type { Inserted } from '../../db/loans/insertedLoans.ts'
import { insertLoanLocked } from '../../db/loans/insertLoanLocked.ts'
import type { NewLoan } from '../../db/loans/insertLoans.ts'
import { requireWithinLimit } from '../../domain/credit/scorecard.ts'
import { invariant } from '../../domain/errors.ts'
import { getScorecard, scoreNow } from '../credit/credit.ts'

/**
 * How a loan is inserted that may not be above what is available of the customer's credit limit. The score that it goes
 * by is kept first; then it is checked once more while no other loan can be made for the customer.
 * @returns what `makeLoan` inserts by; it throws LendingError `failed_precondition`, with the limit in its message
 */
export const withinLimit =
  (deps: Deps, { id }: Pick<Customer, 'id'>) =>
  async (loan: NewLoan): Promise<Inserted> => {
    const names = { externalId: null, id }
    const { card, currency } = await getScorecard(deps, loan.author, names)
    requireWithinLimit(card, currency, loan.terms)
    return insertLoanLocked(deps.db, loan, async (queries) => {
      const scored = await scoreNow(deps, queries, loan.author.organizationId, names)
      invariant(scored, 'a customer that has just been held')
      requireWithinLimit(scored.card, scored.currency, loan.terms)
    })
  }

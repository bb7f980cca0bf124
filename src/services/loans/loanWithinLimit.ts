import type { Customer } from '../../db/customers/customers.ts'
import { insertLoanLocked } from '../../db/loans/insertLoanLocked.ts'
import type { Inserted, NewLoan } from '../../db/loans/insertLoans.ts'
import { requireWithinLimit } from '../../domain/credit/decision.ts'
import { invariant } from '../../domain/errors.ts'
import { scoreAndKeep, scoreNow } from '../credit/credit.ts'
import type { Core } from '../deps.ts'

/**
 * Returns an insert function for `makeLoan` that keeps a loan within the customer's available credit limit. It keeps
 * the score of the decision first, and checks the limit again while no other loan can be made for the customer. It
 * throws LendingError `failed_precondition`, with the limit in the message.
 */
export const withinLimit =
  (deps: Core, { id }: Pick<Customer, 'id'>) =>
  async (loan: NewLoan): Promise<Inserted> => {
    const names = { externalId: null, id }
    const { card, currency } = await scoreAndKeep(deps, loan.author, names)
    requireWithinLimit(card, currency, loan.terms)
    return insertLoanLocked(deps.db, loan, async (queries) => {
      const scored = await scoreNow(deps, queries, loan.author.organizationId, names)
      invariant(scored, 'a customer whose row is locked')
      requireWithinLimit(scored.card, scored.currency, loan.terms)
    })
  }

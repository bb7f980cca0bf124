import type { Customer } from '../../db/customers/customers.ts'
import { insertLoanLocked } from '../../db/loans/insertLoanLocked.ts'
import type { Inserted, NewLoan } from '../../db/loans/insertLoans.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { reserveIds } from '../../db/queries/idBlocks.ts'
import { requireWithinLimit } from '../../domain/credit/decision.ts'
import { invariant } from '../../domain/errors.ts'
import { post } from '../../domain/loan/loan.ts'
import { settlingPosting } from '../../domain/loan/rules/topUp.ts'
import { scoreAndKeep, scoreNow } from '../credit/credit.ts'
import type { Core, Writing } from '../deps.ts'
import { decideAll, type SavedChange } from './changes/decide.ts'

type LockedDeps = Core & Pick<Writing, 'idBlocks'>

/** What a loan is inserted with, besides itself. */
interface With {
  readonly customer: Pick<Customer, 'id'>
  /** Whether the loan has to be within the customer's available credit limit. */
  readonly isLimited: boolean
  /** The loans that the new one pays off, as they were read. */
  readonly settles: readonly StoredLoan[]
}

/**
 * Returns an insert function for `makeLoan` that pays other loans off in the transaction of the new one, and that keeps it within
 * the customer's available credit limit. It keeps the score of the decision first, and checks the limit while no other loan can be
 * made for the customer, on the book in which the other loans are paid off. It throws LendingError `failed_precondition`, with the
 * limit in the message.
 * @param paidOff is given the repayments once they are saved
 */
export const lockedInsert =
  (
    deps: LockedDeps,
    { customer: { id }, isLimited, settles }: With,
    paidOff: (changes: readonly SavedChange[]) => void,
  ) =>
  async (loan: NewLoan): Promise<Inserted | 'stale'> => {
    const names = { externalId: null, id }
    if (isLimited) {
      const { card, currency } = await scoreAndKeep(deps, loan.author, names)
      if (settles.length === 0) requireWithinLimit(card, currency, loan.terms)
    }
    const decided = await payOff(deps, loan, settles)
    const inserted = await insertLoanLocked(deps.db, loan, {
      changes: decided.map(({ batch }) => batch),
      check: async (queries) => {
        if (!isLimited) return
        const scored = await scoreNow(deps, queries, loan.author.organizationId, names)
        invariant(scored, 'a customer whose row is locked')
        requireWithinLimit(scored.card, scored.currency, loan.terms)
      },
    })
    if (inserted === 'made') paidOff(decided.map(({ saved }) => saved))
    return inserted
  }

/** Decides the repayments that pay loans off, each with the waiver that follows from it, at the moment of the new loan. */
async function payOff(deps: LockedDeps, { author, accountNo, terms, at }: NewLoan, loans: readonly StoredLoan[]) {
  const nextId = await reserveIds(deps, 'entry', loans.length * ENTRIES)
  const testClock = deps.testClocks.find(author.organizationId)
  // The Idempotency-Key belongs to the new loan.
  const { claim: _, ...payer } = author
  return loans.map((loan, index) => {
    const settled = terms.rules?.settled[index]
    invariant(settled?.loanId === loan.id, 'the terms of the new loan say what it pays of each')
    const posting = settlingPosting(loan.terms, settled, String(accountNo))
    const asked = {
      author: payer,
      posting: undefined,
      entryId: nextId(),
      decide: (before: Parameters<typeof post>[0]) => ({ save: post(before, posting, at) }),
    }
    const decided = decideAll(loan, [asked], { now: () => at, elsewhere: new Set(), nextId })
    invariant(decided, 'a decision on the whole loan')
    const [result] = decided.results
    invariant(result, 'the result of the one decision')
    if ('refused' in result) throw result.refused
    invariant('saved' in result.changed, 'a repayment that is saved')
    return { batch: { loan, changes: decided.changes, testClock }, saved: result.changed }
  })
}

/** The most entries of a loan that is paid off: the repayment and the waiver. */
const ENTRIES = 2

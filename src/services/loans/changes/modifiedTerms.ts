import { hash } from 'node:crypto'
import { modifyStoredTerms } from '../../../db/loans/modifyTerms.ts'
import type { LoanChange } from '../../../db/loans/saveLoans.ts'
import type { StoredLoan } from '../../../db/loans/storedLoan.ts'
import { invariant } from '../../../domain/errors.ts'
import { isHead } from '../../../domain/loan/carriedForward/loanHead.ts'
import { termsChanged } from '../../../domain/loan/change/change.ts'
import { lentNoMore } from '../../../domain/loan/terms/changeTerms.ts'
import { earlierTermsToText } from '../../../domain/loan/terms/earlierTermsText.ts'
import type { LoanTerms } from '../../../domain/loan/terms/terms.ts'
import { summaryOf } from '../../../domain/loan/terms/versions.ts'
import type { Alongside } from './save.ts'
import { balancesAsStored } from './timePassed.ts'

/** Saves the modified terms of a loan, its schedule and the terms of before, together with the change. */
export const saveModifiedTerms: Alongside = async (transaction, { loan, changes }) => {
  const { decision, at } = changes.at(-1)!
  const { modifiedTerms } = decision
  invariant(modifiedTerms && !isHead(loan), 'modified terms of a whole loan')
  const earlierTerms = earlierText(loan, modifiedTerms.terms)
  const saved = await modifyStoredTerms(transaction, loan, { ...modifiedTerms, earlierTerms, at })
  return typeof saved === 'object' ? lentNoMore(saved.customerIs) : saved
}

/** Returns the text of the terms that a loan has, for `loan_earlier_terms`; null where the new ones are the same. */
function earlierText({ terms: before }: StoredLoan, terms: LoanTerms): string | null {
  if (terms === before) return null
  const text = earlierTermsToText(before)
  return text === earlierTermsToText(terms) ? null : text
}

/** Returns what the trail keeps of the terms that a loan had: their version and the hash of their text. Null: the terms stay. */
function namedEarlierTerms(loan: StoredLoan, terms: LoanTerms): object | null {
  const text = earlierText(loan, terms)
  return text === null ? null : { version: loan.version, sha256: hash('sha256', text, 'hex') }
}

/**
 * Returns the change of a decision that modifies the terms of a loan, and neither posts nor reverses an entry.
 * @param version the version of the loan after it
 */
export function changeOfTerms(
  loan: StoredLoan,
  { decision, at }: Pick<LoanChange, 'decision' | 'at'>,
  version: number,
): Pick<LoanChange, 'changed' | 'more'> {
  const { modifiedTerms, before, posted, reversed } = decision
  invariant(modifiedTerms && !posted && !reversed, 'a change of terms posts and reverses no entry')
  const { terms, customerId, record = loan.record } = modifiedTerms
  return {
    changed: termsChanged(loan, decision, {
      version,
      terms: { ...terms, customerId },
      stored: balancesAsStored(loan, at) ?? before,
    }),
    more: {
      before: { ...summaryOf(loan.terms), customerId: loan.customerId, record: loan.record },
      after: { ...summaryOf(terms), customerId, record, earlierTerms: namedEarlierTerms(loan, terms) },
    },
  }
}

import { hash } from 'node:crypto'
import { modifyStoredTerms } from '../../../db/loans/modifyTerms.ts'
import type { StoredLoan } from '../../../db/loans/storedLoan.ts'
import { invariant } from '../../../domain/errors.ts'
import { isHead } from '../../../domain/loan/carriedForward/loanHead.ts'
import { lentNoMore } from '../../../domain/loan/terms/changeTerms.ts'
import { earlierTermsToText } from '../../../domain/loan/terms/earlierTermsText.ts'
import type { LoanTerms } from '../../../domain/loan/terms/terms.ts'
import type { Alongside } from './save.ts'

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
export function namedEarlierTerms(loan: StoredLoan, terms: LoanTerms): object | null {
  const text = earlierText(loan, terms)
  return text === null ? null : { version: loan.version, sha256: hash('sha256', text, 'hex') }
}

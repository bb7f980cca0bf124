import type { Deps } from '../../app/deps.ts'
import { findDocument, type StoredDocument } from '../../db/documents/documents.ts'
import { receiptOf, statementOf } from '../../domain/documents/documents.ts'
import { LendingError, notFound } from '../../domain/errors.ts'
import { isLanguage } from '../../words/words.ts'
import type { Caller } from '../access/caller.ts'
import { codeOf, factsOf, readCode } from './code.ts'
import { build } from './documents.ts'

/** What a document said when it was made, and whether it would say the same now. */
export interface VerifiedDocument extends StoredDocument {
  /** False once the book says something else: a transaction was reversed or back-dated, or a name has changed. */
  readonly current: boolean
}

/**
 * Returns what the document with a code says. It changes nothing.
 * @param typed the code as a person typed it
 * @throws LendingError `not_found` for a code that no document of the organization has, and for one whose row was changed
 *   in the database; `unavailable`
 */
export async function verifyDocument(deps: Deps, caller: Caller, typed: string): Promise<VerifiedDocument> {
  const code = readCode(typed)
  const { organizationId } = caller
  const stored = await findDocument(deps.db, { organizationId, code })
  if (!stored || codeOf(deps.documentKey, withoutName(stored)) !== code)
    throw notFound('no document of your organization has that code')
  return { ...stored, current: await isCurrent(deps, caller, stored) }
}

const withoutName = ({ code: _, madeAt: __, ...facts }: StoredDocument) => facts

/** Returns whether the same document, made now, would have the same code. */
async function isCurrent(deps: Deps, caller: Caller, stored: StoredDocument): Promise<boolean> {
  const { loanId: id, transactionId, fromDate, toDate, language, code } = stored
  const asked = { ref: { id }, language: isLanguage(language) ? language : undefined }
  try {
    const document = await build(deps, caller, asked, (loan, context) =>
      transactionId === null
        ? statementOf(loan, context, { from: fromDate ?? undefined, to: toDate })
        : receiptOf(loan, context, transactionId),
    )
    return codeOf(deps.documentKey, factsOf(caller.organizationId, document)) === code
  } catch (error) {
    // The loan is not there any more, or has other terms, with which there is no such statement.
    if (error instanceof LendingError && ['invalid_argument', 'not_found'].includes(error.code)) return false
    throw error
  }
}

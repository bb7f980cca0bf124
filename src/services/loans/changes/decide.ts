import type { Author } from '../../../db/audit/trail.ts'
import type { LoanChange } from '../../../db/loans/saveLoans.ts'
import type { StoredHead, StoredLoan, StoredRow } from '../../../db/loans/storedLoan.ts'
import type { Instant } from '../../../domain/dates.ts'
import { isHead } from '../../../domain/loan/carriedForward/loanHead.ts'
import { apply } from '../../../domain/loan/change/apply.ts'
import type { Entry } from '../../../domain/loan/entry.ts'
import { type Decision, needsHistoryFor, type Posting, type Saving } from '../../../domain/loan/loan.ts'
import type { Listener } from '../../listener.ts'
import { entryIdTaken } from './save.ts'
import { type Following, savedFirst, withWaiver } from './settleEarly.ts'
import { timePassed } from './timePassed.ts'

/** The result of deciding: decisions to save, or an answer that needs nothing saved. */
export type Decided<T> = Saving | { readonly answer: T }

/** A change that was saved, with the loan before it. */
export interface SavedChange {
  readonly loan: StoredRow
  readonly saved: Decision
  readonly posted: Entry | null
  readonly at: number
}

/** The result of a change: what was saved, or the answer that needed nothing saved. */
export type Changed<T> = SavedChange | { readonly loan: StoredRow; readonly answer: T }

/** Reports a posted transaction to a listener. */
export function countPosted(listener: Listener, { loan, posted }: SavedChange): void {
  if (!posted) return
  const { organizationId, terms } = loan
  listener.transactionPosted({
    organizationId,
    currency: terms.currency.code,
    type: posted.type,
    amount: posted.amount,
  })
}

/** Decides on a loan. The function is pure, because it may be called again. */
export type Decide<Loan, T> = (loan: Loan, now: number) => Decided<T>

/** A change that is to be decided, with the id of the entry that it may post. */
export interface ToDecide {
  readonly author: Author
  /** The posting that the change is, where it is one: it may then be decided on the head of the loan. */
  readonly posting: Posting | undefined
  readonly decide: Decide<StoredLoan | StoredHead, unknown>
  readonly entryId: bigint
}

/** What decisions need besides the loan. */
export interface Ground {
  /** Returns the moment of the business; each decision is of a moment of its own. */
  readonly now: () => Instant
  /** Ids that entries of any loan have already, where that was read. */
  readonly elsewhere: ReadonlySet<bigint>
  /** Returns the id of a waiver that follows from a change, or of an entry that is saved before it. */
  readonly nextId: () => bigint
}

/** The result of a decision for its caller: given once the changes are saved. */
export type Result = { readonly changed: Changed<unknown> } | { readonly refused: unknown }

/** What changes of a loan come to. */
export interface DecidedBatch {
  readonly changes: readonly LoanChange[]
  /** The result of each of the changes that were to be decided. */
  readonly results: readonly Result[]
  readonly after: StoredLoan | StoredHead
}

/**
 * Decides changes of a loan one after the other, each on the loan that the one before left.
 * @returns undefined where the loan is a head and one of the changes needs the history
 */
export function decideAll(
  loan: StoredLoan | StoredHead,
  asked: readonly ToDecide[],
  ground: Ground,
): DecidedBatch | undefined {
  const changes: LoanChange[] = []
  const results: Result[] = []
  let after = loan
  for (const one of asked) {
    const now = ground.now()
    if (isHead(after) && one.posting && needsHistoryFor(after, one.posting, now)) return undefined
    try {
      const decided = one.decide(after, now)
      if ('answer' in decided) {
        results.push({ changed: { loan: after, answer: decided.answer } })
        continue
      }
      const before = after
      const following = followingFrom(before, one, decided, { ...ground, at: now, isFirst: changes.length === 0 })
      changes.push(...following.changes)
      after = following.after
      results.push({ changed: { loan: before, saved: following.decision, posted: following.posted, at: now } })
    } catch (refused) {
      results.push({ refused })
    }
  }
  return { changes, results, after }
}

/**
 * Returns the changes that decisions come to: what time has changed before them, those that are saved first, the waiver that
 * follows, and the change itself.
 */
function followingFrom(
  loan: StoredLoan | StoredHead,
  { author, entryId }: ToDecide,
  saving: Saving,
  { elsewhere, nextId, at, isFirst }: Ground & { readonly at: Instant; readonly isFirst: boolean },
): Following {
  const { save: decision, first = [] } = saving
  // An entry of this loan with the id would have been the answer: the entry is on another loan.
  if (decision.posted?.id !== undefined && elsewhere.has(decision.posted.id)) throw entryIdTaken()
  // What followed from time is told with modified terms, where they leave it so.
  const passed = isFirst && !decision.modifiedTerms ? timePassed(loan, at) : []
  const current = passed.reduce((before, { decision: passing }) => apply(before, passing, null, at), loan)
  const earlier = isHead(current) ? { changes: [], after: current } : savedFirst(current, { author, first, at }, nextId)
  const posted = decision.posted && { ...decision.posted, id: decision.posted.id ?? entryId }
  const following = withWaiver(earlier.after, { author, decision, posted, at }, nextId)
  return { ...following, changes: [...passed, ...earlier.changes, ...following.changes] }
}

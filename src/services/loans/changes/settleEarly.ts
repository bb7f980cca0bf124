import type { Author } from '../../../db/audit/trail.ts'
import type { LoanChange } from '../../../db/loans/saveLoans.ts'
import type { StoredHead, StoredLoan } from '../../../db/loans/storedLoan.ts'
import { dateIn, type Instant } from '../../../domain/dates.ts'
import { invariant } from '../../../domain/errors.ts'
import { isHead } from '../../../domain/loan/carriedForward/loanHead.ts'
import { apply } from '../../../domain/loan/change/apply.ts'
import { entriesChanged, holdsChanged } from '../../../domain/loan/change/change.ts'
import type { Entry } from '../../../domain/loan/entry.ts'
import type { Decision } from '../../../domain/loan/loan.ts'
import { settle, settledDayOf } from '../../../domain/loan/rules/earlySettlement.ts'
import { changeOfTerms } from './modifiedTerms.ts'

/** A decision on a loan that posts or reverses an entry, or modifies the terms; who asked for it and when. */
export interface DecidedChange {
  readonly author: Author
  readonly decision: Decision
  /** The entry that is posted, with its id. */
  readonly posted: Entry | null
  readonly at: Instant
}

/** The changes that a decision comes to, in the order in which they are saved, and the loan after them. */
export interface Following<Loan = StoredLoan | StoredHead> {
  readonly changes: readonly LoanChange[]
  /** The decision itself, as it is saved. */
  readonly decision: Decision
  readonly posted: Entry | null
  readonly after: Loan
}

/**
 * Returns the changes that a decision comes to, with the waiver that follows where the change settles the loan early (contract
 * 10.11). The waiver is saved before the change, by the same author, whose Idempotency-Key belongs to the change alone. A head
 * is never settled: `needsHistory` says so.
 * @param nextId returns the id of the waiver
 */
export function withWaiver(loan: StoredLoan, decided: DecidedChange, nextId: () => bigint): Following<StoredLoan>
export function withWaiver(loan: StoredLoan | StoredHead, decided: DecidedChange, nextId: () => bigint): Following
export function withWaiver(loan: StoredLoan | StoredHead, decided: DecidedChange, nextId: () => bigint): Following {
  const { author, decision, posted, at } = decided
  const { version } = loan
  const after = apply(loan, decision, posted, at)
  const day = isHead(after) ? undefined : settledDayOf(after)
  if (isHead(after) || !day) {
    const change = changeOf(loan, decided, version + 1)
    return { changes: [change], decision, posted, after }
  }
  const { claim: _, ...withoutClaim } = author
  const { waiver, cause } = settle(after, decision, day, at)
  const waived = waiver.posted && { ...waiver.posted, id: nextId() }
  const settled = apply(after, { ...waiver, state: cause.state }, waived, at)
  return {
    changes: [
      changeOf(loan, { author: withoutClaim, decision: waiver, posted: waived, at }, version + 1),
      changeOf(loan, { author, decision: cause, posted, at }, version + 2),
    ],
    decision: cause,
    posted,
    after: settled,
  }
}

/** Decisions that are saved before another one, by the same author, whose Idempotency-Key belongs to that other one. */
interface SavedFirst {
  readonly author: Author
  readonly first: readonly Decision[]
  readonly at: Instant
}

/**
 * Returns the changes of decisions that are saved before another one, and the loan after them.
 * @param nextId returns the ids of entries that they post
 */
export function savedFirst(
  loan: StoredLoan,
  { author, first, at }: SavedFirst,
  nextId: () => bigint,
): Pick<Following<StoredLoan>, 'changes' | 'after'> {
  const { claim: _, ...withoutClaim } = author
  const changes: LoanChange[] = []
  let after = loan
  for (const decision of first) {
    const posted = decision.posted && { ...decision.posted, id: decision.posted.id ?? nextId() }
    changes.push(changeOf(after, { author: withoutClaim, decision, posted, at }, after.version + 1))
    after = apply(after, decision, posted, at)
  }
  return { changes, after }
}

function changeOf(loan: StoredLoan | StoredHead, decided: DecidedChange, version: number): LoanChange {
  const { author, decision, posted, at } = decided
  if (decision.penaltyHolds) {
    const on = dateIn(loan.terms.zone, at)
    return { ...decided, changed: holdsChanged(loan, decision, { version, on }) }
  }
  if (decision.modifiedTerms) {
    invariant(!isHead(loan), 'terms are modified on the whole loan')
    return { ...decided, ...changeOfTerms(loan, decided, version) }
  }
  return {
    ...decided,
    changed: entriesChanged(loan, decision, { version, posted, isImported: author.isImport === true }),
  }
}

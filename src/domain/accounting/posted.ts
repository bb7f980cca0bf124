import type { LocalDate } from '../dates.ts'
import type { StoredChange } from '../loan/change/changeText.ts'
import { type Chart, codeIn } from './chart.ts'
import { type Contributing, contributionOf, type Method, openingOf } from './contribution.ts'
import { amountsBy, lessAmounts, NO_AMOUNTS, plusAmounts, type SlotAmounts } from './slots.ts'

/** A loan after a change, as far as the journal needs it. */
export interface LoanAfter extends Pick<StoredChange, 'on' | 'isImported'> {
  readonly balances: Contributing
}

/**
 * Returns a loan after each step of a change, from the trail: of an adjustment to another value date,
 * without the original entry first.
 */
export function stepsOf(change: StoredChange): LoanAfter[] {
  const { between, on, isImported } = change
  const last = { balances: change, on, isImported }
  return between ? [{ balances: between, on: between.on, isImported }, last] : [last]
}

/** The posting of a change: its amounts, and what the loan contributes from then on. */
export interface Posted {
  readonly amounts: SlotAmounts
  readonly contribution: SlotAmounts
  /** Whether the change was made elsewhere, and the posting opens it. */
  readonly isOpened: boolean
}

/** A loan before a change, as far as the journal needs it. */
export interface LoanBefore {
  /** The contribution of the last posting; undefined where the loan has none. */
  readonly contribution: SlotAmounts | undefined
  /** Whether the first posting of the loan was an opening. */
  readonly isOpened: boolean
}

/**
 * Returns the posting of a change: A after it less A before it (contract 9.1). What is opened has no money of its own, and
 * no income: a loan that was made elsewhere, and what an import posts on such a loan.
 * @param isFirst whether the change made the loan
 */
export function postedBy(method: Method, after: LoanAfter, before: LoanBefore, isFirst: boolean): Posted {
  const contribution = contributionOf(method, after.balances)
  const change = lessAmounts(contribution, before.contribution ?? NO_AMOUNTS)
  const isOpened =
    before.contribution === undefined ? after.isImported || !isFirst : after.isImported && before.isOpened
  return { contribution, isOpened, amounts: isOpened ? openingOf(change) : change }
}

/**
 * Returns the amounts of a change of method, from the contribution by the old one to that by the new one. Of a loan that was
 * opened, the part that was there at the opening is no income of this book.
 * @param atOpening the contributions by the new and by the old method when the loan was opened; undefined: it was not
 */
export function changedMethod(
  contribution: SlotAmounts,
  before: SlotAmounts,
  atOpening: { readonly now: SlotAmounts; readonly before: SlotAmounts } | undefined,
): SlotAmounts {
  const change = lessAmounts(contribution, before)
  if (!atOpening) return change
  const then = lessAmounts(atOpening.now, atOpening.before)
  return plusAmounts(lessAmounts(change, then), openingOf(then))
}

/**
 * Returns the amounts that move where a chart replaces another: those booked before on slots whose account is another. A
 * slot that one of the charts leaves out has no amount.
 */
export const movedBetween = (from: Chart, to: Chart, booked: Readonly<Partial<SlotAmounts>>): SlotAmounts =>
  amountsBy((slot) => (codeIn(from, slot) === codeIn(to, slot) ? 0n : (booked[slot] ?? 0n)))

/** Returns the day on which a change is booked: its own, or the first that is open (contract 9.2). */
export const bookedDay = (on: LocalDate, openFrom: LocalDate | null): LocalDate =>
  openFrom !== null && openFrom > on ? openFrom : on

import type { LocalDate } from '../dates.ts'
import type { Booking, KeptBalances } from '../events/keptBalances.ts'
import type { Chart } from './chart.ts'
import { type Contributing, contributionOf, type Method, openingOf } from './contribution.ts'
import { amountsBy, lessAmounts, NO_AMOUNTS, type SlotAmounts } from './slots.ts'

/** A loan after a change, as far as the journal needs it. */
export interface LoanAfter extends Pick<Booking, 'on' | 'isImported'> {
  readonly balances: Contributing
}

/** Returns a loan after a change from the balances of the trail; undefined where the trail does not tell enough. */
export const afterKept = (kept: KeptBalances | undefined): LoanAfter | undefined =>
  kept?.booking && { balances: { ...kept, ...kept.booking }, on: kept.booking.on, isImported: kept.booking.isImported }

/** The posting of a change: its amounts, and what the loan contributes from then on. */
export interface Posted {
  readonly amounts: SlotAmounts
  readonly contribution: SlotAmounts
  /** Whether the change was made elsewhere, and the posting opens it. */
  readonly isOpened: boolean
}

/**
 * Returns the posting of a change: A after it less A before it (contract 9.1). What is opened has no money of its own, and
 * no income.
 * @param before the contribution of the last posting; undefined where the loan has none
 * @param isFirst whether the change made the loan
 */
export function postedBy(
  method: Method,
  { balances, isImported }: LoanAfter,
  before: SlotAmounts | undefined,
  isFirst: boolean,
): Posted {
  const contribution = contributionOf(method, balances)
  const change = lessAmounts(contribution, before ?? NO_AMOUNTS)
  const isOpened = isImported || (before === undefined && !isFirst)
  return { contribution, isOpened, amounts: isOpened ? openingOf(change) : change }
}

/** Returns the amounts that move where a chart replaces another: those booked before on slots whose account is another. */
export const movedBetween = (from: Chart, to: Chart, booked: Readonly<Partial<SlotAmounts>>): SlotAmounts =>
  amountsBy((slot) => (from.slots[slot] === to.slots[slot] ? 0n : (booked[slot] ?? 0n)))

/** Returns the day on which a change is booked: its own, or the first that is open (contract 9.2). */
export const bookedDay = (on: LocalDate, openFrom: LocalDate | null): LocalDate =>
  openFrom !== null && openFrom > on ? openFrom : on

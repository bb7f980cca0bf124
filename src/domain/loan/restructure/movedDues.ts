import type { LocalDate } from '../../dates.ts'
import type { Period } from '../allocation.ts'

/**
 * The due dates of before a restructure. An entry that was posted before it, and counts after it, was due by them until the restructure
 * was posted.
 */
export interface MovedDues {
  /** The ordinal of the restructure, and the day on which it was posted. */
  readonly ordinal: number
  readonly postedOn: LocalDate
  /** Ascending. */
  readonly dueDates: readonly LocalDate[]
}

/** What is due with an entry, from a day on. */
interface DueFrom {
  readonly ordinal: number
  readonly day: LocalDate
  /** True: on the day itself, in an instalment of its own where none is due then. */
  readonly isExact: boolean
}

/**
 * Returns the due dates of before the restructures, with that of an entry, and whether what the entry adds had fallen due before one
 * of the restructures was posted: it is earned then, whatever its new due date.
 */
export function dueBeforeMoves(
  moved: readonly MovedDues[],
  due: DueFrom,
): { readonly moved: readonly MovedDues[]; readonly hasFallen: boolean } {
  let hasFallen = false
  const after = moved.map((move): MovedDues => {
    if (due.ordinal > move.ordinal) return move
    const { dueDates, postedOn } = move
    const found = due.isExact ? due.day : (dueDates.find((date) => date >= due.day) ?? due.day)
    if (found < postedOn) hasFallen = true
    return dueDates.includes(found) ? move : { ...move, dueDates: [...dueDates, found].toSorted() }
  })
  return { moved: after, hasFallen }
}

/**
 * Returns the periods as an entry has seen them that was posted before restructures which come before it in replay: what it gave up
 * was not earned yet where it had not fallen due by the dates of then.
 */
export const asSeenBy = (periods: readonly Period[], ordinal: number): readonly Period[] =>
  periods.some(({ before }) => before !== undefined && ordinal < before.ordinal)
    ? periods.map((period) => periodSeenBy(period, ordinal))
    : periods

function periodSeenBy(period: Period, ordinal: number): Period {
  let seen = period
  for (let { before } = period; before !== undefined && ordinal < before.ordinal; { before } = before) {
    const { fallen: _, ...rest } = seen
    seen = { ...rest, dueDate: before.dueDate, ...(before.fallen && { fallen: before.fallen }) }
  }
  return seen
}

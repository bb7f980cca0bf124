import { dateIn } from '../dates.ts'
import type { Entry, EntryType } from '../loan/entry.ts'
import type { Loan } from '../loan/loan.ts'
import { replay } from '../loan/replay.ts'

const COMPUTED: readonly EntryType[] = ['Charge-off', 'Write-off', 'Settlement Waiver']

/** Returns whether the amount of an entry follows from the loan, and is not one that a caller gave. */
const takesWhatIsOwed = ({ type }: Entry): boolean => COMPUTED.includes(type)

/**
 * Checks the dates and amounts of a loan's entries against the moments of posting: no entry is dated after the day of
 * its posting, none is reversed before its posting, and an unreversed charge-off or write-off has the amount that was
 * owed at its place when it was posted, and an unreversed settlement waiver the amount that was forgiven.
 * @returns a sentence for each rule that an entry breaks
 */
export function brokenByMarks(loan: Loan): string[] {
  const { zone } = loan.terms
  return loan.entries.flatMap((entry) => {
    const { id, valueDate, postedAt, reversedAt } = entry
    const postedOn = dateIn(zone, postedAt)
    return [
      ...(valueDate > postedOn ? [`entry ${id} is dated ${valueDate}, after the day it was posted, ${postedOn}`] : []),
      ...(reversedAt !== null && reversedAt < postedAt ? [`entry ${id} is reversed before it was posted`] : []),
      ...(takesWhatIsOwed(entry) && reversedAt === null ? brokenAmount(loan, entry) : []),
    ]
  })
}

function brokenAmount(loan: Loan, entry: Entry): string[] {
  // An entry that was reversed in the same millisecond may have counted then or not.
  const ties = loan.entries.filter((one) => one.ordinal < entry.ordinal && one.reversedAt === entry.postedAt)
  const counting = subsetsOf(ties.slice(-MOST_TIES))
  if (counting.some((counted) => owedAt(loan, entry, counted) === entry.amount)) return []
  const owed = owedAt(loan, entry, new Set(ties))
  return [`the ${entry.type.toLowerCase()} ${entry.id} is marked with ${entry.amount}, and ${owed} was owed`]
}

/** The most reversals of one millisecond of which each combination is tried. */
const MOST_TIES = 6

/** Returns all sets of some of the entries, none and all of them included. */
const subsetsOf = (entries: readonly Entry[]): ReadonlySet<Entry>[] =>
  entries.reduce<Set<Entry>[]>(
    (subsets, entry) => subsets.flatMap((subset) => [subset, new Set([...subset, entry])]),
    [new Set()],
  )

/**
 * Returns what was owed at the entry's place when it was posted, by the entries that were unreversed then.
 * @param counted the entries reversed in that millisecond that still counted
 */
function owedAt({ terms, entries }: Loan, entry: Entry, counted: ReadonlySet<Entry>): bigint | undefined {
  const then = entries
    .filter(({ ordinal }) => ordinal <= entry.ordinal)
    .map((one) => {
      const isReversedLater = one.reversedAt !== null && (one.reversedAt > entry.postedAt || counted.has(one))
      return isReversedLater ? { ...one, reversedAt: null } : one
    })
  return replay(terms, then, entry.postedAt).outcomes.get(entry.ordinal)?.amount
}

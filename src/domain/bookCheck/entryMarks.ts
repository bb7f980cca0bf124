import { dateIn } from '../dates.ts'
import type { Entry } from '../loan/entry.ts'
import type { Loan } from '../loan/loan.ts'
import { replay } from '../loan/replay.ts'

/** Returns whether the amount of an entry is what is owed, and not an amount that a caller gave. */
const takesWhatIsOwed = ({ type }: Entry): boolean => type === 'Charge-off' || type === 'Write-off'

/**
 * Checks the dates and amounts of a loan's entries against the moments of posting: no entry is dated after the day of
 * its posting, none is reversed before its posting, and an unreversed charge-off or write-off has the amount that was
 * owed at its place when it was posted.
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
  const [owed, orOwed] = [owedAt(loan, entry, true), owedAt(loan, entry, false)]
  return entry.amount === owed || entry.amount === orOwed
    ? []
    : [`the ${entry.type.toLowerCase()} ${entry.id} is marked with ${entry.amount}, and ${owed} was owed`]
}

/** Returns what was owed at the entry's place when it was posted, by the entries that were unreversed then. */
function owedAt({ terms, entries }: Loan, entry: Entry, tiesCount: boolean): bigint | undefined {
  const then = entries
    .filter(({ ordinal }) => ordinal <= entry.ordinal)
    .map((one) => {
      const isReversedLater =
        one.reversedAt !== null && (one.reversedAt > entry.postedAt || (tiesCount && one.reversedAt === entry.postedAt))
      return isReversedLater ? { ...one, reversedAt: null } : one
    })
  return replay(terms, then, entry.postedAt).outcomes.get(entry.ordinal)?.amount
}

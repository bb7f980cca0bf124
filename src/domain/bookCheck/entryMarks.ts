import { dateIn } from '../dates.ts'
import type { Entry } from '../loan/entry.ts'
import type { Loan } from '../loan/loan.ts'
import { replay } from '../loan/replay.ts'

/** Takes what is owed, whatever a caller says. */
const takesWhatIsOwed = ({ type }: Entry): boolean => type === 'Charge-off' || type === 'Write-off'

/**
 * Holds what is marked on a loan's entries against the moments at which they were marked: that none is dated after the
 * day it was posted, that none is reversed before it was posted, and that a charge-off or write-off which stands has the
 * amount that was owed at its place when it was posted.
 * @returns in words, each that is not so
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
  // What was reversed in the same millisecond may have stood then or not.
  const [owed, orOwed] = [owedAt(loan, entry, true), owedAt(loan, entry, false)]
  return entry.amount === owed || entry.amount === orOwed
    ? []
    : [`the ${entry.type.toLowerCase()} ${entry.id} is marked with ${entry.amount}, and ${owed} was owed`]
}

/** What was owed at the entry's place when it was posted, from the entries that were there and stood. */
function owedAt({ terms, entries }: Loan, entry: Entry, tiesStood: boolean): bigint | undefined {
  const then = entries
    .filter(({ ordinal }) => ordinal <= entry.ordinal)
    .map((one) => {
      const stood =
        one.reversedAt !== null && (one.reversedAt > entry.postedAt || (tiesStood && one.reversedAt === entry.postedAt))
      return stood ? { ...one, reversedAt: null } : one
    })
  return replay(terms, then, entry.postedAt).outcomes.get(entry.ordinal)?.amount
}

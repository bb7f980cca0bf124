import { dateIn } from '../dates.ts'
import type { Entry, EntryType } from '../loan/entry.ts'
import type { Loan } from '../loan/loan.ts'
import { replay } from '../loan/replay.ts'
import type { EarlierTerms } from '../recordStyle/earlierTerms.ts'
import type { LoanTrail } from './trailRules.ts'

const COMPUTED: readonly EntryType[] = ['Charge-off', 'Write-off', 'Settlement Waiver']

/** Returns whether the amount of an entry follows from the loan, and is not one that a caller gave. */
const takesWhatIsOwed = ({ type }: Entry): boolean => COMPUTED.includes(type)

/** The places in the trail at which entries were posted and reversed, by the id of the entry. */
interface Places {
  readonly posted: ReadonlyMap<string, number>
  readonly reversed: ReadonlyMap<string, number>
}

/**
 * Checks the dates and amounts of a loan's entries against their postings: no entry is dated after the day of its posting,
 * none is reversed before its posting, and an unreversed charge-off or write-off has the amount that was owed at its place
 * when it was posted, and an unreversed settlement waiver the amount that was forgiven. What was before is what the trail
 * has before: the clock of a machine may go back by some milliseconds. What is not in the trail is a fault of `brokenByTrail`.
 * @param trail all rows about the loan, oldest first
 * @param earlierTerms returns the terms that the loan had before, in the order of their versions
 * @returns a sentence for each rule that an entry breaks
 */
export function brokenByMarks(
  loan: Loan,
  trail: readonly LoanTrail[],
  earlierTerms: () => readonly EarlierTerms[] = () => [],
): string[] {
  const { zone } = loan.terms
  const places = placesIn(trail)
  return loan.entries.flatMap((entry) => {
    const { id, valueDate, postedAt, reversedAt } = entry
    const postedOn = dateIn(zone, postedAt)
    const [posted, reversed] = [places.posted.get(String(id)), places.reversed.get(String(id))]
    const isBefore = posted !== undefined && reversed !== undefined && reversed < posted
    return [
      ...(valueDate > postedOn ? [`entry ${id} is dated ${valueDate}, after the day it was posted, ${postedOn}`] : []),
      ...(isBefore ? [`entry ${id} is reversed before it was posted`] : []),
      ...(takesWhatIsOwed(entry) && reversedAt === null
        ? brokenAmount(loan, entry, { trail, places, earlierTerms })
        : []),
    ]
  })
}

function placesIn(trail: readonly LoanTrail[]): Places {
  const posted = new Map<string, number>()
  const reversed = new Map<string, number>()
  for (const [place, { postedId, reversedId }] of trail.entries()) {
    if (postedId !== null) posted.set(postedId, place)
    if (reversedId !== null) reversed.set(reversedId, place)
  }
  return { posted, reversed }
}

/** What a loan was when its entries were posted. */
interface Past {
  readonly trail: readonly LoanTrail[]
  readonly places: Places
  readonly earlierTerms: () => readonly EarlierTerms[]
}

function brokenAmount(loan: Loan, entry: Entry, { trail, places, earlierTerms }: Past): string[] {
  const place = places.posted.get(String(entry.id))
  if (place === undefined) return []
  // A settlement waiver is saved before the change that settles the loan: what that change reverses does not count for it.
  const isBeforeCause = entry.type === 'Settlement Waiver' && trail[place + 1]?.at === trail[place]?.at
  const last = isBeforeCause ? place + 1 : place
  // A record system may have changed the terms since: the row at a place made the version after it.
  const then = earlierTerms().find(({ version }) => version > place)?.terms
  const owed = owedAt(
    { ...loan, terms: { ...loan.terms, ...then } },
    entry,
    (one) => (places.reversed.get(String(one.id)) ?? Infinity) > last,
  )
  if (owed === entry.amount) return []
  return [`the ${entry.type.toLowerCase()} ${entry.id} is marked with ${entry.amount}, and ${owed} was owed`]
}

/**
 * Returns what was owed at the entry's place when it was posted, by the entries that were unreversed then.
 * @param counted whether an entry that is reversed by now was not yet
 */
function owedAt({ terms, entries }: Loan, entry: Entry, counted: (one: Entry) => boolean): bigint | undefined {
  const then = entries
    .filter(({ ordinal }) => ordinal <= entry.ordinal)
    .map((one) => (one.reversedAt !== null && counted(one) ? { ...one, reversedAt: null } : one))
  return replay(terms, then, entry.postedAt).outcomes.get(entry.ordinal)?.amount
}

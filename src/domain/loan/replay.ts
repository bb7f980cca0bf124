import { dateIn, type Instant, type LocalDate } from '../dates.ts'
import type { Period } from './allocation.ts'
import { type Balances, balancesOf } from './balances.ts'
import { carriedFromText, carriedToText } from './carriedForward/carried.ts'
import { withoutReading } from './carriedForward/notRead.ts'
import { byValueDate, type Entry } from './entry.ts'
import { Fold, type FoldedSoFar, type Replayable } from './fold.ts'
import { type Outcome, Outcomes } from './outcomes.ts'
import { memoOf } from './replayCache.ts'
import type { LoanTerms } from './terms.ts'

/** A loan as its terms and entries make it, at a moment. */
export interface LoanState extends Balances {
  readonly periods: readonly Period[]
  /** By ordinal of the entry; reversed entries have none. */
  readonly outcomes: Outcomes
}

/**
 * The one fold that says what a loan is (contract 4.3.6): its entries, ordered by value date and then by posting,
 * applied to its schedule, and the penalty where it belongs.
 * @param asOf the moment of the question: decides what is overdue and whether the penalty's instant has come
 */
export function replay(terms: LoanTerms, entries: Iterable<Replayable>, asOf: Instant): LoanState {
  const outcomes: (Outcome | undefined)[] = []
  const standing = standingOf(entries)
  const fold = foldOf(terms, standing, asOf, (_, entry, outcome) => {
    if (entry) outcomes[entry.ordinal - 1] = outcome
  })
  return stateOfEnd(terms, { fold, asOf, last: standing.at(-1), outcomes: new Outcomes(outcomes) })
}

/** What is not reversed, in the order in which a loan is made of it. */
const standingOf = (entries: Iterable<Replayable>): Replayable[] =>
  [...entries].filter((entry) => entry.reversedAt === null).sort(byValueDate)

/** Told of what was applied to a fold: an entry and what it did, or, without one, the penalty. */
type Visit = (fold: Fold, entry?: Replayable, outcome?: Outcome) => void

/**
 * Applies entries in their order. The penalty stands after those dated up to the due date, or before a charge-off or
 * write-off of that date which was posted when it was there; and it is not raised where all that was dated up to then
 * shows that nothing was unpaid (contract 4.3.4).
 */
function foldOf(terms: LoanTerms, standing: readonly Replayable[], asOf: Instant, visit: Visit): Fold {
  const late = standing.findIndex((entry) => entry.valueDate > terms.dueOn)
  const end = late === -1 ? standing.length : late
  const hasLateMark = standing.some((entry) => isLateMark(terms, entry))
  const isUnpaid = asOf >= terms.dueAt && (!hasLateMark || isUnpaidIn(terms, standing.slice(0, end)))
  const fold = new Fold(terms)
  const raise = () => {
    if (!isUnpaid || fold.penaltyRaised) return
    fold.raisePenalty()
    if (fold.penaltyRaised) visit(fold)
  }
  for (const [index, entry] of standing.entries()) {
    if (index === end || isLateMark(terms, entry)) raise()
    visit(fold, entry, fold.apply(entry))
  }
  if (end === standing.length) raise()
  return fold
}

/** A charge-off or write-off of the due date, posted after the due time: what it marks holds the penalty. */
const isLateMark = ({ dueOn, dueAt, penaltyAmount }: LoanTerms, { type, valueDate, postedAt }: Replayable): boolean =>
  penaltyAmount !== null && valueDate === dueOn && postedAt >= dueAt && (type === 'Charge-off' || type === 'Write-off')

/** Whether anything is unpaid by what is dated up to the due date, but for what a late write-off makes of it. */
function isUnpaidIn(terms: LoanTerms, dueBy: readonly Replayable[]): boolean {
  const fold = new Fold(terms)
  for (const entry of dueBy) {
    if (entry.type === 'Write-off' && isLateMark(terms, entry)) break
    fold.apply(entry)
  }
  return fold.owed > 0n
}

/** What was owed at the end of a day, in minor units. */
export interface Owed {
  readonly date: LocalDate
  readonly owed: bigint
}

/**
 * What was owed at the end of the day of disbursement, and of each later one on which that could change: what `replay` of
 * the entries up to then says, for every day in one walk, where a replay a day takes seconds on a loan of thousands.
 */
export function owedByDay(terms: LoanTerms, entries: Iterable<Replayable>, asOf: Instant): Owed[] {
  const days = new Map([[terms.disbursedOn, new Fold(terms).owed]])
  foldOf(terms, standingOf(entries), asOf, (fold, entry) => {
    days.set(entry?.valueDate ?? terms.dueOn, fold.owed)
  })
  return [...days].map(([date, owed]) => ({ date, owed }))
}

/** Where a fold ended, so that it can go on from there. */
export interface End {
  readonly fold: FoldedSoFar
  readonly asOf: Instant
  /** The last entry that was applied. */
  readonly last: Pick<Entry, 'valueDate' | 'place' | 'ordinal'> | undefined
  readonly outcomes: Outcomes
}

const ends = memoOf<Balances, End>('end')

function stateOfEnd(terms: LoanTerms, end: End): LoanState {
  const { fold, asOf, outcomes } = end
  const balances = balancesOf(terms, fold, asOf)
  const state = fold.isCarried
    ? withoutReading<LoanState, 'periods'>({ ...balances, outcomes }, 'periods')
    : { ...balances, outcomes, periods: fold.periods }
  ends.set(state, end)
  return state
}

/** Whether the penalty may have been raised by then. */
const isPenaltyTime = ({ penaltyAmount, dueAt }: LoanTerms, asOf: Instant): boolean =>
  penaltyAmount !== null && asOf >= dueAt

/**
 * What `replay` says at another moment than that of its end, without applying anything again.
 * @returns undefined where the penalty's instant lies between the two
 */
export function stateAt(terms: LoanTerms, end: End, asOf: Instant): LoanState | undefined {
  return isPenaltyTime(terms, end.asOf) === isPenaltyTime(terms, asOf) ? stateOfEnd(terms, { ...end, asOf }) : undefined
}

/** Where a state's entries ended. */
export const endOf = (state: LoanState): End | undefined => ends.get(state)

/** Where a state's entries ended, to be stored with the loan; null where it has to be worked out of them each time. */
export function carriedForward(state: Balances): string | null {
  const end = ends.get(state)
  return end ? carriedToText({ fold: end.fold, lastOn: end.last?.valueDate ?? null }) : null
}

/**
 * An end from what was stored of it.
 * @param count entries that the loan had then
 * @param asOf when it was stored
 * @returns undefined where it cannot be gone on from
 */
export function endFrom(text: string, count: number, asOf: Instant): End | undefined {
  const carried = carriedFromText(text)
  if (!carried) return undefined
  const { fold, lastOn } = carried
  // Whatever is posted from now on stands behind all there is of its date.
  const last = lastOn === null ? undefined : { valueDate: lastOn, place: count, ordinal: count }
  return { fold, asOf, last, outcomes: new Outcomes([], count) }
}

/**
 * What `replay` of the entries behind `before` and one more comes to, by applying only that one: a loan of thousands of
 * entries takes the next as fast as a loan of none.
 * @returns undefined where it does not come last of all, and everything has to be applied again
 */
export function extend(terms: LoanTerms, before: LoanState, entry: Replayable, asOf: Instant): LoanState | undefined {
  const end = ends.get(before)
  const penaltyPassed = isPenaltyTime(terms, asOf)
  if (!end || (end.last && byValueDate(end.last, entry) > 0)) return undefined
  if (isPenaltyTime(terms, end.asOf) !== penaltyPassed || (penaltyPassed && entry.valueDate <= terms.dueOn))
    return undefined
  const fold = new Fold(terms, end.fold)
  const outcomes = end.outcomes.and(entry.ordinal, fold.apply(entry))
  return stateOfEnd(terms, { fold, asOf, last: entry, outcomes })
}

/** Whether a state that was replayed earlier is still the loan's at this moment: time alone has changed nothing since. */
export function stillHolds(terms: LoanTerms, state: LoanState, asOf: Instant): boolean {
  const end = ends.get(state)
  if (!end || asOf < end.asOf || (state.nextChangeAt !== null && asOf >= state.nextChangeAt)) return false
  return asOf === end.asOf || dateIn(terms.zone, asOf) === dateIn(terms.zone, end.asOf)
}

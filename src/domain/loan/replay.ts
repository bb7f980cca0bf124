import { dateIn, type Instant, type LocalDate } from '../dates.ts'
import { invariant } from '../errors.ts'
import type { Period } from './allocation.ts'
import { type Balances, balancesOf } from './balances.ts'
import { carriedFromText, carriedToText } from './carriedForward/carried.ts'
import { byValueDate, type Entry } from './entry.ts'
import { Fold, type FoldedSoFar, type Replayable } from './fold.ts'
import { type Outcome, Outcomes } from './outcomes.ts'
import { memoOf } from './replayCache.ts'
import { type HeadTerms, isPenaltyTime, type LoanTerms } from './terms.ts'

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
  return stateOfEnd(terms, { fold, asOf, last: standing.at(-1) }, new Outcomes(outcomes))
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
  const fold = Fold.ofDisbursement(terms)
  const raise = () => {
    if (!isUnpaid || fold.penaltyRaised) return
    fold.raisePenalty(terms)
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
  const fold = Fold.ofDisbursement(terms)
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
  const days = new Map([[terms.disbursedOn, Fold.ofDisbursement(terms).owed]])
  foldOf(terms, standingOf(entries), asOf, (fold, entry) => {
    days.set(entry?.valueDate ?? terms.dueOn, fold.owed)
  })
  return [...days].map(([date, owed]) => ({ date, owed }))
}

/** The end of a fold, from which the next entry continues. */
export interface End {
  readonly fold: FoldedSoFar
  readonly asOf: Instant
  /** The last entry that was applied. */
  readonly last: Pick<Entry, 'valueDate' | 'place' | 'ordinal'> | undefined
}

const ends = memoOf<Balances, End>('end')

function stateOfEnd(terms: LoanTerms, end: End, outcomes: Outcomes): LoanState {
  const state = { ...balancesOf(terms, end.fold, end.asOf), outcomes, periods: end.fold.periods }
  ends.set(state, end)
  return state
}

/** The balances of a loan whose fold ended there; `endOf` answers that end. */
function balancesOfEnd(terms: HeadTerms, end: End): Balances {
  const balances = balancesOf(terms, end.fold, end.asOf)
  ends.set(balances, end)
  return balances
}

/**
 * The state that `replay` finds at another moment, without applying any entry again.
 * @returns undefined where the instant of the penalty lies between the two moments
 */
export function stateAt(terms: LoanTerms, state: LoanState, asOf: Instant): LoanState | undefined {
  const end = ends.get(state)
  if (!end || isPenaltyTime(terms, end.asOf) !== isPenaltyTime(terms, asOf)) return undefined
  return stateOfEnd(terms, { ...end, asOf }, state.outcomes)
}

/** The balances of a head at a moment; the instant of the penalty must not lie between its own moment and this one. */
export function balancesAt(terms: HeadTerms, end: End, asOf: Instant): Balances {
  invariant(isPenaltyTime(terms, end.asOf) === isPenaltyTime(terms, asOf), 'no penalty between the two moments')
  return balancesOfEnd(terms, { ...end, asOf })
}

/** The end of the fold that a state was made of. */
export const endOf = (state: Balances): End | undefined => ends.get(state)

/** The text that a loan stores of the end of its fold; null where the entries have to be applied each time. */
export function carriedForward(state: Balances): string | null {
  const end = ends.get(state)
  return end ? carriedToText({ fold: end.fold, lastOn: end.last?.valueDate ?? null }) : null
}

/**
 * Reads an end from the text that `carriedForward` made.
 * @param count entries that the loan had then
 * @param asOf when it was stored
 * @returns undefined where the text was written in another format, or is damaged
 */
export function endFrom(text: string, count: number, asOf: Instant): End | undefined {
  const carried = carriedFromText(text)
  if (!carried) return undefined
  const { fold, lastOn } = carried
  // The next entry comes after every entry of its date.
  const last = lastOn === null ? undefined : { valueDate: lastOn, place: count, ordinal: count }
  return { fold, asOf, last }
}

/**
 * Whether an entry comes after everything that the fold has applied: after the last entry, and, where the instant of the
 * penalty has passed, after the penalty, which the fold must then have applied too.
 */
export function comesLast(
  terms: HeadTerms,
  end: End,
  entry: Pick<Entry, 'valueDate' | 'place' | 'ordinal'>,
  asOf: Instant,
): boolean {
  if (end.last && byValueDate(end.last, entry) > 0) return false
  const penaltyPassed = isPenaltyTime(terms, asOf)
  return penaltyPassed === isPenaltyTime(terms, end.asOf) && !(penaltyPassed && entry.valueDate <= terms.dueOn)
}

/** The end of a fold after one more entry, which comes last of all; and what that entry did. */
export function extendEnd(end: End, entry: Replayable, asOf: Instant): { end: End; outcome: Outcome } {
  const fold = Fold.continuing(end.fold)
  const outcome = fold.apply(entry)
  return { end: { fold, asOf, last: entry }, outcome }
}

/** The balances of a head after one more entry, and what that entry did; `needsHistory` must be false for the entry. */
export function extendHead(terms: HeadTerms, before: End, entry: Replayable, asOf: Instant) {
  const { end, outcome } = extendEnd(before, entry, asOf)
  return { state: balancesOfEnd(terms, end), outcome }
}

/**
 * What `replay` of the entries behind `before` and one more comes to, by applying only that one: a loan of thousands of
 * entries takes the next as fast as a loan of none.
 * @returns undefined where it does not come last of all, and everything has to be applied again
 */
export function extend(terms: LoanTerms, before: LoanState, entry: Replayable, asOf: Instant): LoanState | undefined {
  const end = ends.get(before)
  if (!end || !comesLast(terms, end, entry, asOf)) return undefined
  const next = extendEnd(end, entry, asOf)
  return stateOfEnd(terms, next.end, before.outcomes.and(entry.ordinal, next.outcome))
}

/** Whether a state that was computed earlier is still the loan's at this moment: time alone has changed nothing since. */
export function stillHolds(terms: HeadTerms, state: Balances, asOf: Instant): boolean {
  const end = ends.get(state)
  if (!end || asOf < end.asOf || (state.nextChangeAt !== null && asOf >= state.nextChangeAt)) return false
  return asOf === end.asOf || dateIn(terms.zone, asOf) === dateIn(terms.zone, end.asOf)
}

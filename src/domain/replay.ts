import type { Period } from './allocation.ts'
import { type Balances, balancesOf } from './balances.ts'
import { dateIn, type Instant, type LocalDate } from './dates.ts'
import { byValueDate } from './entry.ts'
import { Fold, type Replayable } from './fold.ts'
import { memoOf } from './memo.ts'
import { type Outcome, Outcomes } from './outcomes.ts'
import type { LoanTerms } from './terms.ts'

/** A loan as its terms and entries make it, at a moment. */
export interface LoanState extends Balances {
  readonly periods: readonly Period[]
  /** By ordinal of the entry; reversed entries have none. */
  readonly outcomes: Outcomes
}

/**
 * The one fold that says what a loan is (contract 4.3.6): its entries, ordered by value date and then by posting,
 * applied to its schedule; the penalty stands between those that are in time and those that are not.
 * @param asOf the moment of the question: decides what is overdue and whether the penalty's instant has come
 */
export function replay(terms: LoanTerms, entries: Iterable<Replayable>, asOf: Instant): LoanState {
  const { inTime, late } = inOrder(terms, entries)
  const fold = new Fold(terms)
  const outcomes: Outcome[] = []
  for (const entry of inTime) outcomes[entry.ordinal - 1] = fold.apply(entry)
  if (asOf >= terms.dueAt) fold.raisePenalty()
  for (const entry of late) outcomes[entry.ordinal - 1] = fold.apply(entry)
  return stateOfFold(terms, { fold, asOf, last: late.at(-1) ?? inTime.at(-1) }, new Outcomes(outcomes))
}

/** What stands, in the order in which a loan is made of it: what comes before the penalty, and what after. */
function inOrder(terms: LoanTerms, entries: Iterable<Replayable>) {
  const all = [...entries]
  const standing = all.filter((entry) => entry.reversedAt === null).sort(byValueDate)
  const inTime = standing.filter((entry) => isInTime(terms, entry, all))
  const late = standing.filter((entry) => !isInTime(terms, entry, all))
  return { inTime, late }
}

/**
 * Whether an entry comes before the penalty. Of the due date itself every repayment does, since its value date shows that
 * it was in time (contract 4.3.4); anything else only where it was posted before the due time, and the penalty was there.
 * What replaces another entry of its day stands where that stood.
 */
function isInTime({ dueOn, dueAt }: LoanTerms, entry: Replayable, all: readonly Replayable[]): boolean {
  if (entry.valueDate !== dueOn || entry.type === 'Repayment') return entry.valueDate <= dueOn
  const first = all.find(({ ordinal }) => ordinal === entry.place) ?? entry
  return first.postedAt < dueAt
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
  const { inTime, late } = inOrder(terms, entries)
  const fold = new Fold(terms)
  const days = new Map([[terms.disbursedOn, fold.owed]])
  const apply = (entry: Replayable) => {
    fold.apply(entry)
    days.set(entry.valueDate, fold.owed)
  }
  inTime.forEach(apply)
  if (asOf >= terms.dueAt) fold.raisePenalty()
  if (fold.penaltyRaised) days.set(terms.dueOn, fold.owed)
  late.forEach(apply)
  return [...days].map(([date, owed]) => ({ date, owed }))
}

/** Where a fold ended, so that it can go on from there. */
interface End {
  readonly fold: Fold
  readonly asOf: Instant
  /** The last entry that was applied. */
  readonly last: Replayable | undefined
}

const ends = memoOf<LoanState, End>('end')

function stateOfFold(terms: LoanTerms, end: End, outcomes: Outcomes): LoanState {
  const state = { ...balancesOf(terms, end.fold, end.asOf), periods: end.fold.periods, outcomes }
  ends.set(state, end)
  return state
}

/**
 * What `replay` of the entries behind `before` and one more comes to, by applying only that one: a loan of thousands of
 * entries takes the next as fast as a loan of none.
 * @returns undefined where it does not come last of all, and everything has to be applied again
 */
export function extend(terms: LoanTerms, before: LoanState, entry: Replayable, asOf: Instant): LoanState | undefined {
  const end = ends.get(before)
  const penaltyPassed = asOf >= terms.dueAt
  if (!end || (end.last && byValueDate(end.last, entry) > 0)) return undefined
  if (end.asOf >= terms.dueAt !== penaltyPassed || (penaltyPassed && entry.valueDate <= terms.dueOn)) return undefined
  const fold = new Fold(terms, end.fold)
  const outcomes = before.outcomes.and(entry.ordinal, fold.apply(entry))
  return stateOfFold(terms, { fold, asOf, last: entry }, outcomes)
}

/** Whether a state that was replayed earlier is still the loan's at this moment: time alone has changed nothing since. */
export function stillHolds(terms: LoanTerms, state: LoanState, asOf: Instant): boolean {
  const end = ends.get(state)
  if (!end || asOf < end.asOf || (state.nextChangeAt !== null && asOf >= state.nextChangeAt)) return false
  return asOf === end.asOf || dateIn(terms.zone, asOf) === dateIn(terms.zone, end.asOf)
}

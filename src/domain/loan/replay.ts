import { dateIn, dayBefore, type Instant, type LocalDate } from '../dates.ts'
import { invariant } from '../errors.ts'
import type { Period } from './allocation.ts'
import { type Balances, balancesOf } from './balances.ts'
import { foldFromText, foldToText } from './carriedForward/storedFold.ts'
import type { FoldedSoFar } from './debt.ts'
import { byValueDate, type Entry, type EntryType } from './entry.ts'
import { Fold, type Replayable } from './fold.ts'
import { type Outcome, Outcomes } from './outcomes.ts'
import { cacheOf } from './replayCache.ts'
import type { Restructured } from './restructure/carriedArrears.ts'
import { nextInterestOn } from './rules/afterDue.ts'
import { type Days, isPostedLate, lastPenaltyDay, nextPenaltyOn, penaltiesOf, penaltyOf } from './rules/penalties.ts'
import type { HeadTerms, LoanTerms } from './terms/terms.ts'

/** The state of a loan at a moment, computed from its terms and entries. */
export interface LoanState extends Balances {
  readonly periods: readonly Period[]
  /** By ordinal of the entry; a reversed entry has none. */
  readonly outcomes: Outcomes
}

/**
 * Computes the state of a loan (contract 4.3.6): applies its entries, ordered by value date and then by posting, to its
 * schedule, and raises each penalty at its place.
 * @param asOf the moment that decides what is overdue and which penalties' instants have passed
 */
export function replay(terms: LoanTerms, entries: Iterable<Replayable>, asOf: Instant): LoanState {
  const outcomes: (Outcome | undefined)[] = []
  const unreversed = unreversedInOrder(entries)
  const fold = foldOf(terms, unreversed, lastDaysAt(terms, asOf), {
    entry: (_, { ordinal }, outcome) => {
      outcomes[ordinal - 1] = outcome
    },
  })
  // A settlement changes what the money before it paid.
  for (const { ordinal, outcome } of fold.received) outcomes[ordinal - 1] = outcome
  return stateOfEnd(terms, { fold, asOf, last: unreversed.at(-1) }, new Outcomes(outcomes))
}

/** Returns the entries that are not reversed, in the order in which a replay applies them. */
export const unreversedInOrder = (entries: Iterable<Replayable>): Replayable[] =>
  [...entries].filter((entry) => entry.reversedAt === null).sort(byValueDate)

/** Called after each entry that was applied to a fold, with what it did. */
type Visit = (fold: Fold, entry: Replayable, outcome: Outcome) => void

/** The functions that see a fold while it is made. */
interface Visits {
  /** Called before the first entry. */
  readonly begun?: (fold: Fold) => void
  readonly entry?: Visit
  /** Called after each day on which a penalty was raised; left out, the days between two entries are taken at once. */
  readonly penalties?: (fold: Fold, day: LocalDate) => void
  /** Called after each day that raised interest after the last due date. */
  readonly interest?: (fold: Fold, day: LocalDate) => void
}

/** The last days of a fold that raise something. */
export interface LastDays {
  readonly penalties: LocalDate
  /** Raises interest that runs on after the last due date. */
  readonly interest: LocalDate
}

/** Returns the last days that have raised something at a moment. */
export const lastDaysAt = (terms: HeadTerms, asOf: Instant): LastDays => ({
  penalties: lastPenaltyDay(terms, asOf),
  interest: dateIn(terms.zone, asOf),
})

/**
 * Applies entries in their order, and raises the penalties of each day after the entries dated up to it, or before a
 * charge-off, write-off or restructure of the day that was posted after the day's occurrence (contract 10.7). Interest after the last
 * due date is raised before the entries of its day (10.13).
 */
export function foldOf(
  terms: LoanTerms,
  unreversed: readonly Replayable[],
  { penalties: through, interest: lastInterestDay }: LastDays,
  visits: Visits,
): Fold {
  const fold = Fold.ofDisbursement(terms)
  visits.begun?.(fold)
  const applyNext = (entry: Replayable) => {
    const outcome = fold.apply(entry)
    visits.entry?.(fold, entry, outcome)
  }
  if (isLeftByTime(terms)) {
    for (const entry of unreversed) applyNext(entry)
    return fold
  }
  let raised = terms.disbursedOn
  /** The last day whose penalties came before a charge-off or write-off: instalments before `from` have theirs. */
  let partly: { readonly day: LocalDate; readonly from: number } | undefined
  const raiseOn = (day: LocalDate, periods: readonly Period[]) => {
    const from = partly?.day === day ? partly.from : 0
    const penalties = penaltiesOf(terms, fold, { after: dayBefore(day), through: day }, { periods, from })
    fold.raise(penalties)
    if (penalties.length === 0) return
    partly = { day, from: fold.periods.length }
    visits.penalties?.(fold, day)
  }
  const raiseThrough = (day: LocalDate) => {
    const last = day < through ? day : through
    if (last <= raised) return
    if (partly && partly.day > raised && partly.day <= last) {
      raiseOn(partly.day, fold.periods)
      raised = partly.day
    }
    raisePenalties(terms, fold, { after: raised, through: last }, visits)
    raised = last
  }
  let ran = terms.disbursedOn
  /** Raises interest up to the beginning of a day, that of each day after the penalties of the days before. */
  const runThrough = (day: LocalDate) => {
    const last = day < lastInterestDay ? day : lastInterestDay
    for (let next = nextInterestOn(terms, fold, ran); next !== null && next <= last; ) {
      raiseThrough(dayBefore(next))
      fold.runOn(next)
      visits.interest?.(fold, next)
      next = nextInterestOn(terms, fold, next)
    }
    if (last > ran) ran = last
  }
  for (const [index, entry] of unreversed.entries()) {
    const { valueDate } = entry
    runThrough(valueDate)
    raiseThrough(dayBefore(valueDate))
    if (fold.owed > 0n && isLateMark(terms, entry) && raised < valueDate && valueDate <= through)
      raiseOn(valueDate, unpaidThen(terms, fold, unreversed.slice(index)))
    applyNext(entry)
  }
  runThrough(lastInterestDay)
  raiseThrough(through)
  return fold
}

/** Returns whether time alone raises nothing on a loan. */
const isLeftByTime = (terms: HeadTerms): boolean => penaltyOf(terms) === null && !terms.rules?.afterDue

/** Raises the penalties of days between two entries. */
function raisePenalties(terms: LoanTerms, fold: Fold, { after, through }: Days, { penalties: visit }: Visits): void {
  if (!visit) {
    fold.raise(penaltiesOf(terms, fold, { after, through }))
    return
  }
  let day = nextPenaltyOn(terms, fold, after)
  while (day !== null && day <= through) {
    fold.raise(penaltiesOf(terms, fold, { after: dayBefore(day), through: day }))
    visit(fold, day)
    day = nextPenaltyOn(terms, fold, day)
  }
}

/**
 * Returns whether an entry was posted after the occurrence of its value date, and leaves the penalty of that day as it is: a
 * charge-off or write-off, whose amount includes the penalty; a restructure, and what is posted with one.
 */
const isLateMark = (terms: LoanTerms, entry: Replayable): boolean =>
  (entry.type === 'Charge-off' || entry.type === 'Write-off' || isOfRestructure(entry)) && isPostedLate(terms, entry)

const isOfRestructure = ({ restructure }: Replayable): boolean => restructure !== null && restructure !== undefined

/** Returns the instalments as the entries of a day leave them, without a late write-off or restructure and those after it. */
function unpaidThen(terms: LoanTerms, before: Fold, entries: readonly Replayable[]): readonly Period[] {
  const fold = Fold.continuing(terms, before)
  for (const entry of entries) {
    const isEnd = entry.type === 'Write-off' || isOfRestructure(entry)
    if (entry.valueDate !== entries[0]!.valueDate || (isEnd && isLateMark(terms, entry))) break
    fold.apply(entry)
  }
  return fold.periods
}

/** The amount owed at the end of a day, in minor units. */
export interface Owed {
  readonly date: LocalDate
  readonly owed: bigint
}

/**
 * Returns what was owed at the end of the day of disbursement and of each later day on which that changed. One walk
 * computes all days, because a replay for each day takes seconds on a loan of thousands of entries.
 */
export function owedByDay(terms: LoanTerms, entries: Iterable<Replayable>, asOf: Instant): Owed[] {
  const days = new Map([[terms.disbursedOn, Fold.ofDisbursement(terms).owed]])
  foldOf(terms, unreversedInOrder(entries), lastDaysAt(terms, asOf), {
    entry: ({ owed }, { valueDate }) => days.set(valueDate, owed),
    penalties: ({ owed }, day) => days.set(day, owed),
    interest: ({ owed }, day) => days.set(day, owed),
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

const ends = cacheOf<Balances, End>('end')

function stateOfEnd(terms: LoanTerms, end: End, outcomes: Outcomes): LoanState {
  const state = { ...balancesOf(terms, end.fold, end.asOf), outcomes, periods: end.fold.periods }
  ends.set(state, end)
  return state
}

/** Returns the balances at the end of a fold; `endOf` then finds that end. */
function balancesOfEnd(terms: HeadTerms, end: End): Balances {
  const balances = balancesOf(terms, end.fold, end.asOf)
  ends.set(balances, end)
  return balances
}

/** Returns whether a fold has raised at one moment what it raises by another one. */
const hasRaisedAsOf = (terms: HeadTerms, end: End, moment: Instant): boolean =>
  isLeftByTime(terms) || (hasPenaltiesOf(terms, end, moment) && hasInterestOf(terms, end, moment))

function hasInterestOf(terms: HeadTerms, { fold, asOf }: End, moment: Instant): boolean {
  if (!terms.rules?.afterDue) return true
  const day = dateIn(terms.zone, moment)
  if (moment < asOf) return fold.lastInterestOn === null || fold.lastInterestOn <= day
  const next = nextInterestOn(terms, fold, dateIn(terms.zone, asOf))
  return next === null || next > day
}

function hasPenaltiesOf(terms: HeadTerms, { fold, asOf }: End, moment: Instant): boolean {
  if (penaltyOf(terms) === null) return true
  const day = lastPenaltyDay(terms, moment)
  if (moment < asOf) return fold.lastPenaltyOn === null || fold.lastPenaltyOn <= day
  const next = nextPenaltyOn(terms, fold, lastPenaltyDay(terms, asOf))
  return next === null || next > day
}

/**
 * Returns the state that `replay` computes at another moment, without applying any entry again.
 * @returns undefined where a penalty or interest is raised between the two moments
 */
export function stateAt(terms: LoanTerms, state: LoanState, asOf: Instant): LoanState | undefined {
  const end = ends.get(state)
  if (!end || !hasRaisedAsOf(terms, end, asOf)) return undefined
  return stateOfEnd(terms, { ...end, asOf }, state.outcomes)
}

/** Returns the balances of a head at a moment; nothing must be raised between the moment of `end` and this one. */
export function balancesAt(terms: HeadTerms, end: End, asOf: Instant): Balances {
  invariant(hasRaisedAsOf(terms, end, asOf), 'nothing is raised between the two moments')
  return balancesOfEnd(terms, { ...end, asOf })
}

/**
 * Returns the balances after interest is forgiven at the end of a fold.
 * @param forgiven by instalment; `Fold.forgive` bounds it
 */
export function balancesForgiving(
  terms: HeadTerms,
  state: Balances,
  forgiven: readonly bigint[],
  on: LocalDate,
): Balances {
  const end = ends.get(state)
  invariant(end, 'the state was computed from a fold')
  const fold = Fold.continuing(terms, end.fold)
  fold.forgive(forgiven, on)
  return balancesOf(terms, fold, end.asOf)
}

/** Returns what the last restructure of a loan has made of it; null for a loan that was not restructured. */
export const restructuredOf = (state: Balances): Restructured | null => ends.get(state)?.fold.restructured ?? null

/** Returns the end of the fold that a state was computed from. */
export const endOf = (state: Balances): End | undefined => ends.get(state)

/**
 * Returns the text in which a loan stores the end of its fold; null where each posting has to apply the entries again.
 */
export function carriedForward(terms: HeadTerms, state: Balances): string | null {
  const end = ends.get(state)
  return end ? foldToText(terms, { fold: end.fold, lastOn: end.last?.valueDate ?? null }) : null
}

/**
 * Reads an end from the text that `carriedForward` made.
 * @param count entries that the loan had then
 * @param asOf when it was stored
 * @returns undefined where the text was written in another format, or is damaged
 */
export function endFrom(terms: HeadTerms, text: string, count: number, asOf: Instant): End | undefined {
  const stored = foldFromText(terms, text)
  if (!stored) return undefined
  const { fold, lastOn } = stored
  // The next entry comes after every entry of its date.
  const last = lastOn === null ? undefined : { valueDate: lastOn, place: count, ordinal: count }
  return { fold, asOf, last }
}

/** An entry, as far as its place decides. */
type Placed = Pick<Entry, 'type' | 'valueDate' | 'place' | 'ordinal'>

/** The types after which more may be owed than before. */
const MAY_OWE_MORE: ReadonlySet<EntryType> = new Set([
  ...(['Refund', 'Credit Balance Refund', 'Fee', 'Penalty', 'Restructure'] as const),
])

/**
 * Returns whether an entry comes after everything that the fold has applied: after the last entry and after each penalty and
 * interest that was raised, those until `asOf` included. An entry after which more is owed comes after each day that has passed,
 * too, because a day that raised nothing may then raise something.
 */
export function comesLast(terms: HeadTerms, end: End, entry: Placed, asOf: Instant): boolean {
  const { fold, last } = end
  if (last && byValueDate(last, entry) > 0) return false
  if (isLeftByTime(terms)) return true
  const { type, valueDate } = entry
  if (fold.lastPenaltyOn !== null && valueDate <= fold.lastPenaltyOn) return false
  if (fold.lastInterestOn !== null && valueDate < fold.lastInterestOn) return false
  if (!hasRaisedAsOf(terms, end, asOf)) return false
  if (!MAY_OWE_MORE.has(type)) return true
  const { penalties, interest } = lastDaysAt(terms, asOf)
  return valueDate > penalties && (!terms.rules?.afterDue || valueDate >= interest)
}

/** Applies one more entry, which comes last of all. @returns the new end of the fold, and what the entry did */
function extendEnd(terms: HeadTerms, end: End, entry: Replayable, asOf: Instant): { end: End; outcome: Outcome } {
  const fold = Fold.continuing(terms, end.fold)
  const outcome = fold.apply(entry)
  return { end: { fold, asOf, last: entry }, outcome }
}

/**
 * Applies one more entry to a head; `needsHistory` must be false for it.
 * @returns the balances, and what the entry did
 */
export function extendHead(terms: HeadTerms, before: End, entry: Replayable, asOf: Instant) {
  const { end, outcome } = extendEnd(terms, before, entry, asOf)
  return { state: balancesOfEnd(terms, end), outcome }
}

/**
 * Returns the state after one more entry, by applying only that entry: a loan of thousands of entries takes the next
 * one as fast as a loan without entries.
 * @returns undefined where a replay is necessary: for an entry that does not come last of all, and for a settlement waiver
 */
export function extend(terms: LoanTerms, before: LoanState, entry: Replayable, asOf: Instant): LoanState | undefined {
  const end = ends.get(before)
  if (!end || entry.type === 'Settlement Waiver' || !comesLast(terms, end, entry, asOf)) return undefined
  const next = extendEnd(terms, end, entry, asOf)
  return stateOfEnd(terms, next.end, before.outcomes.and(entry.ordinal, next.outcome))
}

/**
 * Returns whether a state that was computed earlier is still right at a moment: time alone has changed nothing since.
 */
export function stillHolds(terms: HeadTerms, state: Balances, asOf: Instant): boolean {
  const end = ends.get(state)
  if (!end || asOf < end.asOf || (state.nextChangeAt !== null && asOf >= state.nextChangeAt)) return false
  return asOf === end.asOf || dateIn(terms.zone, asOf) === dateIn(terms.zone, end.asOf)
}

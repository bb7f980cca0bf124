import { dateIn, type Instant, type LocalDate } from '../dates.ts'
import { invariant } from '../errors.ts'
import type { Period } from './allocation.ts'
import { type Balances, balancesOf } from './balances.ts'
import { foldFromText, foldToText } from './carriedForward/storedFold.ts'
import { byValueDate, type Entry } from './entry.ts'
import { Fold, type FoldedSoFar, type Replayable } from './fold.ts'
import { type Outcome, Outcomes } from './outcomes.ts'
import { cacheOf } from './replayCache.ts'
import { type HeadTerms, isPenaltyTime, type LoanTerms } from './terms.ts'

/** The state of a loan at a moment, computed from its terms and entries. */
export interface LoanState extends Balances {
  readonly periods: readonly Period[]
  /** By ordinal of the entry; a reversed entry has none. */
  readonly outcomes: Outcomes
}

/**
 * Computes the state of a loan (contract 4.3.6): applies its entries, ordered by value date and then by posting, to its
 * schedule, and raises the penalty at its place.
 * @param asOf the moment that decides what is overdue and whether the penalty's instant has passed
 */
export function replay(terms: LoanTerms, entries: Iterable<Replayable>, asOf: Instant): LoanState {
  const outcomes: (Outcome | undefined)[] = []
  const unreversed = unreversedInOrder(entries)
  const fold = foldOf(terms, unreversed, asOf, (_, entry, outcome) => {
    if (entry) outcomes[entry.ordinal - 1] = outcome
  })
  return stateOfEnd(terms, { fold, asOf, last: unreversed.at(-1) }, new Outcomes(outcomes))
}

/** Returns the entries that are not reversed, in the order in which a replay applies them. */
const unreversedInOrder = (entries: Iterable<Replayable>): Replayable[] =>
  [...entries].filter((entry) => entry.reversedAt === null).sort(byValueDate)

/** Called after each entry that was applied to a fold, with what it did; and without an entry after the penalty. */
type Visit = (fold: Fold, entry?: Replayable, outcome?: Outcome) => void

/**
 * Applies entries in their order. The penalty comes after the entries dated up to the due date, or before a charge-off
 * or write-off of the due date that was posted after the due time. It is not raised where the entries dated up to the
 * due date leave nothing unpaid (contract 4.3.4).
 */
function foldOf(terms: LoanTerms, unreversed: readonly Replayable[], asOf: Instant, visit: Visit): Fold {
  const late = unreversed.findIndex((entry) => entry.valueDate > terms.dueOn)
  const end = late === -1 ? unreversed.length : late
  const hasLateMark = unreversed.some((entry) => isLateMark(terms, entry))
  const isUnpaid = asOf >= terms.dueAt && (!hasLateMark || isUnpaidIn(terms, unreversed.slice(0, end)))
  const fold = Fold.ofDisbursement(terms)
  const raise = () => {
    if (!isUnpaid || fold.penaltyRaised) return
    fold.raisePenalty(terms)
    if (fold.penaltyRaised) visit(fold)
  }
  for (const [index, entry] of unreversed.entries()) {
    if (index === end || isLateMark(terms, entry)) raise()
    visit(fold, entry, fold.apply(entry))
  }
  if (end === unreversed.length) raise()
  return fold
}

/**
 * Returns whether an entry is a charge-off or write-off of the due date that was posted after the due time: its amount
 * includes the penalty.
 */
const isLateMark = ({ dueOn, dueAt, penaltyAmount }: LoanTerms, { type, valueDate, postedAt }: Replayable): boolean =>
  penaltyAmount !== null && valueDate === dueOn && postedAt >= dueAt && (type === 'Charge-off' || type === 'Write-off')

/** Returns whether the entries dated up to the due date, without a late write-off, leave anything unpaid. */
function isUnpaidIn(terms: LoanTerms, dueBy: readonly Replayable[]): boolean {
  const fold = Fold.ofDisbursement(terms)
  for (const entry of dueBy) {
    if (entry.type === 'Write-off' && isLateMark(terms, entry)) break
    fold.apply(entry)
  }
  return fold.owed > 0n
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
  foldOf(terms, unreversedInOrder(entries), asOf, (fold, entry) => {
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

/**
 * Returns the state that `replay` computes at another moment, without applying any entry again.
 * @returns undefined where the instant of the penalty lies between the two moments
 */
export function stateAt(terms: LoanTerms, state: LoanState, asOf: Instant): LoanState | undefined {
  const end = ends.get(state)
  if (!end || isPenaltyTime(terms, end.asOf) !== isPenaltyTime(terms, asOf)) return undefined
  return stateOfEnd(terms, { ...end, asOf }, state.outcomes)
}

/**
 * Returns the balances of a head at a moment; the penalty's instant must not lie between the moment of `end` and this
 * one.
 */
export function balancesAt(terms: HeadTerms, end: End, asOf: Instant): Balances {
  invariant(isPenaltyTime(terms, end.asOf) === isPenaltyTime(terms, asOf), 'no penalty between the two moments')
  return balancesOfEnd(terms, { ...end, asOf })
}

/** Returns the end of the fold that a state was computed from. */
export const endOf = (state: Balances): End | undefined => ends.get(state)

/**
 * Returns the text in which a loan stores the end of its fold; null where each posting has to apply the entries again.
 */
export function carriedForward(state: Balances): string | null {
  const end = ends.get(state)
  return end ? foldToText({ fold: end.fold, lastOn: end.last?.valueDate ?? null }) : null
}

/**
 * Reads an end from the text that `carriedForward` made.
 * @param count entries that the loan had then
 * @param asOf when it was stored
 * @returns undefined where the text was written in another format, or is damaged
 */
export function endFrom(text: string, count: number, asOf: Instant): End | undefined {
  const stored = foldFromText(text)
  if (!stored) return undefined
  const { fold, lastOn } = stored
  // The next entry comes after every entry of its date.
  const last = lastOn === null ? undefined : { valueDate: lastOn, place: count, ordinal: count }
  return { fold, asOf, last }
}

/**
 * Returns whether an entry comes after everything that the fold has applied: after the last entry, and, where the
 * instant of the penalty has passed, after the penalty, which the fold must then have applied too.
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

/** Applies one more entry, which comes last of all. @returns the new end of the fold, and what the entry did */
function extendEnd(end: End, entry: Replayable, asOf: Instant): { end: End; outcome: Outcome } {
  const fold = Fold.continuing(end.fold)
  const outcome = fold.apply(entry)
  return { end: { fold, asOf, last: entry }, outcome }
}

/**
 * Applies one more entry to a head; `needsHistory` must be false for it.
 * @returns the balances, and what the entry did
 */
export function extendHead(terms: HeadTerms, before: End, entry: Replayable, asOf: Instant) {
  const { end, outcome } = extendEnd(before, entry, asOf)
  return { state: balancesOfEnd(terms, end), outcome }
}

/**
 * Returns the state after one more entry, by applying only that entry: a loan of thousands of entries takes the next
 * one as fast as a loan without entries.
 * @returns undefined where the entry does not come last of all, so that a replay is necessary
 */
export function extend(terms: LoanTerms, before: LoanState, entry: Replayable, asOf: Instant): LoanState | undefined {
  const end = ends.get(before)
  if (!end || !comesLast(terms, end, entry, asOf)) return undefined
  const next = extendEnd(end, entry, asOf)
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

import {
  addPeriods,
  dateIn,
  dayAfter,
  dayBefore,
  daysBetween,
  type Instant,
  LAST_DATE,
  type LocalDate,
  sameTimeOn,
} from '../../dates.ts'
import { applyRate, largestIn, min } from '../../money.ts'
import { owedOf, type Period, type Totals } from '../allocation.ts'
import type { Restructured } from '../restructure/carriedArrears.ts'
import type { HeadTerms } from '../terms/terms.ts'
import type { PenaltyRule } from './loanRules.ts'
import { countThrough, nextAfter, type Occurrences, occurrenceAt, occurrencesAfter } from './occurrences.ts'

/** Returns the penalties of a loan: of its rules, or the one-time penalty of `penaltyAmount` (contract 10.7); null: none. */
export function penaltyOf({ penaltyAmount, rules, currency, penaltyHolds: held }: HeadTerms): PenaltyRule | null {
  if (penaltyAmount === null) return rules?.penalty && held ? { ...rules.penalty, held } : (rules?.penalty ?? null)
  const fixed = { base: 'fixed', value: penaltyAmount, per: 'loan' } as const
  return { ...fixed, every: null, graceDays: 0, maxTimes: null, most: largestIn(currency), held }
}

/** Returns the last day whose occurrences have passed at a moment: each is at the disbursement's time of day. */
export function lastPenaltyDay({ zone, disbursedAt }: HeadTerms, asOf: Instant): LocalDate {
  const today = dateIn(zone, asOf)
  return asOf >= sameTimeOn(today, disbursedAt, zone) ? today : dayBefore(today)
}

/** Returns whether an entry was posted when the occurrence of its value date had passed. */
export const isPostedLate = (
  { zone, disbursedAt }: HeadTerms,
  { valueDate, postedAt }: { readonly valueDate: LocalDate; readonly postedAt: Instant },
): boolean => postedAt >= sameTimeOn(valueDate, disbursedAt, zone)

/** The part of a fold from which penalties follow. */
export interface Penalized {
  readonly periods: readonly Period[]
  readonly totals: Readonly<Totals>
  readonly owed: bigint
  /** The number of penalties that were raised, single charges not among them. */
  readonly penaltiesRaised: number
  readonly restructured: Restructured | null
}

/** Returns the last due date of the schedule in force. */
export const lastDueOn = ({ dueOn }: HeadTerms, { restructured }: Penalized): LocalDate => restructured?.dueOn ?? dueOn

/** Returns the index of the last instalment of the schedule in force: those after it are of single charges and refunds. */
export function lastIndex({ numberOfRepayments }: HeadTerms, { periods, restructured }: Penalized): number {
  if (restructured === null) return numberOfRepayments - 1
  return periods.findLastIndex(({ dueDate }) => dueDate <= restructured.dueOn)
}

/** Returns how many more penalties may be raised, after a number of them: one that is raised once is not raised again. */
function timesLeft({ maxTimes, every }: PenaltyRule, raised: number): number {
  if (every === null) return 1 - raised
  return maxTimes === null ? Number.POSITIVE_INFINITY : maxTimes - raised
}

/** A penalty that is raised one or more times with one instalment. */
export interface Raised {
  /** The index of the instalment with which the penalty is due. */
  readonly index: number
  readonly times: number
  readonly amount: bigint
  readonly lastOn: LocalDate
}

/** The days to raise penalties of: after one, through another. */
export interface Days {
  readonly after: LocalDate
  readonly through: LocalDate
}

/** An instalment, or the loan, with the penalty of each of its occurrences. */
interface Source {
  readonly index: number
  readonly occurrences: Occurrences
  readonly amount: bigint
  /** The most occurrences that may still be raised. */
  readonly left: number
}

/** The instalments by which is decided what is unpaid. */
export interface Basis {
  readonly periods: readonly Period[]
  /** The index of the first instalment of which penalties are raised. Penalties `per: loan` are raised only where it is 0. */
  readonly from: number
}

/**
 * Returns the penalties that the occurrences of some days raise. Between two transactions what is unpaid stays the same, so that all occurrences of an
 * instalment raise the same amount.
 * @param basis left out: the fold's own instalments, all of them
 */
export function penaltiesOf(
  terms: HeadTerms,
  fold: Penalized,
  days: Days,
  basis: Basis = { periods: fold.periods, from: 0 },
): Raised[] {
  const rule = penaltyOf(terms)
  if (rule === null || days.through <= days.after || (rule.per === 'loan' && basis.from > 0)) return []
  const room = roomOf(terms, rule, fold)
  if (room <= 0n) return []
  if (rule.per === 'instalment') return withinRoom(sourcesOf(rule, fold, basis, days.through), days, room)
  return penaltiesOfLoan(terms, { rule, fold, basis: basis.periods }, days, room)
}

/** Returns what the caps leave for penalties, minor units. */
const roomOf = (terms: HeadTerms, rule: PenaltyRule, { totals: { due } }: Penalized): bigint =>
  chargesLeft(terms, due, 'penalty') ?? rule.most - due.penalty

/** Returns what the caps leave for more of a component, minor units, at least 0; null: no cap. */
export function chargesLeft(
  { rules }: Pick<HeadTerms, 'rules'>,
  due: Totals['due'],
  component: 'fees' | 'interest' | 'penalty',
): bigint | null {
  if (rules === null) return null
  const { mostCharges, deducted, penalty } = rules
  const charged = deducted + due.interest + due.fees + due.penalty
  const left = [
    ...(mostCharges === null ? [] : [mostCharges - charged]),
    ...(component !== 'penalty' || penalty === null ? [] : [penalty.most - due.penalty]),
  ]
  if (left.length === 0) return null
  const least = left.reduce(min)
  return least > 0n ? least : 0n
}

/** Returns what is unpaid of an instalment besides penalties, minor units. */
const unpaidOf = (period: Period): bigint => period.owed - owedOf(period, 'penalty')

/** Returns the penalty of one occurrence; 0 where nothing is unpaid. */
function amountOf({ base, value }: PenaltyRule, unpaid: readonly Period[]): bigint {
  let [principal, total] = [0n, 0n]
  for (const period of unpaid) {
    principal += owedOf(period, 'principal')
    total += unpaidOf(period)
  }
  if (total === 0n) return 0n
  return base === 'fixed' ? value : applyRate(base === 'overdue_principal' ? principal : total, value)
}

/** Returns the instalments due up to a day of which penalties may be raised. */
function sourcesOf(rule: PenaltyRule, fold: Penalized, { periods, from }: Basis, through = LAST_DATE): Source[] {
  const sources: Source[] = []
  for (const [index, period] of fold.periods.entries()) {
    if (index < from || period.dueDate > through) continue
    const left = timesLeft(rule, period.penalties)
    if (left <= 0 || periods[index]!.owed === 0n) continue
    const amount = amountOf(rule, [periods[index]!])
    if (amount > 0n) sources.push({ index, occurrences: occurrencesAfter(rule, period.dueDate), amount, left })
  }
  return sources
}

/** What penalties of the whole loan follow from. */
interface LoanBasis {
  readonly rule: PenaltyRule
  readonly fold: Penalized
  readonly basis: readonly Period[]
}

/**
 * Returns the penalties of the loan. The days are divided at each due date, because only instalments that are due count.
 * After the last due date of the schedule, only an instalment that a single charge or a refund added can fall due.
 */
function penaltiesOfLoan(
  terms: HeadTerms,
  { rule, fold, basis }: LoanBasis,
  { after, through }: Days,
  room: bigint,
): Raised[] {
  const occurrences = occurrencesAfter(rule, lastDueOn(terms, fold))
  const raised: Raised[] = []
  let [left, rest] = [timesLeft(rule, fold.penaltiesRaised), room]
  let from = nextAfter(occurrences, after)
  while (from !== null && from <= through && left > 0 && rest > 0n) {
    const open = basis.filter(({ owed }) => owed > 0n)
    const [due, later] = [open.filter(({ dueDate }) => dueDate <= from!), open.filter(({ dueDate }) => dueDate > from!)]
    const next = later.reduce((first, { dueDate }) => (dueDate < first ? dueDate : first), dayAfter(through))
    const part = { after: dayBefore(from), through: dayBefore(next) }
    const source = { index: lastIndex(terms, fold), occurrences, amount: amountOf(rule, due), left }
    for (const one of source.amount > 0n ? withinRoom([source], part, rest) : []) {
      raised.push(one)
      left -= one.times
      rest -= one.amount
    }
    from = nextAfter(occurrences, part.through)
  }
  return raised
}

/** Returns the penalties of sources, cut to a room in the order of days and, of a day, of instalments. */
function withinRoom(sources: readonly Source[], { after, through }: Days, room: bigint): Raised[] {
  const raisedThrough = (day: LocalDate) => raisedBy(sources, { after, through: day })
  const all = raisedThrough(through)
  if (sumOf(all) <= room) return all
  // The last day, counted from `after`, through which the room is enough.
  let [enough, tooMany] = [0, daysBetween(after, through)]
  const dayAt = (days: number) => addPeriods(after, days, 'days')
  while (tooMany - enough > 1) {
    const middle = Math.floor((enough + tooMany) / 2)
    if (sumOf(raisedThrough(dayAt(middle))) <= room) enough = middle
    else tooMany = middle
  }
  const whole = raisedThrough(dayAt(enough))
  const times = new Map(whole.map((one) => [one.index, one.times]))
  let rest = room - sumOf(whole)
  const last: Raised[] = []
  for (const source of sources) {
    const left = source.left - (times.get(source.index) ?? 0)
    for (const one of raisedBy([{ ...source, left }], { after: dayAt(enough), through: dayAt(tooMany) })) {
      const amount = min(one.amount, rest)
      if (amount > 0n) last.push({ ...one, amount })
      rest -= amount
    }
  }
  return [...whole, ...last]
}

const sumOf = (raised: readonly Raised[]): bigint => raised.reduce((sum, { amount }) => sum + amount, 0n)

/** Returns the penalties of sources without regard to a room. */
function raisedBy(sources: readonly Source[], { after, through }: Days): Raised[] {
  const raised: Raised[] = []
  for (const { index, occurrences, amount, left } of sources) {
    const before = countThrough(occurrences, after)
    const times = Math.min(left, countThrough(occurrences, through) - before)
    if (times <= 0) continue
    raised.push({ index, times, amount: amount * BigInt(times), lastOn: occurrenceAt(occurrences, before + times - 1) })
  }
  return raised
}

/** Returns the first day after another on which a penalty is raised if nothing happens until then; null: none. */
export function nextPenaltyOn(terms: HeadTerms, fold: Penalized, after: LocalDate): LocalDate | null {
  const rule = fold.owed === 0n ? null : penaltyOf(terms)
  return rule && nextOf(rule, terms, fold, after)
}

/** Returns the moment after another at which a penalty is raised if nothing happens until then; null: none. */
export function nextPenaltyAt(terms: HeadTerms, fold: Penalized, asOf: Instant): Instant | null {
  const rule = fold.owed === 0n ? null : penaltyOf(terms)
  const day = rule && nextOf(rule, terms, fold, lastPenaltyDay(terms, asOf))
  return day === null ? null : sameTimeOn(day, terms.disbursedAt, terms.zone)
}

function nextOf(rule: PenaltyRule, terms: HeadTerms, fold: Penalized, after: LocalDate): LocalDate | null {
  if (roomOf(terms, rule, fold) <= 0n) return null
  if (rule.per === 'instalment')
    return sourcesOf(rule, fold, { periods: fold.periods, from: 0 }).reduce<LocalDate | null>(
      (first, { occurrences }) => {
        const next = nextAfter(occurrences, after)
        return next === null || (first !== null && first <= next) ? first : next
      },
      null,
    )
  if (timesLeft(rule, fold.penaltiesRaised) <= 0) return null
  return fold.periods.some((period) => unpaidOf(period) > 0n)
    ? nextAfter(occurrencesAfter(rule, lastDueOn(terms, fold)), after)
    : null
}

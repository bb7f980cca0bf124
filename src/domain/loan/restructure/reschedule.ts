import { addPeriods, dayBefore, daysBetween, type LocalDate } from '../../dates.ts'
import { divideHalfEven, min, RATE_UNIT, type Rate, sum } from '../../money.ts'
import type { Distance, Tax } from '../../product/terms.ts'
import { dividedBy, type Fraction, fraction, times } from '../../schedule/fraction.ts'
import { UNIT_OF_RATE } from '../../schedule/periodRates.ts'
import { MOST_INSTALMENTS } from '../../schedule/schedule.ts'
import { convert } from '../../schedule/scheduleUnits.ts'
import { owedOf, type Period } from '../allocation.ts'
import { add, NONE, type Portions, totalOf } from '../portions.ts'
import { isNotDue, unearnedOf } from '../recognition.ts'
import type { AddedInterest, RestructurePlan, ScheduleChange } from './plan.ts'

/** The ground on which instalments are scheduled again. */
export interface RescheduleGround {
  /** The ordinal of the restructure. */
  readonly ordinal: number
  /** The day from which the restructure counts. */
  readonly on: LocalDate
  /** The day on which it was posted: what had fallen due by then is earned. */
  readonly postedOn: LocalDate
  readonly ratePerPeriod: Rate
  /** Added to the interest; null: none. */
  readonly interestTax: Tax | null
  /** The most interest that may be added, minor units; null: no limit. */
  readonly room: bigint | null
}

/** Instalments as a restructure leaves them. Amounts in minor units. */
export interface Rescheduled {
  /** All instalments, by due date. */
  readonly periods: readonly Period[]
  /** The interest that was added. */
  readonly added: bigint
  /** The interest for which the cap of charges left no room. */
  readonly dropped: bigint
  /** The first and the last due date of the instalments that owe something. */
  readonly firstDueOn: LocalDate
  readonly dueOn: LocalDate
}

/**
 * Schedules the instalments that owe something again. Those that are paid in full stay, and the others are numbered on from
 * them; an instalment keeps what was paid, waived and written off of it.
 * @returns undefined where nothing is owed
 */
export function reschedule(
  periods: readonly Period[],
  plan: RestructurePlan,
  ground: RescheduleGround,
): Rescheduled | undefined {
  const [kept, open] = [periods.filter(({ owed }) => owed === 0n), periods.filter(({ owed }) => owed > 0n)]
  if (open.length === 0) return undefined
  const { change } = plan
  const isDivided = change.kind === 'numberOfRepayments' || change.kind === 'instalmentAmount'
  const { lines, asked } = isDivided ? divided(open, plan, change, ground) : moved(open, plan, ground)
  const first = kept.reduce((most, { period }) => Math.max(most, period), 0) + 1
  const room = ground.room ?? asked
  const added = min(asked, room)
  const next = lines.map((line, index): Period => ({ ...line, period: first + index }))
  const byDueDate = [...kept, ...next].toSorted((a, b) =>
    a.dueDate === b.dueDate ? 0 : a.dueDate < b.dueDate ? -1 : 1,
  )
  return {
    periods: byDueDate,
    added,
    dropped: asked - added,
    firstDueOn: next[0]!.dueDate,
    dueOn: next.at(-1)!.dueDate,
  }
}

/** Instalments that owe something, with the interest that was asked for besides theirs. */
interface Lines {
  readonly lines: readonly Period[]
  readonly asked: bigint
}

/** Gives each instalment another due date, and interest on its principal for the time that is added. */
function moved(open: readonly Period[], plan: RestructurePlan, ground: RescheduleGround): Lines {
  const { ordinal, on, postedOn, room } = ground
  const dates = datesOf(open, plan, on)
  const daily = ratePerDay(plan, ground)
  let [asked, left] = [0n, room]
  const lines = open.map((period, index) => {
    const dueDate = dates[index]!
    const days = daysAfter(later(period.dueDate, on), dueDate)
    const interest = share(owedOf(period, 'principal') * BigInt(days), daily)
    const added = left === null ? interest : min(interest, left)
    asked += interest
    if (left !== null) left -= added
    const fallen = isNotDue(period, postedOn) ? (period.fallen ?? NOTHING_FALLEN) : fallenOf(period.due)
    return {
      ...period,
      ...span(open, dates, index),
      due: { ...period.due, interest: period.due.interest + added },
      owed: period.owed + added,
      fallen,
      // Only of one that is told late can entries come after it that were posted before.
      before:
        on < postedOn ? { ordinal, dueDate: period.dueDate, fallen: period.fallen, before: period.before } : undefined,
    }
  })
  return { lines, asked }
}

const NOTHING_FALLEN = { interest: 0n, fees: 0n }
const fallenOf = ({ interest, fees }: Readonly<Portions>) => ({ interest, fees })

/** Returns the dates of an instalment: from the due date before it to its own. */
function span(open: readonly Period[], dates: readonly LocalDate[], index: number) {
  const dueDate = dates[index]!
  const before = dates[index - 1]
  const fromDate = before === undefined || before >= dueDate ? open[0]!.fromDate : before
  return { fromDate: fromDate < dueDate ? fromDate : dayBefore(dueDate), dueDate }
}

/** Returns the new due dates of instalments that are not divided again. */
function datesOf(open: readonly Period[], { change, every }: RestructurePlan, on: LocalDate): LocalDate[] {
  switch (change.kind) {
    case 'newFirstDueDate':
      return open.map((_, index) => nth(change.on, index, every))
    case 'postponeBy': {
      const coming = open.map(({ dueDate }) => dueDate).filter((dueDate) => dueDate >= on)
      const dates = extended(coming, open.at(-1)!.dueDate, { every, from: on, count: open.length + change.periods })
      return dates.slice(change.periods)
    }
    case 'until':
      return open.map(() => change.on)
    default:
      throw new Error(`${change.kind} divides what is owed`)
  }
}

const nth = (first: LocalDate, index: number, { every, unit }: Distance): LocalDate =>
  index === 0 ? first : addPeriods(first, index * every, unit)

/**
 * Returns due dates that continue others by a distance, counted from the last of all.
 * @param from the first day that a date may be
 * @param count how many dates there are to be
 */
function extended(
  coming: readonly LocalDate[],
  last: LocalDate,
  { every, from, count }: { readonly every: Distance; readonly from: LocalDate; readonly count: number },
): LocalDate[] {
  const dates = [...coming]
  for (let index = 1; dates.length < count; index++) {
    const date = nth(last, index, every)
    if (date >= from) dates.push(date)
  }
  return dates
}

/** Divides what is owed into other instalments of the same amount; the last one takes the remainders of rounding. */
function divided(
  open: readonly Period[],
  plan: RestructurePlan,
  change: Extract<ScheduleChange, { kind: 'numberOfRepayments' | 'instalmentAmount' }>,
  ground: RescheduleGround,
): Lines {
  const owed = owedIn(open)
  const daily = ratePerDay(plan, ground)
  const dueDateOf = newDates(open, plan, ground.on)
  const askedOf = addedInterest(open, { on: ground.on, daily, principal: owed.principal, dueDateOf })
  const grantedOf = (count: number) => (ground.room === null ? askedOf(count) : min(askedOf(count), ground.room))
  const base = owed.principal + owed.interest + owed.fees
  const count =
    change.kind === 'numberOfRepayments'
      ? change.count
      : countOf(change.amount, (some) => base + (some === 0 ? 0n : grantedOf(some)))
  const asked = askedOf(count)
  const total = { ...owed, interest: owed.interest + grantedOf(count) }
  const level = change.kind === 'instalmentAmount' ? change.amount : null
  const shares = sharesOf(total, { count, level })
  const dates = Array.from({ length: count }, (_, index) => dueDateOf(index))
  return { lines: linesOf(open, dates, shares, ground), asked }
}

/** Returns how many instalments of an amount a total takes, which grows with their number. At most `MOST_INSTALMENTS`. */
function countOf(amount: bigint, totalOfCount: (count: number) => bigint): number {
  let count = 0
  for (;;) {
    const needed = (totalOfCount(count) + amount - 1n) / amount
    const next = needed > BigInt(MOST_INSTALMENTS) ? MOST_INSTALMENTS : Math.max(1, Number(needed))
    if (next <= count) return count
    count = next
  }
}

const owedIn = (open: readonly Period[]): Portions => ({
  penalty: sum(open.map((period) => owedOf(period, 'penalty'))),
  fees: sum(open.map((period) => owedOf(period, 'fees'))),
  interest: sum(open.map((period) => owedOf(period, 'interest'))),
  principal: sum(open.map((period) => owedOf(period, 'principal'))),
})

/** Returns the due date by index of instalments that are divided again: the next one stays, unless their distance is another. */
function newDates(open: readonly Period[], { change, every }: RestructurePlan, on: LocalDate) {
  const other = change.kind === 'numberOfRepayments' ? change.every : null
  const last = open.at(-1)!.dueDate
  const next = open.find(({ dueDate }) => dueDate > on)?.dueDate
  const first = other
    ? nth(on, 1, other)
    : (next ?? extended([], last, { every, from: nth(on, 1, ONE_DAY), count: 1 })[0]!)
  return (index: number): LocalDate => nth(first, index, other ?? every)
}

const ONE_DAY: Distance = { every: 1, unit: 'days' }

/** What the interest of added time follows from. */
interface AddedTime {
  readonly on: LocalDate
  readonly daily: Fraction
  readonly principal: bigint
  readonly dueDateOf: (index: number) => LocalDate
}

/**
 * Returns the interest, by the number of instalments, on the principal for the days that it is owed longer than before, as equal
 * parts of it are repaid. Many numbers are tried for an amount of the instalments, so the days of each instalment are counted once.
 */
function addedInterest(
  open: readonly Period[],
  { on, daily, principal, dueDateOf }: AddedTime,
): (count: number) => bigint {
  if (daily.over === 0n) return () => 0n
  const before = sum(open.map((period) => owedOf(period, 'principal') * BigInt(daysAfter(on, period.dueDate))))
  const days: number[] = []
  /** The days of the instalments before each index, together. */
  const daysBefore = [0]
  const countUpTo = (count: number) => {
    for (let index = days.length; index < count; index++) {
      days.push(daysAfter(on, dueDateOf(index)))
      daysBefore.push(daysBefore[index]! + days[index]!)
    }
  }
  return (count) => {
    countUpTo(count)
    // Of the parts of `evenly`: so many are alike, and the next one has what is left.
    const each = divideHalfEven(principal, BigInt(count))
    const alike = each === 0n ? count - 1 : Number(min(principal / each, BigInt(count - 1)))
    const after = each * BigInt(daysBefore[alike]!) + (principal - each * BigInt(alike)) * BigInt(days[alike]!)
    return after > before ? share(after - before, daily) : 0n
  }
}

/** Divides an amount into equal parts; the last takes the remainder, and none is negative. */
function evenly(total: bigint, count: number): bigint[] {
  const each = divideHalfEven(total, BigInt(count))
  let left = total
  return Array.from({ length: count }, (_, index) => {
    const part = index === count - 1 ? left : min(each, left)
    left -= part
    return part
  })
}

/** Returns what each instalment owes; what is owed of penalties is due with the first. @param level the amount of each; null: equal parts */
function sharesOf(
  total: Readonly<Portions>,
  { count, level }: { readonly count: number; readonly level: bigint | null },
): Portions[] {
  const [interests, fees, principals] = [total.interest, total.fees, total.principal].map((one) => evenly(one, count))
  let left = total.principal
  return Array.from({ length: count }, (_, index) => {
    const charges = { interest: interests![index]!, fees: fees![index]! }
    const asked = level === null ? principals![index]! : level - charges.interest - charges.fees
    const principal = index === count - 1 ? left : min(asked > 0n ? asked : 0n, left)
    left -= principal
    return { penalty: index === 0 ? total.penalty : 0n, ...charges, principal }
  })
}

/** Makes instalments of shares, each with what was settled of the one in its place before. */
function linesOf(
  open: readonly Period[],
  dates: readonly LocalDate[],
  shares: readonly Portions[],
  { on, postedOn }: RescheduleGround,
): Period[] {
  let earned = earnedIn(open, postedOn)
  return shares.map((owes, index) => {
    const places = index === shares.length - 1 ? open.slice(index) : open.slice(index, index + 1)
    const settled = places.reduce(
      (all, { paid, waived, writtenOff, recovered, penalties }) => ({
        paid: add(all.paid, paid),
        waived: add(all.waived, waived),
        writtenOff: add(all.writtenOff, writtenOff),
        recovered: add(all.recovered, recovered),
        penalties: all.penalties + penalties,
      }),
      { paid: NONE, waived: NONE, writtenOff: NONE, recovered: NONE, penalties: 0 },
    )
    const done = add(add(settled.paid, settled.waived), settled.writtenOff)
    const interest = min(earned.interest, owes.interest)
    const fees = min(earned.fees, owes.fees)
    earned = { interest: earned.interest - interest, fees: earned.fees - fees }
    const owed = totalOf(owes)
    return {
      period: 0,
      ...span(open, dates, index),
      due: add(done, owes),
      ...settled,
      owed,
      completedOn: owed === 0n && totalOf(done) > 0n ? on : null,
      fallen: { interest: done.interest + interest, fees: done.fees + fees },
    }
  })
}

/** Returns what is owed of interest and fees that had fallen due. */
function earnedIn(open: readonly Period[], postedOn: LocalDate) {
  const earnedOf = (part: 'interest' | 'fees') =>
    sum(open.map((period) => owedOf(period, part) - (isNotDue(period, postedOn) ? unearnedOf(period, part) : 0n)))
  return { interest: earnedOf('interest'), fees: earnedOf('fees') }
}

/**
 * Returns the interest of a day with its tax as a share of the principal: 30 days are a month, and 360 a year (contract 10.2).
 */
function ratePerDay({ interest, every }: RestructurePlan, { ratePerPeriod, interestTax }: RescheduleGround): Fraction {
  const { rate, ratePer } = rateOf(interest, ratePerPeriod)
  const ofRate = times(fraction(rate, RATE_UNIT), fraction(RATE_UNIT + (interestTax?.rate ?? 0n), RATE_UNIT))
  const day = fraction(1n)
  if (ratePer === 'period') return times(ofRate, dividedBy(convert(day, 'days', every.unit), every.every))
  return times(ofRate, convert(day, 'days', UNIT_OF_RATE[ratePer]))
}

function rateOf(interest: AddedInterest, ratePerPeriod: Rate): Exclude<AddedInterest, string> {
  if (interest === 'none') return { rate: 0n, ratePer: 'period' }
  return interest === 'keep' ? { rate: ratePerPeriod, ratePer: 'period' } : interest
}

const share = (amount: bigint, { over, under }: Fraction): bigint => divideHalfEven(amount * over, under)

/** Returns the later of two days. */
const later = (a: LocalDate, b: LocalDate): LocalDate => (a > b ? a : b)

/** Returns the days from a day to a later one; 0 where it is not later. */
const daysAfter = (from: LocalDate, to: LocalDate): number => (to > from ? daysBetween(from, to) : 0)

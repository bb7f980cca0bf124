import { daysBetween, type LocalDate, type PeriodUnit } from '../dates.ts'
import { RATE_UNIT, type Rate } from '../money.ts'
import type { DayCount, ProductTerms } from '../product/terms.ts'
import { dividedBy, type Fraction, fraction, times } from './fraction.ts'
import type { PeriodRates } from './onBalance.ts'
import { convert } from './scheduleUnits.ts'

/** The rate of a product and the distance of its instalments. */
export interface RatedProduct {
  /** Of a product with terms, what its rate comes to, rounded. */
  readonly ratePerPeriod: Rate
  readonly repayEvery: number
  readonly repayUnit: PeriodUnit
  readonly terms: ProductTerms | null
}

/** The units into which a distance is converted for a rate per day, month or year (contract 10.2). */
export const UNIT_OF_RATE = { day: 'days', month: 'months', year: 'years' } as const

/**
 * Returns the interest of a period as a share, exactly. A rate per day, month or year is converted with 30 days or 4 weeks a
 * month, and 360 days, 52 weeks or 12 months a year: the calendar plays no part.
 */
export function exactRatePerPeriod(product: RatedProduct): Fraction {
  const { terms, ratePerPeriod, repayEvery, repayUnit } = product
  if (terms === null) return fraction(ratePerPeriod, RATE_UNIT)
  const rate = fraction(terms.interestRate, RATE_UNIT)
  if (terms.ratePer === 'period') return rate
  return times(rate, convert(fraction(BigInt(repayEvery)), repayUnit, UNIT_OF_RATE[terms.ratePer]))
}

/** Returns the interest of a month as a share, as the rate is named: by days it may come to a little more (contract 10.5). */
export function ratePerMonth({ terms, ratePerPeriod, repayEvery, repayUnit }: RatedProduct): Fraction {
  const { interestRate = ratePerPeriod, ratePer = 'period' } = terms ?? {}
  const rate = fraction(interestRate, RATE_UNIT)
  if (ratePer === 'month') return rate
  if (ratePer === 'year') return dividedBy(rate, 12)
  if (ratePer === 'day') return times(rate, fraction(30n))
  return dividedBy(times(rate, convert(fraction(1n), 'months', repayUnit)), repayEvery)
}

/** Returns the length of the first period in periods: 1 unless the first due date has a distance of its own. */
export function firstPeriods({ terms, repayEvery, repayUnit }: RatedProduct): Fraction {
  const first = terms?.firstDueAfter
  if (!first) return fraction(1n)
  return dividedBy(convert(fraction(BigInt(first.every)), first.unit, repayUnit), repayEvery)
}

/** The parts of which each rule counts so many in a year; of `actual/actual` the product of 365 and 366. */
const PARTS_OF_YEAR: Readonly<Record<DayCount, bigint>> = {
  'actual/365': 365n,
  'actual/360': 360n,
  'actual/actual': 365n * 366n,
  '30/360': 360n,
}

/**
 * Returns the interest of each period as a share of the balance: by its days, or each period alike, and the first as many
 * times as it has periods.
 * @param dates the day of disbursement, and the due dates
 */
export function periodRates(product: RatedProduct, dates: readonly LocalDate[]): PeriodRates {
  const { dayCount, interestRate, ratePer } = product.terms!
  const count = dates.length - 1
  if (dayCount !== 'periods') {
    const lengths = Array.from({ length: count }, (_, index) => [dates[index]!, dates[index + 1]!] as const)
    if (ratePer === 'day')
      return { overs: lengths.map(([from, to]) => interestRate * countedDays(dayCount, from, to)), under: RATE_UNIT }
    const aYear = ratePer === 'month' ? 12n : 1n
    const overs = lengths.map(([from, to]) => interestRate * aYear * partsBetween(dayCount, from, to))
    return { overs, under: RATE_UNIT * PARTS_OF_YEAR[dayCount] }
  }
  const { over, under } = exactRatePerPeriod(product)
  const first = firstPeriods(product)
  const overs = Array.from({ length: count }, (_, index) => over * (index === 0 ? first.over : first.under))
  return { overs, under: under * first.under }
}

/** Returns the days from one date to a later one, as the rule counts them. */
const countedDays = (rule: DayCount, from: LocalDate, to: LocalDate): bigint =>
  BigInt(rule === '30/360' ? thirtiesOf(to) - thirtiesOf(from) : daysBetween(from, to))

/** Returns the length of the time from one date to a later one, in the rule's parts of a year. */
function partsBetween(rule: DayCount, from: LocalDate, to: LocalDate): bigint {
  switch (rule) {
    case 'actual/actual':
      return actualParts(from, to)
    default:
      return countedDays(rule, from, to)
  }
}

/** Counts each day as a part of its own calendar year: 1/366 in a leap year, 1/365 in any other. */
function actualParts(from: LocalDate, to: LocalDate): bigint {
  let parts = 0n
  let day = from
  while (day < to) {
    const year = Number(day.slice(0, 4))
    const newYear = `${String(year + 1).padStart(4, '0')}-01-01`
    const end = newYear < to ? newYear : to
    parts += BigInt(daysBetween(day, end)) * (isLeap(year) ? 365n : 366n)
    day = end
  }
  return parts
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

/**
 * Returns the number of a day in a calendar of months of 30 days. The 31st and the last day of February count as the 30th:
 * due dates that are clamped to the end of a month are 30 days apart.
 */
function thirtiesOf(date: LocalDate): number {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number]
  const isEnd = day >= 30 || (month === 2 && day === (isLeap(year) ? 29 : 28))
  return 360 * year + 30 * month + (isEnd ? 30 : day)
}

import { addPeriods, dayAfter } from '../../../src/domain/dates.ts'
import { divideHalfEven } from '../../../src/domain/money.ts'
import type { Product } from '../../../src/domain/product/product.ts'
import type { ProductTerms } from '../../../src/domain/product/terms.ts'
import type { Instalment } from '../../../src/domain/schedule/schedule.ts'

// The interest of a schedule, from its dates and its principal alone. Shares are over one number that all rules divide.

/** Divisible by the days of a year of 360, 365 and 366, by 52, 30, 7 and by the distances of instalments, up to 3. */
const WHOLE = 360n * 73n * 366n * 52n * 7n * 30n * 12n

const days = (from: string, to: string): string[] => {
  const all: string[] = []
  for (let day = from; day < to; day = dayAfter(day)) all.push(day)
  return all
}

const isLeap = (day: string) => addPeriods(`${day.slice(0, 4)}-02-28`, 1, 'days').endsWith('02-29')

/** A day's place among months of 30 days: its month, and 30 for whatever day is the last or later than the 29th. */
function thirties(day: string): bigint {
  const [year, month, of] = day.split('-').map(BigInt) as [bigint, bigint, bigint]
  const endsFebruary = month === 2n && dayAfter(day).slice(5, 7) === '03'
  return (year * 12n + month) * 30n + (of > 30n || endsFebruary ? 30n : of)
}

/** Years from date to date in parts of WHOLE, day by day where days count. */
function years(rule: string, from: string, to: string): bigint {
  if (rule === '30/360') return ((thirties(to) - thirties(from)) * WHOLE) / 360n
  const perDay = (day: string) => (rule === 'actual/360' ? 360n : rule === 'actual/actual' && isLeap(day) ? 366n : 365n)
  return days(from, to).reduce((total, day) => total + WHOLE / perDay(day), 0n)
}

const IN_DAYS = { days: 1n, weeks: 7n, months: 30n, years: 360n } as const
const MONTHS_OF = { days: [1n, 30n], weeks: [1n, 4n], months: [1n, 1n], years: [12n, 1n] } as const
const YEARS_OF = { days: [1n, 360n], weeks: [1n, 52n], months: [1n, 12n], years: [1n, 1n] } as const
const WEEKS_OF = { days: [1n, 7n], weeks: [1n, 1n], months: [4n, 1n], years: [52n, 1n] } as const

/** The periods of the first instalment, in parts of WHOLE. */
function firstOf({ terms, repayEvery, repayUnit }: Product): bigint {
  if (!terms?.firstDueAfter) return WHOLE
  const { every, unit } = terms.firstDueAfter
  const [over, under] = {
    days: [IN_DAYS[unit], 1n] as const,
    weeks: WEEKS_OF[unit],
    months: MONTHS_OF[unit],
    years: YEARS_OF[unit],
  }[repayUnit]
  return (WHOLE * BigInt(every) * over) / (under * BigInt(repayEvery))
}

/** How many times a period's interest has the rate, as a ratio. */
function periodsOfRate({ terms, repayEvery, repayUnit }: Product): readonly [over: bigint, under: bigint] {
  if (terms === null || terms.ratePer === 'period') return [1n, 1n]
  if (terms.ratePer === 'day') return [IN_DAYS[repayUnit] * BigInt(repayEvery), 1n]
  const [over, under] = (terms.ratePer === 'month' ? MONTHS_OF : YEARS_OF)[repayUnit]
  return [over * BigInt(repayEvery), under]
}

/** The times that a rate is in a year of 360 days. */
const inYears = (ratePer: string): bigint => (ratePer === 'month' ? 12n : ratePer === 'day' ? 360n : 1n)

/** A rate per day counts the days that pass, or those of months of 30 days: as a year of 360 of them does. */
const ruleOf = ({ ratePer, dayCount }: ProductTerms): string =>
  ratePer === 'day' && dayCount.startsWith('actual') ? 'actual/360' : dayCount

/** Returns the interest of all instalments without tax, in minor units. */
export function naiveInterest(product: Product, principal: bigint, lines: readonly Instalment[]): bigint {
  const { terms } = product
  const rate = terms?.interestRate ?? product.ratePerPeriod
  const [over, under] = periodsOfRate(product)
  const lengths = lines.map((_, index) => (index === 0 ? firstOf(product) : WHOLE))
  if ((terms?.interestMethod ?? 'flat') === 'flat') {
    const periods = lengths.reduce((total, one) => total + one, 0n)
    return divideHalfEven(principal * rate * over * periods, 100_000_000n * under * WHOLE)
  }
  let balance = principal
  let total = 0n
  for (const [index, line] of lines.entries()) {
    const share =
      terms!.dayCount === 'periods'
        ? [over * lengths[index]!, under]
        : [inYears(terms!.ratePer) * years(ruleOf(terms!), line.fromDate, line.dueDate), 1n]
    total += divideHalfEven(balance * rate * share[0]!, 100_000_000n * share[1]! * WHOLE)
    balance -= line.principal
  }
  return total
}

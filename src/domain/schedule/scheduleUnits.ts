import { addPeriods, daysBetween, type LocalDate, type PeriodUnit } from '../dates.ts'
import { type FaultRole, invalidArgument } from '../errors.ts'
import { dividedBy, type Fraction, fraction, times } from './fraction.ts'
import type { InterestPeriod, RecordTerms } from './recordTerms.ts'

/** The spacing of instalments in a payment scheme: a cycle of units, one sum at the end, or evenly over the days. */
export type Scheme =
  | { readonly spacing: 'cycle'; readonly every: number; readonly unit: PeriodUnit }
  | { readonly spacing: 'lump_sum' }
  | { readonly spacing: 'even' }

const every = (count: number, unit: PeriodUnit): Scheme => ({ spacing: 'cycle', every: count, unit })

/** The known values of `loan_payment_scheme_id` (contract 5.3). */
const SCHEMES: ReadonlyMap<number, Scheme> = new Map<number, Scheme>([
  [6, every(1, 'days')],
  [4, every(1, 'weeks')],
  [9, every(2, 'weeks')],
  [3, every(1, 'months')],
  [12, every(2, 'months')],
  [13, every(3, 'months')],
  [781, every(4, 'months')],
  [14, every(6, 'months')],
  [1943, every(9, 'months')],
  [11, every(1, 'years')],
  [10, { spacing: 'lump_sum' }],
])

/** Returns the scheme of a number; an unknown number is an organization's own, evenly spaced (contract 5.3). */
export const schemeOf = (schemeId: number): Scheme => SCHEMES.get(schemeId) ?? { spacing: 'even' }

/** One unit in each other unit: 30 days or 4 weeks a month; 360 days, 52 weeks or 12 months a year. */
const UNITS: Readonly<Record<PeriodUnit, Readonly<Record<PeriodUnit, readonly [over: bigint, under: bigint]>>>> = {
  days: { days: [1n, 1n], weeks: [1n, 7n], months: [1n, 30n], years: [1n, 360n] },
  weeks: { days: [7n, 1n], weeks: [1n, 1n], months: [1n, 4n], years: [1n, 52n] },
  months: { days: [30n, 1n], weeks: [4n, 1n], months: [1n, 1n], years: [1n, 12n] },
  years: { days: [360n, 1n], weeks: [52n, 1n], months: [12n, 1n], years: [1n, 1n] },
}

const UNIT_OF: Readonly<Record<Exclude<InterestPeriod, 'Loan'>, PeriodUnit>> = {
  Day: 'days',
  Week: 'weeks',
  Month: 'months',
  Year: 'years',
}

/**
 * Converts a number of units to another unit, exactly (contract 5.3) and in one step: by way of months, 52 weeks would
 * be 13 months and not a year.
 */
export const convert = (count: Fraction, from: PeriodUnit, to: PeriodUnit): Fraction =>
  times(count, fraction(...UNITS[from][to]))

/** Returns the interest periods in the loan's duration; 1 where the interest is for the whole loan. */
export const periodsInLoan = ({ interestPeriod, duration, durationUnit }: RecordTerms): Fraction =>
  interestPeriod === 'Loan' ? fraction(1n) : convert(fraction(BigInt(duration)), durationUnit, UNIT_OF[interestPeriod])

/**
 * Returns the interest periods from one instalment to the next: the scheme's cycle without regard to the calendar, so
 * that every month costs the same. Where the scheme has no cycle, or the interest is for the whole loan, an equal share
 * of the duration.
 */
export function periodsInCycle(terms: RecordTerms): Fraction {
  const scheme = schemeOf(terms.schemeId)
  return scheme.spacing === 'cycle' && terms.interestPeriod !== 'Loan'
    ? convert(fraction(BigInt(scheme.every)), scheme.unit, UNIT_OF[terms.interestPeriod])
    : dividedBy(periodsInLoan(terms), terms.numberOfRepayments)
}

/**
 * Returns the due dates, `numberOfRepayments` of them, each later than the one before and than the release. Cycles are
 * counted from the release without drift, also past the end of the duration when there are more repayments than fit
 * into it. A lump sum is due at the end of the duration. An organization's own scheme divides the days of the duration
 * evenly, rounded down, with the last date at the end of the duration.
 * @throws LendingError `invalid_argument` when the last is after the year 9999, or there are more of them than days
 */
export function dueDates({
  schemeId,
  releasedOn,
  duration,
  durationUnit,
  numberOfRepayments,
}: RecordTerms): LocalDate[] {
  const scheme = schemeOf(schemeId)
  if (scheme.spacing === 'cycle') {
    const nth = (count: number) => addPeriods(releasedOn, count * scheme.every, scheme.unit)
    checkYear(nth(numberOfRepayments), 'numberOfRepayments')
    return Array.from({ length: numberOfRepayments }, (_, index) => nth(index + 1))
  }
  const end = addPeriods(releasedOn, duration, durationUnit)
  checkYear(end, 'termDuration')
  if (scheme.spacing === 'lump_sum') return [end]
  const days = daysBetween(releasedOn, end)
  if (numberOfRepayments > days)
    throw invalidArgument('numberOfRepayments', `must be at most ${days}, one for each day of the duration`)
  return Array.from({ length: numberOfRepayments }, (_, index) =>
    addPeriods(releasedOn, Math.floor((days * (index + 1)) / numberOfRepayments), 'days'),
  )
}

/** Dates are compared and kept as `YYYY-MM-DD`: a year of five digits has another form. */
function checkYear(last: LocalDate, role: FaultRole): void {
  if (last.length !== 10) throw invalidArgument(role, 'must end the loan before the year 10000')
}

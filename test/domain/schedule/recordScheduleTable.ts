import { currencyOf, minorToText, parseDecimal, sum } from '../../../src/domain/money.ts'
import { recordSchedule } from '../../../src/domain/schedule/recordSchedule.ts'
import type { RecordTerms } from '../../../src/domain/schedule/recordTerms.ts'

/** 1,000.00 KES at 10 % a month flat, for three months in three, released on the last of January. */
export const base: RecordTerms = {
  currency: currencyOf('KES'),
  principal: 1_000_00n,
  releasedOn: '2026-01-31',
  method: 'flat_rate',
  interestType: 'percentage',
  interest: parseDecimal('10')!,
  interestPeriod: 'Month',
  durationUnit: 'months',
  duration: 3,
  schemeId: 3,
  numberOfRepayments: 3,
  rounding: 'round_off_to_two_decimal',
}

/** Terms that differ from the base, with the interest in the words of a request. */
export type Differing = Omit<Partial<RecordTerms>, 'interest'> & { readonly interest?: string }

export function termsWith({ interest, ...rest }: Differing): RecordTerms {
  return { ...base, ...rest, ...(interest === undefined ? {} : { interest: parseDecimal(interest)! }) }
}

export const scheduleWith = (differing: Differing) => recordSchedule(termsWith(differing))

/** A schedule as a table: due date, principal, interest. */
export function table(differing: Differing): string[] {
  const { currency } = termsWith(differing)
  return scheduleWith(differing).map(
    (line) => `${line.dueDate} ${minorToText(line.principal, currency)} ${minorToText(line.interest, currency)}`,
  )
}

/** The columns without the dates. */
export const cells = (differing: Differing): string[] => table(differing).map((line) => line.slice(11))

export const dates = (differing: Differing): string[] => scheduleWith(differing).map((line) => line.dueDate)

/** All interest, as text. */
export const interestOf = (differing: Differing): string =>
  minorToText(sum(scheduleWith(differing).map((line) => line.interest)), termsWith(differing).currency)

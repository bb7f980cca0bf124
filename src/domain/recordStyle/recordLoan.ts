import { dateIn, type Instant, LAST_DATE, type LocalDate, type PeriodUnit, sameTimeOn, startOfDay } from '../dates.ts'
import { invalidArgument, invariant } from '../errors.ts'
import type { LoanTerms } from '../loan/terms/terms.ts'
import { type Currency, type Decimal, parseDecimal, toMinor } from '../money.ts'
import { basicSchedule, ratePerCycle, recordSchedule } from '../schedule/recordSchedule.ts'
import {
  defaultDecimalPlaces,
  type RecordTerms,
  readDecimalPlaces,
  readDurationPeriod,
  readInterestMethod,
  readInterestPeriod,
  readInterestType,
} from '../schedule/recordTerms.ts'
import type { ExtendedBody, LoanRecord, Source } from './loanRecord.ts'

/** A loan of the basic body: one instalment without interest (contract 5.2). */
export interface BasicLoan {
  readonly principal: Decimal
  readonly releasedOn: LocalDate
  readonly dueOn: LocalDate
  readonly duration: number
  readonly durationPeriod: string
}

/** A record system's request to book a loan: its terms in either body, and remarks. */
export type LoanRequest = BasicRequest | ExtendedRequest

interface BasicRequest {
  readonly basic: BasicLoan
  readonly remarks?: Remarks
}

interface ExtendedRequest {
  readonly extended: ExtendedBody
  /** The day on which the last instalment has to be due; undefined: the day that the terms make. */
  readonly dueOn?: LocalDate | undefined
  readonly remarks?: Remarks
}

type Remarks = Pick<LoanRecord, 'loanType' | 'description' | 'products'>

/** A loan's terms and its record. */
export interface Agreed {
  readonly terms: LoanTerms
  readonly record: LoanRecord
}

/**
 * The terms of a record-style loan. Released today it is disbursed now, released on another day at its first moment.
 * @throws LendingError `invalid_argument` with the role of the term at fault
 */
export const agree = (request: LoanRequest, currency: Currency, zone: string, now: Instant): Agreed =>
  'basic' in request ? agreeBasic(request, currency, zone, now) : agreeExtended(request, currency, zone, now)

const NO_REMARKS: Remarks = { loanType: null, description: null, products: [] }

function agreeBasic(
  { basic, remarks = NO_REMARKS }: BasicRequest,
  currency: Currency,
  zone: string,
  now: Instant,
): Agreed {
  const { releasedOn, dueOn, duration, durationPeriod } = basic
  const principal = toMinor(basic.principal, currency, 'principal')
  const schedule = basicSchedule({ principal, releasedOn, dueOn })
  return {
    terms: termsWith({ currency, zone, principal, ratePerPeriod: 0n, schedule }, releasedOn, now),
    record: { ...remarks, duration, durationPeriod, extended: null },
  }
}

function agreeExtended(
  { extended, dueOn, remarks = NO_REMARKS }: ExtendedRequest,
  currency: Currency,
  zone: string,
  now: Instant,
): Agreed {
  const recordTerms = readExtended(extended, currency)
  const schedule = recordSchedule(recordTerms)
  const lastDueOn = schedule.at(-1)!.dueDate
  if (dueOn !== undefined && dueOn !== lastDueOn)
    throw invalidArgument('dueOn', `follows from the other terms of this loan: leave it out, or give ${lastDueOn}`)
  if (lastDueOn > LAST_DATE)
    throw invalidArgument('termReleasedOn', `must be so early that the last repayment is due by ${LAST_DATE}`)
  const { principal, duration, releasedOn } = recordTerms
  const ratePerPeriod = ratePerCycle(recordTerms)
  const durationPeriod = textOf(extended.loan_duration_period)
  return {
    terms: termsWith({ currency, zone, principal, ratePerPeriod, schedule }, releasedOn, now),
    record: { ...remarks, duration, durationPeriod, extended },
  }
}

function termsWith(
  agreed: Pick<LoanTerms, 'currency' | 'zone' | 'principal' | 'ratePerPeriod' | 'schedule'>,
  releasedOn: LocalDate,
  now: Instant,
): LoanTerms {
  const { zone, schedule } = agreed
  const disbursedAt = releasedOn === dateIn(zone, now) ? now : startOfDay(releasedOn, zone)
  const dueOn = schedule.at(-1)!.dueDate
  return {
    ...agreed,
    numberOfRepayments: schedule.length,
    penaltyAmount: null,
    rules: null,
    disbursedAt,
    disbursedOn: releasedOn,
    dueOn,
    dueAt: sameTimeOn(dueOn, disbursedAt, zone),
  }
}

/**
 * Returns the terms from which the schedule of an extended body is computed. Its words and numbers were checked when
 * the body was read.
 * @throws LendingError `invalid_argument` for the principal
 */
function readExtended(sent: ExtendedBody, currency: Currency): RecordTerms {
  const places = sent.loan_decimal_places
  return {
    currency,
    principal: toMinor(decimalOf(sent.loan_principal_amount), currency, 'termPrincipal'),
    releasedOn: textOf(sent.loan_released_date),
    method: known(readInterestMethod(textOf(sent.loan_interest_method))),
    interestType: known(readInterestType(textOf(sent.loan_interest_type))),
    interest: decimalOf(sent.loan_interest),
    interestPeriod: known(readInterestPeriod(textOf(sent.loan_interest_period))),
    durationUnit: known(readDurationPeriod(textOf(sent.loan_duration_period))),
    duration: Number(sent.loan_duration),
    schemeId: Number(sent.loan_payment_scheme_id),
    numberOfRepayments: Number(sent.loan_num_of_repayments),
    rounding: places === undefined ? defaultDecimalPlaces : known(readDecimalPlaces(textOf(places))),
  }
}

/** Returns the text of a source; of a number, its digits (`loan_decimal_places` may be 2 or "2"). */
export const textOf = (source: Source): string => (source.startsWith('"') ? String(JSON.parse(source)) : source)

function decimalOf(source: Source): Decimal {
  const decimal = parseDecimal(source)
  invariant(decimal, 'a number that was read before')
  return decimal
}

function known<Word>(word: Word | undefined): Word {
  invariant(word !== undefined, 'a word that was read before')
  return word
}

/** The content of a loan, by which a repeated request is recognised. */
export interface LoanContent {
  readonly borrowerId: bigint
  readonly principal: bigint
  readonly disbursedOn: LocalDate
  readonly dueOn: LocalDate
  /** Null for a loan that came from a product. */
  readonly record: LoanRecord | null
}

/**
 * Returns whether two loans have the same content, so that a second request with the same id is a repetition and not a
 * conflict (contract 5.1). Numbers are compared by value. Products are left out, because no request to book has them.
 */
export function sameLoan(a: LoanContent, b: LoanContent): boolean {
  if (a.record === null || b.record === null) return false
  return (
    a.borrowerId === b.borrowerId &&
    a.principal === b.principal &&
    a.disbursedOn === b.disbursedOn &&
    a.dueOn === b.dueOn &&
    a.record.duration === b.record.duration &&
    a.record.durationPeriod === b.record.durationPeriod &&
    a.record.loanType === b.record.loanType &&
    a.record.description === b.record.description &&
    sameSources(a.record.extended ?? {}, b.record.extended ?? {})
  )
}

/** Returns whether two objects have the same fields, each with the same text or the same number. */
export function sameSources(a: object, b: object): boolean {
  const [left, right] = [new Map<string, unknown>(Object.entries(a)), new Map<string, unknown>(Object.entries(b))]
  return [...new Set([...left.keys(), ...right.keys()])].every((name) => sameSource(left.get(name), right.get(name)))
}

/** Returns whether two values are the same text, or the same number in any spelling. */
export function sameSource(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'string' || typeof b !== 'string') return false
  const [x, y] = [parseDecimal(a), parseDecimal(b)]
  return x !== undefined && y !== undefined && x.units === y.units && x.scale === y.scale
}

/** The duration of a loan in the words of the record style. */
export interface Duration {
  readonly duration: number
  readonly durationPeriod: string
}

/** Returns the duration that a record system sent; of a partner's loan, its instalments: 6 × 1 months are 6 Months. */
export function durationOf({
  record,
  product,
  numberOfRepayments,
}: {
  readonly record: LoanRecord | null
  readonly product: { readonly repayEvery: number; readonly repayUnit: PeriodUnit } | null
  readonly numberOfRepayments: number
}): Duration {
  const { repayEvery = 1, repayUnit = 'months' } = product ?? {}
  return {
    duration: record?.duration ?? numberOfRepayments * repayEvery,
    durationPeriod: record?.durationPeriod ?? repayUnit.charAt(0).toUpperCase() + repayUnit.slice(1),
  }
}

/** Returns the type that a record system sent; of a partner's loan, the name of its product; else an empty text. */
export const loanTypeOf = ({
  record,
  product,
}: {
  readonly record: LoanRecord | null
  readonly product: { readonly name: string } | null
}): string => record?.loanType ?? product?.name ?? ''

import type { Instant } from '../dates.ts'
import { toDay, toInstant } from '../dates.ts'
import type { LoanTerms } from '../loan/terms.ts'
import type { Instalment } from '../schedule/schedule.ts'

/** The terms that a record system can change (contract 5, PUT), and the schedule that follows from them. */
export type ChangeableTerms = Pick<
  LoanTerms,
  'principal' | 'ratePerPeriod' | 'disbursedAt' | 'disbursedOn' | 'dueOn' | 'dueAt' | 'schedule'
>

/** The terms that a loan had until a change. */
export interface EarlierTerms {
  /** The last version of the loan that had the terms. */
  readonly version: number
  /** The instant of the change: the terms were known at each instant before it. */
  readonly until: Instant
  readonly terms: ChangeableTerms
}

/** The part of a loan that says which terms it has. */
export interface LoanWithTerms {
  /** Null unless its terms came from a product. */
  readonly productId: number | null
  readonly terms: LoanTerms
}

/**
 * Returns the terms of a loan as they were known at an instant. The terms of a product's loan never change.
 * @param earlier the terms that the loan had before, in the order of their versions; they have to be read after the loan
 */
export const termsKnownAt = (
  { productId, terms }: LoanWithTerms,
  earlier: readonly EarlierTerms[],
  at: Instant,
): LoanTerms => (productId === null ? { ...terms, ...earlier.find(({ until }) => until > at)?.terms } : terms)

/** The first field of the text. A change of how the text is written changes it. */
const FORMAT_VERSION = '1'

/**
 * Writes terms as text:
 * `1,principal,rate,disbursedAt,disbursedOn,dueOn,dueAt;from,due,principal,interest,fees;…`, with one part for each
 * instalment. Amounts in minor units, instants in milliseconds.
 */
export const earlierTermsToText = (terms: ChangeableTerms): string =>
  [
    [
      FORMAT_VERSION,
      terms.principal,
      terms.ratePerPeriod,
      terms.disbursedAt,
      terms.disbursedOn,
      terms.dueOn,
      terms.dueAt,
    ],
    ...terms.schedule.map(({ fromDate, dueDate, principal, interest, fees }) => [
      fromDate,
      dueDate,
      principal,
      interest,
      fees,
    ]),
  ]
    .map((fields) => fields.join(','))
    .join(';')

/** Reads terms from their text. @throws SyntaxError for a damaged text, and for one of another format version */
export function earlierTermsFromText(text: string): ChangeableTerms {
  const [head = '', ...lines] = text.split(';')
  const [format, principal = '', rate = '', disbursedAt, disbursedOn, dueOn, dueAt] = head.split(',')
  if (format !== FORMAT_VERSION || lines.length === 0) throw new SyntaxError('earlier terms of a loan')
  return {
    principal: BigInt(principal),
    ratePerPeriod: BigInt(rate),
    disbursedAt: toInstant(disbursedAt),
    disbursedOn: toDay(disbursedOn),
    dueOn: toDay(dueOn),
    dueAt: toInstant(dueAt),
    schedule: lines.map(toInstalment),
  }
}

function toInstalment(line: string, index: number): Instalment {
  const [fromDate, dueDate, principal = '', interest = '', fees = ''] = line.split(',')
  return {
    period: index + 1,
    fromDate: toDay(fromDate),
    dueDate: toDay(dueDate),
    principal: BigInt(principal),
    interest: BigInt(interest),
    fees: BigInt(fees),
  }
}

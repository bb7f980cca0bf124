import { toDay, toInstant } from '../../dates.ts'
import type { Instalment } from '../../schedule/schedule.ts'
import type { VersionedTerms } from './versions.ts'

/** The first field of the text. A change of how the text is written changes it. */
const FORMAT_VERSION = '1'

/**
 * Writes terms as text:
 * `1,principal,rate,disbursedAt,disbursedOn,dueOn,dueAt;from,due,principal,interest,fees;…`, with one part for each
 * instalment: the number of repayments is the number of these parts. Amounts in minor units, instants in milliseconds.
 */
export const earlierTermsToText = (terms: VersionedTerms): string =>
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
export function earlierTermsFromText(text: string): VersionedTerms {
  const [head = '', ...lines] = text.split(';')
  const [format, principal = '', rate = '', disbursedAt, disbursedOn, dueOn, dueAt] = head.split(',')
  if (format !== FORMAT_VERSION || lines.length === 0) throw new SyntaxError('earlier terms of a loan')
  return {
    principal: BigInt(principal),
    numberOfRepayments: lines.length,
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

import { readFileSync } from 'node:fs'
import { minorToText } from '../../../src/domain/money.ts'
import { productOf } from '../../../src/domain/product/newProduct.ts'
import { type Quote, quoteOf } from '../../../src/domain/product/quote.ts'
import { type LineOfTerms, readTerms } from './termsLine.ts'

/** A loan of the table: the request for its product, and what is expected of it. */
export interface TabledLoan extends LineOfTerms {
  readonly title: string
  /** Due date, principal, interest and fees of each instalment; what is paid out, where fees are deducted; then the APR. */
  readonly expected: readonly string[]
}

function read(block: string): TabledLoan {
  const [title = '', line = '', ...expected] = block.trim().split('\n')
  return { title, ...readTerms(line, title), expected }
}

/** Every loan of the tables. */
export const tabledLoans = (): TabledLoan[] =>
  ['./loans.txt', './loansWithFees.txt'].flatMap((file) =>
    readFileSync(new URL(file, import.meta.url), 'utf8')
      .split('== ')
      .slice(1)
      .map(read),
  )

/** Quotes a loan of the table. */
export function quoted({ product: request, principal, disbursedOn }: TabledLoan): Quote {
  const product = productOf(request, 1)
  return quoteOf(product, BigInt(principal) * 10n ** BigInt(product.currency.decimals), disbursedOn)
}

/** Writes a quote as the table has it. */
export function written({ product, schedule, apr, netDisbursed, feesDeducted }: Quote): string[] {
  const text = (minor: bigint) => minorToText(minor, product.currency)
  const lines = schedule.map((line) => [line.dueDate, text(line.principal), text(line.interest), text(line.fees)])
  const paidOut = feesDeducted > 0n ? [`paid out ${text(netDisbursed)}`] : []
  return [...lines.map((cells) => cells.join(' ')), ...paidOut, `apr ${apr === null ? 'none' : apr}`]
}

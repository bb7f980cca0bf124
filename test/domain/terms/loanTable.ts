import { readFileSync } from 'node:fs'
import { minorToText, parseDecimal } from '../../../src/domain/money.ts'
import { type NewProduct, productOf } from '../../../src/domain/product/newProduct.ts'
import { type Quote, quoteOf } from '../../../src/domain/product/quote.ts'

/** A loan of the table: the request for its product, and what is expected of it. */
export interface TabledLoan {
  readonly title: string
  readonly principal: string
  readonly disbursedOn: string
  readonly product: NewProduct
  /** Due date, principal, interest and fees of each instalment; then the APR. */
  readonly expected: readonly string[]
}

const number = (text: string | undefined) => {
  const read = parseDecimal(text ?? '')
  if (!read) throw new Error(`a number, not ${text}`)
  return read
}

type Terms = Partial<NewProduct> & { readonly disbursedOn?: string }

/** Reads a part of a line of terms, given what the parts before it came to. */
type Reader = (words: readonly string[], before: Terms) => Terms

/** The readers by the first words of a part. */
const READERS: readonly (readonly [begins: string, read: Reader])[] = [
  ['days ', ([, dayCount]) => ({ dayCount })],
  ['no principal ', ([, , n], { grace }) => ({ grace: { ...grace, principalPeriods: Number(n) } })],
  ['no interest ', ([, , n], { grace }) => ({ grace: { ...grace, interestPeriods: Number(n) } })],
  [
    'first after ',
    ([, , every, unit = ''], { grace }) => ({ grace: { ...grace, firstDueAfter: { every: Number(every), unit } } }),
  ],
  ['multiple ', ([, amount]) => ({ totalMultipleOf: number(amount) })],
  ['on ', ([, disbursedOn = '']) => ({ disbursedOn })],
  ['in UGX', () => ({ currency: 'UGX' })],
  [
    'fee ',
    ([, base = '', value, when = ''], { fees = [] }) => {
      const size = base === 'fixed' ? { amount: number(value) } : { rate: number(value) }
      return { fees: [...fees, { name: `Fee ${fees.length + 1}`, base, when, ...size }] }
    },
  ],
]

function read(block: string): TabledLoan {
  const [title = '', line = '', ...expected] = block.trim().split('\n')
  const [lent = '', how = '', ...rest] = line.split('; ')
  const [principal = '', , count, , every, unit] = lent.split(' ')
  const [interestMethod, rate = '', , ratePer] = how.split(' ')
  let terms: Terms = { interestMethod, ratePer }
  for (const part of rest) {
    const reader = READERS.find(([begins]) => part.startsWith(begins))
    if (!reader) throw new Error(`a term, not ${part}`)
    terms = { ...terms, ...reader[1](part.split(' '), terms) }
  }
  const { disbursedOn = '2026-01-31', ...others } = terms
  const product = {
    ...{ name: title, currency: 'TZS', principalMin: number('1'), principalMax: number('1000000') },
    ...{ numberOfRepayments: Number(count), repayEvery: Number(every), repayUnit: unit! },
    ...{ interestRate: number(rate.slice(0, -1)), ...others },
  }
  return { title, principal, disbursedOn, product, expected }
}

/** Every loan of the table. */
export const tabledLoans = (): TabledLoan[] =>
  readFileSync(new URL('./loans.txt', import.meta.url), 'utf8')
    .split('== ')
    .slice(1)
    .map(read)

/** Quotes a loan of the table. */
export function quoted({ product: request, principal, disbursedOn }: TabledLoan): Quote {
  const product = productOf(request, 1)
  return quoteOf(product, BigInt(principal) * 10n ** BigInt(product.currency.decimals), disbursedOn)
}

/** Writes a quote as the table has it. */
export function written({ product, schedule, apr }: Quote): string[] {
  const text = (minor: bigint) => minorToText(minor, product.currency)
  const lines = schedule.map((line) => [line.dueDate, text(line.principal), text(line.interest), text(line.fees)])
  return [...lines.map((cells) => cells.join(' ')), `apr ${apr === null ? 'none' : apr}`]
}

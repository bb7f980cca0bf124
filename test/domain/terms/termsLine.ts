import { parseDecimal } from '../../../src/domain/money.ts'
import type { NewProduct } from '../../../src/domain/product/newProduct.ts'

// A line of terms, as tables of loans have it: `900 in 3 every 1 months; flat 10% per period; no interest 2; …`

/** What a line of terms lends, and the request for its product. */
export interface LineOfTerms {
  readonly principal: string
  readonly disbursedOn: string
  readonly product: NewProduct
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
    ([, base = '', value, when = '', treatment], { fees = [] }) => {
      const size = base === 'fixed' ? { amount: number(value) } : { rate: number(value) }
      return { fees: [...fees, { name: `Fee ${fees.length + 1}`, base, when, treatment, ...size }] }
    },
  ],
  ['penalty ', (words) => ({ penalty: penaltyOf(words) })],
  ['settles ', ([, earlySettlement]) => ({ earlySettlement })],
  ['all charges ', ([, , percent]) => ({ totalChargeCap: number(percent) })],
  ['pays ', ([, ...allocation]) => ({ allocation })],
]

/** Reads `penalty fixed 20 every week per instalment grace 3 times 2 cap 10`, of which the last three may be left out. */
function penaltyOf([, base = '', size, , every = '', , per = '', ...limits]: readonly string[]) {
  const limit = (name: string) => (limits.includes(name) ? limits[limits.indexOf(name) + 1] : undefined)
  const [grace, times, cap] = [limit('grace'), limit('times'), limit('cap')]
  return {
    ...{ base, every, per, ...(base === 'fixed' ? { amount: number(size) } : { rate: number(size) }) },
    graceDays: grace === undefined ? undefined : Number(grace),
    maxTimes: times === undefined ? undefined : Number(times),
    capPercentOfPrincipal: cap === undefined ? undefined : number(cap),
  }
}

/** Reads a line of terms. @param name the product's */
export function readTerms(line: string, name: string): LineOfTerms {
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
    ...{ name, currency: 'TZS', principalMin: number(principal), principalMax: number('1000000') },
    ...{ numberOfRepayments: Number(count), repayEvery: Number(every), repayUnit: unit! },
    ...{ interestRate: number(rate.slice(0, -1)), ...others },
  }
  return { principal, disbursedOn, product }
}

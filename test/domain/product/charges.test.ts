import { describe, expect, it } from 'vitest'
import { LendingError } from '../../../src/domain/errors.ts'
import { termsOf } from '../../../src/domain/loan/terms/terms.ts'
import { type Decimal, parseDecimal } from '../../../src/domain/money.ts'
import { type NewProduct, productOf } from '../../../src/domain/product/newProduct.ts'
import { principalFor, requireWithinCap } from '../../../src/domain/product/product.ts'
import { quoteOf } from '../../../src/domain/product/quote.ts'
import { productSchedule } from '../../../src/domain/schedule/schedule.ts'

const number = (text: string): Decimal => parseDecimal(text)!

/** The product of 3 months at 2 % a month, with other terms. */
const productWith = (terms: Partial<NewProduct>) =>
  productOf(
    {
      ...{ name: 'Any', currency: 'TZS', principalMin: number('1000'), principalMax: number('100000') },
      ...{ numberOfRepayments: 3, repayEvery: 1, repayUnit: 'months', interestRate: number('2') },
      ...terms,
    },
    1,
  )

/** What a refusal is about, and what it says; undefined where nothing is refused. */
function refusalOf(act: () => unknown): readonly [role: string | undefined, message: string] | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (!(error instanceof LendingError)) throw error
    return [error.faults[0]?.role, error.message]
  }
}

const fixed = (amount: string, more: object = {}) => ({
  ...{ name: `Fee of ${amount}`, base: 'fixed', amount: number(amount), when: 'disbursement' },
  ...more,
})
const share = (rate: string, more: object = {}) => ({
  ...{ name: 'Share', base: 'principal', rate: number(rate), when: 'disbursement' },
  ...more,
})
const deducted = { treatment: 'deducted' }

describe('the cap of all charges', () => {
  it('is kept by charges that come to it exactly, and refuses a minor unit above it', () => {
    expect(productWith({ totalChargeCap: number('6') }).terms).toMatchObject({ totalChargeCap: 6_000_000n })
    expect(refusalOf(() => productWith({ totalChargeCap: number('5.999') }))).toEqual([
      'totalChargeCap',
      'must leave room for interest and fees: on a principal of 1000.00 TZS they come to 60.00 TZS, and 5.999 percent of that principal is 59.99 TZS',
    ])
  })

  it.each(['added', 'deducted'])('counts fees that are %s', (treatment) => {
    const asked = (cap: string) => ({ totalChargeCap: number(cap), fees: [fixed('5', { treatment })] })
    expect(refusalOf(() => productWith(asked('6.5')))).toBe(undefined)
    expect(refusalOf(() => productWith(asked('6.499')))).toEqual([
      'totalChargeCap',
      expect.stringContaining(
        'on a principal of 1000.00 TZS they come to 65.00 TZS, and 6.499 percent of that principal is 64.99 TZS',
      ),
    ])
  })

  it('looks at the largest principal too, of which rounding takes less', () => {
    const asked = { totalChargeCap: number('6.0001'), fees: [share('0.0002')] }
    expect(refusalOf(() => productWith({ ...asked, principalMax: number('1000') }))).toBe(undefined)
    expect(refusalOf(() => productWith(asked))).toEqual([
      'totalChargeCap',
      expect.stringContaining(
        'on a principal of 100000.00 TZS they come to 6000.20 TZS, and 6.0001 percent of that principal is 6000.10 TZS',
      ),
    ])
  })

  it('is rounded half-even, as the rules of the loan have it', () => {
    const product = productWith({ interestRate: number('0'), totalChargeCap: number('0.0005'), currency: 'TZS' })
    // 0.0005 percent of 1,000.00 is half a cent: to the even one, 0.
    const terms = termsOf(product, number('1000'), Date.UTC(2026, 0, 31, 6), 'Africa/Nairobi')
    expect(terms.rules?.mostCharges).toBe(0n)
    const line = { ...terms.schedule[0]!, interest: 1n }
    expect(refusalOf(() => requireWithinCap(product, terms.principal, terms.schedule))).toBe(undefined)
    expect(refusalOf(() => requireWithinCap(product, terms.principal, [line]))).toEqual([
      'principal',
      expect.stringContaining(
        'on a principal of 1000.00 TZS they come to 0.01 TZS, and 0.0005 percent of that principal is 0.00 TZS',
      ),
    ])
  })

  it('refuses a loan and a quote of a principal between the bounds, as it refuses a day', () => {
    // A fee of a fixed amount weighs more the less is lent; interest by days weighs more in July and August.
    const byDays = { interestMethod: 'interest_only', ratePer: 'year', dayCount: 'actual/365' }
    const product = productWith({
      ...{ ...byDays, interestRate: number('36.5'), numberOfRepayments: 1, repayEvery: 2 },
      ...{ totalChargeCap: number('10.9'), fees: [fixed('50')] },
    })
    const [january, july] = [Date.UTC(2026, 0, 1, 6), Date.UTC(2026, 6, 1, 6)]
    const lend = (principal: string, at: number) => refusalOf(() => termsOf(product, number(principal), at, 'UTC'))
    expect(lend('1000', january)).toBe(undefined)
    expect(lend('1000', july)).toEqual(['principal', expect.stringContaining('they come to 112.00 TZS')])
    expect(lend('1100', july)).toBe(undefined)
    expect(refusalOf(() => quoteOf(product, 100_000n, '2026-07-01'))).toEqual(lend('1000', july))
  })

  it('leaves a product alone that has none', () => {
    const product = productWith({ fees: [fixed('900', deducted)] })
    const schedule = productSchedule({ ...product, principal: 100_000n, disbursedOn: '2026-01-31' })
    expect(refusalOf(() => requireWithinCap(product, 100_000n, schedule))).toBe(undefined)
  })
})

describe('fees that are deducted', () => {
  it('leave something of the smallest principal to pay out', () => {
    expect(refusalOf(() => productWith({ fees: [fixed('999.99', deducted)] }))).toBe(undefined)
    expect(refusalOf(() => productWith({ fees: [fixed('900', deducted), share('10', deducted)] }))).toEqual([
      'fees',
      'must leave something to pay out: of a principal of 1000.00 TZS, 1000.00 TZS would be deducted',
    ])
  })

  it('leave something of the largest, where rounding spares the smallest', () => {
    const halves = [share('50', deducted), share('50', { ...deducted, name: 'Other' })]
    const bounds = { currency: 'UGX', principalMin: number('1'), fees: halves }
    expect(refusalOf(() => productWith({ ...bounds, principalMax: number('2') }))).toEqual([
      'fees',
      'must leave something to pay out: of a principal of 2 UGX, 2 UGX would be deducted',
    ])
    // Half of 1 is 0, and half of 5 is 2, to the even one; half of 3 is 2.
    const product = productWith({ ...bounds, principalMax: number('5') })
    expect(principalFor(product, number('5'))).toBe(5n)
    expect(refusalOf(() => principalFor(product, number('3')))).toEqual([
      'principal',
      'must be more than the fees that are deducted from it: of 3 UGX they are 4 UGX',
    ])
  })

  it('are no charge of an instalment, whatever else is in it', () => {
    const product = productWith({ fees: [fixed('10', deducted), fixed('3'), share('1', deducted)] })
    const lines = productSchedule({ ...product, principal: 100_000n, disbursedOn: '2026-01-31' })
    expect(lines.map(({ fees }) => fees)).toEqual([300n, 0n, 0n])
  })
})

describe('a penalty in its terms', () => {
  const single = { base: 'principal', rate: number('10'), every: 'once', per: 'loan' }

  it('is the single one of contract 4.3.4 where it says no more', () => {
    const { penaltyRate, terms } = productWith({ penalty: { ...single, graceDays: 0 } })
    expect([penaltyRate, terms]).toEqual([10_000_000n, null])
    const beside = productWith({ penalty: single, allocation: ['fees', 'penalty', 'interest', 'principal'] })
    expect([beside.penaltyRate, beside.terms?.penalty]).toEqual([10_000_000n, null])
  })

  it.each([
    ['a grace', { graceDays: 1 }],
    ['a cap', { capPercentOfPrincipal: number('10') }],
    ['one for each instalment', { per: 'instalment' }],
    ['repetition', { every: 'week' }],
    ['another base', { base: 'overdue_principal' }],
  ])('is terms with %s', (_, more) => {
    const { penaltyRate, terms } = productWith({ penalty: { ...single, ...more } })
    expect([penaltyRate, terms?.penalty?.value]).toEqual([null, 10_000_000n])
  })

  it('has a size that is an amount of the currency', () => {
    const asked = { base: 'fixed', amount: number('2.5'), every: 'day', per: 'loan' }
    expect(productWith({ penalty: asked }).terms?.penalty).toMatchObject({ base: 'fixed', value: 250n, maxTimes: null })
    expect(refusalOf(() => productWith({ currency: 'UGX', penalty: asked }))).toEqual([
      'penalty.amount',
      'must be a whole number: UGX has no decimals',
    ])
  })

  it.each([
    ['graceDays', { graceDays: 365.5 }, 'must be a whole number, 0 to 365'],
    ['maxTimes', { every: 'day', maxTimes: 10_001 }, 'must be a whole number, 1 to 10000'],
  ])('has a whole %s within its bounds', (member, more, message) => {
    expect(refusalOf(() => productWith({ penalty: { ...single, ...more } }))).toEqual([`penalty.${member}`, message])
  })
})

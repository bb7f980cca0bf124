import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseJson } from '../../../../src/api/body/json.ts'
import { createProductRequest, toNewProduct, toProduct } from '../../../../src/api/partner/products/products.wire.ts'
import { productOf } from '../../../../src/domain/product/newProduct.ts'
import { accepted, anyRequest } from '../../../domain/terms/anyProduct.ts'
import { startService, type TestService } from '../../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.clock.set('2026-01-31T09:30:00+03:00')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

const create = (body: object) => service.post('/v1/loan-products', { body, token: service.tokens.operator })
const quote = (id: string, query: string) => service.get(`/v1/loan-products/${id}/quote?${query}`)
const lend = (productId: string, principal: number) =>
  service.post('/v1/loans', { body: { customerId: 'asha', productId: Number(productId), principal } })

const plain = { name: 'Plain', minPrincipal: 1_000, maxPrincipal: 1_000_000, numberOfRepayments: 3, interestRate: 3 }
const deducted = { name: 'Processing', base: 'principal', rate: 2, when: 'disbursement', treatment: 'deducted' }
const stamp = { name: 'Stamp duty', base: 'fixed', amount: 500, when: 'disbursement', treatment: 'deducted' }
const weekly = { base: 'overdue_total', rate: 1.5, every: 'week', per: 'instalment' }
const single = { base: 'principal', rate: 10, every: 'once', per: 'loan' }

describe('a product with charges beyond its schedule', () => {
  it.each([
    [{ penalty: { ...weekly, graceDays: 3, maxTimes: 10, capPercentOfPrincipal: 20.5 } }],
    [{ penalty: { base: 'fixed', amount: 250.5, every: 'period', per: 'loan' } }],
    [{ penalty: { ...single, graceDays: 365 } }],
    [{ penalty: { ...single, capPercentOfPrincipal: 10_000 } }],
    [{ penalty: { ...single, per: 'instalment' } }],
    [{ penalty: { ...single, every: 'day', maxTimes: 10_000 } }],
    [{ earlySettlement: 'interest_to_date' }],
    [{ earlySettlement: 'interest_to_period_end', totalChargeCap: 100 }],
    [{ totalChargeCap: 9, penaltyPercentOfPrincipal: 10 }],
    [{ allocation: ['principal', 'interest', 'fees', 'penalty'] }],
    [{ fees: [deducted, { ...stamp, amount: 100.25 }] }],
  ])('%j is answered as it was sent', async (terms) => {
    const { status, body } = await create({ ...plain, ...terms })
    const { interestRate, ...rest } = plain
    const flat = { interestMethod: 'flat', interestRate, ratePer: 'period', dayCount: 'periods' }
    const bounds = { currencyCode: 'TZS', repaymentEvery: 1, repaymentFrequencyType: 'months' }
    const made = { id: body.id, ...rest, ...bounds, interestRatePerPeriod: 3, enforceCreditLimit: false, active: true }
    expect([status, body]).toEqual([200, { ...made, ...flat, ...terms }])
    expect((await service.get(`/v1/loan-products/${body.id}`)).body).toEqual(body)
  })

  it('is a plain one where they are the defaults, and has a single penalty where its terms say no more', async () => {
    const usual = { earlySettlement: 'full_interest', allocation: ['penalty', 'fees', 'interest', 'principal'] }
    const { body: asked } = await create({ ...plain, ...usual, penalty: { ...single, graceDays: 0, maxTimes: null } })
    const { body: made } = await create({ ...plain, penaltyPercentOfPrincipal: 10 })
    expect(asked).toEqual({ ...made, id: asked.id })
    expect(Object.keys(asked)).not.toContain('interestMethod')
  })
})

describe('charges that do not go together', () => {
  it.each([
    [{ penalty: { ...weekly, base: 'fixed' } }, 'penalty.amount', /is required where penalty.base is fixed/],
    [{ penalty: { ...weekly, rate: null } }, 'penalty.rate', /is required where penalty.base is overdue_total/],
    [{ penalty: { ...weekly, amount: 5 } }, 'penalty.amount', /cannot be given where penalty.base is overdue_total/],
    [{ penalty: { ...weekly, rate: 0 } }, 'penalty.rate', /must be above 0 to 10000 percent/],
    [{ penalty: { ...weekly, rate: 10_001 } }, 'penalty.rate', /must be above 0 to 10000 percent/],
    [{ penalty: { ...weekly, rate: 0.0000001 } }, 'penalty.rate', /at most 6 decimals/],
    [{ penalty: { ...weekly, base: 'balance' } }, 'penalty.base', /must be one of principal, overdue_principal/],
    [{ penalty: { ...weekly, every: 'month' } }, 'penalty.every', /must be one of once, day, week, period/],
    [{ penalty: { ...weekly, per: 'customer' } }, 'penalty.per', /must be one of loan, instalment/],
    [{ penalty: { ...weekly, per: undefined } }, 'penalty.per', /is required/],
    [{ penalty: { ...weekly, graceDays: 366 } }, 'penalty.graceDays', /must be at most 365/],
    [{ penalty: { ...weekly, graceDays: -1 } }, 'penalty.graceDays', /must be at least 0/],
    [{ penalty: { ...weekly, maxTimes: 0 } }, 'penalty.maxTimes', /must be at least 1/],
    [{ penalty: { ...weekly, maxTimes: 10_001 } }, 'penalty.maxTimes', /must be at most 10000/],
    [
      { penalty: { ...single, maxTimes: 1 } },
      'penalty.maxTimes',
      /cannot be given where penalty.every is once: such a penalty is not repeated/,
    ],
    [{ penalty: { ...weekly, capPercentOfPrincipal: 0 } }, 'penalty.capPercentOfPrincipal', /must be above 0/],
    [{ penalty: { ...weekly, maxTime: 3 } }, 'penalty.maxTime', /is not a known field; did you mean maxTimes\?/],
    [{ penalty: single, penaltyPercentOfPrincipal: 10 }, 'penalty', /together with penaltyPercentOfPrincipal/],
    [{ maxPrincipal: 999_999_999_999, interestRate: 0, penalty: { ...weekly, rate: 101 } }, 'penalty.rate', /so low/],
    [{ earlySettlement: 'none' }, 'earlySettlement', /must be one of full_interest, interest_to_date/],
    [{ totalChargeCap: 0 }, 'totalChargeCap', /must be above 0 to 10000 percent/],
    [{ totalChargeCap: 10_000.5 }, 'totalChargeCap', /must be above 0 to 10000 percent/],
    [
      { totalChargeCap: 8.999999 },
      'totalChargeCap',
      /^must leave room for interest and fees: on a principal of 1000000.00 TZS they come to 90000.00 TZS, and 8.999999 percent of that principal is 89999.99 TZS$/,
    ],
    [
      { totalChargeCap: 11, fees: [stamp] },
      'totalChargeCap',
      /on a principal of 1000.00 TZS they come to 590.00 TZS, and 11 percent of that principal is 110.00 TZS$/,
    ],
    [{ allocation: ['penalty', 'fees', 'interest'] }, 'allocation', /each of penalty, fees, interest, principal once/],
    [{ allocation: ['fees', 'fees', 'interest', 'principal'] }, 'allocation', /each of penalty, fees, interest/],
    [{ allocation: ['tax', 'fees', 'interest', 'principal'] }, 'allocation[0]', /must be one of penalty, fees/],
    [{ fees: [{ ...stamp, amount: 1_000 }] }, 'fees', /of a principal of 1000.00 TZS, 1000.00 TZS would be deducted/],
  ])('%j is refused', async (terms, field, message) => {
    const { status, body } = await create({ ...plain, ...terms })
    const details = [{ field, message: expect.stringMatching(message) }]
    expect([status, body.code, body.details]).toEqual([400, 'invalid_argument', details])
  })
})

describe('fees that are deducted', () => {
  it('are in the cost of a quote and in its APR, and in no instalment of the quote or of the loan', async () => {
    const handling = { name: 'Handling', base: 'fixed', amount: 100, when: 'each_instalment' }
    const { body: product } = await create({ ...plain, fees: [deducted, stamp, handling] })
    const { body } = await quote(product.id, 'principal=100000&disbursedOn=2026-01-31')
    expect(body).toMatchObject({
      ...{ principal: 100_000, netDisbursed: 97_500, totalInterest: 9_000, totalFees: 2_800, feesDeducted: 2_500 },
      ...{ totalCostOfCredit: 11_800, totalDue: 109_300 },
    })
    const apr = Number(body.apr)
    // What 97,500 cost by this rate, due after 28, 59 and 89 days.
    const worth = [28, 59, 89].reduce((sum, days) => sum + 109_300 / 3 / (1 + apr / 100) ** (days / 365), 0)
    expect(Math.abs(worth - 97_500)).toBeLessThan(1)
    const { body: loan } = await lend(product.id, 100_000)
    expect(loan).toMatchObject({ netDisbursed: 97_500, feesDeducted: 2_500, feesCharged: 300 })
    expect(loan.totalOutstanding).toBe(body.totalDue)
  })

  it('are 0 in the quote of a product that has none, and all is paid out', async () => {
    const { body } = await quote('1', 'principal=100000&disbursedOn=2026-01-31')
    expect(body).toMatchObject({ netDisbursed: 100_000, feesDeducted: 0, totalFees: 0, totalDue: 110_000, apr: 246.4 })
  })
})

describe('a loan above the cap of its product', () => {
  it('is refused with what its charges come to, and so is its quote: the days of its period count', async () => {
    const byDays = { interestMethod: 'interest_only', ratePer: 'year', dayCount: 'actual/365', interestRate: 36.5 }
    const twoMonths = { numberOfRepayments: 1, repaymentEvery: 2, totalChargeCap: 5.9 }
    const { body: product } = await create({ ...plain, ...byDays, ...twoMonths })
    expect((await quote(product.id, 'principal=100000&disbursedOn=2026-01-31')).body).toMatchObject({
      totalInterest: 5_900,
    })
    expect((await lend(product.id, 100_000)).status).toBe(200)
    const message =
      'must be such that interest and fees are within totalChargeCap of the product: on a principal of 100000.00 TZS they come to 6200.00 TZS, and 5.9 percent of that principal is 5900.00 TZS'
    const refused = { status: 400, body: { code: 'invalid_argument', details: [{ field: 'principal', message }] } }
    expect(await quote(product.id, 'principal=100000&disbursedOn=2026-07-01')).toMatchObject(refused)
    service.clock.set('2026-07-01T09:30:00+03:00')
    expect(await lend(product.id, 100_000)).toMatchObject(refused)
  })
})

describe('the answer of any product', () => {
  it('makes the same product, sent as a request', () => {
    let sent = 0
    fc.assert(
      fc.property(anyRequest, (request) => {
        const product = accepted(request, 7)
        if (!product) return
        const { active: _, interestRatePerPeriod, ...body } = toProduct(product)
        const json = JSON.stringify({ interestRate: interestRatePerPeriod, ...body })
        expect(productOf(toNewProduct(createProductRequest.parse(parseJson(json))), 7)).toEqual(product)
        sent++
      }),
      { numRuns: 400 },
    )
    expect(sent).toBeGreaterThan(80)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { opsOn } from '../../../support/ops.ts'
import { startService, type TestService } from '../../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.clock.set('2026-01-31T09:30:00+03:00')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

const asOperator = () => ({ token: service.tokens.operator })
const create = (body: object, headers: Record<string, string> = {}) =>
  service.post('/v1/loan-products', { body, headers, ...asOperator() })
const retire = (id: string | number) => service.post(`/v1/loan-products/${id}/retire`, asOperator())
const lend = (productId: string) =>
  service.post('/v1/loans', { body: { customerId: 'asha', productId: Number(productId), principal: 100_000 } })

const plain = { name: 'Plain', minPrincipal: 1_000, maxPrincipal: 1_000_000, numberOfRepayments: 3, interestRate: 3 }
const level = { ...plain, name: 'Level', interestMethod: 'declining_equal_instalments' }
const processing = { name: 'Processing', base: 'principal', rate: 2, when: 'disbursement' }

describe('POST /v1/loan-products', () => {
  it('makes a flat product as the command line does, with the defaults, and no terms in the answer', async () => {
    const { status, body } = await create(plain)
    expect([status, body]).toEqual([
      200,
      {
        ...{ id: 5, name: 'Plain', currencyCode: 'TZS', minPrincipal: 1_000, maxPrincipal: 1_000_000 },
        ...{ numberOfRepayments: 3, repaymentEvery: 1, repaymentFrequencyType: 'months', interestRatePerPeriod: 3 },
        ...{ enforceCreditLimit: false, active: true },
      },
    ])
    expect((await service.get('/v1/loan-products/5')).body).toEqual(body)
  })

  it('makes a product with every term, and answers them as they were sent', async () => {
    const terms = {
      ...{
        interestMethod: 'declining_equal_principal',
        interestRate: 24.5,
        ratePer: 'year',
        dayCount: 'actual/actual',
      },
      grace: { principalPeriods: 1, interestPeriods: 2, firstDueAfter: { every: 6, unit: 'weeks' } },
      fees: [
        { ...processing, treatment: 'added' },
        { name: 'Insurance', base: 'fixed', amount: 250.5, when: 'each_instalment', treatment: 'added' },
      ],
      regulation: { maxRatePerMonth: 2.041667 },
    }
    const { body } = await create({
      ...plain,
      id: 77,
      currencyCode: 'KES',
      installmentAmountInMultiplesOf: 50,
      ...terms,
    })
    expect(body).toMatchObject({ id: 77, currencyCode: 'KES', interestRatePerPeriod: 2.041667, ...terms })
    expect((await service.get('/v1/loan-products/77')).body).toEqual(body)
  })

  it('counts the characters of a name, also those that take more space than others', async () => {
    const name = '🏦'.repeat(100)
    expect((await create({ ...plain, name })).body).toMatchObject({ name })
  })

  it('takes null for what is left out, also within terms', async () => {
    const fees = [{ name: 'Card', base: 'fixed', rate: null, amount: 5, when: 'due_date', treatment: null }]
    const grace = { principalPeriods: 1, interestPeriods: null, firstDueAfter: null }
    const { status, body } = await create({ ...plain, id: null, dayCount: null, grace, fees, regulation: null })
    expect([status, body]).toMatchObject([200, { grace: { principalPeriods: 1 }, fees: [{ name: 'Card', amount: 5 }] }])
    const unnamed = await create({ ...plain, fees: [{ ...fees[0], name: null }] })
    expect(unnamed.body.details).toEqual([{ field: 'fees[0].name', message: 'is required' }])
  })

  it('takes the role ADMIN, and an id that is free', async () => {
    const { status, body } = await service.post('/v1/loan-products', { body: plain })
    expect([status, body.code]).toEqual([403, 'permission_denied'])
    expect(await create({ ...plain, id: 1 })).toMatchObject({ status: 409, body: { code: 'already_exists' } })
    expect(await service.post('/v1/loan-products/1/retire', {})).toMatchObject({ status: 403 })
  })

  it('answers the same request under its key again, and makes one product', async () => {
    const headers = { 'idempotency-key': 'product-1' }
    const first = await create({ ...plain, name: 'Once' }, headers)
    const again = await create({ ...plain, name: 'Once' }, headers)
    expect([again.body, again.headers['idempotency-replayed']]).toEqual([first.body, 'true'])
    // A crash before the answer was kept: the answer is built again.
    await service.owner.pool.query('UPDATE idempotency_key SET status = NULL, response = NULL')
    expect((await create({ ...plain, name: 'Once' }, headers)).body).toEqual(first.body)
    const { items } = (await service.get('/v1/loan-products')).body
    expect(items.filter(({ name }) => name === 'Once')).toHaveLength(1)
  })

  it('gives two instances that ask at once an id each', async () => {
    const another = await service.another()
    const made = await Promise.all(
      [service, another, service, another].map((on) => on.post('/v1/loan-products', { body: plain, ...asOperator() })),
    )
    expect(new Set(made.map(({ status, body }) => (status === 200 ? body.id : status))).size).toBe(4)
  })
})

describe('terms that do not go together', () => {
  it.each([
    [{ dayCount: 'actual/365', ratePer: 'year' }, 'dayCount', /flat interest is fixed by the number of periods/],
    [{ ...level, dayCount: '30/360' }, 'dayCount', /the rate has to be per day, month or year/],
    [{ grace: { principalPeriods: 3 } }, 'grace.principalPeriods', /less than numberOfRepayments, 3/],
    [{ grace: { interestPeriods: 3 } }, 'grace.interestPeriods', /less than numberOfRepayments, 3/],
    [{ grace: { firstDueAfter: { every: 11, unit: 'years' } } }, 'grace.firstDueAfter.every', /1 to 10 years/],
    [
      { interestMethod: 'interest_only', grace: { principalPeriods: 1 } },
      'grace.principalPeriods',
      /all principal is due with the last/,
    ],
    [
      { interestMethod: 'interest_only', installmentAmountInMultiplesOf: 10 },
      'installmentAmountInMultiplesOf',
      /no principal that could give way/,
    ],
    [{ fees: [{ ...processing, treatment: 'refunded' }] }, 'fees[0].treatment', /must be one of added, deducted/],
    [
      { fees: [{ ...processing, treatment: 'deducted', when: 'due_date' }] },
      'fees[0].when',
      /must be disbursement where fees\[0\].treatment is deducted/,
    ],
    [
      { fees: [{ ...processing, treatment: 'deducted', base: 'instalment', when: 'each_instalment' }] },
      'fees[0].base',
      /must be fixed or principal where fees\[0\].treatment is deducted/,
    ],
    [
      { fees: [{ ...processing, treatment: 'deducted', base: 'fixed', rate: undefined, amount: 1_000 }] },
      'fees',
      /must leave something to pay out: of a principal of 1000.00 TZS, 1000.00 TZS would be deducted/,
    ],
    [{ fees: [{ ...processing, name: ' Processing' }] }, 'fees[0].name', /must not begin or end with a space/],
    [{ fees: [{ ...processing, rate: undefined }] }, 'fees[0].rate', /is required where fees\[0\].base is principal/],
    [{ fees: [{ ...processing, amount: 5 }] }, 'fees[0].amount', /cannot be given/],
    [{ fees: [{ ...processing, base: 'fixed' }] }, 'fees[0].amount', /is required where fees\[0\].base is fixed/],
    [{ fees: [{ ...processing, base: 'instalment' }] }, 'fees[0].when', /must be each_instalment/],
    [{ fees: [processing, processing] }, 'fees[1].name', /is the name of fees\[0\], too/],
    [{ fees: [{ ...processing, rate: 0.0000001 }] }, 'fees[0].rate', /at most 6 decimals/],
    [
      { regulation: { maxRatePerMonth: 2.99 } },
      'interestRate',
      /than regulation.maxRatePerMonth, and comes to 3 percent/,
    ],
    [{ ratePer: 'year', interestRate: 37, regulation: { maxRatePerMonth: 3 } }, 'interestRate', /3.083333 percent/],
    [
      { repaymentFrequencyType: 'weeks', interestRate: 1, regulation: { maxRatePerMonth: 3 } },
      'interestRate',
      /comes to 4 percent/,
    ],
    [{ maxPrincipal: 999_999_999_999, interestRate: 50, ratePer: 'month' }, 'interestRate', /must be so low/],
    [
      { maxPrincipal: 999_999_999_999, interestRate: 0, fees: [{ ...processing, rate: 101 }] },
      'fees',
      /must be so low/,
    ],
    [{ name: '🏦'.repeat(101) }, 'name', /must be at most 100 characters/],
    [{ maxPrincipal: 999 }, 'maxPrincipal', /must not be less than minPrincipal/],
    [{ repaymentFrequencyType: 'fortnights' }, 'repaymentFrequencyType', /must be one of days/],
    [{ interestRatePerPeriod: 3 }, 'interestRatePerPeriod', /is not a known field/],
  ])('%j is refused', async (terms, field, message) => {
    const { status, body } = await create({ ...plain, ...terms })
    expect([status, body.code, body.details]).toEqual([
      400,
      'invalid_argument',
      [{ field, message: expect.stringMatching(message) }],
    ])
  })
})

describe('a loan of a product with terms', () => {
  it('has the schedule of its quote, takes its fees from repayments, and is closed by what is due', async () => {
    const { body: product } = await create({
      ...{ ...level, numberOfRepayments: 4, grace: { principalPeriods: 1, interestPeriods: 1 } },
      fees: [processing, { name: 'Service', base: 'instalment', rate: 1, when: 'each_instalment' }],
    })
    const { body: quote } = await service.get(`/v1/loan-products/${product.id}/quote?principal=100000`)
    const { body: loan } = await lend(product.id)
    const fields = Object.keys(quote.repaymentSchedule[0]!)
    const of = (line: Record<string, unknown>) => Object.fromEntries(fields.map((field) => [field, line[field]]))
    expect(loan.repaymentSchedule.map(of)).toEqual(quote.repaymentSchedule)
    expect(quote).toMatchObject({ disbursedOn: '2026-01-31', totalDue: loan.totalOutstanding })
    expect(loan).toMatchObject({ feesCharged: quote.totalFees, interestCharged: quote.totalInterest })
    expect(quote.totalCostOfCredit).toBe(Number(quote.totalInterest) + Number(quote.totalFees))
    expect(quote.repaymentSchedule[0]).toMatchObject({ principalDue: 0, interestDue: 0, feesDue: 2_000 })
    const pay = (transactionAmount: number) =>
      service.post(`/v1/loans/${loan.id}/repayments`, { body: { transactionAmount } })
    expect((await pay(2_000)).body).toMatchObject({ fees: 2_000 })
    await pay(quote.totalDue - 2_000)
    expect((await service.get(`/v1/loans/${loan.id}`)).body).toMatchObject({
      ...{ status: 'Closed (obligations met)', totalOutstanding: 0, feesPaid: quote.totalFees },
    })
  })

  it('agrees with its product in book check, which tells terms that were changed since', async () => {
    const ops = opsOn(service)
    const { body: product } = await create({ ...level, name: 'Checked', ratePer: 'month', dayCount: '30/360' })
    const { body: loan } = await lend(product.id)
    expect(await ops('book check --json')).toMatchObject({ code: 0, json: { differences: [] } })
    await service.owner.pool.query(
      `UPDATE loan_product SET terms = jsonb_set(terms, '{interestRate}', '"4000000"') WHERE id = ${product.id}`,
    )
    const { code, json } = await ops('book check --json')
    const differences = json.differences as { of: string; message: string }[]
    expect([code, differences.map(({ of }) => of)]).toEqual([1, expect.arrayContaining([`loan ${loan.id}`])])
    expect(differences.map(({ message }) => message).join()).toMatch(/instalment 1 is .*, and by product \d+ it is /)
    await service.owner.pool.query(
      `UPDATE loan_product SET terms = jsonb_set(terms, '{interestRate}', '"3000000"') WHERE id = ${product.id}`,
    )
    expect((await ops('book check')).code).toBe(0)
  })
})

describe('GET …/quote', () => {
  const quote = (query: string, id: number | string = 1) => service.get(`/v1/loan-products/${id}/quote?${query}`)

  it('of another day, and exactly to the cent', async () => {
    const { body } = await quote('principal=99999.95&disbursedOn=2026-01-30')
    expect(body).toMatchObject({ principal: 99_999.95, totalInterest: 10_000, disbursedOn: '2026-01-30' })
  })

  it.each([
    ['', 400, 'principal'],
    ['principal=999.99', 400, 'principal'],
    ['principal=1500.001', 400, 'principal'],
    ['principal=many', 400, 'principal'],
    ['principal=1e-99', 400, 'principal'],
    ['principal=0x10', 400, 'principal'],
    ['principal=1500&disbursedOn=2026-02-30', 400, 'disbursedOn'],
    ['principal=1500&fee=1', 400, 'fee'],
  ])('?%s is refused', async (query, status, field) => {
    expect(await quote(query)).toMatchObject({ status, body: { details: [{ field }] } })
  })

  it.each(['0x10', '1e5', '-5', '1_500', '1500.', '٣٠٠٠'])(
    '?principal=%s has to be in decimal digits',
    async (principal) => {
      const message = 'must be an amount in decimal digits, such as 1500 or 99.95'
      const { body } = await quote(`principal=${encodeURIComponent(principal)}`)
      expect(body.details).toEqual([{ field: 'principal', message }])
    },
  )

  it('of no product is not found', async () => {
    expect((await quote('principal=1500', 999)).status).toBe(404)
    expect((await quote('principal=1500', 'x')).status).toBe(404)
  })
})

describe('POST …/retire', () => {
  it('lets a product take no new loans, give no quote, and not be retired twice', async () => {
    const { body } = await create({ ...level, name: 'Old' })
    const { body: loan } = await lend(body.id)
    expect(await retire(body.id)).toMatchObject({ status: 200, body: { ...body, active: false } })
    for (const answer of [await lend(body.id), await retire(body.id)])
      expect([answer.status, answer.body.code]).toEqual([409, 'failed_precondition'])
    expect((await service.get(`/v1/loan-products/${body.id}/quote?principal=100000`)).status).toBe(409)
    expect((await service.get(`/v1/loans/${loan.id}`)).body.repaymentSchedule).toEqual(loan.repaymentSchedule)
    expect((await retire(999_999)).status).toBe(404)
  })
})

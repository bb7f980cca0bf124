import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let ops: ReturnType<typeof opsOn>
beforeAll(async () => {
  service = await startService()
  ops = opsOn(service)
})
afterAll(() => service.close())

const PLAIN = '--min 1000 --max 1000000 --instalments 4 --rate 36'.split(' ')
const FEE = 'name=Processing,base=principal,rate=1.5,when=disbursement'
const create = (...options: string[]) => ops(['products', 'create', '--name', 'Any', ...PLAIN, ...options])

describe('products create with terms', () => {
  it('takes every term, and HTTP answers the same product', async () => {
    const { json, code } = await create(
      ...'--method declining_equal_instalments --rate-per year --day-count actual/365 --grace-principal 1'.split(' '),
      ...`--grace-interest 2 --first-due-after 45days --fee ${FEE} --max-rate-per-month 3 --json`.split(' '),
      ...['--fee', 'name=Stamp duty,base=fixed,amount=500,when=due_date'],
    )
    expect([code, json]).toMatchObject([0, { id: 5, rate: 3, terms: { interestRate: 36, principalGrace: 1 } }])
    expect((await service.get('/v1/loan-products/5')).body).toMatchObject({
      ...{ interestMethod: 'declining_equal_instalments', interestRate: 36, ratePer: 'year', dayCount: 'actual/365' },
      grace: { principalPeriods: 1, interestPeriods: 2, firstDueAfter: { every: 45, unit: 'days' } },
      fees: [
        { name: 'Processing', base: 'principal', rate: 1.5, when: 'disbursement' },
        { name: 'Stamp duty', base: 'fixed', amount: 500, when: 'due_date' },
      ],
      regulation: { maxRatePerMonth: 3 },
    })
    expect((await ops('products list')).out).toMatch(/declining_equal_instalments +Processing, Stamp duty/)
  })

  it.each([
    [['--method', 'compound'], 2, /Allowed choices are flat, /],
    [['--first-due-after', '45 moons'], 2, /a time such as 45days/],
    [['--fee', 'Processing'], 2, /fields such as name=Processing/],
    [['--fee', 'name=A,base=fixed,amount=much,when=due_date'], 2, /Its amount must be a number/],
    [['--fee', `${FEE},treatment=deducted`], 1, /are not supported/],
    [['--fee', 'base=fixed,amount=5,when=due_date'], 1, /fees\[0\].name: must be 1 to 100 characters/],
    [['--day-count', 'actual/360'], 1, /--day-count: must be periods where --method is flat/],
    [['--grace-principal', '4'], 1, /--grace-principal: must be a whole number from 0 and less than --instalments, 4/],
    [['--max-rate-per-month', '3'], 1, /--rate: must not come to more per month than --max-rate-per-month/],
  ])('%j: exit code %i', async (options, code, message) => {
    const run = await create(...options)
    expect([run.code, run.err]).toEqual([code, expect.stringMatching(message)])
  })
})

describe('products quote', () => {
  it('shows the schedule, the cost and the APR', async () => {
    const { out, err, code } = await ops('products quote 3 60000 --date 2026-01-31')
    expect(code).toBe(0)
    expect(`${out}${err}`).toContain('1  2026-02-28   10000.00   3000.00  0.00  13000.00')
    expect(`${out}${err}`).toContain('Costs 18000.00 TZS; APR 158.16 %')
  })

  it('as JSON, with exact amounts', async () => {
    const { json } = await ops('products quote 1 100000 --date 2026-01-31 --json')
    expect(json).toMatchObject({ totalCostOfCredit: '10000.00', apr: 246.4, schedule: [{ total: '110000.00' }] })
  })

  it('is refused outside of the bounds', async () => {
    expect(await ops('products quote 1 1')).toMatchObject({ code: 1, err: expect.stringMatching(/must be between/) })
    expect(await ops('products quote 99 1000')).toMatchObject({ code: 1, err: 'mkopo: no loan product has that id\n' })
  })
})

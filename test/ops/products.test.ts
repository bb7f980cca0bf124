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

  it('takes penalties, caps, early settlement and an order of allocation, and shows them in the list', async () => {
    const { json, code } = await create(
      ...['--fee', `${FEE},treatment=deducted`, '--early-settlement', 'interest_to_date', '--total-charge-cap', '200'],
      ...['--allocation', 'principal,interest,fees,penalty', '--json', '--penalty-terms'],
      'base=overdue_total,rate=1.5,every=week,per=instalment,graceDays=3,maxTimes=10,capPercentOfPrincipal=20',
    )
    const penalty = { base: 'overdue_total', rate: 1.5, every: 'week', per: 'instalment', graceDays: 3, maxTimes: 10 }
    const fee = { name: 'Processing', base: 'principal', rate: 1.5, when: 'disbursement', treatment: 'deducted' }
    const terms = {
      fees: [fee],
      penalty: { ...penalty, capPercentOfPrincipal: 20 },
      ...{ earlySettlement: 'interest_to_date', totalChargeCap: 200 },
      allocation: ['principal', 'interest', 'fees', 'penalty'],
    }
    expect([code, json]).toMatchObject([0, { penalty: null, terms }])
    expect((await service.get(`/v1/loan-products/${json.id}`)).body).toMatchObject(terms)
    const { out } = await ops('products list')
    expect(out).toContain('1.5 % of overdue_total, every week, per instalment, after 3 days, at most 10 times, at most')
    expect(out).toContain('Processing (deducted)')
    expect(out).toMatch(/interest_to_date +200 % +principal, interest, fees, penalty/)
  })

  it('takes a rate per day, days after the due date, and taxes', async () => {
    const terms = ['--rate-per', 'day', '--days-after-due', '31', '--interest-tax', 'name=Excise duty,percent=20']
    const { json, code } = await ops([
      ...['products', 'create', '--name', 'Phone', '--min', '1000', '--max', '100000', '--instalments', '1'],
      ...['--unit', 'days', '--every', '30', '--rate', '0.3', ...terms],
      ...['--fee', `${FEE},taxName=VAT,taxPercent=16`, '--json'],
    ])
    const interestTax = { name: 'Excise duty', percent: 20 }
    expect([code, json]).toMatchObject([
      0,
      { terms: { ratePer: 'day', daysAfterDue: 31, interestTax, fees: [{ tax: { name: 'VAT', percent: 16 } }] } },
    ])
    expect((await service.get(`/v1/loan-products/${json.id}`)).body).toMatchObject({
      ...{ ratePer: 'day', afterDue: { interest: 'runs_on', maxDays: 31 }, interestTax },
      fees: [{ name: 'Processing', tax: { name: 'VAT', percent: 16 } }],
    })
  })

  it.each([
    [['--days-after-due', '31'], '--days-after-due: must be none where --rate-per is period'],
    [['--interest-tax', 'name=VAT'], 'A tax must have a name and a percentage.'],
    [['--interest-tax', 'name=VAT,percent=200'], 'percent of --interest-tax: must be above 0 to 100 percent'],
    [['--fee', `${FEE},taxName=VAT,taxPercent=0`], 'taxPercent of --fee 1: must be above 0 to 100 percent'],
  ])('refuses %j in its own words', async (options, message) => {
    const { code, err } = await create(...options)
    expect([code > 0, err]).toEqual([true, expect.stringContaining(message)])
  })

  it('shows a penalty that is an amount, and one that --penalty has too', async () => {
    const fixed = await create('--penalty-terms', 'base=fixed,amount=500,every=once,per=instalment', '--json')
    const penalty = { base: 'fixed', amount: '500.00', every: 'once', maxTimes: null, capPercentOfPrincipal: null }
    expect(fixed.json).toMatchObject({ terms: { penalty } })
    expect((await ops('products list')).out).toContain('500.00, once, per instalment')
    const single = await create('--penalty-terms', 'base=principal,rate=10,every=once,per=loan', '--json')
    expect([single.json.penalty, single.json.terms]).toEqual([10, undefined])
  })

  it.each([
    [['--method', 'compound'], 2, /Allowed choices are flat, /],
    [['--first-due-after', '45 moons'], 2, /a time such as 45days/],
    [['--fee', 'Processing'], 2, /fields such as name=Processing/],
    [['--fee', 'name=A,base=fixed,amount=much,when=due_date'], 2, /Its amount must be a number/],
    [['--fee', `${FEE},treatment=refunded`], 1, /treatment of --fee 1: must be one of added, deducted/],
    [['--fee', 'base=fixed,amount=5,when=due_date'], 1, /name of --fee 1: must be 1 to 100 characters/],
    [['--fee', FEE, '--fee', FEE], 1, /name of --fee 2: is the name of --fee 1, too/],
    [['--fee', `${FEE},rate=2`], 2, /'--fee <fee>' argument .* Its rate can be given only once\./],
    [
      ['--fee', 'name=A,base=fixed,rate=5,when=due_date'],
      1,
      /amount of --fee 1: is required where base of --fee 1 is fixed/,
    ],
    [['--fee', `${FEE.replace('1.5', '100')},treatment=deducted`], 1, /--fee: must leave something to pay out/],
    [['--penalty-terms', 'base=fixed'], 1, /every of --penalty-terms: must be one of once, day, week, period/],
    [['--penalty-terms', 'rate'], 2, /fields such as base=overdue_total/],
    [['--penalty-terms', 'graceDays=3.5'], 2, /Its graceDays must be a whole number/],
    [['--penalty-terms', 'base=fixed', '--penalty-terms', 'base=fixed'], 2, /It can be given only once/],
    [
      ['--penalty', '10', '--penalty-terms', 'base=fixed,amount=5,every=day,per=loan'],
      1,
      /--penalty-terms: cannot be given together with --penalty/,
    ],
    [['--early-settlement', 'none'], 2, /Allowed choices are full_interest, /],
    [
      ['--allocation', 'principal,interest'],
      1,
      /--allocation: must have each of penalty, fees, interest, principal once/,
    ],
    [
      ['--total-charge-cap', '100'],
      1,
      /--total-charge-cap: must leave room for interest and fees: on a principal of 1000.00 TZS/,
    ],
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

  it('shows what is paid out after fees that are deducted', async () => {
    const { json: product } = await create('--fee', `${FEE},treatment=deducted`, '--json')
    const quote = `products quote ${product.id} 60000 --date 2026-01-31`
    const { out } = await ops(quote)
    expect(out).toMatch(/Pays out 59100\.00 TZS, after 900\.00 TZS of fees\. Costs 87300\.00 TZS; APR \d/)
    const money = { netDisbursed: '59100.00', totalFees: '900.00', feesDeducted: '900.00', totalDue: '146400.00' }
    expect((await ops(`${quote} --json`)).json).toMatchObject(money)
  })

  it('is refused outside of the bounds', async () => {
    expect(await ops('products quote 1 1')).toMatchObject({ code: 1, err: expect.stringMatching(/must be between/) })
    expect(await ops('products quote 99 1000')).toMatchObject({ code: 1, err: 'mkopo: no loan product has that id\n' })
  })
})

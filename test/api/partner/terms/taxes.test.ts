import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { drain } from '../../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../../src/services/loans/sweep.ts'
import { type Books, type ChartWire, openBooks, type TrialBalanceWire } from '../../../support/books.ts'
import { keepJournal } from '../../../support/journal.ts'
import { FIRST_DAY, type TestService } from '../../../support/service.ts'
import { differencesOf, type Lent, lendBy, repay } from './lent.ts'

let books: Books
let service: TestService
beforeAll(async () => {
  books = await openBooks()
  service = books.service
})
afterAll(() => books.end())
beforeEach(() => service.clock.set(FIRST_DAY))

const excise = { name: 'Excise duty', percent: 20 }
const vat = { name: 'VAT', percent: 16 }
const processing = { name: 'Processing', base: 'principal', rate: 2, when: 'disbursement', tax: excise }
const service1 = { name: 'Service', base: 'fixed', amount: 100, when: 'each_instalment', tax: vat }
const stamp = { name: 'Stamp duty', base: 'fixed', amount: 500, when: 'disbursement', treatment: 'deducted' }
const insurance = { ...stamp, name: 'Insurance', amount: 100, tax: vat }
/** 90,000 in three instalments: interest of 3,600, tax of 720 on each; fees of 1,800 with 360 at first, 100 with 16 in each. */
const taxed = { interestRate: 4, interestTax: excise, fees: [processing, service1, stamp, insurance] }

/** Sets how income is recognised, and the slots of the chart. */
async function setChart(method: string, change: (slots: ChartWire['slots']) => ChartWire['slots'] = (slots) => slots) {
  const { accounts, slots } = (await books.get<ChartWire>('chart')).body
  const set = await books.put<ChartWire>('chart', { accounts, slots: change(slots), method: { default: method } })
  expect([set.status, set.body.inForce]).toEqual([200, true])
}

/** Returns the balances that are not 0 of the loans of a product, by slot. */
async function balancesOf({ loan }: Lent, asOf: string): Promise<Record<string, number>> {
  await keepJournal(service.deps)
  const { slots } = (await books.get<ChartWire>('chart')).body
  const names = new Map(Object.entries(slots).map(([slot, code]) => [code, slot]))
  const path = `trial-balance?asOf=${asOf}&productId=${loan.loanProductId}`
  const { accounts } = (await books.get<TrialBalanceWire>(path)).body
  return Object.fromEntries(
    accounts.flatMap(({ code, balance }) => (balance === 0 ? [] : [[names.get(code) ?? code, balance]])),
  )
}

const settle = async (lent: Lent): Promise<void> => {
  for (const [day, amount] of [
    ['2026-02-28', 36_596],
    ['2026-03-31', 34_436],
    ['2026-04-30', 34_436],
  ] as const) {
    service.clock.set(day)
    await repay(service, lent, amount)
  }
}

describe('a tax on interest and fees', () => {
  it('is added to each line of the schedule, and is in quote, cost, annual rate and loan', async () => {
    const lent = await lendBy(service, taxed)
    const { productId } = { productId: lent.loan.loanProductId }
    const { body: quote } = await service.get(`/v1/loan-products/${productId}/quote?principal=90000`)
    expect(
      quote.repaymentSchedule.map(({ interestDue, feesDue, taxDue, totalDue }) => [
        interestDue,
        feesDue,
        taxDue,
        totalDue,
      ]),
    ).toEqual([
      [4_320, 2_276, 1_096, 36_596],
      [4_320, 116, 736, 34_436],
      [4_320, 116, 736, 34_436],
    ])
    expect(quote).toMatchObject({
      ...{ totalInterest: 12_960, totalFees: 3_124, feesDeducted: 616, netDisbursed: 89_384 },
      ...{ totalTax: 2_584, totalCostOfCredit: 16_084, totalDue: 105_468 },
    })
    const untaxed = await lendBy(service, { ...taxed, interestTax: undefined, fees: [] })
    const plain = await service.get(`/v1/loan-products/${untaxed.loan.loanProductId}/quote?principal=90000`)
    expect(quote.apr).toBeGreaterThan(Number(plain.body.apr))
    for (const one of [plain.body, plain.body.repaymentSchedule[0], untaxed.loan])
      for (const member of ['totalTax', 'taxDue', 'taxes']) expect(one).not.toHaveProperty(member)
    expect(lent.loan).toMatchObject({
      taxes: [
        { name: 'Excise duty', amount: 2_520 },
        { name: 'VAT', amount: 64 },
      ],
    })
    expect((await service.get(`/v1/loan-products/${productId}`)).body).toMatchObject({
      interestTax: excise,
      fees: [{ tax: excise }, { tax: vat }, {}, { tax: vat }],
    })
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it.each(['cash', 'accrual_upfront', 'accrual_periodic'])(
    'is owed to the tax authority, and no income, by %s: to the cent once the loan is repaid',
    async (method) => {
      await setChart(method)
      const lent = await lendBy(service, taxed)
      await settle(lent)
      await drain(sweepJob(service.deps))
      expect(await balancesOf(lent, '2026-04-30')).toEqual({
        ...{ cash: 105_468 - 89_384, interest_income: 10_800, fee_income: 2_700, tax_payable: 2_584 },
      })
    },
  )

  it.each([
    ['accrual_upfront', { tax_payable: 2_584, interest_income: 10_800, fee_income: 2_700 }],
    // The fees that were kept back are earned at once.
    ['accrual_periodic', { tax_payable: 16, fee_income: 600, unearned_interest: 12_960 }],
    ['cash', { tax_payable: 16, fee_income: 600 }],
  ])('is recognised with the interest and the fees that it is on, by %s', async (method, expected) => {
    await setChart(method)
    expect(await balancesOf(await lendBy(service, taxed), '2026-01-31')).toMatchObject(expected)
  })

  it('is in interest after the last due date and in interest that a restructure adds', async () => {
    const phone = { numberOfRepayments: 1, repaymentEvery: 30, repaymentFrequencyType: 'days', ratePer: 'day' }
    const runsOn = { ...phone, interestRate: 0.3, interestTax: excise, afterDue: { interest: 'runs_on', maxDays: 31 } }
    const lent = await lendBy(service, runsOn)
    expect(lent.loan).toMatchObject({ interestCharged: 9_720, taxes: [{ name: 'Excise duty', amount: 1_620 }] })
    service.clock.set('2026-03-04')
    const late = (await service.get(lent.path)).body
    expect(late).toMatchObject({ interestAfterDue: 2 * 324, taxes: [{ amount: 1_620 + 108 }] })
    const { body } = await service.post(`${lent.path}/restructures`, {
      token: service.tokens.operator,
      body: { change: { newFirstDueDate: '2026-03-14' }, reason: 'roll_over' },
    })
    // Ten days more: 0.3 % a day of 90,000, and a fifth of it.
    expect(body).toMatchObject({ interestCharged: 9_720 + 648 + 3_240 })
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('is forgiven with the interest that an early settlement forgives', async () => {
    await setChart('accrual_periodic')
    const lent = await lendBy(service, { ...taxed, fees: [], earlySettlement: 'interest_to_period_end' })
    service.clock.set('2026-02-10')
    const { body } = await service.get(`${lent.path}/settlement-quote`)
    expect(body).toMatchObject({ interestWaived: 8_640, settlementAmount: 94_320 })
    await repay(service, lent, 94_320)
    await drain(sweepJob(service.deps))
    expect(await balancesOf(lent, '2026-02-28')).toEqual({
      ...{ cash: 4_320, interest_income: 3_600, tax_payable: 720 },
    })
  })

  it('is on the account of overpayments where the chart names none for tax, and moves to one that is named later', async () => {
    await setChart('accrual_upfront', ({ tax_payable: _, ...others }) => others)
    const lent = await lendBy(service, taxed)
    expect(await balancesOf(lent, '2026-01-31')).toMatchObject({ overpayments: 2_584 })
    await setChart('accrual_upfront', (slots) => ({ ...slots, tax_payable: '2200' }))
    const after = await balancesOf(lent, '2026-01-31')
    expect([after.overpayments, after.tax_payable]).toEqual([undefined, 2_584])
  })

  it.each([
    [{ interestTax: { name: '', percent: 20 } }, /interestTax.name/],
    [{ interestTax: { name: 'Excise duty' } }, /interestTax.percent/],
    [{ interestTax: { name: 'Excise duty', percent: 0 } }, /interestTax.percent/],
    [{ interestTax: { name: 'Excise duty', percent: 101 } }, /interestTax.percent.*100/],
    [{ fees: [{ ...service1, tax: { ...vat, percent: 16.1234567 } }] }, /fees\[0\].tax.percent/],
    [{ fees: [{ ...service1, tax: { ...vat, rate: 16 } }] }, /fees\[0\].tax/],
  ])('is refused with %j', async (terms, message) => {
    const sizes = { minPrincipal: 1_000, maxPrincipal: 1_000_000, numberOfRepayments: 3, interestRate: 1 }
    const body = { name: 'Any', ...sizes, ...terms }
    const refused = await service.post('/v1/loan-products', { body, token: service.tokens.operator })
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringMatching(message)])
  })
})

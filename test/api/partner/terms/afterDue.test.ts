import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { drain } from '../../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../../src/services/loans/sweep.ts'
import { keepJournal } from '../../../support/journal.ts'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'
import { differencesOf, type Lent, lendBy, repay } from './lent.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

/** 0.3 % a day on 90,000 for 30 days: 270 a day. Due on 2 March. */
const phone = {
  ...{ numberOfRepayments: 1, repaymentEvery: 30, repaymentFrequencyType: 'days' },
  ...{ interestRate: 0.3, ratePer: 'day', afterDue: { interest: 'runs_on', maxDays: 31 } },
}
interface StatementWire {
  readonly openingBalance: number
  readonly closingBalance: number
  readonly lines: readonly { readonly date: string }[]
}

const at = async (moment: string, { path }: Lent) => {
  service.clock.stand(moment)
  return (await service.get(path)).body
}

describe('a rate per day', () => {
  it('is converted to a period with 30 days a month, or counts the days that the rule counts', async () => {
    const interestOf = async (terms: object) => (await lendBy(service, { ...phone, ...terms })).loan.interestCharged
    expect(await interestOf({})).toBe(8_100)
    expect(await interestOf({ repaymentEvery: 1, repaymentFrequencyType: 'months' })).toBe(8_100)
    // From 31 January to 28 February: 28 days that pass, and 28 of months of 30 days from their 30th to their 28th.
    const byDays = { interestMethod: 'interest_only', repaymentEvery: 1, repaymentFrequencyType: 'months' }
    expect(await interestOf({ ...byDays, dayCount: 'actual/365' })).toBe(28 * 270)
    expect(await interestOf({ ...byDays, dayCount: 'actual/actual' })).toBe(28 * 270)
    expect(await interestOf({ ...byDays, dayCount: '30/360' })).toBe(30 * 270)
  })
})

describe('interest after the last due date', () => {
  it('is raised at the beginning of each day, and ends with the last of its days', async () => {
    const lent = await lendBy(service, phone)
    const interestAt = async (moment: string) => (await at(moment, lent)).interestCharged
    expect(await interestAt('2026-03-02T23:59:59.999+03:00')).toBe(8_100)
    expect(await interestAt('2026-03-03T00:00:00+03:00')).toBe(8_370)
    expect(await interestAt('2026-03-12')).toBe(8_100 + 10 * 270)
    expect(await interestAt('2026-04-02')).toBe(8_100 + 31 * 270)
    expect(await at('2026-08-01', lent)).toMatchObject({ interestCharged: 16_470, interestAfterDue: 8_370 })
  })

  it('is of the principal that is unpaid, and money counts from its value date, however late it is told', async () => {
    const lent = await lendBy(service, phone)
    service.clock.set('2026-03-12')
    const { loan } = await repay(service, lent, 53_100, '2026-03-02')
    // 8,100 of interest and 45,000 of principal were paid in time: 135 a day are left.
    expect(loan).toMatchObject({ interestCharged: 9_450, interestAfterDue: 1_350, totalOutstanding: 46_350 })
    const whole = await repay(service, lent, 45_000, '2026-03-02')
    expect(whole.loan).toMatchObject({ status: 'Closed (obligations met)', interestCharged: 8_100 })
    expect(whole.loan).not.toHaveProperty('interestAfterDue')
  })

  it('is what the sweep stores and tells, a day at a time: at every midnight the book agrees', async () => {
    const lent = await lendBy(service, phone)
    for (const moment of ['2026-03-02', '2026-03-03', '2026-03-04', '2026-03-20', '2026-04-02', '2026-04-05']) {
      service.clock.set(moment)
      await drain(sweepJob(service.deps))
      expect([moment, await differencesOf(service, lent)]).toEqual([moment, []])
    }
    await keepJournal(service.deps)
    const of = async (types: string) =>
      (await service.get(`/v1/events?types=${types}&loanId=${lent.loan.id}`)).body.items.filter((event) =>
        JSON.stringify(event).includes(lent.loan.id),
      )
    expect(await of('loan.interest_accrued')).toHaveLength(31)
    expect(await of('loan.overdue')).toHaveLength(1)
  })

  it('is in the settlement quote of a later day, and what pays it is exactly enough', async () => {
    const lent = await lendBy(service, phone)
    service.clock.set('2026-03-05')
    const { body } = await service.get<{ readonly settlementAmount: number }>(
      `${lent.path}/settlement-quote?on=2026-03-07`,
    )
    expect(body).toMatchObject({ settlementAmount: 98_100 + 5 * 270 })
    service.clock.set('2026-03-07')
    const { loan } = await repay(service, lent, body.settlementAmount)
    expect(loan).toMatchObject({ status: 'Closed (obligations met)', totalOverpaid: 0 })
  })

  it('ends with a write-off, is cut by the cap of all charges, and raises penalties of what is overdue', async () => {
    const lost = await lendBy(service, phone)
    service.clock.set('2026-03-05')
    const { body } = await service.post(`${lost.path}/write-off`, { token: service.tokens.operator })
    expect(body).toMatchObject({ type: 'Write-off', amount: 98_910 })
    expect(await at('2026-03-20', lost)).toMatchObject({ interestAfterDue: 810 })
    service.clock.set(FIRST_DAY)
    const capped = await lendBy(service, { ...phone, totalChargeCap: 10 })
    expect(await at('2026-06-01', capped)).toMatchObject({ interestCharged: 9_000, interestAfterDue: 900 })
    service.clock.set(FIRST_DAY)
    const penalty = { base: 'overdue_total', rate: 1, every: 'day', graceDays: 1, per: 'loan' }
    const both = await lendBy(service, { ...phone, penalty })
    // 1 % of 98,370 at 09:30 on the first day, and of 98,640 on the second.
    expect(await at('2026-03-04', both)).toMatchObject({ penaltyCharged: 983.7 + 986.4, interestAfterDue: 540 })
  })

  it('stops at a restructure that moves the due date, begins again after the new one, and is never taken back', async () => {
    const lent = await lendBy(service, phone)
    service.clock.set('2026-03-12')
    const restructure = (body: object) =>
      service.post(`${lent.path}/restructures`, { token: service.tokens.operator, body })
    const change = { change: { newFirstDueDate: '2026-04-01' }, interest: 'none', reason: 'hardship' }
    const back = await restructure({ ...change, effectiveDate: '2026-03-05' })
    expect([back.status, JSON.stringify(back.body)]).toEqual([
      409,
      expect.stringContaining('interest after the last due date follow'),
    ])
    expect((await restructure(change)).status).toBe(200)
    expect(await at('2026-04-01', lent)).toMatchObject({ interestAfterDue: 2_700 })
    expect(await at('2026-04-03', lent)).toMatchObject({ interestAfterDue: 2_700 + 540 })
    expect(await at('2026-07-01', lent)).toMatchObject({ interestAfterDue: 2_700 + 31 * 270 })
    await drain(sweepJob(service.deps))
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('has a line of each day in the statement, whose balances meet at the end of each month', async () => {
    const lent = await lendBy(service, phone)
    service.clock.set('2026-04-10')
    const statement = async (days: string) => (await service.get<StatementWire>(`${lent.path}/statement?${days}`)).body
    const march = await statement('to=2026-03-31')
    const april = await statement('from=2026-04-01')
    expect(march.lines.at(-1)).toMatchObject({ date: '2026-03-31', type: 'Interest After Due', interest: 270 })
    expect(march.closingBalance).toBe(98_100 + 29 * 270)
    expect(april.openingBalance).toBe(march.closingBalance)
    expect(april.lines.map(({ date }) => date)).toEqual(['2026-04-01', '2026-04-02'])
  })

  it.each([
    [{ ratePer: 'month' }, /afterDue.interest.*must be none where ratePer is month/],
    [{ afterDue: { interest: 'runs_on' } }, /afterDue.maxDays.*is required where afterDue.interest is runs_on/],
    [{ afterDue: { interest: 'none', maxDays: 3 } }, /afterDue.maxDays.*cannot be given where/],
    [{ afterDue: { interest: 'runs_on', maxDays: 367 } }, /afterDue.maxDays/],
    [{ afterDue: { interest: 'forever', maxDays: 3 } }, /afterDue.interest/],
  ])('is refused with %j', async (terms, message) => {
    const body = { name: 'Any', minPrincipal: 1_000, maxPrincipal: 1_000_000, ...phone, ...terms }
    const refused = await service.post('/v1/loan-products', { body, token: service.tokens.operator })
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringMatching(message)])
  })
})

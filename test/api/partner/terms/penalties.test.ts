import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { changeFromText } from '../../../../src/domain/loan/change/changeFromText.ts'
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

/** 1 % a day of what is unpaid of each instalment, from the third day after its due date, up to 4,500. */
const daily = {
  ...{ base: 'overdue_total', rate: 1, every: 'day', graceDays: 2, per: 'instalment', capPercentOfPrincipal: 5 },
}
const at = async (moment: string, { path }: Lent) => {
  service.clock.stand(moment)
  return (await service.get(path)).body
}

describe('a penalty of each day', () => {
  it('is there from its instant on, is raised each day, and stops at its cap', async () => {
    service.clock.stand(FIRST_DAY)
    const lent = await lendBy(service, { penalty: daily })
    const penaltyAt = async (moment: string) => (await at(moment, lent)).penaltyCharged
    expect(await penaltyAt('2026-03-02T09:29:59.999+03:00')).toBe(0)
    expect(await penaltyAt('2026-03-02T09:30:00+03:00')).toBe(300)
    expect(await penaltyAt('2026-03-03T09:29:59+03:00')).toBe(300)
    expect(await penaltyAt('2026-03-05')).toBe(1_200)
    expect(await penaltyAt('2026-03-16T09:29:59+03:00')).toBe(4_200)
    expect(await penaltyAt('2026-03-16')).toBe(4_500)
    expect(await at('2026-06-30', lent)).toMatchObject({ penaltyCharged: 4_500, totalOutstanding: 94_500 })
  })

  it('is what the sweep stores and tells: at every instant the book agrees', async () => {
    const lent = await lendBy(service, { penalty: daily })
    for (const moment of ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04', '2026-03-20', '2026-04-03']) {
      service.clock.set(moment)
      await drain(sweepJob(service.deps))
      expect([moment, await differencesOf(service, lent)]).toEqual([moment, []])
    }
    await keepJournal(service.deps)
    const { body } = await service.get(`/v1/events?types=loan.penalty_raised&loanId=${lent.loan.id}`)
    const raised = body.items.filter((event) => JSON.stringify(event).includes(lent.loan.id))
    // The cap is reached with the fifteenth.
    expect(raised).toHaveLength(15)
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('is booked on its own day, also where the sweep was away for days, or a payment comes before the sweep', async () => {
    const penalty = { base: 'fixed', amount: 100, every: 'day', per: 'instalment' }
    const days = async ({ loan }: Lent) => {
      const { rows } = await service.owner.pool.query<{ change: string }>(
        `SELECT change::text AS change FROM audit_entry WHERE entity = 'loan' AND action = 'time' AND entity_id = $1 ORDER BY id`,
        [String(loan.id)],
      )
      const kept = rows.map(({ change }) => changeFromText(change))
      return kept.map((change) => [change?.on, change?.charged.penalty])
    }
    const [swept, paid] = [await lendBy(service, { penalty }), await lendBy(service, { penalty })]
    service.clock.set('2026-03-02')
    await repay(service, paid, 1)
    await drain(sweepJob(service.deps))
    // At 09:30 of three days, and at the midnight after the due date.
    const each = [
      ...[
        ['2026-02-28', 100_00n],
        ['2026-02-28', 100_00n],
        ['2026-03-01', 200_00n],
        ['2026-03-02', 300_00n],
      ],
    ]
    expect([await days(swept), await days(paid)]).toEqual([each, each])
    for (const lent of [swept, paid]) expect(await differencesOf(service, lent)).toEqual([])
  })

  it('falls away with all those after it where late money shows that the instalment was paid in time', async () => {
    const lent = await lendBy(service, { penalty: daily })
    expect(await at('2026-03-05', lent)).toMatchObject({ penaltyCharged: 1_200, overdue: true })
    await drain(sweepJob(service.deps))
    // Dated on the day of the second penalty: the first stays and is paid first, which leaves 300 unpaid.
    const { loan, transaction } = await repay(service, lent, 30_000, '2026-03-03')
    expect(transaction).toMatchObject({ penalty: 300, principal: 29_700 })
    expect(loan).toMatchObject({ penaltyCharged: 309, totalOutstanding: 60_309 })
    const reverse = `${lent.path}/repayments/${transaction.id}/reverse`
    await service.post(reverse, { token: service.tokens.operator })
    expect((await service.get(lent.path)).body).toMatchObject({ penaltyCharged: 1_200 })
    const inTime = await repay(service, lent, 30_000, '2026-03-02')
    expect(inTime.loan).toMatchObject({ penaltyCharged: 0, totalOutstanding: 60_000, overdue: false })
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('is paid by many at once as the same amounts in a row, and the book agrees', async () => {
    const lent = await lendBy(service, { penalty: daily })
    service.clock.set('2026-03-10')
    const pay = () => service.post(`${lent.path}/repayments`, { body: { transactionAmount: 1_000 } })
    const answers = await Promise.all(Array.from({ length: 40 }, pay))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    // Nine penalties of 300 from 2 to 10 March; those of today come after the payments of today.
    expect((await service.get(lent.path)).body).toMatchObject({ totalPaid: 40_000, penaltyCharged: 2_400 })
    await drain(sweepJob(service.deps))
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('is raised of a charge that is due on its day after the last instalment, as soon as the charge is posted', async () => {
    const penalty = { base: 'fixed', amount: 100, every: 'once', per: 'instalment' }
    const lent = await lendBy(service, { penalty })
    await repay(service, lent, 90_000 - 1)
    service.clock.set('2026-05-02')
    const body = { name: 'Visit', amount: 500, kind: 'fee' }
    await service.post(`${lent.path}/charges`, { body, token: service.tokens.operator })
    expect((await service.get(lent.path)).body).toMatchObject({ feesCharged: 500, penaltyCharged: 200 })
    expect(await differencesOf(service, lent)).toEqual([])
  })
})

describe('a penalty of the loan', () => {
  it('of each week begins after the last due date, and looks at all that is unpaid by then', async () => {
    const penalty = { base: 'overdue_principal', rate: 2, every: 'week', maxTimes: 3, per: 'loan' }
    const lent = await lendBy(service, { penalty })
    await repay(service, lent, 40_000)
    expect(await at('2026-04-30T09:29:00+03:00', lent)).toMatchObject({ penaltyCharged: 0 })
    expect(await at('2026-04-30', lent)).toMatchObject({ penaltyCharged: 1_000 })
    expect(await at('2026-05-07', lent)).toMatchObject({ penaltyCharged: 2_000 })
    expect(await at('2026-12-31', lent)).toMatchObject({ penaltyCharged: 3_000, totalOutstanding: 53_000 })
    expect((await at('2026-12-31', lent)).repaymentSchedule.at(-1)).toMatchObject({ penaltyDue: 3_000 })
  })

  it('of the terms of product 2 is the single one', async () => {
    const lent = await lendBy(service, { penalty: { base: 'principal', rate: 10, every: 'once', per: 'loan' } })
    const product = (await service.get(`/v1/loan-products/${lent.loan.loanProductId}`)).body
    expect(product).toMatchObject({ penaltyPercentOfPrincipal: 10 })
    expect(product).not.toHaveProperty('penalty')
    expect(await at('2026-12-31', lent)).toMatchObject({ penaltyCharged: 9_000 })
  })
})

describe('the cap of all charges', () => {
  it('cuts penalties to what interest and fees leave', async () => {
    // Interest 3 × 900 and a fee of 900: of 10 % of 90,000, 5,400 are left.
    const lent = await lendBy(service, {
      ...{ interestRate: 1, totalChargeCap: 10, penalty: { ...daily, rate: 5, capPercentOfPrincipal: undefined } },
      fees: [{ name: 'Stamp', base: 'principal', rate: 1, when: 'disbursement', treatment: 'deducted' }],
    })
    expect(lent.loan).toMatchObject({ netDisbursed: 89_100, feesDeducted: 900, interestCharged: 2_700, feesCharged: 0 })
    expect(await at('2026-12-31', lent)).toMatchObject({ penaltyCharged: 5_400 })
  })
})

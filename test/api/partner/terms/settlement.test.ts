import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sequencerJob } from '../../../../src/services/events/sequencer.ts'
import { drain } from '../../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../../src/services/loans/sweep.ts'
import { keepJournal } from '../../../support/journal.ts'
import { recordsOf } from '../../../support/records.ts'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'
import type { Wire } from '../../../support/wire.ts'
import { differencesOf, type Lent, lendBy, repay } from './lent.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

/** 30,000 of principal and 2,700 of interest with each instalment: 98,100 in all. */
const terms = { interestRate: 3, earlySettlement: 'interest_to_period_end' }
const operator = () => ({ token: service.tokens.operator })

const quoteOn = async ({ path }: Lent, on: string) => (await service.get(`${path}/settlement-quote?on=${on}`)).body
const waiversOf = async ({ path }: Lent) => {
  const { body } = await service.get(`${path}/transactions?type=Settlement%20Waiver`)
  return body.items.map(({ amount, date, status }) => ({
    ...{ amount, date, status },
  }))
}

describe('the quote of a settlement', () => {
  it.each([
    ['full_interest', '2026-03-10', 0, 98_100],
    ['interest_to_period_end', '2026-01-31', 5_400, 92_700],
    ['interest_to_period_end', '2026-02-28', 5_400, 92_700],
    ['interest_to_period_end', '2026-03-01', 2_700, 95_400],
    ['interest_to_period_end', '2026-04-01', 0, 98_100],
    ['interest_to_date', '2026-01-31', 8_100, 90_000],
    // 10 of the 31 days from 28 February: 870.97 of 2,700 are earned.
    ['interest_to_date', '2026-03-10', 4_529.03, 93_570.97],
    ['interest_to_date', '2026-05-01', 0, 98_100],
  ])('with %s on %s: %d is waived, and %d pays the loan off', async (earlySettlement, on, waived, amount) => {
    const lent = await lendBy(service, { ...terms, earlySettlement })
    const quote = { currencyCode: 'TZS', on, earlySettlement, totalOutstanding: 98_100, overpaid: 0 }
    expect(await quoteOn(lent, on)).toEqual({
      ...{ loanId: lent.loan.id, ...quote, interestWaived: waived, settlementAmount: amount },
    })
  })

  it('is by the transactions dated up to its day', async () => {
    const lent = await lendBy(service, terms)
    service.clock.set('2026-03-10')
    await repay(service, lent, 40_000, '2026-02-10')
    await repay(service, lent, 50_000, '2026-03-05')
    expect(await quoteOn(lent, '2026-03-04')).toMatchObject({ totalOutstanding: 58_100, settlementAmount: 55_400 })
    expect(await quoteOn(lent, '2026-03-05')).toMatchObject({ totalOutstanding: 8_100, settlementAmount: 5_400 })
    expect(await quoteOn(lent, '2026-02-10')).toMatchObject({ interestWaived: 5_400, settlementAmount: 52_700 })
  })

  it.each(['2026-01-30', '2036-02-01', 'tomorrow'])('is not given for %s, and says why', async (on) => {
    const lent = await lendBy(service, terms)
    const { status, body } = await service.get(`${lent.path}/settlement-quote?on=${on}`)
    expect([status, body.details[0]!.field]).toEqual([400, 'on'])
  })

  it('is before the penalty of its day, and after those of the days before', async () => {
    const penalty = { base: 'fixed', amount: 100, every: 'day', per: 'instalment' }
    const lent = await lendBy(service, { ...terms, penalty })
    service.clock.set('2026-03-02')
    expect((await service.get(lent.path)).body).toMatchObject({ penaltyCharged: 300 })
    expect(await quoteOn(lent, '2026-03-02')).toMatchObject({ totalOutstanding: 98_300, settlementAmount: 95_600 })
    expect((await repay(service, lent, 95_600)).loan).toMatchObject({
      ...{ status: 'Closed (obligations met)', penaltyCharged: 200, interestWaived: 2_700 },
    })
  })
})

describe('the repayment of what was quoted', () => {
  it('closes the loan, and posts a waiver for the same day', async () => {
    const lent = await lendBy(service, terms)
    service.clock.set('2026-03-10')
    const { loan } = await repay(service, lent, 95_400)
    expect(loan).toMatchObject({
      ...{ status: 'Closed (obligations met)', closedOn: '2026-03-10', interestWaived: 2_700, totalOverpaid: 0 },
    })
    expect(await waiversOf(lent)).toEqual([{ amount: 2_700, date: '2026-03-10', status: 'posted' }])
    await drain(sweepJob(service.deps))
    await keepJournal(service.deps)
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('stands after the waiver of its day in every answer of both styles', async () => {
    service.clock.set('2026-03-01T09:30:00+03:00')
    const four = { numberOfRepayments: 4, interestRate: 5, earlySettlement: 'interest_to_date' }
    const { path, loan: made } = await lendBy(service, { ...four, maxPrincipal: 100_000 }, 100_000)
    service.clock.set('2026-03-11T09:30:00+03:00')
    const { settlementAmount } = await quoteOn({ path, loan: made }, '2026-03-11')
    expect(settlementAmount).toBe(101_612.9)
    const { transaction } = await repay(service, { path, loan: made }, Number(settlementAmount))
    const parts = { principal: 100_000, interest: 1_612.9 }
    expect(transaction).toMatchObject(parts)
    const loan = (await service.get(path)).body
    const closed = 'Closed (obligations met)'
    const paid = { principalPaid: 100_000, interestPaid: 1_612.9, interestWaived: 18_387.1 }
    expect(loan).toMatchObject({ status: closed, ...paid, repaymentHistory: [parts] })

    const receipt = (await service.get(`${path}/repayments/${transaction.id}/receipt`)).body
    expect(receipt).toMatchObject({ balance: 0, ...parts })
    interface Statement {
      readonly lines: readonly { readonly type: string; readonly amount: number; readonly balance: number }[]
    }
    const { lines } = (await service.get<Statement>(`${path}/statement`)).body
    expect(lines.map(({ type, amount, balance }) => [type, amount, balance])).toEqual([
      ['Disbursement', 100_000, 100_000],
      ['Scheduled Interest', 20_000, 120_000],
      ['Settlement Waiver', 18_387.1, 101_612.9],
      ['Repayment', 101_612.9, 0],
    ])
    const ofRecords = recordsOf(service)
    const token = { token: service.tokens.operator }
    const recordReceipt = (await ofRecords.get(`/v1/repayments/${transaction.id}/receipt`, token)).body
    expect(recordReceipt).toMatchObject({ item: { ...parts, balance: 0 } })

    await drain(sequencerJob(service.deps))
    interface Feed {
      readonly items: readonly {
        readonly type: string
        readonly data: { readonly loan: Wire; readonly balances: Wire; readonly transaction: Wire }
      }[]
    }
    const { items } = (await service.get<Feed>(`/v1/events?loanId=${made.id}`)).body
    expect(items.map(({ type, data }) => [type, data.loan.status, data.loan.interestWaived])).toEqual([
      ['loan.disbursed', 'Active', 0],
      ['transaction.posted', 'Active', 18_387.1],
      ['repayment.posted', closed, 18_387.1],
      ['loan.closed', closed, 18_387.1],
    ])
    expect(items[2]!.data.transaction).toMatchObject(parts)
    const { host } = new URL(service.deps.config.recordsUrl)
    const ofRecord = (await service.get<Feed>(`/v1/events?loan_id=${made.id}`, { host, ...token })).body.items
    expect(ofRecord.map(({ type, data }) => [type, data.balances.status])).toEqual(
      items.map(({ type, data }) => [type, data.loan.status]),
    )
    await drain(sweepJob(service.deps))
    await keepJournal(service.deps)
    expect(await differencesOf(service, { path, loan: made })).toEqual([])
  })

  it('less a cent does not settle the loan', async () => {
    const lent = await lendBy(service, terms)
    service.clock.set('2026-03-10')
    expect((await repay(service, lent, 95_399.99)).loan).toMatchObject({ status: 'Active', interestWaived: 0 })
    expect(await waiversOf(lent)).toEqual([])
  })

  it('with the full interest leaves what was forgiven as overpayment', async () => {
    const lent = await lendBy(service, terms)
    service.clock.set('2026-03-10')
    expect((await repay(service, lent, 98_100)).loan).toMatchObject({ status: 'Overpaid', totalOverpaid: 2_700 })
  })

  it('reversed, brings all interest back; the waiver stays, and waives nothing', async () => {
    const lent = await lendBy(service, terms)
    service.clock.set('2026-03-10')
    const { transaction } = await repay(service, lent, 95_400)
    await service.post(`${lent.path}/repayments/${transaction.id}/reverse`, operator())
    expect((await service.get(lent.path)).body).toMatchObject({
      ...{ status: 'Active', totalOutstanding: 98_100, interestWaived: 0 },
    })
    expect(await waiversOf(lent)).toEqual([{ amount: 2_700, date: '2026-03-10', status: 'posted' }])
    const { body } = await service.get(`${lent.path}/transactions?type=Settlement%20Waiver`)
    const refused = await service.post(`${lent.path}/repayments/${body.items[0]!.id}/reverse`, operator())
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringMatching(/waives nothing any more/)])
    expect((await repay(service, lent, 95_400)).loan).toMatchObject({ interestWaived: 2_700, totalOutstanding: 0 })
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('is settled on the day by which all money was there, in whatever order it is posted', async () => {
    const amounts = [
      [40_000, '2026-02-10'],
      [55_400, '2026-03-10'],
      [1_000, '2026-04-20'],
    ] as const
    const orders = [amounts, amounts.toReversed(), [amounts[2], amounts[0], amounts[1]]]
    for (const order of orders) {
      service.clock.set(FIRST_DAY)
      const lent = await lendBy(service, terms)
      service.clock.set('2026-04-25')
      for (const [amount, date] of order) await repay(service, lent, amount, date)
      expect((await service.get(lent.path)).body).toMatchObject({
        ...{ status: 'Overpaid', totalOverpaid: 1_000, interestWaived: 2_700, totalOutstanding: 0 },
      })
      expect(await differencesOf(service, lent)).toEqual([])
    }
  })

  it('sent by many at once settles the loan once', async () => {
    const lent = await lendBy(service, terms)
    service.clock.set('2026-03-10')
    const pay = (index: number) =>
      service.post(`${lent.path}/repayments`, {
        body: { transactionAmount: 31_800, idempotencyKey: `share-${index % 3}` },
      })
    const answers = await Promise.all(Array.from({ length: 24 }, (_, index) => pay(index)))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(3)
    expect((await service.get(lent.path)).body).toMatchObject({ status: 'Closed (obligations met)', totalOverpaid: 0 })
    expect(await waiversOf(lent)).toHaveLength(1)
  })

  it('keeps a waiver that an operator reversed away for that day', async () => {
    const lent = await lendBy(service, terms)
    service.clock.set('2026-03-10')
    await repay(service, lent, 95_400)
    const { body } = await service.get(`${lent.path}/transactions?type=Settlement%20Waiver`)
    await service.post(`${lent.path}/repayments/${body.items[0]!.id}/reverse`, operator())
    expect((await service.get(lent.path)).body).toMatchObject({ status: 'Active', totalOutstanding: 2_700 })
    expect(await quoteOn(lent, '2026-03-10')).toMatchObject({ interestWaived: 0, settlementAmount: 2_700 })
    expect((await repay(service, lent, 100)).loan).toMatchObject({ status: 'Active', totalOutstanding: 2_600 })
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('may be one of many changes of a millisecond, of which the check of the book finds the order', async () => {
    const lent = await lendBy(service, terms)
    service.clock.set('2026-03-10')
    const first = await repay(service, lent, 95_400)
    service.clock.set('2026-03-20')
    const second = await repay(service, lent, 95_400)
    const reverse = (id: unknown) => service.post(`${lent.path}/repayments/${id}/reverse`, operator())
    const answers = await Promise.all([reverse(first.transaction.id), reverse(second.transaction.id)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    // Without the first repayment, the second one settled the loan on its own day, until it was reversed too.
    expect((await waiversOf(lent)).map(({ date }) => date)).toEqual(['2026-03-10', '2026-03-20'])
    expect((await service.get(lent.path)).body).toMatchObject({ status: 'Active', totalOutstanding: 98_100 })
    expect(await differencesOf(service, lent)).toEqual([])
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { StatementView } from '../../../../src/api/partner/documents/documents.wire.ts'
import { operator } from '../../../../src/services/access/caller.ts'
import { sequencerJob } from '../../../../src/services/events/sequencer.ts'
import { drain } from '../../../../src/services/jobs/job.ts'
import { listArrears } from '../../../../src/services/portfolio/arrears.ts'
import { anAccount, letWaitAbove } from '../../../support/approvals.ts'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'
import { differencesOf, type Lent, lendBy, repay } from './lent.ts'

/** A page of events with their loans. */
interface Told {
  readonly items: readonly { readonly data: { readonly loan: object } }[]
}

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

const restructure = ({ path }: Lent, body: object, headers: Record<string, string> = {}) =>
  service.post(`${path}/restructures`, { body, headers, token: service.tokens.operator })
const reverse = ({ path }: Lent, id: string) =>
  service.post(`${path}/restructures/${id}/reverse`, { token: service.tokens.operator })
const read = async ({ path }: Lent) => (await service.get(path)).body
const datesOf = (loan: Awaited<ReturnType<typeof read>>) => loan.repaymentSchedule.map(({ dueDate }) => dueDate)
const holiday = { change: { postponeBy: { periods: 1 } }, interest: 'none', reason: 'hardship' }

describe('a restructure', () => {
  it('moves what is owed, keeps the principal, and has versions with the one who made each', async () => {
    const lent = await lendBy(service, {})
    await repay(service, lent, 30_000)
    service.clock.set('2026-03-10')
    const { status, body } = await restructure(lent, { ...holiday, note: 'The harvest is late.' })
    expect([status, body]).toEqual([200, expect.anything()])
    expect(body).toMatchObject({ scheduleVersion: 2, principalOutstanding: 60_000, dueDate: '2026-05-30' })
    expect(datesOf(body)).toEqual(['2026-02-28', '2026-04-30', '2026-05-30'])
    const [made] = body.restructures
    expect(made).toMatchObject({
      ...{ on: '2026-03-10', change: { postponeBy: { periods: 1 } }, interest: 'none', reason: 'hardship' },
      ...{ countsAs: 'hardship', interestAdded: 0, note: 'The harvest is late.' },
    })
    expect(await read(lent)).toMatchObject({ dueDate: '2026-05-30', nextDueDate: '2026-04-30' })
    const { items } = (await service.get(`${lent.path}/schedules`)).body
    expect(items).toEqual([
      { version: 1, numberOfRepayments: 3, dueDate: '2026-04-30' },
      { version: 2, numberOfRepayments: 3, dueDate: '2026-05-30', restructure: made },
    ])
    const second = (await service.get(`${lent.path}/schedules/2`)).body
    expect(second.repaymentSchedule[1]).toMatchObject({ period: 2, dueDate: '2026-04-30', principal: 30_000 })
    const none = await service.get(`${lent.path}/schedules/3`)
    expect([none.status, none.body.message]).toEqual([404, 'the loan has the versions 1 to 2 of its schedule'])
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('is undone by its reversal: the loan is what it would be without it', async () => {
    const lent = await lendBy(service, { interestRate: 2 })
    service.clock.set('2026-02-10')
    const before = await read(lent)
    const fee = { name: 'Extension', amount: 500, treatment: 'due_now' }
    const change = { numberOfRepayments: 6 }
    const { body } = await restructure(lent, { change, reason: 'other', fee, waive: { interest: 100 } })
    expect(body).toMatchObject({
      scheduleVersion: 2,
      feesCharged: 500,
      interestWaived: 100,
      principalOutstanding: 90_000,
    })
    expect(datesOf(body)).toHaveLength(7)
    const types = (await service.get(`${lent.path}/transactions`)).body.items.map(({ type }) => type)
    expect(types).toEqual(['Waive Interest', 'Restructure', 'Fee'])
    const one = (await service.get(`${lent.path}/transactions`)).body.items
    const alone = await service.post(`${lent.path}/repayments/${one[2]!.id}/reverse`, {
      token: service.tokens.operator,
    })
    expect([alone.status, alone.body.message]).toEqual([
      409,
      'the Fee was posted with a restructure: reverse the restructure',
    ])
    const reversed = await reverse(lent, body.restructures[0]!.id)
    const { updatedAt: _, scheduleVersion, restructures, ...after } = reversed.body
    const { updatedAt: __, repaymentHistory, delinquency, ...was } = before
    expect([scheduleVersion, restructures, after]).toEqual([1, [], was])
    expect([repaymentHistory, delinquency]).toEqual([[], expect.anything()])
    expect((await reverse(lent, body.restructures[0]!.id)).status).toBe(409)
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('is shown beforehand as it comes out, and changes nothing then', async () => {
    const lent = await lendBy(service, { interestRate: 1 })
    service.clock.set('2026-02-10')
    const asked = { change: { instalmentAmount: 20_000 }, reason: 'hardship' }
    const shown = await restructure(lent, { ...asked, preview: true })
    const unchanged = await read(lent)
    expect([shown.status, unchanged.dueDate]).toEqual([200, '2026-04-30'])
    const done = await restructure(lent, asked)
    const without = ({ updatedAt: _, restructures: __, ...rest }: typeof done.body) => rest
    expect(without(done.body)).toEqual(without(shown.body))
    const [last] = done.body.repaymentSchedule.slice(-1)
    expect(last!.totalDue).toBeLessThanOrEqual(20_000)
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('is told as loan.restructured, and posted once by one Idempotency-Key', async () => {
    const lent = await lendBy(service, {})
    const headers = { 'Idempotency-Key': `holiday-${lent.loan.id}` }
    const [first, second] = [await restructure(lent, holiday, headers), await restructure(lent, holiday, headers)]
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.body.scheduleVersion).toBe(2)
    // A crash may have kept the first answer from being stored: it is then built again.
    await service.deps.db.pool.query('UPDATE idempotency_key SET response = NULL WHERE key = $1', [
      headers['Idempotency-Key'],
    ])
    expect((await restructure(lent, holiday, headers)).body).toMatchObject({
      scheduleVersion: 2,
      dueDate: '2026-05-30',
    })
    const trail = await service.deps.db.pool.query(
      `SELECT action FROM audit_entry WHERE entity = 'loan' AND entity_id = $1 ORDER BY id`,
      [lent.loan.id],
    )
    expect(trail.rows).toEqual([{ action: 'create' }, { action: 'Restructure' }])
    await drain(sequencerJob(service.deps))
    const { items } = (await service.get<Told>(`/v1/events?types=loan.restructured&loanId=${lent.loan.id}`)).body
    expect(items.map(({ data }) => data.loan)).toMatchObject([
      { dueDate: '2026-05-30', dueDateTime: expect.stringMatching(/^2026-05-30T09:30:0/), nextDueDate: '2026-03-31' },
    ])
  })

  it.each([
    [{ newFirstDueDate: '2026-05-15' }, {}],
    [{ until: '2026-06-30' }, {}],
    [{ numberOfRepayments: 4 }, {}],
    [{ numberOfRepayments: 4, repaymentEvery: 2, repaymentFrequencyType: 'weeks' }, {}],
    [{ numberOfRepayments: 4, repaymentEvery: 2 }, { repaymentFrequencyType: 'months' }],
    [{ numberOfRepayments: 4, repaymentFrequencyType: 'weeks' }, { repaymentEvery: 1 }],
  ])('of the last instalment by %j is shown as it was asked for, with the rate', async (change, more) => {
    const lent = await lendBy(service, {})
    await repay(service, lent, 60_000)
    service.clock.set('2026-04-10')
    const interest = { rate: 3.5, ratePer: 'month' }
    const { status, text, body } = await restructure(lent, { change, interest, reason: 'roll_over' })
    expect(status, text).toBe(200)
    expect(body.restructures).toMatchObject([{ interest: 'rate', interestRate: 3.5, ratePer: 'month' }])
    const [made] = body.restructures as readonly { readonly change?: object }[]
    expect(made!.change).toEqual({ ...change, ...more })
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('never makes a late loan of hardship current: only money does', async () => {
    const lent = await lendBy(service, {})
    service.clock.set('2026-03-20')
    expect((await read(lent)).delinquency).toMatchObject({ daysPastDue: 20 })
    await restructure(lent, { change: { newFirstDueDate: '2026-04-15' }, interest: 'none', reason: 'hardship' })
    const late = await read(lent)
    expect(late).toMatchObject({ overdue: true, daysOverdue: 20, totalOverdue: 30_000, nextDueDate: '2026-04-15' })
    expect(late.delinquency).toMatchObject({ daysPastDue: 20, restructuredOn: '2026-03-20' })
    const { loans } = await listArrears(service.deps, operator(1, 'test'), { rows: 100 })
    expect(loans.find(({ id }) => String(id) === lent.loan.id)).toMatchObject({ dueOn: '2026-02-28', daysPastDue: 20 })
    const { loan } = await repay(service, lent, 30_000)
    expect(loan).toMatchObject({ overdue: false, daysOverdue: 0, totalOverdue: 0 })
    expect(loan.delinquency).toMatchObject({ daysPastDue: 0, bucket: 'current' })
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('gives the loan that came in order where a payment of before it is told after it', async () => {
    const [one, other] = [await lendBy(service, { interestRate: 1 }), await lendBy(service, { interestRate: 1 })]
    const asked = { change: { numberOfRepayments: 5 }, reason: 'other' }
    service.clock.set('2026-02-10')
    await repay(service, one, 12_345)
    service.clock.set('2026-02-15')
    await restructure(one, asked)
    await restructure(other, asked)
    await repay(service, other, 12_345, '2026-02-10')
    const [a, b] = [await read(one), await read(other)]
    expect(b.repaymentSchedule).toEqual(a.repaymentSchedule)
    expect(b.totalOutstanding).toBe(a.totalOutstanding)
    expect([await differencesOf(service, one), await differencesOf(service, other)]).toEqual([[], []])
  })

  it.each([
    [{}, 400, /exactly one of newFirstDueDate, postponeBy/],
    [{ until: '2026-05-31', postponeBy: { periods: 1 } }, 400, /not postponeBy and until/],
    [{ newFirstDueDate: '2026-02-10' }, 400, /must be after today, 2026-02-10/],
    [{ until: '2026-05-31' }, 409, /has 3 instalments that owe something: a roll-over needs a loan that has one left/],
    [{ instalmentAmount: 1 }, 400, /must be larger: instalments of it do not repay the loan within 2000/],
    [{ repaymentEvery: 2, until: '2026-05-31' }, 400, /with numberOfRepayments alone/],
  ])('of %j is refused with %i', async (change, status, message) => {
    const lent = await lendBy(service, {})
    service.clock.set('2026-02-10')
    const refused = await restructure(lent, { change, reason: 'other' })
    expect([refused.status, refused.body.message]).toEqual([status, expect.stringMatching(message)])
    expect(await read(lent)).toMatchObject({ dueDate: '2026-04-30' })
  })

  it('is kept within the bounds of the product', async () => {
    const lent = await lendBy(service, { restructuring: { maxTimes: 1, minPaidPercent: 20, maxDaysAdded: 40 } })
    const early = await restructure(lent, holiday)
    expect([early.status, early.body.message]).toEqual([409, expect.stringMatching(/asks for 20 percent of 90000.00/)])
    await repay(service, lent, 30_000)
    const long = await restructure(lent, { ...holiday, change: { postponeBy: { periods: 2 } } })
    expect([long.status, long.body.message]).toEqual([409, expect.stringMatching(/its product allows 40 days/)])
    expect((await restructure(lent, holiday)).status).toBe(200)
    const again = await restructure(lent, holiday)
    expect([again.status, again.body.message]).toEqual([409, expect.stringMatching(/was restructured once/)])
  })

  it('is refused on a loan that is charged off, and for an account that is no ADMIN', async () => {
    const lent = await lendBy(service, {})
    const { status } = await service.post(`${lent.path}/restructures`, { body: holiday })
    expect(status).toBe(403)
    await service.post(`${lent.path}/repayments/charge-off`, { body: {}, token: service.tokens.operator })
    expect((await restructure(lent, holiday)).status).toBe(409)
  })
})

describe('a loan that was restructured', () => {
  it('has in its statement the instalments and the last due date of the schedule in force on the last day', async () => {
    const lent = await lendBy(service, {})
    service.clock.set('2026-02-10')
    await restructure(lent, { change: { numberOfRepayments: 5 }, interest: 'none', reason: 'other' })
    const loanUpTo = async (to: string) =>
      (await service.get<StatementView>(`${lent.path}/statement?to=${to}`)).body.loan
    expect(await loanUpTo('2026-02-09')).toMatchObject({ dueDate: '2026-04-30', numberOfRepayments: 3 })
    const { dueDate } = await read(lent)
    expect(await loanUpTo('2026-02-10')).toMatchObject({ dueDate, numberOfRepayments: 5 })
  })

  it('is paid off by a top-up of what it owes by the schedule in force', async () => {
    const lent = await lendBy(service, { interestRate: 3 })
    const { customerExternalId: customerId, loanProductId: productId } = lent.loan
    const body = { customerId, productId, principal: 90_000, externalId: 'extended' }
    const first = { loan: (await service.post('/v1/loans', { body })).body, path: '/v1/loans/external/extended' }
    service.clock.set('2026-02-10')
    await restructure(first, { change: { numberOfRepayments: 6 }, reason: 'hardship' })
    const { totalOutstanding } = await read(first)
    expect(totalOutstanding).toBeGreaterThan(98_100)
    const more = { customerId, productId, principal: 200_000, settles: ['extended'] }
    const made = await service.post('/v1/loans', { body: more })
    expect([made.status, made.body]).toMatchObject([
      200,
      { netDisbursed: 200_000 - totalOutstanding, settled: [{ amount: totalOutstanding }] },
    ])
    expect(await read(first)).toMatchObject({ status: 'Closed (obligations met)', totalOutstanding: 0 })
    expect(await differencesOf(service, { ...first, loan: made.body })).toEqual([])
  })

  it('has one version more for each of many at once', async () => {
    const lent = await lendBy(service, {})
    const answers = await Promise.all(Array.from({ length: 20 }, () => restructure(lent, holiday)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const { items } = (await service.get(`${lent.path}/schedules`)).body
    expect(items.map(({ version }) => version)).toEqual(Array.from({ length: 21 }, (_, index) => index + 1))
    expect(await differencesOf(service, lent)).toEqual([])
  })
})

describe('a restructure of a loan that owes more than approvalAbove', () => {
  it('waits for another ADMIN, and is made once approved, as is its reversal', async () => {
    const lent = await lendBy(service, {})
    const checker = await anAccount(service, 'restructure-checker')
    await letWaitAbove(service, 50_000)
    const asked = await restructure(lent, holiday)
    expect([asked.status, asked.body]).toMatchObject([202, { state: 'pending', kind: 'restructure' }])
    expect(datesOf(await read(lent))[0]).toBe('2026-02-28')
    const approve = (id: string, token: string) => service.post(`/v1/pending-actions/${id}/approve`, { token })
    expect((await approve(asked.body.id, service.tokens.operator)).status).toBe(403)
    expect((await approve(asked.body.id, checker)).status).toBe(200)
    expect(datesOf(await read(lent))[0]).toBe('2026-03-31')
    const { items } = (await service.get<{ items: { restructure: { id: string } }[] }>(`${lent.path}/schedules`)).body
    const undone = await reverse(lent, items[1]!.restructure.id)
    expect([undone.status, undone.body]).toMatchObject([202, { state: 'pending', kind: 'reverse-restructure' }])
    expect((await approve(undone.body.id, checker)).status).toBe(200)
    expect(datesOf(await read(lent))[0]).toBe('2026-02-28')
    await letWaitAbove(service, null)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'
import { differencesOf, type Lent, lendBy, repay } from './lent.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

const visit = { name: 'Collection visit', amount: 1_500, kind: 'fee' }
const charge = ({ path }: Lent, body: object, headers: Record<string, string> = {}) =>
  service.post(`${path}/charges`, { body, headers, token: service.tokens.operator })

describe('a single charge', () => {
  it('is due with the instalment of its day, counts from today, and is paid like any other', async () => {
    const lent = await lendBy(service, { interestRate: 1 })
    service.clock.set('2026-02-10')
    const { body } = await charge(lent, { ...visit, dueDate: '2026-03-15' })
    expect(body).toMatchObject({
      ...{ type: 'Fee', name: 'Collection visit', amount: 1_500, fees: 1_500, date: '2026-02-10', status: 'posted' },
      dueDate: '2026-03-15',
    })
    const { repaymentSchedule, feesCharged } = (await service.get(lent.path)).body
    expect([feesCharged, repaymentSchedule.map(({ feesDue }) => feesDue)]).toEqual([...[1_500, [0, 1_500, 0]]])
    const { transaction } = await repay(service, lent, 33_000)
    expect(transaction).toMatchObject({ principal: 30_000, interest: 1_500, fees: 1_500 })
  })

  it('is due in an instalment of its own after the last, which alone is overdue later', async () => {
    const lent = await lendBy(service, {})
    await repay(service, lent, 89_999)
    service.clock.set('2026-05-10')
    await charge(lent, { ...visit, kind: 'penalty', dueDate: '2026-05-20' })
    const { repaymentSchedule, ...loan } = (await service.get(lent.path)).body
    expect(repaymentSchedule).toHaveLength(4)
    expect(repaymentSchedule[3]).toMatchObject({ dueDate: '2026-05-20', penaltyDue: 1_500, totalDue: 1_500 })
    expect(loan).toMatchObject({ penaltyCharged: 1_500, totalOverdue: 1, totalOutstanding: 1_501 })
  })

  it('is listed with its reversal, which leaves the loan as it was without it', async () => {
    const lent = await lendBy(service, {})
    const [first, second] = [await charge(lent, visit), await charge(lent, { ...visit, kind: 'penalty' })]
    const path = `${lent.path}/charges/${first.body.id}/reverse`
    const reversed = await service.post(path, { body: { note: 'Not visited' }, token: service.tokens.operator })
    expect(reversed.body).toMatchObject({ id: first.body.id, status: 'reversed', name: 'Collection visit' })
    expect((await service.post(path, { token: service.tokens.operator })).status).toBe(409)
    const list = (await service.get(`${lent.path}/charges?rows=1`)).body
    expect([list.total, list.items[0]!.id]).toEqual([2, second.body.id])
    expect((await service.get(lent.path)).body).toMatchObject({ feesCharged: 0, penaltyCharged: 1_500 })
    const { transaction } = await repay(service, lent, 100)
    const wrong = await service.post(`${lent.path}/charges/${transaction.id}/reverse`, {
      token: service.tokens.operator,
    })
    expect([wrong.status, wrong.body.message]).toEqual([404, 'no charge of this loan has that id'])
    expect(await differencesOf(service, lent)).toEqual([])
  })

  it('is charged once by one Idempotency-Key, by many at once', async () => {
    const lent = await lendBy(service, {})
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => charge(lent, visit, { 'Idempotency-Key': `visit-${lent.loan.id}` })),
    )
    const made = answers.filter(({ status }) => status === 200)
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1)
    expect((await service.get(lent.path)).body).toMatchObject({ feesCharged: 1_500 })
  })

  it('is no more than the cap of the product leaves', async () => {
    const lent = await lendBy(service, { interestRate: 1, totalChargeCap: 5 })
    const { status, body } = await charge(lent, { ...visit, amount: 1_800.01 })
    expect([status, body.message]).toEqual([
      409,
      expect.stringMatching(/1800.01 TZS is more than the 1800.00 TZS that the caps of the product leave/),
    ])
    expect((await charge(lent, { ...visit, amount: 1_800 })).status).toBe(200)
    expect((await charge(lent, { ...visit, amount: 0.01 })).status).toBe(409)
  })

  it('needs an Active loan and an ADMIN', async () => {
    const lent = await lendBy(service, {})
    const asPartner = await service.post(`${lent.path}/charges`, { body: visit })
    expect(asPartner.status).toBe(403)
    await repay(service, lent, 90_000)
    const { status, body } = await charge(lent, visit)
    expect([status, body.message]).toEqual([409, expect.stringMatching(/a single fee needs a loan that is Active/)])
    const { status: missing } = await charge({ ...lent, path: '/v1/loans/external/nobody' }, visit)
    expect(missing).toBe(404)
  })

  it.each([
    [{ ...visit, amount: 0 }, 'amount'],
    [{ ...visit, amount: 1.001 }, 'amount'],
    [{ ...visit, name: '' }, 'name'],
    [{ ...visit, kind: 'interest' }, 'kind'],
    [{ ...visit, dueDate: '2026-01-30' }, 'dueDate'],
    [{ ...visit, dueDate: '2036-02-01' }, 'dueDate'],
    [{ ...visit, note: 'x' }, 'note'],
  ])('%j is refused, naming the field, and changes nothing', async (body, field) => {
    const lent = await lendBy(service, {})
    const answer = await charge(lent, body)
    expect([answer.status, answer.body.details[0]!.field]).toEqual([400, field])
    expect((await service.get(`${lent.path}/charges`)).body.items).toEqual([])
  })
})

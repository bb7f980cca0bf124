import { afterAll, beforeAll, expect, it } from 'vitest'
import { lendBy } from '../api/partner/terms/lent.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

// The clock of a machine is put right by some milliseconds at times, and the clocks of two machines differ. What was posted
// before is what the trail has before, whatever the moments say: no difference for `book check`.

let service: TestService
beforeAll(async () => {
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

/** Sets the clock back by some milliseconds. */
const goBack = () => service.clock.set(new Date(service.clock.now() - 20).toISOString())

const lend = async () =>
  `/v1/loans/${(await service.post('/v1/loans', { body: { customerId: 'asha', productId: 3, principal: 60_000 } })).body.id}`
const post = async (path: string, body: object = {}) => {
  const answer = await service.post(path, { body, token: service.tokens.operator })
  expect(answer.status, answer.text).toBe(200)
  return answer.body.id as string
}
const pay = (loan: string, transactionAmount = 4_000) => post(`${loan}/repayments`, { transactionAmount })

async function differences(): Promise<unknown> {
  const { json } = await opsOn(service)('book check --json')
  return json.differences
}

it('a reversal that has an earlier moment than its posting', async () => {
  const loan = await lend()
  const id = await pay(loan)
  goBack()
  await post(`${loan}/repayments/${id}/reverse`)
  expect(await differences()).toEqual([])
})

it.each(['repayments/charge-off', 'write-off'])(
  'a %s that has an earlier moment than a reversal before it',
  async (mark) => {
    const loan = await lend()
    const id = await pay(loan)
    await post(`${loan}/repayments/${id}/reverse`)
    goBack()
    await post(`${loan}/${mark}`)
    expect(await differences()).toEqual([])
  },
)

it('a charge-off that has a later moment than a reversal after it', async () => {
  const loan = await lend()
  const id = await pay(loan)
  await post(`${loan}/repayments/charge-off`)
  goBack()
  await post(`${loan}/repayments/${id}/reverse`)
  expect(await differences()).toEqual([])
})

it('a reversal that settles a loan early: its waiver is before it in the trail', async () => {
  const { path } = await lendBy(service, { interestRate: 3, earlySettlement: 'interest_to_period_end' })
  const { settlementAmount } = (await service.get<{ settlementAmount: number }>(`${path}/settlement-quote`)).body
  await pay(path, settlementAmount - 10)
  const refund = await post(`${path}/repayments/refund`, { transactionAmount: 20 })
  await pay(path, 20)
  await post(`${path}/repayments/${refund}/reverse`)
  expect((await service.get(path)).body).toMatchObject({ totalOutstanding: 0, interestWaived: 5_400 })
  expect(await differences()).toEqual([])
})

it('each of what happens to a loan at an earlier moment than what was before it', async () => {
  const loan = await lend()
  goBack()
  const id = await pay(loan)
  goBack()
  const adjusted = await post(`${loan}/repayments/${id}/adjust`, { transactionAmount: 3_000 })
  goBack()
  await post(`${loan}/repayments/waive-interest`, { transactionAmount: 100 })
  goBack()
  await post(`${loan}/repayments/charge-off`)
  goBack()
  await post(`${loan}/repayments/recover`, { transactionAmount: 50 })
  goBack()
  await post(`${loan}/repayments/${adjusted}/reverse`)
  goBack()
  await pay(await lend(), 100_000)
  expect(await differences()).toEqual([])
})

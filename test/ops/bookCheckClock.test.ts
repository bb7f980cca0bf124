import { afterAll, beforeAll, expect, it } from 'vitest'
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

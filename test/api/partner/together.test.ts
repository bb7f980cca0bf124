import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

let shared: TestService
let plain: TestService
beforeAll(async () => {
  shared = await startService({}, { together: true })
  shared.damages('loans are changed and deleted by SQL')
  plain = await startService({}, { together: false })
})
afterAll(async () => {
  await shared.close()
  await plain.close()
})

/** The same calls, one after the other, on either; what each answered. */
async function play(service: TestService): Promise<string[]> {
  const answers: string[] = []
  const post = async (path: string, body?: object, token = service.tokens.operator) => {
    const { status, text, body: answer } = await service.post(path, { ...(body && { body }), token })
    answers.push(`${status} ${text}`)
    return answer
  }
  // Which cursor an answer has depends on the rest of the database server.
  const get = async (path: string) =>
    answers.push((await service.get(path)).text.replace(/"next":"[^"]*"/, '"next":""'))
  service.clock.stand(FIRST_DAY)
  await post('/v1/customers', { externalId: 'asha' })
  for (const productId of [1, 2, 3, 4]) {
    service.clock.stand('2026-01-31T09:30:00+03:00')
    const externalId = `loan-${productId}`
    await post('/v1/loans', { customerId: 'asha', productId, principal: 100_000, externalId })
    await post('/v1/loans', { customerId: 'asha', productId, principal: 100_000, externalId })
    service.clock.stand('2026-03-02')
    const loan = `/v1/loans/external/${externalId}`
    const first = await post(`${loan}/repayments`, { transactionAmount: 30_000, idempotencyKey: 'one' })
    await post(`${loan}/repayments`, { transactionAmount: 31_000, idempotencyKey: 'one' })
    await post(`${loan}/repayments`, { transactionAmount: 5_000, transactionDate: '2026-02-05' })
    await post(`${loan}/repayments`, { transactionAmount: 0.001 })
    await post(`${loan}/repayments/refund`, { transactionAmount: 1_000 })
    await post(`${loan}/repayments/${first.id}/adjust`, { transactionAmount: 200_000 })
    await post(`${loan}/repayments/${first.id}/reverse`)
    await post(`${loan}/repayments/credit-balance-refund`, { transactionAmount: 10 })
    await post(`${loan}/repayments/waive-interest`, { transactionAmount: 10 })
    await get(loan)
    await get(`${loan}/repayments?rows=2`)
  }
  await get('/v1/loans?rows=100')
  return answers
}

describe('requests that share statements', () => {
  it('are answered byte for byte as those that have statements of their own', async () => {
    const [together, alone] = [await play(shared), await play(plain)]
    expect(together).toEqual(alone)
    expect(together.filter((answer) => answer.startsWith('200'))).not.toHaveLength(0)
  })

  it('one that is refused, stale or taken never touches its neighbours', async () => {
    shared.clock.stand('2026-03-02')
    const lend = async () =>
      (await shared.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 50_000 } })).body.id
    const ids: string[] = []
    for (let index = 0; index < 30; index++) ids.push(await lend())
    // A third of the tokens are used, a third of the amounts refused; and one loan is changed behind our back.
    for (const [index, id] of ids.entries())
      if (index % 3 === 0)
        await shared.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount: 7, idempotencyKey: 'x' } })
    const answers = await Promise.all([
      ...ids.map((id, index) =>
        shared.post(`/v1/loans/${id}/repayments`, {
          body: { transactionAmount: index % 3 === 1 ? 0.001 : 500, idempotencyKey: 'x' },
        }),
      ),
      shared.deps.db.pool.query('UPDATE loan SET version = version + 1 WHERE id = $1', [ids[2]]),
    ])
    for (const [index, id] of ids.entries()) {
      const expected = [
        { status: 200, paid: 7 },
        { status: 400, paid: 0 },
        { status: 200, paid: 500 },
      ][index % 3]!
      expect(answers[index]).toMatchObject({ status: expected.status })
      expect((await shared.get(`/v1/loans/${id}`)).body.totalPaid).toBe(expected.paid)
    }
  })

  it('one that the database will not take, or whose rows are damaged, never touches its neighbours', async () => {
    const { pool } = shared.deps.db
    // No such product is made any more: its interest is more than a column holds.
    await pool.query(
      `INSERT INTO loan_product (organization_id, id, name, currency, principal_min, principal_max, number_of_repayments,
         repay_every, repay_unit, rate_per_period, created_at)
       VALUES (1, 99, 'Dear', 'TZS', 1, 99999999999999, 2000, 1, 'days', 10000000000, now())`,
    )
    const lend = (productId: number) => {
      const principal = productId === 99 ? 999_999_999_999 : 9_000_000
      return shared.post('/v1/loans', { body: { customerId: 'asha', productId, principal } })
    }
    const lent = await Promise.all([1, 1, 99, 1, 2, 99, 4, 1, 1].map(lend))
    expect(lent.map(({ status }) => status)).toEqual([200, 200, 500, 200, 200, 500, 200, 200, 200])
    const ids = lent.flatMap(({ status, body }) => (status === 200 ? [body.id] : []))
    await pool.query('DELETE FROM loan_period WHERE loan_id = $1', [ids[3]])
    const read = await Promise.all(ids.map((id) => shared.get(`/v1/loans/${id}`)))
    expect(read.map(({ status }) => status)).toEqual([200, 200, 200, 500, 200, 200, 200])
    await pool.query('DELETE FROM loan WHERE id = $1', [ids[3]])
  })

  it('many Idempotency-Keys at once on one loan: each is made once, also where two instances race', async () => {
    const other = await shared.another()
    const { body: loan } = await shared.post('/v1/loans', {
      body: { customerId: 'asha', productId: 1, principal: 50_000 },
    })
    const call = (index: number) => ({
      body: { transactionAmount: 10 },
      headers: { 'idempotency-key': `race-${index % 20}` },
    })
    const send = (index: number) =>
      (index % 2 === 0 ? shared : other).post(`/v1/loans/${loan.id}/repayments`, call(index >> 1))
    const answers = await Promise.all(Array.from({ length: 80 }, (_, index) => send(index)))
    expect(answers.every(({ status, body }) => status === 200 || body.code === 'aborted')).toBe(true)
    for (let index = 0; index < 40; index++) await send(index)
    expect((await shared.get(`/v1/loans/${loan.id}`)).body.totalPaid).toBe(200)
  })
})

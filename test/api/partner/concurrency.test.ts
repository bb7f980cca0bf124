import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '../../support/service.ts'

describe.each([
  { way: 'together', together: true },
  { way: 'each on its own', together: false },
])('$way:', ({ together }) => {
  let one: TestService
  let other: TestService
  beforeAll(async () => {
    one = await startService({}, { together })
    other = await one.another()
    await one.post('/v1/customers', { body: { externalId: 'asha' } })
  })
  afterAll(() => one.close())

  const lend = async (): Promise<string> =>
    (await one.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 100_000 } })).body.id

  const inTurns = (index: number) => (index % 2 === 0 ? one : other)

  describe('two instances of the service on one database', () => {
    it('200 repayments at once with one token: one transaction, 200 identical answers, the balance moved once', async () => {
      const id = await lend()
      const body = { transactionAmount: 700, idempotencyKey: 'one-token' }
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) => inTurns(index).post(`/v1/loans/${id}/repayments`, { body })),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect((await one.get(`/v1/loans/${id}`)).body).toMatchObject({
        totalPaid: 700,
        repaymentHistory: [{ amount: 700 }],
      })
    })

    it('200 repayments at once with different tokens: all posted, the sum exact', async () => {
      const id = await lend()
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          inTurns(index).post(`/v1/loans/${id}/repayments`, {
            body: { transactionAmount: index + 0.01, idempotencyKey: `token-${index}` },
          }),
        ),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(200)
      const { body: loan } = await other.get(`/v1/loans/${id}`)
      expect(loan.repaymentHistory).toHaveLength(200)
      // 0 + 1 + … + 199 = 19,900, and 200 cents.
      expect(loan.totalPaid).toBe(19_902)
    })

    it('one externalId by 50 callers at once: one customer, and 49 times already_exists', async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          inTurns(index).post('/v1/customers', { body: { externalId: 'sought' } }),
        ),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(answers.filter(({ body }) => body.code === 'already_exists')).toHaveLength(49)
    })

    it('one loan externalId by 50 callers at once: one loan', async () => {
      const body = { customerId: 'asha', productId: 3, principal: 6_000, externalId: 'sought' }
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => inTurns(index).post('/v1/loans', { body })),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(answers.filter(({ body: answer }) => answer.code === 'already_exists')).toHaveLength(49)
    })
  })
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import { operator } from '../../../src/services/access/caller.ts'
import { getLoanWithDelinquency } from '../../../src/services/delinquency/loanDelinquency.ts'
import { createHeavyReads } from '../../../src/services/loans/heavyReads.ts'
import { startService, type TestService } from '../../support/service.ts'

// A heavy loan is held from its second read on, and is read again after each change of what it was read from.

let service: TestService
let id: string
beforeAll(async () => {
  service = await startService()
  Object.assign(service.deps, { heavyReads: createHeavyReads({ heavy: 10 }) })
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const body = { customerId: 'asha', productId: 4, principal: 10_000, externalId: 'long' }
  id = String((await service.post('/v1/loans', { body })).body.id)
})
afterAll(() => {
  service.damages('the words of a customer are changed in its row alone')
  return service.close()
})

const read = () => getLoanWithDelinquency(service.deps, operator(1, 'test'), { externalId: 'long' })

it('is the same object while nothing has changed, in the state of the moment', async () => {
  await read()
  const second = await read()
  const third = await read()
  expect(third.loan).toBe(second.loan)
  expect(third.state).toBe(second.state)
  expect(third.delinquency).toBe(second.delinquency)
  service.clock.set('2026-06-01T12:00:00+03:00')
  const later = await read()
  expect(later.loan).toBe(second.loan)
  expect(later.state.totalOverdue).toBeGreaterThan(0n)
  expect(later.delinquency?.daysPastDue).toBeGreaterThan(0)
})

it.each<[string, () => Promise<unknown>, (now: Awaited<ReturnType<typeof read>>) => unknown, unknown]>([
  [
    'a repayment',
    () => service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount: 5 } }),
    ({ loan }) => loan.entries.length,
    1,
  ],
  [
    'another name of the customer',
    () => service.owner.pool.query(`UPDATE customer SET business_name = 'Duka' WHERE external_id = 'asha'`),
    ({ loan }) => loan.customerBusinessName,
    'Duka',
  ],
  [
    'another name of the product',
    () => service.owner.pool.query(`UPDATE loan_product SET name = 'Long' WHERE id = 4`),
    ({ loan }) => loan.productName,
    'Long',
  ],
  [
    'another policy',
    () => service.put('/v1/delinquency-policy', { body: { preset: 'cbk' }, token: service.tokens.operator }),
    ({ delinquency }) => delinquency?.bucket.name,
    undefined,
  ],
])('is read again after %s', async (_, change, shown, expected) => {
  const before = await read()
  await change()
  expect(shown(await read())).toEqual(expected ?? expect.not.stringMatching(String(shown(before))))
})

it('undefined is what no loan is read as, held or not', async () => {
  await expect(getLoanWithDelinquency(service.deps, operator(2, 'test'), { externalId: 'long' })).rejects.toMatchObject(
    {
      code: 'not_found',
    },
  )
})

import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { within } from '../../support/patience.ts'
import { startService, type TestService } from '../../support/service.ts'

// Somebody holds a row for long: an operator at the database's prompt, an import that was stopped in the middle.

let service: TestService
let holder: pg.PoolClient
beforeAll(async () => {
  service = await startService({}, { lockTimeout: within(3_000) })
  for (const externalId of ['held', 'free']) {
    await service.post('/v1/customers', { body: { externalId } })
    await lend(externalId)
  }
})
afterAll(() => service.close())
beforeEach(async () => {
  holder = await service.deps.db.pool.connect()
  await holder.query('BEGIN')
})
afterEach(async () => {
  await holder.query('ROLLBACK')
  holder.release()
})

const lend = (externalId: string, order = externalId) =>
  service.post('/v1/loans', { body: { customerId: externalId, productId: 1, principal: 100_000, externalId: order } })
const repay = (order: string) =>
  service.post(`/v1/loans/external/${order}/repayments`, { body: { transactionAmount: 1_000 } })

describe('a loan that another transaction has locked', () => {
  it('lets the others be repaid meanwhile, and is repaid once it is free', async () => {
    await holder.query(`SELECT FROM loan WHERE external_id = 'held' FOR UPDATE`)
    let isHeld = true
    const held = repay('held').finally(() => {
      isHeld = false
    })
    const free = await Promise.all(Array.from({ length: 20 }, () => repay('free')))
    expect(new Set(free.map(({ status }) => status))).toEqual(new Set([200]))
    expect(isHeld).toBe(true)
    await holder.query('ROLLBACK')
    expect((await held).status).toBe(200)
    expect((await service.get('/v1/loans/external/held')).body.totalPaid).toBe(1_000)
    expect((await service.get('/v1/loans/external/free')).body.totalPaid).toBe(20_000)
  })

  it('409 aborted: where it is never let go of', { timeout: within(60_000) }, async () => {
    await holder.query(`SELECT FROM loan WHERE external_id = 'held' FOR UPDATE`)
    const before = (await service.get('/v1/loans/external/held')).text
    expect(await repay('held')).toMatchObject({
      status: 409,
      body: { code: 'aborted' },
      headers: { 'retry-after': '1' },
    })
    expect((await service.get('/v1/loans/external/held')).text).toBe(before)
  })
})

describe('a customer whom another transaction has locked', () => {
  it('503 unavailable for a new loan, with Retry-After; the others get theirs', async () => {
    await holder.query(`SELECT FROM customer WHERE external_id = 'held' FOR UPDATE`)
    let isHeld = true
    const waiting = lend('held', 'waits').finally(() => {
      isHeld = false
    })
    const free = []
    for (let index = 0; index < 5; index++)
      free.push(...(await Promise.all([lend('free', `goes-${index}`), lend('free', `along-${index}`)])))
    expect(isHeld).toBe(true)
    const held = await waiting
    expect(held).toMatchObject({ status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '2' } })
    expect(new Set(free.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await service.get('/v1/loans/external/waits')).status).toBe(404)
  })
})

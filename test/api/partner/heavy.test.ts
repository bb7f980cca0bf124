import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operator } from '../../../src/services/access/caller.ts'
import { createHeavyReads, HEAVY_PLACES } from '../../../src/services/loans/heavyReads.ts'
import { listLoans } from '../../../src/services/loans/loanList.ts'
import { createProduct } from '../../../src/services/organizations/products.ts'
import { lastingLoan } from '../../support/largeLoans.ts'
import { within } from '../../support/patience.ts'
import { startService, type TestService } from '../../support/service.ts'
import type { Wire } from '../../support/wire.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
  // Reads wait for their turn here as long as the machine is busy.
  Object.assign(service.deps, { heavyReads: createHeavyReads({ waitMs: within(60_000) }) })
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

describe('a loan with a long history', () => {
  const repayments = 1_203

  it('shows its latest 1,000 repayments, and all of them in the list, page by page', async () => {
    const id = await lastingLoan(service, repayments)
    const { body } = await service.get(`/v1/loans/${id}`)
    expect(body.repaymentHistory).toHaveLength(1_000)
    const pages = []
    for (let page = 1; page <= 14; page++)
      pages.push((await service.get(`/v1/loans/${id}/repayments?page=${page}`)).body)
    expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([repayments]))
    const listed = pages.flatMap(({ items }) => items)
    expect(listed).toHaveLength(repayments)
    expect(listed.slice(0, 1_000)).toEqual(body.repaymentHistory)
    expect(listed.map(({ idempotencyKey }: Wire) => idempotencyKey)).toEqual(
      Array.from({ length: repayments }, (_, index) => `long-${repayments - index}`),
    )
    expect(pages[13]!.items).toEqual([])
  })
})

describe('a page of long schedules', () => {
  it('has all of its loans with their whole schedules, and is made in several turns of the process', async () => {
    await createProduct(service.deps, operator(1, 'test'), {
      id: 77,
      name: 'Daily',
      principalMin: { units: 1n, scale: 0 },
      principalMax: { units: 100_000_000n, scale: 0 },
      numberOfRepayments: 1_200,
      repayEvery: 1,
      repayUnit: 'days',
      interestRate: { units: 0n, scale: 0 },
    })
    for (let index = 0; index < 6; index++)
      await service.post('/v1/loans', { body: { customerId: 'asha', productId: 77, principal: 120_000 } })
    const { body, headers } = await service.get('/v1/loans?orderBy=disbursedAt')
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(body).toMatchObject({ total: 7, page: 1, rowsPerPage: 100 })
    expect(body.items.map(({ repaymentSchedule }: Wire) => repaymentSchedule.length)).toEqual([
      12,
      ...Array(6).fill(1_200),
    ])
    for (const item of body.items) expect(item).not.toHaveProperty('repaymentHistory')
    let turns = 0
    const count = () => {
      turns++
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    const request = { filter: {}, range: { rows: 100 } }
    const seen = await listLoans(service.deps, operator(1, 'test'), request, () => turns)
    clearImmediate(timer)
    expect(new Set(seen.items).size).toBeGreaterThanOrEqual(3)
  })

  it('429 resource_exhausted, with Retry-After, when an organization asks for many at once', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => service.get('/v1/loans?rows=7')))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(HEAVY_PLACES.waiting.ofGroup)
    for (const { status, body, headers } of refused)
      expect([status, body.code, headers['retry-after']]).toEqual([429, 'resource_exhausted', '2'])
    expect((await service.get('/v1/loans?rows=1')).status).toBe(200)
  })
})

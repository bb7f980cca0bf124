import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BEFORE_ALL, findChangedLater, readChain, rememberLastChanges } from '../../../src/db/events/sealedChain.ts'
import type { TrailedChange } from '../../../src/db/events/trailedChange.ts'
import { inSnapshot, type Snapshot } from '../../../src/db/postgres/transaction.ts'
import { opsOn } from '../../support/ops.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let changes: readonly TrailedChange[]
beforeAll(async () => {
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const lent = await service.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 50_000 } })
  for (let times = 0; times < 3; times++)
    await service.post(`/v1/loans/${lent.body.id}/repayments`, { body: { transactionAmount: 1_000 } })
  for (const method of ['Cash', 'M-Pesa'])
    expect((await opsOn(service)(['organizations', 'update', '-o', '1', '--payment-method', method])).code).toBe(0)
  changes = await inSnapshot(service.deps.db, async (snapshot) => {
    const span = { organizationId: 1, after: BEFORE_ALL, end: 2n ** 63n - 1n }
    return (await readChain(snapshot, span)).changes
  })
})
afterAll(async () => service.close())

/** Returns a snapshot that counts its statements. */
const counting = (snapshot: Snapshot, counted: { count: number }): Snapshot =>
  Object.assign(Object.create(snapshot) as Snapshot, {
    query: (...asked: Parameters<Snapshot['query']>) => {
      counted.count++
      return snapshot.query(...asked)
    },
  })

describe('the changes after which another one is of the same row', () => {
  it('are those of an organization that was changed again, and not those of a loan that was only repaid', async () => {
    const later = await inSnapshot(service.deps.db, (snapshot) =>
      findChangedLater(snapshot, 1, changes, rememberLastChanges()),
    )
    const ofOrganization = changes.filter(({ entity }) => entity === 'organization').map(({ id }) => id)
    expect(ofOrganization.length).toBeGreaterThan(2)
    for (const id of ofOrganization) expect([id, later.has(id)]).toEqual([id, id !== ofOrganization.at(-1)])
    const ofLoan = changes.filter(({ entity, action }) => entity === 'loan' && action === 'Repayment')
    expect(ofLoan.map(({ id }) => later.has(id))).toContain(false)
    expect(ofLoan.length).toBeGreaterThanOrEqual(3)
  })

  it('are asked for once for each row of the book: a loan with thousands of changes comes in every batch', async () => {
    const counted = { count: 0 }
    await inSnapshot(service.deps.db, async (snapshot) => {
      const known = rememberLastChanges()
      const whole = await findChangedLater(snapshot, 1, changes, rememberLastChanges())
      const one = changes.map((change) => [change])
      const seen = new Set<bigint>()
      for (const batch of one)
        for (const id of await findChangedLater(counting(snapshot, counted), 1, batch, known)) seen.add(id)
      expect(seen).toEqual(whole)
    })
    const rows = new Set(changes.map(({ entity, entityId }) => `${entity} ${entityId}`))
    expect(counted.count).toBe(rows.size)
    expect(rows.size).toBeLessThan(changes.length)
  })
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import { openImport, saveBatch } from '../../../src/db/book/bookImport.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

it('a batch that waits too long for a row of another transaction is decided again, and nothing of it is saved', async () => {
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const key = { organizationId: 1, kind: 'loans', digest: 'a file' } as const
  const before = await openImport(service.deps.db, key, 0)
  const holder = await service.owner.pool.connect()
  try {
    await holder.query(`BEGIN; SELECT FROM customer WHERE external_id = 'asha' FOR UPDATE`)
    const saved = await saveBatch(service.deps.db, key, before, 0, async ({ pool }) => {
      await pool.query({ text: `UPDATE book_import SET refused = 7 WHERE digest = 'a file'` })
      await pool.query({ text: `SET LOCAL lock_timeout = '20ms'` })
      await pool.query({ text: `SELECT FROM customer WHERE external_id = 'asha' FOR SHARE` })
      return { ...before, linesDone: 1 }
    })
    expect(saved).toBeUndefined()
    expect(await openImport(service.deps.db, key, 0)).toEqual(before)
  } finally {
    await holder.query('ROLLBACK')
    holder.release()
  }
})

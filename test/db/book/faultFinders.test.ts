import { afterAll, beforeAll, expect, test } from 'vitest'
import { joinWholeTables } from '../../../src/db/book/faultFinders.ts'
import { inSnapshot } from '../../../src/db/postgres/transaction.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

/** Returns whether the statements about whole tables, and those after them, may join by nested loops. */
const nestedLoops = () =>
  inSnapshot(service.deps.db, async (snapshot) => {
    const { rows: before } = await snapshot.query('SHOW enable_nestloop')
    await joinWholeTables(snapshot, true)
    const { rows: during } = await snapshot.query('SHOW enable_nestloop')
    await joinWholeTables(snapshot, false)
    const { rows: after } = await snapshot.query('SHOW enable_nestloop')
    return [...before, ...during, ...after].map((row) => row.enable_nestloop)
  })

test('whole tables are joined by no nested loop until Postgres has statistics of them', async () => {
  expect(await nestedLoops()).toEqual(['on', 'off', 'on'])
  await service.owner.pool.query('ANALYZE audit_entry')
  expect(await nestedLoops()).toEqual(['on', 'on', 'on'])
})

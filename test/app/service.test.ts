import { afterAll, beforeAll, expect, it } from 'vitest'
import { openService, type ServiceOptions } from '../../src/app/service.ts'
import { CONNECT_PATIENTLY_MS, CONNECT_WITHIN_MS, openDatabase } from '../../src/db/postgres/client.ts'
import { isUnavailable } from '../../src/db/postgres/errors.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type Gateway, openGateway } from '../support/gateway.ts'
import { testConfig } from '../support/service.ts'

// A server that answers each new connection later than a request may wait: as one that has just been started, or a machine at load.

let fresh: FreshDatabase
beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

let gateway: Gateway
beforeAll(async () => {
  gateway = await openGateway(fresh.serviceUrl)
  gateway.delay(CONNECT_WITHIN_MS + 300)
})
afterAll(() => gateway.close())

const start = (more: Partial<ServiceOptions> = {}) =>
  openService({ config: testConfig({}), databaseUrl: gateway.url, now: Date.now, skipMigrations: true, ...more })

it('a request waits no longer for a connection than it may take', async () => {
  const db = openDatabase(gateway.url)
  const error: unknown = await db.pool.query('SELECT 1').catch((refusal: unknown) => refusal)
  expect(isUnavailable(error)).toBe(true)
  await db.close()
})

it('a start waits for it, and the requests afterwards no longer than they may', async () => {
  const { db, statements } = await start()
  expect(db.pool.options.connectionTimeoutMillis).toBe(CONNECT_WITHIN_MS)
  statements.close()
  await db.close()
})

it('a command waits for it until it ends', async () => {
  const { db, statements } = await start({ patience: 'always' })
  expect(db.pool.options.connectionTimeoutMillis).toBe(CONNECT_PATIENTLY_MS)
  statements.close()
  await db.close()
})

it('a book beside others waits no longer than a request: it is tried again', async () => {
  await expect(start({ patience: 'never' })).rejects.toSatisfy(isUnavailable)
})

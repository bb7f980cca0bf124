import { once } from 'node:events'
import { type AddressInfo, createServer, connect as open, type Server } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { openService, type ServiceOptions } from '../../src/app/service.ts'
import { CONNECT_PATIENTLY_MS, CONNECT_WITHIN_MS, openDatabase } from '../../src/db/postgres/client.ts'
import { isUnavailable } from '../../src/db/postgres/errors.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { testConfig } from '../support/service.ts'

// A server that answers each new connection later than a request may wait: as one that has just been started, or a machine at load.

let fresh: FreshDatabase
beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

let slow: Server
let url: string
beforeEach(async () => {
  const { hostname, port } = new URL(fresh.serviceUrl)
  slow = createServer((client) => {
    client.on('error', () => undefined)
    setTimeout(() => {
      const upstream = open(Number(port), hostname)
      upstream.on('error', () => client.destroy())
      client.on('close', () => upstream.destroy())
      upstream.on('close', () => client.destroy())
      client.pipe(upstream).pipe(client)
    }, CONNECT_WITHIN_MS + 300)
  }).listen(0, '127.0.0.1')
  await once(slow, 'listening')
  const slower = new URL(fresh.serviceUrl)
  slower.host = `127.0.0.1:${(slow.address() as AddressInfo).port}`
  url = slower.href
})
afterEach(() => slow.close())

const start = (more: Partial<ServiceOptions> = {}) =>
  openService({ config: testConfig({}), databaseUrl: url, now: Date.now, skipMigrations: true, ...more })

it('a request waits no longer for a connection than it may take', async () => {
  const db = openDatabase(url)
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

import { performance } from 'node:perf_hooks'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isUnavailable } from '../../../src/db/postgres/errors.ts'
import { inTime } from '../../../src/toolbox/inTime.ts'
import { type FreshDatabase, freshDatabase, openPatiently } from '../../support/database.ts'
import { openGateway } from '../../support/gateway.ts'
import { within } from '../../support/patience.ts'

let fresh: FreshDatabase
beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

/** A way to send a statement. */
const ways: [string, (pool: pg.Pool, text: string) => Promise<unknown>][] = [
  ['by the pool', (pool, text) => pool.query(text)],
  [
    'on a connection',
    async (pool, text) => {
      const client = await pool.connect()
      return client.query(text).finally(() => client.release(true))
    },
  ],
]

describe('a statement that is not answered', () => {
  it.each(ways)(
    '%s: ends with its connection within 3 s where it was lost, and the server is well',
    async (_, send) => {
      const gateway = await openGateway(fresh.url)
      const db = openPatiently(gateway.url)
      try {
        for (const lost of ['statement', 'answer'] as const) {
          const began = performance.now()
          const silent = gateway.silenceOne(`SELECT '${lost}'`, lost)
          const error = await send(db.pool, `SELECT '${lost}'`).catch((thrown: unknown) => thrown)
          await silent
          expect(isUnavailable(error)).toBe(true)
          expect(performance.now() - began).toBeLessThan(within(3_000))
          expect((await db.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
        }
      } finally {
        await gateway.close()
        await db.close()
      }
    },
  )

  it.each(ways)('%s: is waited for where the server works on it', async (_, send) => {
    await expect(send(fresh.db.pool, 'SELECT pg_sleep(2.5)')).resolves.toBeDefined()
  })

  it('on the money path, where the server does not say that it was lost, ends within its own time', async () => {
    const config = { text: 'SELECT pg_sleep(3)', answerWithin: 500 } as pg.QueryConfig
    const began = performance.now()
    const error = await fresh.db.pool.query(config).catch((thrown: unknown) => thrown)
    expect(isUnavailable(error)).toBe(true)
    expect(performance.now() - began).toBeLessThan(within(2_500))
  })
})

describe('an answer that lies unread, in a process that was busy when its time was over', () => {
  const beBusy = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  let client: pg.PoolClient
  beforeEach(async () => {
    client = await fresh.db.pool.connect()
  })
  afterEach(() => client.release(true))

  it('is the answer of its statement', async () => {
    const asked = client.query({ text: 'SELECT 1 AS one', answerWithin: 100 } as pg.QueryConfig)
    beBusy(500)
    expect((await asked).rows).toEqual([{ one: 1 }])
  })

  it('is in time for who waits for it, and nothing is that has not come', async () => {
    const asked = client.query('SELECT 1 AS one').then(() => 'came')
    const answer = inTime(asked, 'late', 100)
    beBusy(500)
    expect(await answer).toBe('came')
    expect(await inTime(new Promise(() => undefined), 'late', 1)).toBe('late')
    await expect(inTime(Promise.reject(new Error('gone')), 'late', 1_000)).rejects.toThrow('gone')
  })
})

import { performance } from 'node:perf_hooks'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isUnavailable } from '../../../src/db/postgres/errors.ts'
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

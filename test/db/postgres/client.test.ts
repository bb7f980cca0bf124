import { createServer, type Socket } from 'node:net'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../../../src/db/postgres/client.ts'
import { isUnavailable, isUniqueViolation, mayBeCausedByRow } from '../../../src/db/postgres/errors.ts'
import { type FreshDatabase, freshDatabase, openPatiently } from '../../support/database.ts'
import { openGateway } from '../../support/gateway.ts'

let fresh: FreshDatabase
const now = new Date('2026-03-01T10:11:12.345Z')

beforeAll(async () => {
  fresh = await freshDatabase()
  await fresh.db.prisma.organization.create({ data: { id: 77, name: 'Lender', currency: 'TZS', createdAt: now } })
})
afterAll(() => fresh.drop())

async function read(expression: string, pool = fresh.db.pool): Promise<unknown> {
  const { rows } = await pool.query(`SELECT ${expression} AS value`)
  return rows[0].value
}

/** What `work` throws. */
async function thrown(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('values read through the pool', () => {
  it.each([
    ['9007199254740993::bigint', 9_007_199_254_740_993n],
    ['7::integer', 7],
    ["DATE '2026-02-28'", '2026-02-28'],
    ["TIMESTAMPTZ '2026-03-01 13:11:12.345+03'", now.getTime()],
    ["TIMESTAMPTZ '2026-03-01 10:11:12.345678Z'", now.getTime()],
    ["TIMESTAMPTZ '1969-12-31 23:59:59Z'", -1000],
    ["TIMESTAMPTZ '12026-01-01 00:00:00Z'", Date.UTC(12_026, 0, 1)],
    ["TIMESTAMPTZ 'infinity'", Number.POSITIVE_INFINITY],
    ['1.50::numeric', '1.50'],
    [`'{"a":[1]}'::jsonb`, { a: [1] }],
    ['ARRAY[1, NULL]::bigint[]', [1n, null]],
    ["ARRAY['2026-01-01']::date[]", ['2026-01-01']],
    ['ARRAY[1.10]::numeric[]', ['1.10']],
    ['NULL::bigint', null],
  ])('%s', async (expression, value) => {
    expect(await read(expression)).toEqual(value)
  })

  it('an instant is the same in a session of another zone', async () => {
    const client = await fresh.db.pool.connect()
    try {
      await client.query("BEGIN; SET LOCAL timezone = 'Asia/Kathmandu'")
      const { rows } = await client.query("SELECT TIMESTAMPTZ '2026-03-01 10:11:12.345Z' AS value")
      expect(rows).toEqual([{ value: now.getTime() }])
      await client.query('ROLLBACK')
    } finally {
      client.release()
    }
  })

  it('leaves the conversions of other users of pg alone', async () => {
    const other = new pg.Client(fresh.url)
    await other.connect()
    expect((await other.query('SELECT 1::bigint AS n')).rows).toEqual([{ n: '1' }])
    await other.end()
  })

  it.each([
    ['timezone', 'UTC'],
    ['statement_timeout', '30s'],
    ['lock_timeout', '5s'],
    ['idle_in_transaction_session_timeout', '30s'],
    ['application_name', 'mkopo'],
  ])('session setting %s', async (name, value) => {
    expect(await read(`current_setting('${name}')`)).toBe(value)
  })

  it("keeps the options of the operator's URL, but not their time zone", async () => {
    const db = openPatiently(`${fresh.url}?options=${encodeURIComponent('-c timezone=Asia/Tokyo -c work_mem=5MB')}`)
    expect(await read("current_setting('work_mem') || ' ' || current_setting('timezone')", db.pool)).toBe('5MB UTC')
    await db.close()
  })
})

describe('a statement', () => {
  /** A way to send one, and its rows. */
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

  it.each(ways)('%s, that nobody answers ends with its connection after 32 s', async (_, send) => {
    const gateway = await openGateway(fresh.url)
    const db = openPatiently(gateway.url, { max: 1 })
    expect(await read('1', db.pool)).toBe(1)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      gateway.silence(true)
      let ended = false
      const error = thrown(() => send(db.pool, 'SELECT 2')).finally(() => {
        ended = true
      })
      const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      await turn()
      vi.advanceTimersByTime(31_999)
      await turn()
      expect(ended).toBe(false)
      vi.advanceTimersByTime(1)
      expect(isUnavailable(await error)).toBe(true)
    } finally {
      vi.useRealTimers()
      await gateway.close()
      await db.close()
    }
  })

  it('in a transaction of Prisma is ended by the server alone: by its limits, which say why', async () => {
    const db = openPatiently(fresh.url, { max: 1 })
    const held = await db.pool.connect()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const done = db.prisma.$transaction(async (tx) => {
        await tx.$queryRaw`SELECT 1`
        vi.advanceTimersByTime(29_999)
        return tx.$queryRaw`SELECT 2 AS two`
      })
      await new Promise((resolve) => setImmediate(resolve))
      vi.advanceTimersByTime(29_999)
      held.release()
      expect(await done).toEqual([{ two: 2 }])
    } finally {
      vi.useRealTimers()
      await db.close()
    }
  })

  it.each(ways)('%s, that fails says where it was sent from', async (_, send) => {
    const error = await thrown(async () => {
      await send(fresh.db.pool, 'SELECT nonsense')
    })
    expect(String((error as Error).stack)).toContain('client.test.ts')
  })

  it('leaves its rows to the collector of young objects: none of them grow old', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void
    const old = () =>
      getHeapSpaceStatistics()
        .filter(({ space_name }) => /^(old|large_object)_space$/.test(space_name))
        .reduce((sum, { space_used_size }) => sum + space_used_size, 0)
    const kilobytes = "SELECT repeat('x', 1000) || n AS t FROM generate_series(1, 100) n"
    const send = async (times: number) => {
      for (let index = 0; index < times; index++) await fresh.db.pool.query(kilobytes)
    }
    await send(20)
    collect({ type: 'major' })
    const before = old()
    await send(100)
    collect({ type: 'minor' })
    collect({ type: 'minor' })
    expect(old() - before).toBeLessThan(3_000_000)
  })
})

describe('Prisma on the same pool', () => {
  it('writes and reads bigint, date and instant, and the pool reads the same', async () => {
    const data = {
      organizationId: 77,
      id: 9_007_199_254_740_993n,
      status: 'Active',
      accountNo: 1n,
      activationDate: new Date('2026-02-28'),
      createdAt: now,
      updatedAt: now,
    }
    await fresh.db.prisma.customer.create({ data })
    expect(await fresh.db.prisma.customer.findFirst({ where: { id: data.id } })).toMatchObject(data)
    const { rows } = await fresh.db.pool.query(
      'SELECT id, activation_date, created_at FROM customer WHERE organization_id = 77',
    )
    expect(rows).toEqual([{ id: data.id, activation_date: '2026-02-28', created_at: now.getTime() }])
  })

  it('uses no connections of its own', async () => {
    const db = openPatiently(fresh.url, { max: 1 })
    const pid = await read('pg_backend_pid()', db.pool)
    expect(await db.prisma.$queryRaw`SELECT pg_backend_pid() AS pid`).toEqual([{ pid }])
    await db.close()
    await db.close()
  })
})

describe('isUniqueViolation', () => {
  const again = { id: 77, name: 'Lender', currency: 'TZS', createdAt: now }
  const insert = "INSERT INTO organization VALUES (77, 'a', 'b', 'c', 'd', now())"
  it.each<[string, () => Promise<unknown>]>([
    ['pg', () => fresh.db.pool.query(insert)],
    ['a Prisma model', () => fresh.db.prisma.organization.create({ data: again })],
    ['a raw Prisma statement', () => fresh.db.prisma.$executeRawUnsafe(insert)],
  ])('from %s, with the name of the index', async (_, work) => {
    const error = await thrown(work)
    expect(isUniqueViolation(error)).toBe(true)
    expect(isUniqueViolation(error, 'organization_pkey')).toBe(true)
    expect(isUniqueViolation(error, 'customer_external_id')).toBe(false)
    expect(isUnavailable(error)).toBe(false)
  })

  it.each([undefined, null, 'duplicate', new Error('duplicate key'), { code: '23503' }])('not %s', (error) => {
    expect(isUniqueViolation(error)).toBe(false)
    expect(isUnavailable(error)).toBe(false)
  })
})

describe('mayBeCausedByRow', () => {
  it.each([
    ['SELECT 1 / 0', true],
    ["SELECT 'x'::int", true],
    ["INSERT INTO organization (id, name, currency, created_at) VALUES (77, 'x', 'TZS', now())", true],
    ['BEGIN READ ONLY; CREATE TABLE x ()', false],
    ['SELECT FROM nothing', false],
    ["SET statement_timeout = '1ms'; SELECT pg_sleep(1)", false],
  ])('of %s: %s', async (text, expected) => {
    const client = await fresh.db.pool.connect()
    expect(mayBeCausedByRow(await thrown(() => client.query(text)))).toBe(expected)
    client.release(true)
  })

  it('what is none of the database is', () => {
    expect(mayBeCausedByRow(new TypeError('ours'))).toBe(true)
  })
})

describe('isUnavailable', () => {
  it('a server that is not there, from pg and from Prisma', async () => {
    const db = openDatabase('postgres://mkopo@127.0.0.1:1/mkopo')
    expect(isUnavailable(await thrown(() => db.pool.query('SELECT 1')))).toBe(true)
    expect(isUnavailable(await thrown(() => db.prisma.organization.findMany()))).toBe(true)
    expect(isUnavailable(await thrown(() => db.prisma.$transaction(async (tx) => tx.organization.count())))).toBe(true)
    await db.close()
  })

  it('a server that does not answer, from pg and from Prisma, within the time to connect', async () => {
    const sockets: Socket[] = []
    const mute = createServer((socket) => void sockets.push(socket))
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    const address = mute.address()
    const db = openDatabase(`postgres://mkopo@127.0.0.1:${typeof address === 'object' && address?.port}/mkopo`)
    const [byPg, byPrisma] = await Promise.all([
      thrown(() => db.pool.query('SELECT 1')),
      thrown(() => db.prisma.organization.findMany()),
    ])
    expect(isUnavailable(byPg)).toBe(true)
    expect(isUnavailable(byPrisma)).toBe(true)
    for (const socket of sockets) socket.destroy()
    mute.close()
    await db.close()
  })

  it('a connection that is ended during a statement, and the pool recovers', async () => {
    const db = openPatiently(fresh.url, { max: 1 })
    const end = 'SELECT pg_terminate_backend(pg_backend_pid())'
    expect(isUnavailable(await thrown(() => db.pool.query(end)))).toBe(true)
    expect(isUnavailable(await thrown(() => db.prisma.$queryRawUnsafe(end)))).toBe(true)
    expect(await read('1', db.pool)).toBe(1)
    await db.close()
  })

  it('a connection that dies idle, or in use, does not end the process', async () => {
    const db = openPatiently(fresh.url, { max: 2 })
    const inHand = await db.pool.connect()
    const kill =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mkopo' AND datname = current_database() AND pid <> pg_backend_pid()"
    await fresh.db.pool.query(kill)
    const error = await thrown(() => inHand.query('SELECT 1'))
    expect(isUnavailable(error)).toBe(true)
    inHand.release(true)
    await read('1', db.pool)
    await fresh.db.pool.query(kill)
    await expect.poll(() => read('1', db.pool).catch(() => 0)).toBe(1)
    await db.close()
  })

  it('no connection free in time', async () => {
    const db = openPatiently(fresh.url, { max: 1 })
    const held = await db.pool.connect()
    db.setConnectWithin(100)
    expect(isUnavailable(await thrown(() => db.prisma.organization.findMany()))).toBe(true)
    held.release()
    await db.close()
  })

  it('a statement that takes too long', async () => {
    const error = await thrown(() => fresh.db.pool.query('SET statement_timeout = 20; SELECT pg_sleep(5)'))
    expect(isUnavailable(error)).toBe(true)
  })

  it('a pool that is closed', async () => {
    const db = openDatabase(fresh.url)
    await db.close()
    expect(isUnavailable(await thrown(() => db.pool.query('SELECT 1')))).toBe(true)
  })
})

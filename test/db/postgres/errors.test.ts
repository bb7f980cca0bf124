import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isUnavailable, isWorthRepeating, mayBeCausedByRow } from '../../../src/db/postgres/errors.ts'
import { startLivenessProbe } from '../../../src/db/postgres/livenessProbe.ts'
import { type FreshDatabase, freshDatabase, openPatiently } from '../../support/database.ts'
import { openGateway } from '../../support/gateway.ts'
import { within } from '../../support/patience.ts'

let fresh: FreshDatabase
beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

/** A statement that fails with an SQLSTATE. */
const raise = (code: string) => `DO $$ BEGIN RAISE EXCEPTION 'raised' USING ERRCODE = '${code}'; END $$`
const thrown = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error)

const STATES = [
  ['25006', 'a standby, or a server that was made read-only'],
  ['53100', 'the disk is full'],
  ['53200', 'no memory'],
  ['53300', 'no connection left'],
  ['53400', 'a limit of the configuration'],
  ['58030', 'the disk fails'],
  ['57P03', 'it starts or stops'],
] as const

describe('a server that takes no changes', () => {
  it.each(STATES)('%s is unavailable, from pg and from Prisma, and of no row: %s', async (code) => {
    for (const error of [
      await thrown(fresh.db.pool.query(raise(code))),
      await thrown(fresh.db.prisma.$executeRawUnsafe(raise(code))),
    ]) {
      expect(isUnavailable(error)).toBe(true)
      expect(mayBeCausedByRow(error)).toBe(false)
    }
  })

  it.each([
    ['had no connection in time', { maxWait: 1 }, 'SELECT pg_sleep(0)'],
    ['took too long', { timeout: 1 }, 'SELECT pg_sleep(0.05)'],
  ])('a transaction of Prisma that %s is unavailable, and worth repeating', async (_, limit, statement) => {
    const db = openPatiently(fresh.url, { max: 1 })
    const held = 'maxWait' in limit ? await db.pool.connect() : undefined
    for (const statements of [1, 2]) {
      const error = await thrown(
        db.prisma.$transaction(async (tx) => {
          for (let sent = 0; sent < statements; sent++) await tx.$executeRawUnsafe(statement)
        }, limit),
      )
      expect((error as { code?: unknown }).code).toBe('P2028')
      expect(isUnavailable(error)).toBe(true)
      expect(isWorthRepeating(error)).toBe(true)
    }
    held?.release()
    await db.close()
  })

  it.each([
    ['53300', true],
    ['40P01', true],
    ['40001', true],
    ['23503', true],
    ['23505', false],
    ['22003', false],
    ['42P01', false],
  ])('after %s the request is worth repeating: %s', async (code, isWorth) => {
    for (const error of [
      await thrown(fresh.db.pool.query(raise(code))),
      await thrown(fresh.db.prisma.$executeRawUnsafe(raise(code))),
    ])
      expect(isWorthRepeating(error)).toBe(isWorth)
  })

  it('25006 ends the connection that said so: the next may lead to a server that takes changes', async () => {
    const pidAfter = async (code: string) => {
      const client = await fresh.db.pool.connect()
      const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
      await thrown(client.query(raise(code)))
      client.release()
      return rows[0].pid
    }
    const first = await pidAfter('42P01')
    expect(await pidAfter('25006')).toBe(first)
    expect(await pidAfter('42P01')).not.toBe(first)
  })

  it.each(['53100', '58030'])('%s is told by the watch until there is room, and others are not', async (code) => {
    const said: string[] = []
    const note = (message: string) => void said.push(message)
    const watch = startLivenessProbe(fresh.db, { now: Date.now, log: { info: note, warn: note } })
    const soon = { timeout: within(10_000), interval: 10 }
    await thrown(fresh.db.pool.query(raise('53200')))
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(watch.trouble()).toBeUndefined()
    // Where connecting takes long, the watch may say that the database is gone, and that it is back: then no statement is sent.
    const troubleAfterFault = async () => {
      await thrown(fresh.db.pool.query(raise(code)))
      return watch.trouble()
    }
    await expect.poll(troubleAfterFault, soon).toContain('its disk is full, or fails')
    expect(watch.reachable()).toBe(true)
    await expect.poll(watch.trouble, soon).toBeUndefined()
    expect(said.filter((message) => !/^the database is (gone|back)/.test(message))).toEqual([
      'the database takes no changes: its disk is full, or fails; changes are answered unavailable',
      'the database takes changes again',
    ])
    await watch.stop()
  })

  it('that was gone is back as soon as a request would get a connection, which takes a second', async () => {
    const gateway = await openGateway(fresh.url)
    const db = openPatiently(gateway.url)
    const log = { info: () => undefined, warn: () => undefined }
    const watch = startLivenessProbe(db, { now: Date.now, log })
    const soon = { timeout: within(10_000), interval: 10 }
    gateway.cut()
    await expect.poll(watch.trouble, soon).toBe('the database is gone')
    gateway.delay(1_000)
    gateway.mend()
    await expect.poll(watch.trouble, soon).toBeUndefined()
    await watch.stop()
    await gateway.close()
    await db.close()
  })

  it('a clock that differs by a second is told of once; by a minute, it is a trouble', async () => {
    let ahead = 0
    const said: string[] = []
    const note = (message: string) => void said.push(message)
    const start = () => startLivenessProbe(fresh.db, { now: () => Date.now() - ahead, log: { info: note, warn: note } })
    const soon = { timeout: within(10_000), interval: 10 }
    const first = start()
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect([said, first.trouble()]).toEqual([[], undefined])
    // A clock that jumps while the database is asked seems half as far off: this one differs from the first answer on.
    await first.stop()
    ahead = 5_000
    const watch = start()
    await expect.poll(watch.clockAheadMs, soon).toBeGreaterThan(4_000)
    expect(watch.trouble()).toBeUndefined()
    ahead = -90_000
    await expect.poll(watch.trouble, soon).toMatch(/^the clock of the database is (89|90)\.\d s behind the clock/)
    ahead = 0
    await expect.poll(watch.trouble, soon).toBeUndefined()
    expect(said).toEqual([expect.stringMatching(/^the clock of the database is [45]\.\d s ahead of .+ NTP$/)])
    await watch.stop()
  })
})

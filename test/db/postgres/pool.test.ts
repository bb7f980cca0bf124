import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Db, openDatabase } from '../../../src/db/postgres/client.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { type Gateway, openGateway } from '../../support/gateway.ts'
import { within } from '../../support/patience.ts'

/** Milliseconds; no caller waits as long. */
const FOR_EVER = 3_600_000

describe('a pool whose only connection is in use, while opening another takes long', () => {
  let fresh: FreshDatabase
  let gateway: Gateway
  let db: Db
  let used: pg.PoolClient

  beforeEach(async () => {
    fresh = await freshDatabase()
    gateway = await openGateway(fresh.url)
    db = openDatabase(gateway.url, { max: 4, connectWithin: within(10_000) })
    used = await db.pool.connect()
    gateway.delay(FOR_EVER)
  })
  afterEach(async () => {
    await gateway.close()
    await db.close()
    await fresh.drop()
  })

  it('gives it to the caller that waits, once it is given back', async () => {
    const waiting = db.pool.connect()
    expect(db.pool.totalCount).toBe(2)
    used.release()
    expect(await waiting).toBe(used)
    used.release()
  })

  it('gives it to one caller after the other, in the order in which they came', async () => {
    const order: number[] = []
    const callers = [1, 2, 3].map((caller) => db.pool.query('SELECT 1').then(() => order.push(caller)))
    expect(db.pool.totalCount).toBe(4)
    used.release()
    await Promise.all(callers)
    expect(order).toEqual([1, 2, 3])
  })

  it('runs what the caller does with it in the context of the caller, not of the one who gave it back', async () => {
    const context = new AsyncLocalStorage<string>()
    const seen = context.run(
      'who waits',
      () => new Promise((resolve) => db.pool.connect((_error, client) => resolve([context.getStore(), client]))),
    )
    context.run('who gives back', () => used.release())
    expect(await seen).toEqual(['who waits', used])
    used.release()
  })

  it('tells nobody else that a connection could not be opened whose caller has another by then', async () => {
    db.setConnectWithin(200)
    const first = db.pool.connect()
    used.release()
    expect(await first).toBe(used)
    db.setConnectWithin(within(10_000))
    const second = db.pool.connect()
    expect(db.pool.totalCount).toBe(3)
    await expect.poll(() => db.pool.totalCount, { timeout: within(10_000) }).toBe(2)
    used.release()
    expect(await second).toBe(used)
    used.release()
  })

  it('keeps a connection that is opened when its caller has another, for the next one', async () => {
    gateway.delay(200)
    const waiting = db.pool.connect()
    used.release()
    expect(await waiting).toBe(used)
    await expect.poll(() => db.pool.idleCount, { timeout: within(10_000) }).toBe(1)
    expect((await db.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    expect(db.pool.totalCount).toBe(2)
    used.release()
  })

  it('refuses the caller where none is given back in time either', async () => {
    db.setConnectWithin(200)
    await expect(db.pool.query('SELECT 1')).rejects.toThrow('timeout')
    used.release()
    expect((await db.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })
})

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Db } from '../../../src/db/postgres/client.ts'
import { inSnapshot, inTransaction, type Transaction } from '../../../src/db/postgres/transaction.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'

let fresh: FreshDatabase
beforeAll(async () => {
  fresh = await freshDatabase('template0')
  await fresh.db.pool.query('CREATE TABLE told (what text)')
})
afterAll(() => fresh.drop())

const tell = (transaction: Transaction, what: string) => transaction.query('INSERT INTO told VALUES ($1)', [what])

async function told(): Promise<string[]> {
  const { rows } = await fresh.db.pool.query<{ what: string }>('TABLE told')
  return rows.map(({ what }) => what)
}

describe('a transaction', () => {
  it('is saved where the work answers, and not where it answers undefined or throws', async () => {
    await inTransaction(fresh.db, async (transaction) => {
      await tell(transaction, 'answered')
      return false
    })
    await inTransaction(fresh.db, async (transaction) => {
      await tell(transaction, 'nothing to save')
      return undefined
    })
    const thrown = new Error('thrown')
    const throwing = inTransaction(fresh.db, async (transaction) => {
      await tell(transaction, 'thrown')
      throw thrown
    })
    await expect(throwing).rejects.toBe(thrown)
    expect(await told()).toEqual(['answered'])
    expect(fresh.db.pool).toMatchObject({ totalCount: 1, idleCount: 1 })
  })

  it('gives back no connection that cannot be rolled back', async () => {
    const lost = inTransaction(fresh.db, async (transaction) => {
      vi.spyOn(transaction, 'query').mockRejectedValue(new Error('lost') as never)
      return tell(transaction, 'lost')
    })
    await expect(lost).rejects.toThrow('lost')
    expect(fresh.db.pool.totalCount).toBe(0)
  })
})

describe('a snapshot with a time of its own for each statement', () => {
  it('is held to it by the server, and only until its end', async () => {
    const { db } = fresh
    const sleep = inSnapshot(db, (snapshot) => snapshot.query('SELECT pg_sleep(60)'), { mostMs: 100 })
    await expect(sleep).rejects.toMatchObject({ code: '57014' })
    const shown = await inSnapshot(db, (snapshot) => snapshot.query('SHOW statement_timeout'))
    expect(shown.rows).toEqual([{ statement_timeout: '30s' }])
  })

  it('is given it by the client, too, which ends no connection before', async () => {
    const asked: unknown[] = []
    const client = {
      query: async (query: unknown) => {
        asked.push(query)
        return { rows: [] }
      },
      release: () => undefined,
    }
    const pool = { connect: async () => client } as unknown as Db['pool']
    await inSnapshot(
      { pool },
      async (snapshot) => {
        await snapshot.query('SELECT $1::int', [1])
        await snapshot.query({ text: 'SELECT $1::int', values: [2] })
      },
      { mostMs: 50_000 },
    )
    expect(asked).toEqual([
      expect.stringContaining('BEGIN'),
      'SET LOCAL statement_timeout = 50000',
      { text: 'SELECT $1::int', values: [1], query_timeout: 52_000 },
      { text: 'SELECT $1::int', values: [2], query_timeout: 52_000 },
      'COMMIT',
    ])
  })
})

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { inTransaction, type Transaction } from '../../../src/db/postgres/transaction.ts'
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

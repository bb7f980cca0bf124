import { afterAll, beforeAll, expect, it } from 'vitest'
import { fillBook } from '../../../bench/fillBook.ts'
import { customerName, loanName } from '../../../bench/scenarios.ts'
import { findCandidates } from '../../../src/db/payments/candidates.ts'
import type { Queries } from '../../../src/db/queries/statement.ts'
import { typedReference } from '../../../src/domain/payments/matching.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
  const { pool } = database.db
  await fillBook(pool, { loans: 2_000, transactions: 0 }, 'Africa/Nairobi', 1)
  await pool.query(`UPDATE customer SET phone = '0712' || lpad(account_no::text, 6, '0')`)
  await pool.query(`UPDATE customer SET identity_hashes = ARRAY[account_no, account_no + 70]`)
  await pool.query('ANALYZE customer')
})
afterAll(() => database.drop())

const NOBODY = { phone: null, phoneHash: null }

interface Plan {
  readonly Plans?: readonly Plan[]
  readonly 'Rows Removed by Filter'?: number
  readonly 'Actual Loops': number
}

/** Returns the rows that a plan has read in vain. */
const readInVain = ({ Plans = [], ...own }: Plan): number =>
  (own['Rows Removed by Filter'] ?? 0) * own['Actual Loops'] + Plans.reduce((sum, plan) => sum + readInVain(plan), 0)

it('finds the loans of payments by their references and phone numbers, and reads no other loan or customer for it', async () => {
  const pool = await database.db.pool.connect()
  // In a book of a hundred thousand loans, an index that has the order looks better to Postgres than one that has the reference.
  await pool.query('SET enable_sort = off')
  let inVain = 0
  /** Runs a statement, and explains it. */
  const explaining = async (sent: { text: string; values: unknown[] }) => {
    const { rows } = await pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sent.text}`, sent.values)
    inVain += readInVain(rows[0]!['QUERY PLAN'][0].Plan)
    return pool.query(sent)
  }
  const queries = { pool: { query: explaining } } as unknown as Queries
  const references = [loanName(3), loanName(7).toUpperCase().replaceAll('O', '0'), customerName(5), '4', 'nobody', null]
  const wanted = [
    ...references.map((reference, index) => ({ id: BigInt(index), typed: typedReference(reference), ...NOBODY })),
    { id: 6n, typed: null, phone: '712000002', phoneHash: null },
    { id: 7n, typed: null, phone: null, phoneHash: 77n },
  ]
  const found = await findCandidates(queries, 1, wanted)
  // The setting is this connection's: it is not to be used again.
  pool.release(true)
  const ways = wanted.map(({ id }) => [...new Set(found.get(id)?.map(({ why }) => why))])
  expect(ways).toEqual([
    ...[['loan_reference'], ['loan_reference_folded'], ['customer_reference'], ['account_number'], [], []],
    ['phone'],
    ['phone'],
  ])
  expect(inVain).toBeLessThan(100)
})

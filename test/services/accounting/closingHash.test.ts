import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { inTransaction } from '../../../src/db/postgres/transaction.ts'
import { DEFAULT_CHART } from '../../../src/domain/accounting/chart.ts'
import { closingHash, closingText } from '../../../src/services/accounting/trialBalance.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { within } from '../../support/patience.ts'
import { giveChart, givePosting } from '../../support/postings.ts'

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase()
  const { db } = database
  // Organization 2 has a second currency, and from February on its cash on an account of its own.
  await givePosting(db, {
    ...{ organizationId: 2, id: 1, bookedOn: '2026-01-10' },
    amounts: { cash: -100_000n, loan_portfolio: 100_000n },
  })
  await givePosting(db, {
    ...{ organizationId: 2, id: 2, bookedOn: '2026-01-31', valueDate: '2026-01-20' },
    amounts: { cash: 60_050n, loan_portfolio: -50_000n, interest_income: -10_050n },
  })
  await givePosting(db, {
    ...{ organizationId: 2, id: 3, bookedOn: '2026-01-31', currency: 'UGX', productId: 0 },
    amounts: { cash: -7n, loan_portfolio: 7n },
  })
  await givePosting(db, {
    ...{ organizationId: 2, id: 4, bookedOn: '2026-02-01', kind: 'chart_changed', moved: [1, 2] },
    amounts: { cash: -39_950n },
  })
  await givePosting(db, {
    ...{ organizationId: 2, id: 5, bookedOn: '2026-02-02', valueDate: '2026-01-02' },
    amounts: { cash: 1n, overpayments: -1n },
  })
  const accounts = [...DEFAULT_CHART.accounts, { code: '1001', name: 'M-PESA', type: 'asset' as const }]
  const chart = { ...DEFAULT_CHART, accounts, slots: { ...DEFAULT_CHART.slots, cash: '1001' } }
  await giveChart(db, { organizationId: 2, version: 2, chart, countsFrom: '2026-02-01' })
}, within(60_000))

afterAll(() => database.drop())

const JANUARY = 'KES,1000,600.50,1000.00\nKES,1100,1000.00,500.00\nKES,4000,0.00,100.50\nUGX,1000,0,7\nUGX,1100,7,0\n'

it('is SHA-256 of a line for each account with a posting, of all currencies, by booked day', async () => {
  expect(await closingText(database.db, 2, '2026-01-31')).toBe(JANUARY)
  expect(await closingHash(database.db, 2, '2026-01-31')).toBe(createHash('sha256').update(JANUARY).digest('hex'))
})

it('has each amount on the account of the chart in force on its day, and what moved on both accounts', async () => {
  expect(await closingText(database.db, 2, '2026-02-28')).toBe(
    'KES,1000,1000.00,1000.00\nKES,1001,0.01,399.50\nKES,1100,1000.00,500.00\nKES,2000,0.00,0.01\nKES,4000,0.00,100.50\nUGX,1000,0,7\nUGX,1100,7,0\n',
  )
})

it('is of an empty text before the first posting and for a lender without any', async () => {
  const empty = createHash('sha256').update('').digest('hex')
  expect(await closingHash(database.db, 2, '2026-01-09')).toBe(empty)
  expect(await closingHash(database.db, 1, '2026-01-31')).toBe(empty)
})

it('sees what its transaction posted', async () => {
  await inTransaction(database.db, async (transaction) => {
    const queries = { pool: transaction }
    await givePosting(queries as typeof database.db, {
      ...{ organizationId: 2, id: 6, bookedOn: '2026-01-31' },
      amounts: { cash: -1n, loan_portfolio: 1n },
    })
    expect(await closingText(queries, 2, '2026-01-31')).toContain('KES,1000,600.50,1000.01\n')
    return undefined
  })
  expect(await closingText(database.db, 2, '2026-01-31')).toBe(JANUARY)
})

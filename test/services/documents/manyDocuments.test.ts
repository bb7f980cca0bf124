import { expect, it } from 'vitest'
import { compareMany } from './manyDocuments.ts'

// `npm run try -- documents` compares many more.

it('any statement and any receipt, read back from its PDF, is the JSON of the API, in both languages, and the same bytes again', async () => {
  const counts = await compareMany(9_000_000, 24)
  expect(counts).toMatchObject({ loans: 24, statements: 48 })
  expect(counts.lines).toBeGreaterThan(200)
  expect(counts.reversed).toBeGreaterThan(5)
  expect(counts.penalties).toBeGreaterThan(5)
  expect(counts.receipts).toBeGreaterThan(30)
  expect(counts.payouts).toBeGreaterThan(0)
})

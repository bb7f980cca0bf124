import { expect, it } from 'vitest'
import { bookMany } from './manyBooks.ts'

// `npm run try -- restructures` books many more.

it('the trial balance is right after any restructures, and one that only moves due dates posts nothing', () => {
  const { books, ...counts } = bookMany(41, 60)
  expect(books).toBe(60)
  expect(counts.booked).toBeGreaterThan(100)
  for (const [what, count] of Object.entries(counts)) expect([what, count > 3]).toEqual([what, true])
})

import { expect, it } from 'vitest'
import { compareMany } from './manyLoans.ts'

// `npm run try -- terms` compares many more.

it('any history of a loan of any product comes to what the model makes of it day by day', () => {
  const counts = compareMany(20_261_124, 500)
  expect(counts.loans).toBe(500)
  expect(counts.accepted).toBeGreaterThan(1_000)
  expect(counts.refused).toBeGreaterThan(200)
  expect(counts.penalties).toBeGreaterThan(2_000)
  expect(counts.settled).toBeGreaterThan(40)
  expect(counts.compared).toBeGreaterThan(3_000)
})

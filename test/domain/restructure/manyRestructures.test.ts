import { expect, it } from 'vitest'
import { compareMany } from './manyRestructures.ts'

// `npm run try -- restructures` compares many more.

it('any loan with restructures is what the model makes of it, instalment by instalment, after each step', () => {
  const counts = compareMany(41, 150)
  expect(counts.loans).toBe(150)
  expect(counts.restructures).toBeGreaterThan(50)
  expect(counts.reversed).toBeGreaterThan(10)
  expect(counts.penalized).toBeGreaterThan(100)
  expect(counts.late).toBeGreaterThan(20)
})

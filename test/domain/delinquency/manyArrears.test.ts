import { expect, it } from 'vitest'
import { compareMany } from './manyArrears.ts'

// `npm run try -- arrears` compares many more.

it('any loan by any policy is on every day as late as the model finds it day by day', () => {
  const counts = compareMany(7_000_200, 100)
  expect(counts.loans).toBe(100)
  expect(counts.days).toBeGreaterThan(20_000)
  expect(counts.lateDays).toBeGreaterThan(5_000)
  expect(counts.spans).toBeGreaterThan(300)
  expect(counts.cured).toBeGreaterThan(5)
  expect(counts.reopened).toBeGreaterThan(0)
  expect(counts.provisioned).toBeGreaterThan(5_000)
})

import { describe, expect, it } from 'vitest'
import { MOST_ATTEMPTS, pauseAfter, readRetryAfter, wantedTypes } from '../../../src/domain/webhooks/webhooks.ts'

const HOUR = 3_600_000

describe('the pause after a failure', () => {
  it('is that of the contract, and the last one is repeated', () => {
    const pauses = Array.from({ length: 11 }, (_, index) => pauseAfter(index + 1, 0.5, undefined))
    const hours = [2, 5, 10, 14, 20, 24, 24, 24].map((count) => count * HOUR)
    expect(pauses).toEqual([5_000, 300_000, 1_800_000, ...hours])
    expect(MOST_ATTEMPTS).toBe(10)
  })

  it('differs by up to a tenth', () => {
    expect(pauseAfter(1, 0, undefined)).toBe(4_500)
    expect(pauseAfter(1, 0.999_999, undefined)).toBe(5_500)
  })

  it('is never shorter than what the receiver asks for, which is kept to for a day at most', () => {
    expect(pauseAfter(1, 0.5, 60_000)).toBe(60_000)
    expect(pauseAfter(3, 0.5, 60_000)).toBe(1_800_000)
    expect(pauseAfter(1, 0.5, 90 * 24 * HOUR)).toBe(24 * HOUR)
  })
})

describe('a Retry-After', () => {
  const now = Date.parse('2026-01-31T06:30:00Z')
  it.each([
    ['120', 120_000],
    [' 5 ', 5_000],
    ['0', 0],
    ['Sat, 31 Jan 2026 06:31:00 GMT', 60_000],
    ['Sat, 31 Jan 2026 06:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['9999999999999', undefined],
    ['2026-01-31', undefined],
    [undefined, undefined],
  ])('%s is %s ms', (header, ms) => expect(readRetryAfter(header, now)).toBe(ms))
})

describe('the types that are wanted', () => {
  it('are single ones, groups, or all', () => {
    expect(wantedTypes(['*', 'loan.closed'])).toBeUndefined()
    expect(wantedTypes(['repayment.*', 'loan.closed'])).toEqual([
      'repayment.posted',
      'repayment.reversed',
      'repayment.adjusted',
      'loan.closed',
    ])
    expect(wantedTypes(['a.type.of.later'])).toEqual([])
  })
})

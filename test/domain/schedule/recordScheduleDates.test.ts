import { describe, expect, it } from 'vitest'
import { dates } from './recordScheduleTable.ts'

describe('due dates of a scheme', () => {
  it.each([
    [6, 'daily', ['2026-02-01', '2026-02-02', '2026-02-03']],
    [4, 'weekly', ['2026-02-07', '2026-02-14', '2026-02-21']],
    [9, 'every two weeks', ['2026-02-14', '2026-02-28', '2026-03-14']],
    [3, 'monthly, clamped without drift', ['2026-02-28', '2026-03-31', '2026-04-30']],
    [12, 'every two months', ['2026-03-31', '2026-05-31', '2026-07-31']],
    [13, 'quarterly', ['2026-04-30', '2026-07-31', '2026-10-31']],
    [781, 'every four months', ['2026-05-31', '2026-09-30', '2027-01-31']],
    [14, 'half-yearly', ['2026-07-31', '2027-01-31', '2027-07-31']],
    [1943, 'every nine months', ['2026-10-31', '2027-07-31', '2028-04-30']],
    [11, 'yearly', ['2027-01-31', '2028-01-31', '2029-01-31']],
  ])('%s %s', (schemeId, _, due) => expect(dates({ schemeId })).toEqual(due))

  it('29 February, yearly: 28 except in a leap year', () => {
    expect(dates({ schemeId: 11, releasedOn: '2024-02-29', numberOfRepayments: 4 })).toEqual([
      '2025-02-28',
      '2026-02-28',
      '2027-02-28',
      '2028-02-29',
    ])
  })

  it.each([
    ['days', '2026-02-03'],
    ['weeks', '2026-02-21'],
    ['months', '2026-04-30'],
    ['years', '2029-01-31'],
  ] as const)('10 lump sum: at the end of three %s', (durationUnit, due) =>
    expect(dates({ schemeId: 10, numberOfRepayments: 1, durationUnit })).toEqual([due]),
  )
})

describe("an organization's own scheme shares out the days of the duration", () => {
  it('31 January to 30 April is 89 days: 89 / 3 = 29.67, 59.33, 89', () =>
    expect(dates({ schemeId: 1123 })).toEqual(['2026-03-01', '2026-03-31', '2026-04-30']))

  it('ten days in two', () =>
    expect(dates({ schemeId: 4646, duration: 10, durationUnit: 'days', numberOfRepayments: 2 })).toEqual([
      '2026-02-05',
      '2026-02-10',
    ]))

  it('one a day when there are as many as days', () =>
    expect(dates({ schemeId: 0, duration: 3, durationUnit: 'days' })).toEqual([
      '2026-02-01',
      '2026-02-02',
      '2026-02-03',
    ]))

  it('one: at the end', () => expect(dates({ schemeId: 5, numberOfRepayments: 1 })).toEqual(['2026-04-30']))
})

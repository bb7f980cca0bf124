import fc from 'fast-check'
import { DateTime } from 'luxon'
import { describe, expect, it } from 'vitest'
import {
  addPeriods,
  dateIn,
  dayAfter,
  daysBetween,
  fromRfc3339,
  isCalendarDate,
  sameTimeOn,
  startOfDay,
  toRfc3339,
  wholeMonths,
} from '../../src/domain/dates.ts'
import { runs } from '../support/runs.ts'

const NAIROBI = 'Africa/Nairobi'
const ZONES = [NAIROBI, 'America/Los_Angeles', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Africa/Casablanca']

describe('dates of the tenant, whatever zone the server is in', () => {
  it('counts months from the first date, clamped without drift', () => {
    expect([1, 2, 3, 12, 13].map((months) => addPeriods('2026-01-31', months, 'months'))).toEqual([
      '2026-02-28',
      '2026-03-31',
      '2026-04-30',
      '2027-01-31',
      '2027-02-28',
    ])
    expect(addPeriods('2028-01-31', 1, 'months')).toBe('2028-02-29')
    expect(addPeriods('2028-02-29', 1, 'years')).toBe('2029-02-28')
    expect(addPeriods('2026-12-28', 1, 'weeks')).toBe('2027-01-04')
  })

  it('changes the day at midnight of the zone', () => {
    expect(dateIn(NAIROBI, Date.UTC(2026, 1, 28, 20, 59, 59, 999))).toBe('2026-02-28')
    expect(dateIn(NAIROBI, Date.UTC(2026, 1, 28, 21, 0, 0))).toBe('2026-03-01')
    expect(startOfDay('2026-03-01', NAIROBI)).toBe(Date.UTC(2026, 1, 28, 21))
  })

  it('keeps the time of day on another date', () => {
    const disbursed = Date.UTC(2026, 0, 31, 6, 30, 15, 123)
    const due = sameTimeOn('2026-02-28', disbursed, NAIROBI)
    expect(toRfc3339(due, NAIROBI)).toBe('2026-02-28T09:30:15.123+03:00')
  })

  it('computes the time as luxon does, also in zones that change their clocks', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2040, 0) }),
        (zone, instant) => {
          const moment = DateTime.fromMillis(instant, { zone })
          expect(toRfc3339(instant, zone)).toBe(
            moment.toISO({ suppressMilliseconds: false, includeOffset: true })?.replace(/Z$/, '+00:00'),
          )
          expect(dateIn(zone, instant)).toBe(moment.toISODate())
          expect(startOfDay(dateIn(zone, instant), zone)).toBe(moment.startOf('day').toMillis())
        },
      ),
      { numRuns: runs(500) },
    )
  })

  it('keeps the time of day as luxon does, on days whose clocks are changed too', () => {
    const changes = ['2026-03-08', '2026-11-01', '2026-04-05', '2026-10-04', '2026-02-15', '2026-03-22']
    const days = fc.date({ min: new Date('1990-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.oneof(
          fc.constantFrom(...changes),
          days.map((day) => day.toISOString().slice(0, 10)),
        ),
        fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2040, 0) }),
        (zone, date, instant) => {
          const { hour, minute, second, millisecond } = DateTime.fromMillis(instant, { zone })
          const moment = DateTime.fromISO(date, { zone }).set({ hour, minute, second, millisecond })
          expect(sameTimeOn(date, instant, zone)).toBe(moment.toMillis())
        },
      ),
      { numRuns: runs(2_000) },
    )
  })

  it('knows which days exist', () => {
    expect(['2026-02-28', '2028-02-29', '2026-12-31'].map(isCalendarDate)).toEqual([true, true, true])
    expect(['2026-02-29', '2026-02-30', '2026-13-01', '2026-1-1', '20260101', ''].map(isCalendarDate)).not.toContain(
      true,
    )
  })

  it.each([
    ['2026-02-28T09:30:15.123+03:00', Date.UTC(2026, 1, 28, 6, 30, 15, 123)],
    ['2028-02-29T23:59Z', Date.UTC(2028, 1, 29, 23, 59)],
    ['1900-01-01T00:00:00Z', Date.UTC(1900, 0, 1)],
    ['2999-12-31T23:59:59-00:00', Date.UTC(2999, 11, 31, 23, 59, 59)],
  ])('%s is a moment', (text, instant) => expect(fromRfc3339(text)).toBe(instant))

  it.each([
    '2026-02-29T09:00:00+03:00',
    '2026-02-30T09:00:00+03:00',
    '2026-13-01T09:00:00Z',
    '0000-01-01T00:00:00Z',
    '1899-12-31T23:59:59Z',
    '3000-01-01T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T09:60:00Z',
    '2026-01-31T09:00:60Z',
    '2026-01-31T09:00:00+24:00',
    '2026-01-31T09:00:00',
    '2026-01-31',
    '2026-01-31T09:00:00Z\n',
  ])('%j is none', (text) => expect(fromRfc3339(text)).toBeUndefined())

  it('counts days', () => {
    expect(daysBetween('2026-02-28', '2026-03-01')).toBe(1)
    expect(daysBetween('2026-03-01', '2026-03-01')).toBe(0)
    expect(daysBetween('2028-02-28', '2028-03-01')).toBe(2)
    expect(dayAfter('2026-12-31')).toBe('2027-01-01')
  })
})

it.each([
  ['2026-01-31', '2026-02-27', 0],
  ['2026-01-31', '2026-02-28', 1],
  ['2026-01-15', '2026-07-14', 5],
  ['2025-07-01', '2026-07-01', 12],
  ['2026-07-02', '2026-07-01', 0],
])('whole months from %s to %s: %i', (from, to, months) => {
  expect(wholeMonths(from, to)).toBe(months)
})

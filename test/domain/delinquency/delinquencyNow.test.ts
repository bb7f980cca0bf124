import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addPeriods, startOfDay } from '../../../src/domain/dates.ts'
import type { DelinquencyPolicy } from '../../../src/domain/delinquency/policy.ts'
import { PRESETS } from '../../../src/domain/delinquency/policy.ts'
import { delinquencyNow, provisionOf } from '../../../src/domain/delinquency/position.ts'
import { spansOf } from '../../../src/domain/delinquency/segments.ts'
import type { Entry } from '../../../src/domain/loan/entry.ts'
import { runs } from '../../support/runs.ts'
import { weeklyTerms } from '../../support/weeklyTerms.ts'

// Instalments of 3,450 are due on 7, 14 and 21 February.
const terms = weeklyTerms
const endOf = (day: string) => startOfDay(addPeriods(day, 1, 'days'), terms.zone) - 1
const preset = (name: string) => PRESETS.find((one) => one.name === name)!.policy

const paid = (amount: bigint, valueDate: string, more: Partial<Entry> = {}): Entry => ({
  ...{ id: 1n, type: 'Repayment', amount, valueDate, postedAt: terms.disbursedAt, ordinal: 1, place: 1 },
  ...{ token: null, note: null, replaces: null, reversedAt: null },
  ...more,
})

const on = (day: string, policy: DelinquencyPolicy, entries: readonly Entry[] = []) =>
  delinquencyNow({ terms, entries }, policy, endOf(day))

describe('delinquencyNow', () => {
  it.each([
    ['2026-02-07', 0, 'normal', '2026-01-31', 9_000n],
    ['2026-02-08', 1, 'normal', '2026-01-31', 9_000n],
    ['2026-03-09', 30, 'normal', '2026-01-31', 9_000n],
    ['2026-03-10', 31, 'watch', '2026-03-10', 27_000n],
    ['2026-05-09', 91, 'substandard', '2026-05-09', 180_000n],
    ['2027-02-03', 361, 'loss', '2027-02-03', 900_000n],
  ])('on %s: %d days past due, %s since %s', (day, daysPastDue, bucket, since, provision) => {
    expect(on(day, preset('cbk'))).toMatchObject({ daysPastDue, bucket: { name: bucket }, since, provision })
  })

  it('has no provision without a rate, and the stage of the bucket', () => {
    expect(on('2026-03-10', preset('ifrs9'))).toMatchObject({ bucket: { stage: 2 }, provision: null })
  })

  it('is null where nothing is owed, and again a bucket where the payment is reversed', () => {
    const whole = paid(10_350_00n, '2026-03-01')
    expect(on('2026-03-10', preset('par'), [whole])).toBeNull()
    const reversed = { ...whole, reversedAt: endOf('2026-03-02') }
    expect(on('2026-03-10', preset('par'), [reversed])).toMatchObject({ daysPastDue: 31, bucket: { name: '31-60' } })
    expect(on('2026-03-10', preset('par'), [paid(0n, '2026-03-01', { type: 'Write-off' })])).toBeNull()
  })

  it('stays in a bucket for the days of cure, while the days fall at once', () => {
    const cured = { ...preset('par'), cureDays: 5 }
    const entries = [paid(10_000_00n, '2026-03-11')]
    expect(on('2026-03-15', cured, entries)).toMatchObject({
      ...{ daysPastDue: 22, bucket: { name: '31-60' }, since: '2026-03-10' },
    })
    expect(on('2026-03-16', cured, entries)).toMatchObject({
      ...{ daysPastDue: 23, bucket: { name: '1-30' }, since: '2026-03-16' },
    })
  })

  it('does not count what a limit of the own currency lets pass, and counts it in another', () => {
    const limit = (currency: string) => ({
      ...preset('par'),
      materiality: { amount: 10_350_00n, currency, percentOfPrincipal: null },
    })
    expect(on('2026-03-10', limit('TZS'))).toMatchObject({ daysPastDue: 0, bucket: { name: 'current' } })
    expect(on('2026-03-10', limit('KES'))).toMatchObject({ daysPastDue: 31 })
  })

  it('is the last span of the history, whatever was paid', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ amount: fc.bigInt(1n, 5_000_00n), after: fc.nat(80) }), { maxLength: 5 }),
        fc.nat(120),
        fc.constantFrom(...PRESETS.map(({ policy }) => policy)),
        (payments, after, policy) => {
          const day = addPeriods(terms.disbursedOn, after, 'days')
          const entries = payments
            .map(({ amount, after: at }, index) =>
              paid(amount, addPeriods(terms.disbursedOn, at, 'days'), { ordinal: index + 1, place: index + 1 }),
            )
            .filter(({ valueDate }) => valueDate <= day)
          const last = spansOf(terms, entries, policy, endOf(day)).at(-1)!
          const now = on(day, policy, entries)
          if (last.to !== null) expect(now).toBeNull()
          else expect(now).toMatchObject({ daysPastDue: last.daysTo, bucket: last.bucket, since: last.from })
        },
      ),
      { numRuns: runs(200) },
    )
  })
})

describe('provisionOf', () => {
  it.each([
    [0n, 1_000_000n, 0n],
    [49n, 1_000_000n, 0n],
    [50n, 1_000_000n, 0n],
    [51n, 1_000_000n, 1n],
    [150n, 1_000_000n, 2n],
    [250n, 1_000_000n, 2n],
    [1_000_00n, 12_345_600n, 12_346n],
    [99_999_999_999_999n, 100_000_000n, 99_999_999_999_999n],
  ])('of %s at %s millionths of a percent: %s, rounded half to even', (principal, rate, provision) => {
    const { buckets } = preset('cbk')
    const policy = { ...preset('cbk'), buckets: buckets.map((bucket) => ({ ...bucket, provisionRate: rate })) }
    expect(provisionOf(policy, { index: 1, principal, isChargedOff: false })).toBe(provision)
    expect(provisionOf(policy, { index: 1, principal, isChargedOff: true })).toBe(0n)
  })
})

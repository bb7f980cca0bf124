import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addPeriods, daysBetween, startOfDay } from '../../../src/domain/dates.ts'
import { bucketIndex, type DelinquencyPolicy, isMaterial, PRESETS } from '../../../src/domain/delinquency/policy.ts'
import { spansOf } from '../../../src/domain/delinquency/segments.ts'
import type { Entry } from '../../../src/domain/loan/entry.ts'
import { replay } from '../../../src/domain/loan/replay.ts'
import { weeklyTerms } from '../../support/weeklyTerms.ts'

const terms = weeklyTerms
const { zone } = terms
const endOf = (day: string) => startOfDay(addPeriods(day, 1, 'days'), zone) - 1

/** Days past due of each day, counted by a replay of the entries dated up to that day. */
function naiveDays(entries: readonly Entry[], policy: DelinquencyPolicy, last: string) {
  const days: { day: string; held: number | null; days: number }[] = []
  let [run, held, better]: [number, number | null, number] = [0, null, 0]
  for (let day = terms.disbursedOn; day <= last; day = addPeriods(day, 1, 'days')) {
    const dated = entries.filter(({ valueDate }) => valueDate <= day)
    const { periods, totalOverdue, totalOutstanding } = replay(terms, dated, endOf(day))
    if (totalOutstanding === 0n) {
      ;[run, held, better] = [0, null, 0]
      days.push({ day, held, days: 0 })
      continue
    }
    const isLate = isMaterial(policy, totalOverdue, terms.principal)
    run = isLate ? run + 1 : 0
    const oldest = periods.find(({ owed, dueDate }) => owed > 0n && dueDate < day)
    const past = !isLate ? 0 : policy.countFrom === 'first_arrears' ? run : daysBetween(oldest!.dueDate, day)
    const index = bucketIndex(policy, past)
    if (held === null || index >= held) [held, better] = [index, 0]
    else {
      better++
      if (better > policy.cureDays) [held, better] = [index, 0]
    }
    days.push({ day, held, days: past })
  }
  return days
}

const anyPolicy: fc.Arbitrary<DelinquencyPolicy> = fc.record({
  buckets: fc.constantFrom(
    ...PRESETS.map(({ policy }) => policy.buckets),
    [0, 3, 9, 20].map((fromDays, index) => ({
      ...{
        name: `b${index}`,
        fromDays,
        toDays: [2, 8, 19, null][index]!,
        class: null,
        stage: null,
        provisionRate: null,
      },
    })),
  ),
  countFrom: fc.constantFrom('oldest_unpaid', 'first_arrears'),
  materiality: fc.option(
    fc.record({
      amount: fc.option(fc.bigInt(0n, 2_000_00n), { nil: null }),
      percentOfPrincipal: fc.option(fc.constantFrom(1_000_000n, 20_000_000n), { nil: null }),
    }),
    { nil: null },
  ),
  cureDays: fc.constantFrom(0, 0, 1, 7, 30),
})

const anyEntries = fc
  .array(
    fc.record({
      type: fc.constantFrom('Repayment', 'Repayment', 'Repayment', 'Refund', 'Waive Interest', 'Write-off', 'Fee'),
      amount: fc.bigInt(1n, 4_000_00n),
      after: fc.integer({ min: 0, max: 90 }),
    }),
    { maxLength: 8 },
  )
  .map((made) =>
    made.map(
      ({ type, amount, after }, index): Entry => ({
        ...{
          id: BigInt(index),
          type: type as Entry['type'],
          amount,
          valueDate: addPeriods(terms.disbursedOn, after, 'days'),
        },
        ...{
          postedAt: terms.disbursedAt,
          ordinal: index + 1,
          place: index + 1,
          token: null,
          note: null,
          replaces: null,
        },
        reversedAt: null,
      }),
    ),
  )

describe('the spans of a loan', () => {
  it('are those of counting day by day', () => {
    let changes = 0
    fc.assert(
      fc.property(
        anyPolicy,
        anyEntries,
        fc.integer({ min: 0, max: 150 }),
        fc.boolean(),
        (policy, entries, after, pays) => {
          const all = pays ? entries : entries.filter(({ type }) => type !== 'Repayment')
          const today = addPeriods(terms.disbursedOn, after, 'days')
          const dated = all.filter(({ valueDate }) => valueDate <= today)
          const spans = spansOf(terms, dated, policy, endOf(today))
          changes += spans.length
          for (const { day, held, days } of naiveDays(dated, policy, today)) {
            const span = spans.find(({ from, to }) => from <= day && (to === null || day <= to))
            expect([day, span?.bucket.name]).toEqual([day, held === null ? undefined : policy.buckets[held]!.name])
            if (span?.from === day) expect([day, span.daysFrom]).toEqual([day, days])
            if (span && (span.to ?? today) === day) expect([day, span.daysTo]).toEqual([day, days])
          }
        },
      ),
      { numRuns: 400 },
    )
    expect(changes).toBeGreaterThan(400)
  })

  it('say what began and ended them', () => {
    // Instalments of 3,450 are due on 7, 14 and 21 February.
    const paid = (ordinal: number, amount: bigint, valueDate: string): Entry => ({
      ...{ id: BigInt(ordinal), type: 'Repayment', amount, valueDate, postedAt: terms.disbursedAt, ordinal },
      ...{ place: ordinal, token: null, note: null, replaces: null, reversedAt: null },
    })
    const entries = [paid(1, 3_450_00n, '2026-02-10'), paid(2, 6_900_00n, '2026-03-20')]
    const spans = spansOf(terms, entries, PRESETS[0].policy, endOf('2026-04-01'))
    expect(spans.map(({ bucket, began, ended, ...span }) => ({ bucket: bucket.name, began, ended, ...span }))).toEqual([
      {
        ...{ bucket: 'current', from: '2026-01-31', to: '2026-02-07', daysFrom: 0, daysTo: 0 },
        ...{ began: ['disbursement'], ended: ['due date passed'] },
      },
      {
        ...{ bucket: '1-30', from: '2026-02-08', to: '2026-02-09', daysFrom: 1, daysTo: 2 },
        ...{ began: ['due date passed'], ended: ['Repayment'] },
      },
      {
        ...{ bucket: 'current', from: '2026-02-10', to: '2026-02-14', daysFrom: 0, daysTo: 0 },
        ...{ began: ['Repayment'], ended: ['due date passed'] },
      },
      {
        ...{ bucket: '1-30', from: '2026-02-15', to: '2026-03-16', daysFrom: 1, daysTo: 30 },
        ...{ began: ['due date passed'], ended: ['days passed'] },
      },
      {
        ...{ bucket: '31-60', from: '2026-03-17', to: '2026-03-19', daysFrom: 31, daysTo: 33 },
        ...{ began: ['days passed'], ended: ['Repayment'] },
      },
    ])
  })
})

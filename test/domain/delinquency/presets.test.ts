import { describe, expect, it } from 'vitest'
import { bucketIndex, PRESETS } from '../../../src/domain/delinquency/policy.ts'

describe.each(PRESETS)('the policy $name', ({ source, policy }) => {
  it('has buckets without gap or overlap, of which the last has no end, and a source', () => {
    const { buckets } = policy
    expect(buckets[0]!.fromDays).toBe(0)
    for (const [index, { toDays }] of buckets.slice(0, -1).entries())
      expect(buckets[index + 1]!.fromDays).toBe((toDays ?? Number.NaN) + 1)
    expect(buckets.at(-1)!.toDays).toBeNull()
    expect(new Set(buckets.map(({ name }) => name)).size).toBe(buckets.length)
    expect(source.length).toBeGreaterThan(20)
  })
})

describe('days past due', () => {
  it.each([
    // CGAP: portfolio at risk over 30, 60 and 90 days.
    ['par', 0, 'current', null, null, null],
    ['par', 1, '1-30', null, null, null],
    ['par', 30, '1-30', null, null, null],
    ['par', 31, '31-60', null, null, null],
    ['par', 90, '61-90', null, null, null],
    ['par', 91, 'over 90', null, null, null],
    // CBK/PG/04: normal up to 30 days, watch to 90, substandard to 180, doubtful to 360, loss above.
    ['cbk', 30, 'normal', 'Normal', null, 1],
    ['cbk', 31, 'watch', 'Watch', null, 3],
    ['cbk', 90, 'watch', 'Watch', null, 3],
    ['cbk', 91, 'substandard', 'Substandard', null, 20],
    ['cbk', 180, 'substandard', 'Substandard', null, 20],
    ['cbk', 181, 'doubtful', 'Doubtful', null, 100],
    ['cbk', 360, 'doubtful', 'Doubtful', null, 100],
    ['cbk', 361, 'loss', 'Loss', null, 100],
    // IFRS 9: a significant increase above 30 days, default no later than when the asset is 90 days past due.
    ['ifrs9', 30, 'stage 1', null, 1, null],
    ['ifrs9', 31, 'stage 2', null, 2, null],
    ['ifrs9', 89, 'stage 2', null, 2, null],
    ['ifrs9', 90, 'stage 3', null, 3, null],
  ])('%s: %d are %s', (name, days, bucket, ofClass, stage, percent) => {
    const { policy } = PRESETS.find((preset) => preset.name === name)!
    const provisionRate = percent === null ? null : BigInt(percent) * 1_000_000n
    expect(policy.buckets[bucketIndex(policy, days)]).toMatchObject({
      name: bucket,
      class: ofClass,
      stage,
      provisionRate,
    })
  })
})

/** What the sources say of each range of days: the first day, the last one, and the rest of the bucket. */
const SAID = {
  // CGAP, Occasional Paper 3: portfolio at risk by age; the ages are in steps of 30 days.
  par: [
    [0, 0, { name: 'current', class: null, stage: null, provisionRate: null }],
    [1, 30, { name: '1-30', class: null, stage: null, provisionRate: null }],
    [31, 60, { name: '31-60', class: null, stage: null, provisionRate: null }],
    [61, 90, { name: '61-90', class: null, stage: null, provisionRate: null }],
    [91, null, { name: 'over 90', class: null, stage: null, provisionRate: null }],
  ],
  // CBK/PG/04: classes by days past due, and the minimum provisions.
  cbk: [
    [0, 30, { name: 'normal', class: 'Normal', stage: null, provisionRate: 1_000_000n }],
    [31, 90, { name: 'watch', class: 'Watch', stage: null, provisionRate: 3_000_000n }],
    [91, 180, { name: 'substandard', class: 'Substandard', stage: null, provisionRate: 20_000_000n }],
    [181, 360, { name: 'doubtful', class: 'Doubtful', stage: null, provisionRate: 100_000_000n }],
    [361, null, { name: 'loss', class: 'Loss', stage: null, provisionRate: 100_000_000n }],
  ],
  // IFRS 9: 5.5.11, more than 30 days past due; B5.5.37, default no later than when 90 days past due.
  ifrs9: [
    [0, 30, { name: 'stage 1', class: null, stage: 1, provisionRate: null }],
    [31, 89, { name: 'stage 2', class: null, stage: 2, provisionRate: null }],
    [90, null, { name: 'stage 3', class: null, stage: 3, provisionRate: null }],
  ],
} as const

describe.each(PRESETS)('each day by the policy $name', ({ name, policy }) => {
  it('is in the bucket that the source says, by the oldest instalment, whatever its amount, and without days of cure', () => {
    const said = SAID[name as keyof typeof SAID]
    for (let days = 0; days <= 1_000; days++) {
      const [fromDays, toDays, rest] = said.find(([from, to]) => from <= days && (to === null || days <= to))!
      expect([days, policy.buckets[bucketIndex(policy, days)]]).toEqual([days, { fromDays, toDays, ...rest }])
    }
    expect(policy).toMatchObject({ countFrom: 'oldest_unpaid', materiality: null, cureDays: 0 })
  })
})

import fc from 'fast-check'
import { type Bucket, COUNT_FROM, type DelinquencyPolicy, PRESETS } from '../../../src/domain/delinquency/policy.ts'

/** A rate in millionths of a percent, of hundredths of a percent. */
const rate = (most: number) => fc.integer({ min: 0, max: most }).map((hundredths) => BigInt(hundredths) * 10_000n)

/** Buckets of any lengths: a first one of the loans that are nearly in time, and one without end. */
const anyBuckets: fc.Arbitrary<readonly Bucket[]> = fc
  .array(
    fc.record({
      days: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 60 })),
      provisionRate: fc.option(rate(10_000), { nil: null }),
    }),
    { minLength: 1, maxLength: 7 },
  )
  .map((some) => {
    let fromDays = 0
    return some.map(({ days, provisionRate }, place): Bucket => {
      const first = fromDays
      fromDays += days
      const toDays = place === some.length - 1 ? null : fromDays - 1
      return { name: `b${place}`, fromDays: first, toDays, class: null, stage: null, provisionRate }
    })
  })

/** Any policy, as a lender may set it (contract 11.6). */
export const anyPolicy: fc.Arbitrary<DelinquencyPolicy> = fc.record({
  buckets: fc.oneof(fc.constantFrom(...PRESETS.map(({ policy }) => policy.buckets)), anyBuckets),
  countFrom: fc.constantFrom(...COUNT_FROM),
  materiality: fc.option(
    fc.record({
      amount: fc.option(fc.oneof(fc.bigInt(0n, 2_000n), fc.bigInt(0n, 1_000_000n)), { nil: null }),
      currency: fc.constantFrom('TZS', 'UGX', undefined),
      percentOfPrincipal: fc.option(rate(4_000), { nil: null }),
    }),
    { nil: null },
  ),
  cureDays: fc.constantFrom(0, 0, 1, 2, 7, 30, 365),
})

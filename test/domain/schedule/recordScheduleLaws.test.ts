import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LendingError } from '../../../src/domain/errors.ts'
import { currencyOf, min, sum } from '../../../src/domain/money.ts'
import { recordSchedule } from '../../../src/domain/schedule/recordSchedule.ts'
import {
  decimalPlaces,
  interestMethods,
  interestPeriods,
  type RecordTerms,
} from '../../../src/domain/schedule/recordTerms.ts'
import type { Instalment } from '../../../src/domain/schedule/schedule.ts'
import { runs } from '../../support/runs.ts'
import { base } from './recordScheduleTable.ts'

const own = { rounding: 'round_off_to_two_decimal' } as const

/** Any loan that is not refused: a modest rate, an own scheme only where its days suffice. */
const anyTerms: fc.Arbitrary<RecordTerms> = fc
  .record({
    currency: fc.constantFrom(currencyOf('KES'), currencyOf('UGX')),
    principal: fc.oneof(fc.bigInt(1n, 1000n), fc.bigInt(1n, 10n ** 11n)),
    releasedOn: fc.constantFrom('2024-02-29', '2026-01-31', '2026-12-15'),
    method: fc.constantFrom(...interestMethods),
    interest: fc.record({ units: fc.oneof(fc.constant(0n), fc.bigInt(0n, 30_000n)), scale: fc.constant(4) }),
    interestPeriod: fc.constantFrom(...interestPeriods),
    durationUnit: fc.constantFrom('days' as const, 'weeks' as const, 'months' as const, 'years' as const),
    duration: fc.integer({ min: 1, max: 24 }),
    schemeId: fc.constantFrom(6, 4, 9, 3, 12, 13, 781, 14, 1943, 11, 10, 1123),
    numberOfRepayments: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 60 })),
    rounding: fc.constantFrom(...decimalPlaces),
  })
  .map((terms) => ({ ...base, ...terms }))
  .map((terms) => (terms.schemeId === 10 ? { ...terms, numberOfRepayments: 1 } : terms))
  .filter(({ schemeId, method }) => schemeId !== 10 || !method.startsWith('reducing'))
  .map((terms) =>
    terms.schemeId === 1123 && terms.numberOfRepayments > terms.duration
      ? { ...terms, numberOfRepayments: terms.duration }
      : terms,
  )

/** The schedule; a draw whose interest is more than can be held is drawn again. */
function drawn(terms: RecordTerms): Instalment[] {
  try {
    return recordSchedule(terms)
  } catch (error) {
    fc.pre(!(error instanceof LendingError && error.faults[0]?.role === 'interest'))
    throw error
  }
}

const interestIn = (lines: readonly Instalment[]) => String(sum(lines.map((line) => line.interest)))

describe('of every schedule', () => {
  it('the principal cells sum to the principal, no cell is negative, the dates increase', () => {
    fc.assert(
      fc.property(anyTerms, (terms) => {
        const lines = drawn(terms)
        expect(lines).toHaveLength(terms.numberOfRepayments)
        expect(sum(lines.map((line) => line.principal))).toBe(terms.principal)
        for (const [index, line] of lines.entries()) {
          expect(line.principal >= 0n && line.interest >= 0n && line.fees === 0n).toBe(true)
          expect(line.period).toBe(index + 1)
          expect(line.fromDate).toBe(index === 0 ? terms.releasedOn : lines[index - 1]!.dueDate)
          expect(line.dueDate > line.fromDate).toBe(true)
        }
      }),
      { numRuns: runs(500) },
    )
  })

  it('without interest there is none, in any method', () => {
    fc.assert(
      fc.property(anyTerms, (terms) => {
        const lines = recordSchedule({ ...terms, interest: { units: 0n, scale: 0 } })
        expect(lines.every((line) => line.interest === 0n)).toBe(true)
      }),
    )
  })

  it('equal parts are equal but for the last, until rounding up has used the principal up', () => {
    fc.assert(
      fc.property(
        anyTerms,
        fc.constantFrom('flat_rate', 'compound_interest', 'reducing_rate_equal_principal'),
        (t, m) => {
          const parts = drawn({ ...t, schemeId: 3, method: m }).map((line) => line.principal)
          const first = parts[0]!
          let left = t.principal
          for (const part of parts.slice(0, -1)) {
            expect(part).toBe(min(left, first))
            left -= part
          }
        },
      ),
    )
  })
})

describe('the total of interest', () => {
  it('flat: within half a minor unit of P × rate × duration, within a step of it when rounded coarser', () => {
    fc.assert(
      fc.property(anyTerms, (terms) => {
        // months, so that the duration in interest periods is the duration
        const flat = { ...terms, method: 'flat_rate', interestPeriod: 'Month', durationUnit: 'months' } as const
        const exact = new Decimal(String(flat.principal * flat.interest.units * BigInt(flat.duration))).div(1_000_000)
        const off = (rounding: RecordTerms['rounding']) =>
          new Decimal(interestIn(drawn({ ...flat, rounding }))).sub(exact).abs()
        expect(off(own.rounding).lte(0.5)).toBe(true)
        expect(off(terms.rounding).lte(10 ** flat.currency.decimals * 100)).toBe(true)
      }),
    )
  })

  it('compound: within half a minor unit of P(1 + r)^n − P', () => {
    const Precise = Decimal.clone({ precision: 200 })
    fc.assert(
      fc.property(anyTerms, fc.integer({ min: 1, max: 60 }), (terms, numberOfRepayments) => {
        const { principal, interest } = terms
        const monthly = { interestPeriod: 'Month', schemeId: 3, numberOfRepayments } as const
        const lines = drawn({ ...terms, ...own, ...monthly, method: 'compound_interest' })
        const rate = new Precise(String(interest.units)).div(1_000_000)
        const exact = rate.add(1).pow(numberOfRepayments).sub(1).mul(String(principal))
        expect(exact.sub(interestIn(lines)).abs().lte(0.5)).toBe(true)
      }),
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addPeriods, dayAfter, daysBetween, sameTimeOn } from '../../../src/domain/dates.ts'
import { replay } from '../../../src/domain/loan/replay.ts'
import { type HeldDays, heldFromText, heldToText } from '../../../src/domain/loan/rules/heldDaysText.ts'
import { USUAL_RULES } from '../../../src/domain/loan/rules/loanRules.ts'
import { countThrough, nextAfter, occurrenceAt } from '../../../src/domain/loan/rules/occurrences.ts'
import { firstHoldable, heldUntil, withHold } from '../../../src/domain/loan/rules/penaltyHolds.ts'
import type { LoanTerms } from '../../../src/domain/loan/terms/terms.ts'
import { currencyOf, largestIn } from '../../../src/domain/money.ts'
import { runs } from '../../support/runs.ts'

const ZONE = 'Africa/Nairobi'
const DISBURSED = Date.UTC(2026, 0, 31, 6, 30)
const DUE = '2026-02-28'
const TZS = currencyOf('TZS')

/** A loan that is due on 28 February, with a penalty of 5.00 on each day from then on. */
const TERMS: LoanTerms = {
  currency: TZS,
  zone: ZONE,
  principal: 1_000_00n,
  numberOfRepayments: 1,
  ratePerPeriod: 0n,
  penaltyAmount: null,
  disbursedAt: DISBURSED,
  disbursedOn: '2026-01-31',
  dueOn: DUE,
  dueAt: sameTimeOn(DUE, DISBURSED, ZONE),
  rules: {
    ...USUAL_RULES,
    penalty: {
      base: 'fixed',
      value: 5_00n,
      every: { every: 1, unit: 'days' },
      graceDays: 0,
      maxTimes: null,
      most: largestIn(TZS),
      per: 'instalment',
    },
  },
  schedule: [{ period: 1, fromDate: '2026-01-31', dueDate: DUE, principal: 1_000_00n, interest: 0n, fees: 0n }],
}

const endOf = (day: string) => sameTimeOn(dayAfter(day), DISBURSED, ZONE) - 1
const penaltiesOn = (day: string, penaltyHolds?: readonly HeldDays[]) =>
  replay({ ...TERMS, penaltyHolds }, [], endOf(day)).outstanding.penalty

describe('a hold of penalties', () => {
  it('raises none on its days, and raises each of the days after it', () => {
    const held = [{ from: '2026-03-02', through: '2026-03-04' }]
    const days = ['2026-03-01', '2026-03-02', '2026-03-04', '2026-03-05'].map((day) => penaltiesOn(day, held))
    expect(days).toEqual([10_00n, 10_00n, 10_00n, 15_00n])
  })

  it('says when the next penalty is raised: after its days', () => {
    const held = [{ from: '2026-03-02', through: '2026-03-04' }]
    const state = replay({ ...TERMS, penaltyHolds: held }, [], endOf('2026-03-01'))
    expect(state.nextChangeAt).toBe(sameTimeOn('2026-03-05', DISBURSED, ZONE))
  })

  it('begins with the first day whose penalties are not raised yet, and is cut where it is released', () => {
    const due = sameTimeOn(DUE, DISBURSED, ZONE)
    expect([firstHoldable(TERMS, due - 1), firstHoldable(TERMS, due)]).toEqual([DUE, '2026-03-01'])
    const held = withHold(TERMS, { from: '2026-03-01', through: '2026-03-31' })
    const holding = { ...TERMS, penaltyHolds: held }
    expect(heldUntil(holding, '2026-03-10')).toEqual([{ from: '2026-03-01', through: '2026-03-09' }])
    expect(heldUntil(holding, '2026-03-01')).toEqual([])
    expect(heldUntil(holding, '2026-05-01')).toEqual(held)
  })

  it('is written as text, and read back', () => {
    const held = [
      { from: '2026-03-01', through: '2026-03-09' },
      { from: '2026-04-01', through: '2026-04-02' },
    ]
    expect(heldFromText(heldToText(held))).toEqual(held)
    expect([heldToText([]), heldFromText(null)]).toEqual([null, undefined])
  })

  it('leaves out exactly the occurrences of its days, whatever their distance', () => {
    const anyHeld = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.nat(40)), { maxLength: 4 }).map((pairs) => {
      let at = DUE
      return pairs.map(([gap, length]) => {
        const from = addPeriods(at, gap, 'days')
        at = addPeriods(from, length, 'days')
        return { from, through: at }
      })
    })
    const anyEvery = fc.constantFrom(
      { every: 1, unit: 'days' } as const,
      { every: 10, unit: 'days' } as const,
      { every: 2, unit: 'weeks' } as const,
      { every: 1, unit: 'months' } as const,
    )
    fc.assert(
      fc.property(anyHeld, anyEvery, fc.nat(250), (held, every, days) => {
        const occurrences = { first: DUE, every, held }
        const last = addPeriods(DUE, days, 'days')
        const all: string[] = []
        for (let index = 0; ; index++) {
          const day = addPeriods(DUE, index * every.every, every.unit)
          if (daysBetween(DUE, day) > 1_000) break
          if (!held.some(({ from, through }) => from <= day && day <= through)) all.push(day)
        }
        expect(countThrough(occurrences, last)).toBe(all.filter((day) => day <= last).length)
        expect(nextAfter(occurrences, last)).toBe(all.find((day) => day > last))
        const index = days % all.length
        expect(occurrenceAt(occurrences, index)).toBe(all[index])
      }),
      { numRuns: runs(2_000) },
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judge, type Promised } from '../../../src/domain/collections/promise.ts'
import { addPeriods, dateIn, dayAfter, startOfDay } from '../../../src/domain/dates.ts'
import { knownThen } from '../../../src/domain/delinquency/position.ts'
import type { NewEntry } from '../../../src/domain/loan/entry.ts'
import { termsOf } from '../../../src/domain/loan/terms/terms.ts'
import { currencyOf } from '../../../src/domain/money.ts'
import { runs } from '../../support/runs.ts'

const ZONE = 'Africa/Nairobi'
const FIRST = '2026-01-31'
const DISBURSED = startOfDay(FIRST, ZONE)
const PRINCIPAL = 60n

/** A loan of 60 cents without interest, due after a month: what it owes is what was not paid. */
const TERMS = termsOf(
  {
    id: 1,
    name: 'Without interest',
    currency: currencyOf('TZS'),
    principalMin: 1n,
    principalMax: 100n,
    numberOfRepayments: 1,
    repayEvery: 1,
    repayUnit: 'months',
    ratePerPeriod: 0n,
    totalMultipleOf: null,
    penaltyRate: null,
    terms: null,
    enforceCreditLimit: false,
    retired: false,
  },
  { units: PRINCIPAL, scale: 2 },
  DISBURSED,
  ZONE,
)

const day = (n: number) => addPeriods(FIRST, n, 'days')
const noonOf = (n: number) => startOfDay(day(n), ZONE) + 43_200_000

/** A repayment: its value date, the day on which it was told, and the day on which it was reversed, if it was. */
interface Told {
  readonly amount: number
  readonly on: number
  readonly told: number
  readonly reversed: number | null
}

const entriesOf = (repayments: readonly Told[]): NewEntry[] =>
  repayments.map(({ amount, on, told, reversed }, index) => ({
    type: 'Repayment',
    amount: BigInt(amount),
    valueDate: day(on),
    ordinal: index + 1,
    place: index + 1,
    postedAt: noonOf(told),
    token: null,
    note: null,
    replaces: null,
    reversedAt: reversed === null ? null : noonOf(reversed),
  }))

const promised = (id: number, amount: number, madeOn: number, by: number): Promised => ({
  id: BigInt(id),
  amount: BigInt(amount),
  madeOn: day(madeOn),
  by: day(by),
})

/** Judges at noon of a day, by what was told until then. */
const judgedOn = (n: number, promises: readonly Promised[], repayments: readonly Told[]) =>
  judge(promises, { terms: TERMS, entries: knownThen(entriesOf(repayments), noonOf(n)) }, noonOf(n))

describe('a promise', () => {
  const ten = promised(1, 10, 3, 5)
  const paid = (amount: number, on: number, told = on, reversed: number | null = null) => [
    { amount, on, told, reversed },
  ]

  it('is open until the end of its day, whatever was paid', () => {
    expect(judgedOn(5, [ten], paid(10, 4)).get(1n)).toEqual({ state: 'open', received: 10n })
  })

  it('is kept by repayments from its day to the day by, both included', () => {
    expect(judgedOn(6, [ten], [...paid(4, 3), ...paid(6, 5)]).get(1n)).toEqual({ state: 'kept', received: 10n })
    expect(judgedOn(6, [ten], [...paid(10, 2), ...paid(9, 5), ...paid(10, 6)]).get(1n)).toEqual({
      state: 'broken',
      received: 9n,
    })
  })

  it('is kept by a payment that is told late, and broken by one that is reversed', () => {
    const late = paid(10, 5, 9, 12)
    expect([8, 9, 11, 12].map((n) => judgedOn(n, [ten], late).get(1n)!.state)).toEqual([
      'broken',
      'kept',
      'kept',
      'broken',
    ])
  })

  it('is kept where the loan was paid off by its day, though less was paid than promised', () => {
    const all = promised(1, 60, 3, 5)
    expect(judgedOn(6, [all], [...paid(20, 1), ...paid(40, 4)]).get(1n)).toEqual({ state: 'kept', received: 40n })
    expect(judgedOn(6, [all], [...paid(20, 1), ...paid(39, 4)]).get(1n)).toEqual({ state: 'broken', received: 39n })
  })

  it('counts each cent once, for the earliest day first', () => {
    const later = promised(2, 10, 3, 8)
    const verdicts = judgedOn(9, [later, ten], [...paid(12, 4), ...paid(7, 7)])
    expect([...verdicts.values()]).toEqual([
      { state: 'kept', received: 10n },
      { state: 'broken', received: 9n },
    ])
  })
})

/**
 * Judges by coins: each cent of a repayment is a coin with the day of its value date, and each promise takes the first coins of its
 * days that are left.
 */
function byCoins(n: number, promises: readonly Promised[], repayments: readonly Told[]): Record<string, string> {
  const known = repayments.filter(({ told, reversed }) => told <= n && (reversed === null || reversed > n))
  const coins = known.flatMap(({ amount, on }) => Array.from({ length: amount }, () => day(on))).sort()
  const verdicts: Record<string, string> = {}
  const queue = promises.map((one) => [one.by, String(one.id).padStart(3, '0'), one] as const).sort()
  for (const [by, , { id, amount, madeOn }] of queue) {
    let taken = 0
    for (let place = 0; place < coins.length && taken < amount; ) {
      const fits = coins[place]! >= madeOn && coins[place]! <= by
      if (fits) coins.splice(place, 1)
      else place += 1
      if (fits) taken += 1
    }
    const paid = known.filter(({ on }) => day(on) <= by).reduce((sum, one) => sum + one.amount, 0)
    const isOver = day(n) >= dayAfter(by)
    const isKept = BigInt(taken) === amount || BigInt(paid) >= PRINCIPAL
    verdicts[String(id)] = isOver ? `${isKept ? 'kept' : 'broken'} ${taken}` : `open ${taken}`
  }
  return verdicts
}

it('is judged as an independent judge does, over random histories with payments that are told late or reversed', () => {
  const anyDay = fc.integer({ min: 0, max: 30 })
  const anyRepayment = fc
    .record({ amount: fc.integer({ min: 1, max: 25 }), on: anyDay, late: fc.nat(20), lasts: fc.option(fc.nat(20)) })
    .map(({ amount, on, late, lasts }): Told => {
      const told = on + late
      return { amount, on, told, reversed: lasts === null ? null : told + lasts }
    })
  const anyPromise = fc.record({ amount: fc.integer({ min: 1, max: 60 }), madeOn: anyDay, days: fc.nat(10) })
  let decided = 0
  fc.assert(
    fc.property(
      fc.array(anyRepayment, { maxLength: 8 }),
      fc.array(anyPromise, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 0, max: 60 }),
      (repayments, some, n) => {
        const promises = some.map(({ amount, madeOn, days }, index) =>
          promised(index + 1, amount, madeOn, madeOn + days),
        )
        const verdicts = judgedOn(n, promises, repayments)
        const said = [...verdicts].map(([id, { state, received }]) => [String(id), `${state} ${received}`])
        decided += [...verdicts.values()].filter(({ state }) => state !== 'open').length
        expect(Object.fromEntries(said)).toEqual(byCoins(n, promises, repayments))
      },
    ),
    { numRuns: runs(10_000) },
  )
  expect(decided).toBeGreaterThan(1_000)
  expect(dateIn(ZONE, noonOf(0))).toBe(FIRST)
})

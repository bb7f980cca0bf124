import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addPeriods, dateIn, startOfDay } from '../../../src/domain/dates.ts'
import type { NewEntry } from '../../../src/domain/loan/entry.ts'
import { totalOf } from '../../../src/domain/loan/portions.ts'
import { extend, owedByDay, replay } from '../../../src/domain/loan/replay.ts'
import { type LoanTerms, termsOf } from '../../../src/domain/loan/terms/terms.ts'
import { currencyOf, min, sum } from '../../../src/domain/money.ts'
import type { Product } from '../../../src/domain/product/product.ts'

const ZONE = 'Africa/Nairobi'
const PERCENT = 1_000_000n
const DISBURSED = Date.UTC(2026, 0, 31, 6, 30)

const product: Product = {
  id: 1,
  name: 'Flat 10% monthly',
  currency: currencyOf('TZS'),
  principalMin: 1n,
  principalMax: 10n ** 14n,
  numberOfRepayments: 1,
  repayEvery: 1,
  repayUnit: 'months',
  ratePerPeriod: 10n * PERCENT,
  totalMultipleOf: null,
  penaltyRate: null,
  terms: null,
  enforceCreditLimit: false,
  retired: false,
}

const lend = (changes: Partial<Product> = {}, principal = 100_000_00n): LoanTerms =>
  termsOf({ ...product, ...changes }, { units: principal, scale: 2 }, DISBURSED, ZONE)

let ordinal = 0
const repayment = (amount: bigint, valueDate: string): NewEntry => {
  ordinal += 1
  return {
    type: 'Repayment',
    amount,
    valueDate,
    ordinal,
    place: ordinal,
    postedAt: DISBURSED,
    token: null,
    note: null,
    replaces: null,
    reversedAt: null,
  }
}

describe('a loan of 100,000 at flat 10% for a month', () => {
  const terms = lend()
  const later = Date.UTC(2026, 1, 20)

  it('is due once, a month on, clamped to the end of February', () => {
    expect(terms.schedule).toMatchObject([{ dueDate: '2026-02-28', principal: 100_000_00n, interest: 10_000_00n }])
    expect(terms.dueAt).toBe(Date.UTC(2026, 1, 28, 6, 30))
  })

  it('10,000 pays the interest only', () => {
    const entry = repayment(10_000_00n, '2026-02-10')
    const state = replay(terms, [entry], later)
    expect(state.outcomes.get(entry.ordinal)?.portions).toMatchObject({ interest: 10_000_00n, principal: 0n })
    expect(state).toMatchObject({ status: 'Active', totalOutstanding: 100_000_00n, totalPaid: 10_000_00n })
  })

  it('110,000 in all closes it on the value date that paid it off', () => {
    const entries = [repayment(105_000_00n, '2026-02-12'), repayment(5_000_00n, '2026-02-10')]
    expect(replay(terms, entries, later)).toMatchObject({
      status: 'Closed (obligations met)',
      totalOutstanding: 0n,
      closedOn: '2026-02-12',
      nextDueOn: null,
    })
  })

  it('5,000 more is overpayment', () => {
    expect(replay(terms, [repayment(115_000_00n, '2026-02-12')], later)).toMatchObject({
      status: 'Overpaid',
      totalOverpaid: 5_000_00n,
      totalOutstanding: 0n,
      closedOn: null,
    })
  })

  it('is overdue from midnight after the due date in the zone, and not a millisecond sooner', () => {
    const midnight = startOfDay('2026-03-01', ZONE)
    expect(replay(terms, [], midnight - 1)).toMatchObject({
      overdueSince: null,
      restructuredDueOn: null,
      daysOverdue: 0,
      nextChangeAt: midnight,
    })
    expect(replay(terms, [], midnight)).toMatchObject({
      overdueSince: '2026-03-01',
      daysOverdue: 1,
      totalOverdue: 110_000_00n,
      nextChangeAt: null,
    })
  })
})

describe('the late penalty of 10% of principal', () => {
  const terms = lend({ penaltyRate: 10n * PERCENT })

  it('is there from the due time on, and not a millisecond sooner', () => {
    expect(replay(terms, [], terms.dueAt - 1)).toMatchObject({
      totalOutstanding: 110_000_00n,
      nextChangeAt: terms.dueAt,
    })
    expect(replay(terms, [], terms.dueAt)).toMatchObject({
      totalOutstanding: 120_000_00n,
      outstanding: { penalty: 10_000_00n },
    })
  })

  it('is cancelled by a repayment dated on the due date, however late it arrives', () => {
    const paid = replay(terms, [repayment(110_000_00n, '2026-02-28')], Date.UTC(2026, 5, 1))
    expect(paid).toMatchObject({ status: 'Closed (obligations met)', charged: { penalty: 0n } })
  })

  it('stays where the repayment is dated one day late, and is paid first', () => {
    const entry = repayment(110_000_00n, '2026-03-01')
    const state = replay(terms, [entry], Date.UTC(2026, 5, 1))
    expect(state).toMatchObject({
      status: 'Active',
      totalOutstanding: 10_000_00n,
      outstanding: { principal: 10_000_00n },
    })
    expect(state.outcomes.get(entry.ordinal)?.portions).toMatchObject({ penalty: 10_000_00n, interest: 10_000_00n })
  })
})

describe('laws of replay', () => {
  const anyTerms = fc
    .record({
      principal: fc.bigInt(1_000_00n, 1_000_000_00n),
      numberOfRepayments: fc.integer({ min: 1, max: 12 }),
      repayUnit: fc.constantFrom('weeks' as const, 'months' as const),
      ratePerPeriod: fc.bigInt(0n, 20n * PERCENT),
      penaltyRate: fc.constantFrom(null, 10n * PERCENT),
    })
    .map(({ principal, ...changes }) => lend(changes, principal))
  const anyRepayments = fc
    .array(fc.tuple(fc.bigInt(1n, 400_000_00n), fc.integer({ min: 0, max: 400 })), { maxLength: 12 })
    .map((pairs) => pairs.map(([amount, day]) => repayment(amount, addPeriods('2026-01-31', day, 'days'))))
  const anyMoment = fc.integer({ min: DISBURSED, max: Date.UTC(2027, 5, 1) })
  const asOf = Date.UTC(2027, 5, 1)

  it('portions and overpayment sum to the amount, and balances to what was charged', () => {
    fc.assert(
      fc.property(anyTerms, anyRepayments, (terms, entries) => {
        const state = replay(terms, entries, asOf)
        for (const entry of entries) {
          const { portions, overpayment } = state.outcomes.get(entry.ordinal)!
          expect(totalOf(portions) + overpayment).toBe(entry.amount)
        }
        expect(state.totalPaid + state.totalOverpaid).toBe(sum(entries.map((entry) => entry.amount)))
        expect(totalOf(state.charged)).toBe(state.totalPaid + state.totalOutstanding)
        expect(state.totalOutstanding === 0n || state.totalOverpaid === 0n).toBe(true)
        expect(state.charged.principal).toBe(terms.principal)
      }),
    )
  })

  it('a fee is paid by overpayment as far as that reaches, and only the rest of it is owed', () => {
    fc.assert(
      fc.property(anyTerms, anyRepayments, fc.bigInt(1n, 400_000_00n), (terms, entries, amount) => {
        const fee: NewEntry = { ...repayment(amount, '2027-03-31'), type: 'Fee', dueOn: '2027-03-31' }
        const before = replay(terms, entries, asOf)
        const after = replay(terms, [...entries, fee], asOf)
        const { portions, overpayment, dropped } = after.outcomes.get(fee.ordinal)!
        expect([overpayment, dropped]).toEqual([min(amount, before.totalOverpaid), 0n])
        expect(portions).toEqual({ principal: 0n, interest: 0n, fees: amount - overpayment, penalty: 0n })
        expect(after.totalOverpaid).toBe(before.totalOverpaid - overpayment)
        expect(after.totalOutstanding).toBe(before.totalOutstanding + portions.fees)
      }),
    )
  })

  it('an instalment in which nothing was ever due is completed on no day, whatever passes over it', () => {
    const terms = lend({ numberOfRepayments: 5, ratePerPeriod: 0n }, 3n)
    const posted = (type: NewEntry['type'], amount: bigint, day: number): NewEntry => ({
      ...repayment(amount, `2026-03-0${day}`),
      type,
    })
    const entries = [posted('Repayment', 2n, 6), posted('Refund', 1n, 7), posted('Write-off', 2n, 8)]
    for (const [count, owed] of [3n, 1n, 2n, 0n].entries()) {
      const state = replay(terms, entries.slice(0, count), Date.UTC(2026, 2, 20))
      expect(state.totalOutstanding).toBe(owed)
      const empty = state.periods.filter(({ due }) => totalOf(due) === 0n)
      expect(empty.map(({ period, completedOn }) => [period, completedOn])).toEqual([
        [4, null],
        [5, null],
      ])
    }
  })

  it('any order of arrival with the same value dates gives the same loan', () => {
    fc.assert(
      fc.property(anyTerms, anyRepayments, fc.infiniteStream(fc.nat()), (terms, entries, order) => {
        const shuffled = entries
          .map((entry) => ({ entry, at: order.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ entry }, index) => ({ ...entry, ordinal: index + 1, place: index + 1 }))
        const { outcomes: _, ...one } = replay(terms, entries, asOf)
        const { outcomes: __, ...other } = replay(terms, shuffled, asOf)
        expect(other).toEqual(one)
      }),
    )
  })

  it('the value date of a repayment never changes the interest owed', () => {
    fc.assert(
      fc.property(anyTerms, anyRepayments, fc.integer({ min: 0, max: 400 }), (terms, entries, day) => {
        const moved = entries.map((entry) => ({ ...entry, valueDate: addPeriods('2026-01-31', day, 'days') }))
        expect(replay(terms, moved, asOf).charged.interest).toBe(replay(terms, entries, asOf).charged.interest)
      }),
    )
  })

  it('within an instalment interest is paid before principal, and no later instalment before an earlier one', () => {
    fc.assert(
      fc.property(anyTerms, anyRepayments, (terms, entries) => {
        const { periods } = replay(terms, entries, asOf)
        for (const [index, { due, paid }] of periods.entries()) {
          if (paid.principal > 0n) expect(paid.interest).toBe(due.interest)
          // Not so a penalty: it may come after interest was paid.
          if (index > 0 && totalOf(paid) > 0n) expect(periods[index - 1]!.paid).toEqual(periods[index - 1]!.due)
        }
      }),
    )
  })

  it('going on from an earlier state gives what replaying everything gives', () => {
    fc.assert(
      fc.property(anyTerms, anyRepayments, anyMoment, (terms, entries, now) => {
        let state = replay(terms, [], now)
        for (const [index, entry] of entries.entries()) {
          const everything = replay(terms, entries.slice(0, index + 1), now)
          const extended = extend(terms, state, entry, now)
          if (extended) expect(extended).toEqual(everything)
          state = extended ?? everything
        }
      }),
    )
  })

  it('extending a state twice changes neither it nor the first extension', () => {
    fc.assert(
      fc.property(anyTerms, anyRepayments, fc.bigInt(1n, 10n ** 9n), (terms, entries, other) => {
        const now = startOfDay('2028-01-01', ZONE)
        const before = replay(terms, entries.slice(0, -1), now)
        const then = structuredClone(before.outcomes.values())
        for (const last of entries.slice(-1)) {
          const first = extend(terms, before, last, now)
          const second = extend(terms, before, { ...last, amount: other }, now)
          if (first) expect(first).toEqual(replay(terms, entries, now))
          if (second) expect(second).toEqual(replay(terms, [...entries.slice(0, -1), { ...last, amount: other }], now))
        }
        expect(before.outcomes.values()).toEqual(then)
      }),
    )
  })

  it('what was owed by day equals a replay of the entries up to the end of each day', () => {
    fc.assert(
      fc.property(anyTerms, anyRepayments, anyMoment, (terms, entries, now) => {
        const seen = entries.filter((entry) => entry.valueDate <= dateIn(ZONE, now))
        const days = owedByDay(terms, seen, now)
        const penalty = replay(terms, seen, now).penaltiesRaised > 0 ? [terms.dueOn] : []
        const changed = new Set([terms.disbursedOn, ...seen.map(({ valueDate }) => valueDate), ...penalty])
        expect(days.map(({ date }) => date)).toEqual([...changed].sort())
        for (const { date, owed } of days) {
          const until = seen.filter(({ valueDate }) => valueDate <= date)
          const endOfDay = Math.min(now, startOfDay(addPeriods(date, 1, 'days'), ZONE) - 1)
          expect(owed).toBe(replay(terms, until, endOfDay).totalOutstanding)
        }
      }),
    )
  })

  it('time alone changes nothing before the moment the loan names', () => {
    fc.assert(
      fc.property(anyTerms, anyRepayments, fc.integer({ min: 0, max: 400 }), (terms, entries, day) => {
        const now = startOfDay(addPeriods('2026-01-31', day, 'days'), ZONE) + 8 * 3_600_000
        const seen = entries.filter((entry) => entry.valueDate <= dateIn(ZONE, now))
        const { daysOverdue: _, ...state } = replay(terms, seen, now)
        const until = state.nextChangeAt ?? startOfDay('2028-01-01', ZONE)
        const { daysOverdue: __, ...before } = replay(terms, seen, until - 1)
        expect(before).toEqual(state)
        if (state.nextChangeAt !== null) expect(replay(terms, seen, until)).not.toMatchObject(state)
      }),
    )
  })
})

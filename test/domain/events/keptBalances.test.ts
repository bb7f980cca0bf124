import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { balancesFromText, balancesToText, type KeptBalances } from '../../../src/domain/events/keptBalances.ts'
import { LOAN_STATUSES } from '../../../src/domain/loan/lifecycle.ts'
import { subtract, totalOf } from '../../../src/domain/loan/portions.ts'
import { NOTHING_FORGONE } from '../../../src/domain/loan/recognition.ts'

const anyAmount = fc.oneof(fc.constant(0n), fc.bigInt(1n, 10n ** 17n))
const anyPortions = fc.record({ penalty: anyAmount, fees: anyAmount, interest: anyAmount, principal: anyAmount })
const anyDay = fc.constantFrom('2026-01-31', '2024-02-29', '2999-12-31')
const anyDayOrNone = fc.option(anyDay, { nil: null })
const anyInstant = fc.integer({ min: 0, max: Date.parse('2999-12-31') })

const anyTerms = fc.record({
  customerId: fc.bigInt(1n, 2n ** 63n - 1n),
  principal: anyAmount,
  ratePerPeriod: fc.bigInt(0n, 10n ** 9n),
  disbursedAt: anyInstant,
  disbursedOn: anyDay,
  dueOn: anyDay,
  dueAt: anyInstant,
})

const NOTHING_LOST = { forgone: NOTHING_FORGONE, atChargeOff: null, deducted: 0n }
const anyUnearned = fc.record({ interest: anyAmount, fees: anyAmount })
const anyForgone = fc.record({ waived: anyUnearned, writtenOff: anyUnearned })
const anyTotals = { due: anyPortions, paid: anyPortions, waived: anyPortions, writtenOff: anyPortions }
const anyBooking = fc.record({
  on: anyDay,
  isImported: fc.boolean(),
  deducted: anyAmount,
  unearned: anyUnearned,
  forgone: anyForgone,
  atChargeOff: fc.option(fc.record({ ...anyTotals, unearned: anyUnearned, forgone: anyForgone }), { nil: null }),
})

const anyKept = fc
  .record({
    version: fc.integer({ min: 1, max: 1_000_000 }),
    status: fc.constantFrom(...LOAN_STATUSES),
    charged: anyPortions,
    paid: anyPortions,
    waived: anyPortions,
    writtenOff: anyPortions,
    totalRecovered: anyAmount,
    totalOverpaid: anyAmount,
    totalOverdue: anyAmount,
    nextDueOn: anyDayOrNone,
    nextDueAmount: fc.option(fc.bigInt(0n, 10n ** 17n), { nil: null }),
    overdueSince: anyDayOrNone,
    chargedOffOn: anyDayOrNone,
    closedOn: anyDayOrNone,
    penaltiesRaised: fc.nat(800),
    outcome: fc.option(fc.record({ portions: anyPortions, overpayment: anyAmount }), { nil: undefined }),
    terms: fc.option(anyTerms, { nil: undefined }),
    booking: anyBooking,
  })
  .map((kept): KeptBalances => {
    const outstanding = subtract(subtract(subtract(kept.charged, kept.paid), kept.waived), kept.writtenOff)
    return {
      ...kept,
      outstanding,
      totalPaid: totalOf(kept.paid),
      totalOutstanding: totalOf(outstanding),
      totalWrittenOff: totalOf(kept.writtenOff),
    }
  })

const written = (kept: KeptBalances): string => {
  const { version, outcome, terms, booking } = kept
  return balancesToText({ ...kept, ...booking! }, { version, outcome, terms, ...booking! })
}

describe('the balances that the trail keeps of a change', () => {
  it('are read from their text as they were written', () => {
    fc.assert(
      fc.property(anyKept, (kept) => {
        expect(balancesFromText(written(kept))).toEqual(kept)
      }),
    )
  })

  it('take few bytes: the row of a repayment carries them', () => {
    const whole = { penalty: 0n, fees: 0n, interest: 10_000_00n, principal: 100_000_00n }
    const none = { penalty: 0n, fees: 0n, interest: 0n, principal: 0n }
    const kept = {
      charged: whole,
      paid: none,
      waived: none,
      writtenOff: none,
      outstanding: whole,
      status: 'Active',
    } as const
    const sums = { totalRecovered: 0n, totalOverpaid: 0n, totalOverdue: 0n, totalPaid: 0n }
    const totals = { ...sums, totalOutstanding: 110_000_00n, totalWrittenOff: 0n }
    const days = { nextDueOn: '2026-02-28', overdueSince: null, chargedOffOn: null, closedOn: null }
    const loan = { ...kept, ...totals, ...days, nextDueAmount: 110_000_00n, penaltiesRaised: 0 } as const
    const outcome = { portions: whole, overpayment: 0n }
    const booking = { on: '2026-01-31', isImported: false, unearned: { interest: 5_00n, fees: 0n }, ...NOTHING_LOST }
    expect(written({ ...loan, version: 2, outcome, terms: undefined, booking })).toBe(
      '1;2;0;,,1000000,10000000;,,,;,,,;,,,;,,;2026-02-28,11000000,,,,;,,1000000,10000000,;;2026-01-31//500,',
    )
  })

  it.each([
    ['of another format', '2;1;0;,,,;,,,;,,,;,,,;,,;,,,,,;;;2026-01-31'],
    ['that ends early', '1;1;0;,,,;,,,'],
    ['with an unknown status', '1;1;9;,,,;,,,;,,,;,,,;,,;,,,,,;;;2026-01-31'],
    ['with an amount that is no number', '1;1;0;,,x,;,,,;,,,;,,,;,,;,,,,,;;;2026-01-31'],
    ['without a booking', '1;1;0;,,,;,,,;,,,;,,,;,,;,,,,,;;'],
    ['with a booking of no day', '1;1;0;,,,;,,,;,,,;,,,;,,;,,,,,;;;x'],
    ['with a booking that ends early', '1;1;0;,,,;,,,;,,,;,,,;,,;,,,,,;;;2026-01-31//5'],
    ['with terms that end early', '1;1;0;,,,;,,,;,,,;,,,;,,;,,,,,;;12,13'],
    ['that is empty', ''],
  ])('are not read from a text %s', (_what, text) => {
    expect(balancesFromText(text)).toBeUndefined()
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PERIOD_UNITS } from '../../../../src/domain/dates.ts'
import { EVENT_TYPES } from '../../../../src/domain/events/eventTypes.ts'
import type { LoanChanged } from '../../../../src/domain/loan/change/change.ts'
import { changeFromText } from '../../../../src/domain/loan/change/changeFromText.ts'
import { changeToText, type StoredChange } from '../../../../src/domain/loan/change/changeText.ts'
import { ENTRY_TYPES, type Entry } from '../../../../src/domain/loan/entry.ts'
import { LOAN_STATUSES } from '../../../../src/domain/loan/lifecycle.ts'
import { subtract, totalOf } from '../../../../src/domain/loan/portions.ts'
import { RESTRUCTURE_REASONS, type RestructureRole } from '../../../../src/domain/loan/restructure/plan.ts'
import { RATE_PERIODS } from '../../../../src/domain/product/terms.ts'

const anyAmount = fc.oneof(fc.constant(0n), fc.bigInt(1n, 10n ** 17n))
const anyPortions = fc.record({ penalty: anyAmount, fees: anyAmount, interest: anyAmount, principal: anyAmount })
const anyDay = fc.constantFrom('2026-01-31', '2024-02-29', '2999-12-31')
const anyDayOrNone = fc.option(anyDay, { nil: null })
const anyInstant = fc.integer({ min: 0, max: Date.parse('2999-12-31') })

const anyTerms = fc.record({
  customerId: fc.bigInt(1n, 2n ** 63n - 1n),
  principal: anyAmount,
  numberOfRepayments: fc.integer({ min: 1, max: 2_000 }),
  ratePerPeriod: fc.bigInt(0n, 10n ** 9n),
  disbursedAt: anyInstant,
  disbursedOn: anyDay,
  dueOn: anyDay,
  dueAt: anyInstant,
})

const anyUnearned = fc.record({ interest: anyAmount, fees: anyAmount })
const anyForgone = fc.record({ waived: anyUnearned, writtenOff: anyUnearned })
const anyTotals = { due: anyPortions, paid: anyPortions, waived: anyPortions, writtenOff: anyPortions }

const anyBalances = fc
  .record({
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
    restructuredDueOn: anyDayOrNone,
    penaltiesRaised: fc.nat(800),
    interestAfterDue: anyAmount,
    fromPayments: anyAmount,
    taxes: fc.option(fc.record({ interest: anyAmount, fees: anyAmount, deducted: anyAmount }), { nil: null }),
    unearned: anyUnearned,
    forgone: anyForgone,
    deducted: anyAmount,
    atChargeOff: fc.option(fc.record({ ...anyTotals, unearned: anyUnearned, forgone: anyForgone }), { nil: null }),
  })
  .map((balances) => {
    const outstanding = subtract(
      subtract(subtract(balances.charged, balances.paid), balances.waived),
      balances.writtenOff,
    )
    return {
      ...balances,
      outstanding,
      totalPaid: totalOf(balances.paid),
      totalOutstanding: totalOf(outstanding),
      totalWrittenOff: totalOf(balances.writtenOff),
    }
  })

const anyId = fc.bigInt(1n, 2n ** 63n - 1n)
const anyTextOrNone = fc.option(fc.string({ unit: 'binary' }), { nil: null })

const anyReversed = fc.option(
  fc.record({ id: anyId, type: fc.constantFrom(...ENTRY_TYPES), amount: fc.bigInt(0n, 10n ** 17n) }),
  { nil: null },
)

const anyDistance = fc.record({ every: fc.integer({ min: 1, max: 400 }), unit: fc.constantFrom(...PERIOD_UNITS) })
const anyCount = fc.integer({ min: 1, max: 2_000 })

const anyRole: fc.Arbitrary<RestructureRole> = fc.oneof(
  fc.record({ of: anyCount, isDueNow: fc.boolean() }),
  fc
    .record({
      change: fc.oneof(
        fc.record({ kind: fc.constantFrom('newFirstDueDate' as const, 'until' as const), on: anyDay }),
        fc.record({ kind: fc.constant('postponeBy' as const), periods: anyCount }),
        fc.record({
          kind: fc.constant('numberOfRepayments' as const),
          count: anyCount,
          every: fc.option(anyDistance, { nil: null }),
        }),
        fc.record({ kind: fc.constant('instalmentAmount' as const), amount: fc.bigInt(1n, 10n ** 17n) }),
      ),
      every: anyDistance,
      interest: fc.oneof(
        fc.constantFrom('keep' as const, 'none' as const),
        fc.record({ rate: fc.bigInt(0n, 10n ** 10n), ratePer: fc.constantFrom(...RATE_PERIODS) }),
      ),
      reason: fc.constantFrom(...RESTRUCTURE_REASONS),
    })
    .map((plan) => ({ plan })),
)

const anyPosted = fc.option(
  fc.record({
    id: anyId,
    type: fc.constantFrom(...ENTRY_TYPES),
    valueDate: anyDay,
    postedAt: anyInstant,
    ordinal: fc.integer({ min: 1, max: 100_000 }),
    place: fc.integer({ min: 1, max: 100_000 }),
    amount: fc.bigInt(0n, 10n ** 17n),
    token: anyTextOrNone,
    note: anyTextOrNone,
    replaces: fc.option(anyId, { nil: null }),
    record: fc.option(fc.record({ method: anyTextOrNone, collectedBy: anyTextOrNone }), { nil: null }),
    paymentMethod: anyTextOrNone,
    dueOn: anyDayOrNone,
    restructure: fc.option(anyRole, { nil: null }),
    paymentId: fc.option(anyId, { nil: null }),
  }),
  { nil: null },
)

const anyBefore = fc.option(
  fc.record({
    status: fc.constantFrom(...LOAN_STATUSES),
    totalOutstanding: anyAmount,
    totalPaid: anyAmount,
    totalOverpaid: anyAmount,
    totalWrittenOff: anyAmount,
    totalRecovered: anyAmount,
    chargedOffOn: anyDayOrNone,
  }),
  { nil: null },
)

const anyChange = fc
  .record({
    balances: anyBalances,
    version: fc.integer({ min: 1, max: 1_000_000 }),
    on: anyDay,
    isImported: fc.boolean(),
    consequences: fc.uniqueArray(fc.constantFrom(...EVENT_TYPES), { maxLength: 4 }),
    productId: fc.option(fc.nat(), { nil: null }),
    currency: fc.constantFrom('KES', 'UGX'),
    posted: anyPosted,
    reversed: anyReversed,
    reason: anyTextOrNone,
    before: anyBefore,
    outcome: fc.option(fc.record({ portions: anyPortions, overpayment: anyAmount }), { nil: undefined }),
    terms: fc.option(anyTerms, { nil: null }),
    between: fc.option(
      fc.record({ balances: anyBalances, on: anyDay }).map(({ balances, on }) => ({ ...balances, on })),
      { nil: null },
    ),
  })
  .map(
    ({ balances, ...change }): StoredChange => ({
      ...balances,
      ...change,
      // The value date of what was posted is the day of the change.
      posted: change.posted && { ...change.posted, valueDate: change.on },
    }),
  )

/** Returns a change that was stored as one that is to be written. */
function toWrite(stored: StoredChange): LoanChanged {
  const untold = { daysOverdue: 0, penaltyOverdue: 0n, nextChangeAt: null }
  const { version, on, isImported, consequences, outcome, productId, currency, terms, between, reason } = stored
  return {
    version,
    on,
    isImported,
    consequences,
    terms,
    action: 'any',
    before: stored.before && { ...stored, ...stored.before, ...untold },
    reason,
    productId,
    currency,
    after: { ...stored, ...untold },
    between: between && { balances: { ...between, ...untold }, on: between.on },
    posted: stored.posted && { ...stored.posted, reversedAt: null },
    reversed: stored.reversed as Entry | null,
    outcome: outcome && { ...outcome, amount: 0n, credited: 0n, dropped: 0n },
  }
}

describe('the change of a loan that the trail has', () => {
  it('is read from its text as it was written', () => {
    fc.assert(
      fc.property(anyChange, (change) => {
        expect(changeFromText(changeToText(toWrite(change)))).toEqual(change)
      }),
    )
  })

  const nothing = { penalty: 0n, fees: 0n, interest: 0n, principal: 0n }
  const unearned = { interest: 0n, fees: 0n }
  const whole = { penalty: 0n, fees: 0n, interest: 10_000_00n, principal: 100_000_00n }
  const stored: StoredChange = {
    version: 2,
    on: '2026-01-31',
    isImported: false,
    consequences: ['loan.overdue'],
    productId: 4,
    currency: 'KES',
    before: {
      status: 'Active',
      totalOutstanding: 110_000_05n,
      totalPaid: 0n,
      totalOverpaid: 0n,
      totalWrittenOff: 0n,
      totalRecovered: 0n,
      chargedOffOn: null,
    },
    posted: {
      id: 7n,
      type: 'Repayment',
      valueDate: '2026-01-31',
      postedAt: 1_769_850_000_000,
      ordinal: 1,
      place: 1,
      amount: 5n,
      token: 'receipt-1',
      note: null,
      replaces: null,
      record: null,
      paymentMethod: 'Mobile Money',
      dueOn: null,
      restructure: null,
      paymentId: null,
    },
    reversed: null,
    reason: null,
    outcome: { portions: { ...nothing, interest: 5n }, overpayment: 0n },
    terms: null,
    between: null,
    status: 'Active',
    charged: whole,
    paid: nothing,
    waived: nothing,
    writtenOff: nothing,
    outstanding: whole,
    totalPaid: 0n,
    totalOutstanding: 110_000_00n,
    totalWrittenOff: 0n,
    totalRecovered: 0n,
    totalOverpaid: 0n,
    totalOverdue: 0n,
    nextDueOn: '2026-02-28',
    nextDueAmount: 110_000_00n,
    overdueSince: null,
    restructuredDueOn: null,
    fromPayments: 0n,
    chargedOffOn: null,
    closedOn: null,
    penaltiesRaised: 0,
    interestAfterDue: 0n,
    taxes: null,
    unearned: { interest: 5_00n, fees: 0n },
    forgone: { waived: unearned, writtenOff: unearned },
    deducted: 0n,
    atChargeOff: null,
  }
  const text = changeToText(toWrite(stored))

  it('has a member for what there is, and none for what there is not: the row of a repayment carries it', () => {
    expect(JSON.parse(text)).toEqual({
      version: 2,
      on: '2026-01-31',
      events: ['loan.overdue'],
      product: 4,
      currency: 'KES',
      posted: {
        id: '7',
        type: 'Repayment',
        amount: '5',
        at: 1_769_850_000_000,
        ordinal: 1,
        token: 'receipt-1',
        method: 'Mobile Money',
      },
      before: { outstanding: '11000005' },
      outcome: { portions: ',,5,' },
      balances: {
        status: 'Active',
        charged: ',,1000000,10000000',
        nextDueOn: '2026-02-28',
        nextDueAmount: '11000000',
        unearned: { interest: '500' },
      },
    })
  })

  it.each([
    ['that is empty', ''],
    ['that is no JSON', text.slice(0, -1)],
    ['that is no object', '[]'],
    ['without a version', text.replace('"version":2', '"version":0')],
    ['with a day that there is not', text.replace('2026-01-31', '2026-02-31')],
    ['with an unknown status', text.replace('Active', 'Asleep')],
    ['with an unknown event', text.replace('loan.overdue', 'loan.lost')],
    ['with an unknown type of entries', text.replace('"type":"Repayment"', '"type":"Gift"')],
    ['with an amount that is no number', text.replace('"11000005"', '"x"')],
    ['with an amount that is no text', text.replace('"11000005"', '11000005')],
    ['with an amount of a component that is no number', text.replace('",,1000000', '",,0x10')],
    ['with an amount of three components', text.replace('",,1000000', '",1000000')],
    ['with amounts of components that are no text', text.replace('",,1000000,10000000"', '1000000')],
    ['without balances', text.replace('"balances"', '"balance"')],
    ['with terms that end early', text.replace('"balances"', '"terms":{"customerId":"12"},"balances"')],
  ])('is not read from a text %s', (_what, damaged) => {
    expect(changeFromText(damaged)).toBeUndefined()
  })
})

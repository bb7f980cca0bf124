import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ACTION_KINDS,
  type ActionRequest,
  fromStoredPaymentRequest,
  fromStoredRequest,
  isOnPayment,
  mustWait,
  subjectOf,
  toStoredRequest,
} from '../../../src/domain/approvals/pendingAction.ts'

const decimal = fc.record({ units: fc.bigInt(1n, 10n ** 14n), scale: fc.integer({ min: 0, max: 2 }) })
const note = fc.option(fc.string(), { nil: null })
const valueDate = fc.option(fc.constantFrom('2026-01-31', '2026-02-28'), { nil: undefined })
const transactionId = fc.bigInt(1n, 2n ** 63n - 1n)

const request: fc.Arbitrary<ActionRequest> = fc.oneof(
  fc.record({ kind: fc.constantFrom('reverse' as const, 'reverse-charge' as const), transactionId, note }),
  fc.record({ kind: fc.constant('adjust' as const), transactionId, amount: decimal, valueDate, note }),
  fc.record({
    kind: fc.constantFrom('write-off' as const, 'waive-interest' as const),
    posting: fc.record({
      ...{ amount: fc.option(decimal, { nil: null }), valueDate, note },
      token: fc.option(fc.string({ minLength: 1 }), { nil: null }),
    }),
  }),
  fc.record({
    kind: fc.constant('reverse-allocations' as const),
    transactionIds: fc.array(transactionId, { minLength: 1 }),
    note,
  }),
  fc.record({ kind: fc.constant('return-payment' as const), amount: decimal, note: fc.string({ minLength: 1 }) }),
  fc.record({
    kind: fc.constant('restructure' as const),
    request: fc.record({
      effectiveDate: valueDate,
      change: fc.oneof(
        fc.record({ kind: fc.constant('until' as const), on: fc.constant('2026-03-31') }),
        fc.record({ kind: fc.constant('postponeBy' as const), periods: fc.integer({ min: 1, max: 9 }) }),
        fc.record({ kind: fc.constant('instalmentAmount' as const), amount: decimal }),
      ),
      interest: fc.oneof(
        fc.constantFrom('keep' as const, 'none' as const),
        fc.record({ rate: fc.bigInt(0n, 10n ** 10n), ratePer: fc.constantFrom('month' as const, 'year' as const) }),
      ),
      fee: fc.option(
        fc.record({
          name: fc.string({ minLength: 1 }),
          amount: decimal,
          treatment: fc.constantFrom('due_now' as const, 'added' as const),
        }),
        { nil: null },
      ),
      waive: fc.record({ penalty: decimal, fees: decimal, interest: decimal }, { requiredKeys: [] }),
      reason: fc.constantFrom('hardship' as const, 'error' as const),
      note,
    }),
    terms: fc.record({
      every: fc.record({
        every: fc.integer({ min: 1, max: 30 }),
        unit: fc.constantFrom('days' as const, 'months' as const),
      }),
      limits: fc.option(
        fc.record({
          maxTimes: fc.option(fc.integer({ min: 0, max: 9 }), { nil: null }),
          minPaidPercent: fc.option(fc.bigInt(0n, 10n ** 8n), { nil: null }),
          maxDaysAdded: fc.option(fc.integer({ min: 0, max: 999 }), { nil: null }),
        }),
        { nil: null },
      ),
    }),
  }),
)

describe('a request that waits', () => {
  it('is read as it was kept, after it went through JSON', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const stored = JSON.parse(JSON.stringify(toStoredRequest(asked)))
        const { kind } = asked
        const read = isOnPayment(kind) ? fromStoredPaymentRequest(kind, stored) : fromStoredRequest(kind, stored)
        expect(read).toEqual(asked)
      }),
    )
  })

  it('is the same as another one where nothing but the note differs', () => {
    const subject = (asked: ActionRequest) => subjectOf(asked.kind, toStoredRequest(asked))
    const withNote = (asked: ActionRequest, text: string): ActionRequest =>
      'posting' in asked
        ? { ...asked, posting: { ...asked.posting, note: text } }
        : 'request' in asked
          ? { ...asked, request: { ...asked.request, note: text } }
          : { ...asked, note: text }
    fc.assert(
      fc.property(request, request, (one, other) => {
        expect(subject(withNote(one, 'a'))).toBe(subject(withNote(one, 'b')))
        const alike =
          JSON.stringify(toStoredRequest(withNote(one, ''))) === JSON.stringify(toStoredRequest(withNote(other, '')))
        expect(subject(one) === subject(other)).toBe(alike && one.kind === other.kind)
      }),
    )
    expect(new Set(ACTION_KINDS.map((kind) => subjectOf(kind, { note: null }))).size).toBe(ACTION_KINDS.length)
  })
})

describe('an amount', () => {
  it.each([
    [100n, 'TZS', false],
    [101n, 'TZS', true],
    [0n, 'TZS', false],
    [1n, 'KES', true],
  ])('of %i %s waits above 100 TZS: %s', (amount, currency, waits) => {
    expect(mustWait({ approvalAbove: 100n, currency: 'TZS' }, amount, currency)).toBe(waits)
  })

  it('waits where any amount does', () => {
    expect(mustWait({ approvalAbove: 0n, currency: 'TZS' }, 1n, 'TZS')).toBe(true)
  })
})

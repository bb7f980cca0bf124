import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ACTION_KINDS,
  type ActionRequest,
  fromStoredRequest,
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
)

describe('a request that waits', () => {
  it('is read as it was kept, after it went through JSON', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const stored = JSON.parse(JSON.stringify(toStoredRequest(asked)))
        expect(fromStoredRequest(asked.kind, stored)).toEqual(asked)
      }),
    )
  })

  it('is the same as another one where nothing but the note differs', () => {
    const subject = (asked: ActionRequest) => subjectOf(asked.kind, toStoredRequest(asked))
    const withNote = (asked: ActionRequest, text: string): ActionRequest =>
      'posting' in asked ? { ...asked, posting: { ...asked.posting, note: text } } : { ...asked, note: text }
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

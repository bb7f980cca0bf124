import { describe, expect, it } from 'vitest'
import type { PaymentChange } from '../../../src/domain/payments/paymentChange.ts'
import { paymentFromText, writtenPayment } from '../../../src/domain/payments/paymentText.ts'

const CHANGE: PaymentChange = {
  ...{ channelId: 3, receipt: 'R-1', amount: 50_000n, currency: 'KES', paidAt: Date.UTC(2026, 1, 10, 7) },
  ...{ valueDate: '2026-02-10', status: 'allocated', cause: null },
  ...{ allocated: 40_000n, returned: 10_000n, reversed: 0n },
  allocations: [{ loanId: 7n, transactionId: 9n, amount: 40_000n }],
  moved: { amount: -10_000n, on: '2026-02-11', account: null },
  note: 'paid twice',
}

const written = () => JSON.parse(JSON.stringify(writtenPayment(CHANGE))) as Record<string, unknown>

describe('what the trail keeps of a payment', () => {
  it('is read back as it was, with and without money that moved', () => {
    expect(paymentFromText(JSON.stringify(written()))).toEqual(CHANGE)
    const still = { ...CHANGE, moved: null, note: null, cause: 'no loan' }
    expect(paymentFromText(JSON.stringify(writtenPayment(still)))).toEqual(still)
    expect(paymentFromText(null)).toBeUndefined()
  })

  it.each([
    ['no JSON', 'no JSON'],
    ['a list', '[]'],
    ['a text for the number of the channel', { channelId: '3' }],
    ['a number of the channel that is none', { channelId: 3.5 }],
    ['a number for an amount', { amount: 50_000 }],
    ['an amount with decimals', { allocated: '1.5' }],
    ['a number for a text', { receipt: 5 }],
    ['a moment that is none', { paidAt: 'yesterday' }],
    ['a day that is none', { valueDate: '2026-02-31' }],
    ['another status', { status: 'lost' }],
    ['an object for the allocations', { allocations: {} }],
    ['a number as an allocation', { allocations: [5] }],
    ['a text for the money that moved', { moved: 'all' }],
    ['no note at all', { note: undefined }],
  ])('is damaged with %s, and then it is not read', (_, damage) => {
    const text = typeof damage === 'string' ? damage : JSON.stringify({ ...written(), ...damage })
    expect(paymentFromText(text)).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import {
  bookingOf,
  differencesOf,
  type Provision,
  provisionAmounts,
} from '../../../src/domain/accounting/provisions.ts'
import { brokenByProvisions, type ProvisionPosting } from '../../../src/domain/bookCheck/journalRules.ts'

const provision = (productId: number | null, amount: bigint, currency = 'KES'): Provision => ({
  ...{ productId, currency, amount },
})

describe('differencesOf', () => {
  it('is each provision less what is booked, by currency and product, without what is 0', () => {
    const wanted = [provision(2, 50n), provision(1, 70n), provision(1, 9n, 'UGX'), provision(null, 5n)]
    const booked = [provision(1, 100n), provision(null, 5n), provision(3, 8n)]
    expect(differencesOf(wanted, booked)).toEqual([
      { productId: 1, currency: 'KES', provision: 70n, bookedBefore: 100n, difference: -30n },
      { productId: 2, currency: 'KES', provision: 50n, bookedBefore: 0n, difference: 50n },
      { productId: 3, currency: 'KES', provision: 0n, bookedBefore: 8n, difference: -8n },
      { productId: 1, currency: 'UGX', provision: 9n, bookedBefore: 0n, difference: 9n },
    ])
  })
})

describe('bookingOf', () => {
  it('reads a booking of the trail', () => {
    expect(
      bookingOf({
        asOf: '2026-01-31',
        provisions: [
          ['3', 'KES', '900719925474099312'],
          [null, 'UGX', '0'],
        ],
      }),
    ).toEqual({
      asOf: '2026-01-31',
      provisions: [provision(3, 900719925474099312n), provision(null, 0n, 'UGX')],
    })
    expect(bookingOf({ asOf: '2026-01-31', provisions: null })).toEqual({ asOf: '2026-01-31', provisions: [] })
  })

  it.each([
    ['no day', { asOf: null, provisions: [] }],
    ['a day that is none', { asOf: '2026-02-30', provisions: [] }],
    ['no amount', { asOf: '2026-01-31', provisions: [['3', 'KES', null]] }],
    ['an amount below 0', { asOf: '2026-01-31', provisions: [['3', 'KES', '-1']] }],
    ['a product that is no number', { asOf: '2026-01-31', provisions: [['x', 'KES', '1']] }],
    ['no currency', { asOf: '2026-01-31', provisions: [['3', null, '1']] }],
  ])('%s is a damaged booking', (_, texts) => {
    expect(bookingOf(texts)).toBeUndefined()
  })
})

describe('brokenByProvisions', () => {
  const booking = (changeId: bigint, asOf: string, amount: bigint) => ({
    ...{ changeId, at: 7, told: changeId },
    booking: { asOf, provisions: [provision(3, amount)] },
  })
  const posting = (id: bigint, valueDate: string, amount: bigint, more: object = {}): ProvisionPosting => ({
    ...{ id, changeId: id, sequence: id, productId: 3, currency: 'KES', valueDate, bookedOn: valueDate, postedAt: 7 },
    ...{ transactionId: null, method: null, contribution: null, amounts: provisionAmounts(amount), ...more },
  })
  const bookings = [booking(1n, '2026-02-28', 100n), booking(2n, '2026-01-31', 40n), booking(3n, '2026-02-28', 100n)]
  const postings = [posting(1n, '2026-02-28', 100n), posting(2n, '2026-01-31', 40n), posting(3n, '2026-02-28', -40n)]
  const check = (some: readonly ProvisionPosting[], openFrom: string | null = null) =>
    brokenByProvisions(bookings, some, () => openFrom).map(({ of, message }) => `${of}: ${message}`)

  it('finds nothing where each booking has posted the difference', () => {
    expect(check(postings)).toEqual([])
  })

  it.each<[string, object, RegExp]>([
    [
      'another amount',
      { amounts: provisionAmounts(-39n) },
      /^provisions of 2026-02-28, change 3: have the postings .*39,/,
    ],
    ['another product', { productId: 4 }, /have the postings KES, product 4/],
    ['another value date', { valueDate: '2026-02-27' }, /of 2026-02-27 on 2026-02-28.* they must be .* of 2026-02-28/],
    ['another booked day', { bookedOn: '2026-03-01' }, /of 2026-02-28 on 2026-03-01/],
    ['another moment', { postedAt: 8 }, /^posting 3: was posted at/],
    ['another number', { sequence: 9n }, /^posting 3: is numbered 9, and the event of its change 3/],
    [
      'a transaction',
      { transactionId: 5n },
      /^posting 3: books provisions, and says what only a posting of a loan says/,
    ],
  ])('names %s', (_, change, message) => {
    const faults = check(postings.with(2, { ...postings[2]!, ...change }))
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(message)
  })

  it('names what is gone, what is there twice, and what no booking made', () => {
    expect(check(postings.slice(0, 2))).toEqual([
      'provisions of 2026-02-28, change 3: have the postings none, and by the trail they must be ' +
        'KES, product 3, of 2026-02-28 on 2026-02-28: ,,,,,,,,,,,,,,,-40,40',
    ])
    expect(check([...postings, posting(3n, '2026-02-28', -40n)])).toHaveLength(1)
    expect(check([...postings, posting(9n, '2026-02-28', 5n)])).toEqual([
      'posting 9: is of change 9, which books no provisions',
    ])
  })

  it('wants the booked day after a close', () => {
    expect(check(postings, '2026-03-01')).toHaveLength(3)
  })
})

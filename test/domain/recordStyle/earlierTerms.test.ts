import { describe, expect, it } from 'vitest'
import type { LoanTerms } from '../../../src/domain/loan/terms.ts'
import { currencyOf } from '../../../src/domain/money.ts'
import {
  type EarlierTerms,
  earlierTermsFromText,
  earlierTermsToText,
  termsKnownAt,
} from '../../../src/domain/recordStyle/earlierTerms.ts'

const line = (period: number, dueDate: string) => ({
  ...{ period, fromDate: '2026-01-31', dueDate, principal: 50_000n, interest: 123n, fees: 0n },
})

const terms: LoanTerms = {
  currency: currencyOf('KES'),
  zone: 'Africa/Nairobi',
  principal: 100_000n,
  numberOfRepayments: 2,
  ratePerPeriod: 2_500_000n,
  penaltyAmount: null,
  disbursedAt: Date.parse('2026-01-31T09:30:00+03:00'),
  disbursedOn: '2026-01-31',
  dueOn: '2026-03-31',
  dueAt: Date.parse('2026-03-31T09:30:00+03:00'),
  rules: null,
  schedule: [line(1, '2026-02-28'), line(2, '2026-03-31')],
}
const loan = { productId: null, terms }

/** Terms of another principal, which the loan had until an instant. */
const termsBefore = (version: number, until: number): EarlierTerms => ({
  ...{ version, until },
  terms: earlierTermsFromText(earlierTermsToText({ ...terms, principal: BigInt(version) })),
})

describe('earlierTermsToText', () => {
  it('writes what earlierTermsFromText reads', () => {
    const text = earlierTermsToText(terms)
    expect(text).toBe(
      '1,100000,2500000,1769841000000,2026-01-31,2026-03-31,1774938600000;' +
        '2026-01-31,2026-02-28,50000,123,0;2026-01-31,2026-03-31,50000,123,0',
    )
    expect({ ...terms, ...earlierTermsFromText(text) }).toEqual(terms)
  })

  it.each([
    ['no text', ''],
    ['another format version', '2,1,1,1,2026-01-31,2026-03-31,1;2026-01-31,2026-02-28,1,0,0'],
    ['no schedule', '1,1,1,1,2026-01-31,2026-03-31,1'],
    ['no day', '1,1,1,1,2026-02-31,2026-03-31,1;2026-01-31,2026-02-28,1,0,0'],
    ['no instant', '1,1,1,,2026-01-31,2026-03-31,1;2026-01-31,2026-02-28,1,0,0'],
    ['no amount', '1,1,1,1,2026-01-31,2026-03-31,1;2026-01-31,2026-02-28,x,0,0'],
  ])('%s is a damaged text', (_, text) => {
    expect(() => earlierTermsFromText(text)).toThrow(SyntaxError)
  })
})

describe('termsKnownAt', () => {
  const earlier = [termsBefore(1, 100), termsBefore(4, 200), termsBefore(5, 200)]
  const principalAt = (at: number) => termsKnownAt(loan, earlier, at).principal

  it.each([
    [99, 1n],
    [100, 4n],
    [199, 4n],
    [200, terms.principal],
  ])('at %i are those of before the first change after it', (at, principal) => {
    expect(principalAt(at)).toBe(principal)
  })

  it('are those of the loan where nothing was changed, and where they came from a product', () => {
    expect(termsKnownAt(loan, [], 1)).toEqual(terms)
    expect(termsKnownAt({ terms, productId: 3 }, earlier, 1)).toBe(terms)
  })
})

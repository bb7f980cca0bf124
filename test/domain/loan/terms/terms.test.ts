import { describe, expect, it } from 'vitest'
import { apply } from '../../../../src/domain/loan/change/apply.ts'
import { stateOf } from '../../../../src/domain/loan/loan.ts'
import { replay } from '../../../../src/domain/loan/replay.ts'
import { changeTerms } from '../../../../src/domain/loan/terms/changeTerms.ts'
import { earlierTermsFromText, earlierTermsToText } from '../../../../src/domain/loan/terms/earlierTermsText.ts'
import type { LoanTerms } from '../../../../src/domain/loan/terms/terms.ts'
import {
  type EarlierTerms,
  termsCanChange,
  termsKnownAt,
  termsOfVersion,
} from '../../../../src/domain/loan/terms/versions.ts'
import { currencyOf } from '../../../../src/domain/money.ts'

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

const earlier = [termsBefore(1, 100), termsBefore(4, 200), termsBefore(5, 200)]

describe('termsKnownAt', () => {
  it.each([
    [99, 1n],
    [100, 4n],
    [199, 4n],
    [200, terms.principal],
  ])('at %i are those of before the first change after it', (at, principal) => {
    expect(termsKnownAt(terms, earlier, at).principal).toBe(principal)
  })

  it('are those of the loan where nothing was changed', () => {
    expect(termsKnownAt(terms, [], 1)).toEqual(terms)
  })

  it('have the number of lines of then', () => {
    const before = { ...terms, numberOfRepayments: 3, schedule: [...terms.schedule, line(3, '2026-04-30')] }
    const text = earlierTermsToText(before)
    expect(termsKnownAt(terms, [{ version: 1, until: 100, terms: earlierTermsFromText(text) }], 99)).toEqual(before)
  })
})

describe('termsOfVersion', () => {
  it.each([
    [1, 1n],
    [2, 4n],
    [4, 4n],
    [5, 5n],
    [6, terms.principal],
  ])('version %i has the terms that the next change of terms ended', (version, principal) => {
    expect(termsOfVersion(terms, earlier, version).principal).toBe(principal)
  })
})

describe('changeTerms', () => {
  const at = Date.parse('2026-02-10T12:00:00+03:00')
  const loan = { terms, entries: [], customerId: 1n, customerStatus: 'Active' as const, productId: null }
  const longer = {
    ...terms,
    numberOfRepayments: 3,
    dueOn: '2026-04-30',
    schedule: [...terms.schedule, { ...line(3, '2026-04-30'), principal: 0n }],
  }

  it('adds and removes lines, and says whether more is lent', () => {
    const more = changeTerms(loan, { terms: longer, customerId: 1n }, at)
    expect([more.before.totalOutstanding, more.state.totalOutstanding]).toEqual([100_246n, 100_369n])
    expect(more.modifiedTerms).toEqual({ terms: longer, customerId: 1n, lends: true })
    const fewer = changeTerms({ ...loan, terms: longer }, { terms, customerId: 1n }, at)
    expect(fewer.modifiedTerms).toEqual({ terms, customerId: 1n, lends: false })
    expect(changeTerms(loan, { terms, customerId: 2n }, at).modifiedTerms?.lends).toBe(true)
  })

  it('leaves a loan of the new terms, whose state is that of their lines', () => {
    const stored = { ...loan, version: 1, updatedAt: at, nextChangeAt: null }
    const after = apply(stored, changeTerms(loan, { terms: longer, customerId: 1n }, at), null, at)
    expect([after.terms, after.version, stateOf(after, at).periods.length]).toEqual([longer, 2, 3])
    expect(stateOf(after, at)).toEqual(replay(longer, [], at))
    expect(stored.terms).toBe(terms)
  })

  it('lends no more to a customer who is closed', () => {
    const closed = { ...loan, customerStatus: 'Closed' as const }
    expect(() => changeTerms(closed, { terms: longer, customerId: 1n }, at)).toThrow(/only an Active one/)
    expect(changeTerms({ ...closed, terms: longer }, { terms, customerId: 1n }, at).modifiedTerms?.lends).toBe(false)
  })

  it('changes no terms of a loan that is written off, nor of one whose terms may not change', () => {
    const writeOff = {
      id: 1n,
      type: 'Write-off' as const,
      valueDate: '2026-02-09',
      postedAt: at,
      ordinal: 1,
      place: 1,
      amount: 100_246n,
      token: null,
      note: null,
      replaces: null,
      reversedAt: null,
    }
    const lost = { ...loan, entries: [writeOff] }
    expect(() => changeTerms(lost, { terms: longer, customerId: 1n }, at)).toThrow(/written off.*cannot be changed/)
    expect(changeTerms(lost, { terms, customerId: 1n }, at).modifiedTerms?.terms).toBe(terms)
    const ofProduct = { ...loan, productId: 3 }
    expect([termsCanChange(loan), termsCanChange(ofProduct)]).toEqual([true, false])
    expect(() => changeTerms(ofProduct, { terms: longer, customerId: 1n }, at)).toThrow(/may change/)
  })
})

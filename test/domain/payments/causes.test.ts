import { describe, expect, it } from 'vitest'
import { CAUSES, type CauseName, causeText, readCause } from '../../../src/domain/payments/causes.ts'
import { type Candidate, chooseLoan, MATCH_REASONS, type MatchReason } from '../../../src/domain/payments/matching.ts'
import { CAUSE_WORDS } from '../../../src/words/payments.ts'
import { speak } from '../../../src/words/words.ts'

const names = Object.keys(CAUSES) as CauseName[]
const VALUES = { count: 3, lent: 'KES', paid: 'TZS', receipt: 'RC-1: {count}\nof 2' }
const english = speak(CAUSE_WORDS, 'en')
const kiswahili = speak(CAUSE_WORDS, 'sw')

describe('why a payment waits in suspense', () => {
  it.each(names)('%s is read back with its values, and has words in both languages', (name) => {
    const text = causeText(name, VALUES)
    const read = readCause(text)
    expect(read?.name).toBe(name)
    expect(english(name, read!.values)).toBe(text)
    const own = Object.entries(VALUES).filter(([value]) => CAUSES[name].includes(`{${value}}`))
    expect(read!.values).toEqual(Object.fromEntries(own.map(([value, told]) => [value, String(told)])))
    const other = kiswahili(name, read!.values)
    expect(other).not.toBe(text)
    expect(other).not.toMatch(/\{(lent|paid)\}/)
    for (const [, told] of own) expect(other).toContain(String(told))
  })

  it.each([
    ['the loan is closed'],
    ['no loan fits the reference; a note'],
    ['because no loan fits the reference'],
    ['reversed by the provider: '],
    [''],
  ])('%j is no known cause', (text) => expect(readCause(text)).toBeUndefined())

  it.each(MATCH_REASONS)('every cause that matching by %s gives is a known one', (why) => {
    const lent = (loanId: bigint, more: Partial<Candidate> = {}): Candidate => {
      return { loanId, why, currency: 'TZS', isOpen: true, ...more }
    }
    const causeOf = (candidates: readonly Candidate[]) => {
      const match = chooseLoan(candidates, { currency: 'TZS', isByPhone: true })
      return 'cause' in match ? readCause(match.cause)?.name : 'a loan'
    }
    const by = BY[why]
    expect(causeOf([lent(1n), lent(2n)])).toBe(`${by}_fits_several`)
    expect(causeOf([lent(1n, { currency: 'KES' })])).toBe(`${by}_in_other_currency`)
    expect(causeOf([lent(1n, { isOpen: false })])).toBe(by === 'reference' ? 'a loan' : `${by}_without_loan`)
    expect(causeOf([])).toBe('no_loan')
  })
})

const BY: Readonly<Record<MatchReason, string>> = {
  loan_reference: 'reference',
  account_number: 'reference',
  loan_reference_folded: 'reference',
  customer_reference: 'customer',
  customer_reference_folded: 'customer',
  phone: 'phone',
}

import { describe, expect, it } from 'vitest'
import { productOf } from '../../../src/domain/product/newProduct.ts'
import { fromStoredTerms, toStoredTerms } from '../../../src/domain/product/storedTerms.ts'
import { quoted, tabledLoans, written } from './loanTable.ts'

const loans = tabledLoans()

describe('loans of products with terms', () => {
  it('are as many as there should be, each with a title of its own', () => {
    expect(loans.length).toBeGreaterThanOrEqual(45)
    expect(new Set(loans.map(({ title }) => title)).size).toBe(loans.length)
  })

  it.each(loans.map((loan) => [loan.title, loan] as const))('%s', (_, loan) => {
    expect(written(quoted(loan))).toEqual(loan.expected)
  })

  it('have terms that are read as they were stored', () => {
    for (const { product } of loans) {
      const { terms } = productOf(product, 1)
      const stored = terms && JSON.parse(JSON.stringify(toStoredTerms(terms)))
      expect(fromStoredTerms(stored)).toEqual(terms)
    }
  })
})

describe('stored terms', () => {
  const good = toStoredTerms(productOf(loans.find(({ title }) => title.includes('three fees'))!.product, 1).terms!)
  it.each([
    ['an unknown method', { ...good, interestMethod: 'compound' }],
    ['a rate that is no number', { ...good, interestRate: 3 }],
    ['a grace below zero', { ...good, principalGrace: -1 }],
    ['an unknown distance', { ...good, firstDueAfter: { every: 1, unit: 'fortnights' } }],
    ['no fees', { ...good, fees: undefined }],
    ['a fee of an unknown base', { ...good, fees: [{ ...good.fees[0]!, base: 'balance' }] }],
    ['a text', 'flat'],
  ])('with %s are damaged', (_, stored) => {
    expect(() => fromStoredTerms(stored)).toThrow()
  })
})

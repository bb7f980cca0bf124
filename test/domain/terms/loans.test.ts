import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { productOf } from '../../../src/domain/product/newProduct.ts'
import { fromStoredTerms, toStoredTerms } from '../../../src/domain/product/storedTerms.ts'
import type { ProductTerms } from '../../../src/domain/product/terms.ts'
import { accepted, anyRequest } from './anyProduct.ts'
import { quoted, tabledLoans, written } from './loanTable.ts'

const loans = tabledLoans()

describe('loans of products with terms', () => {
  it('are as many as there should be, each with a title of its own', () => {
    expect(loans.length).toBeGreaterThanOrEqual(50)
    expect(new Set(loans.map(({ title }) => title)).size).toBe(loans.length)
  })

  it.each(loans.map((loan) => [loan.title, loan] as const))('%s', (_, loan) => {
    expect(written(quoted(loan))).toEqual(loan.expected)
  })

  it('have terms that are read as they were stored', () => {
    for (const { product } of loans) expectStored(productOf(product, 1).terms)
  })
})

function expectStored(terms: ProductTerms | null): void {
  const stored = terms && JSON.parse(JSON.stringify(toStoredTerms(terms)))
  expect(fromStoredTerms(stored)).toEqual(terms)
}

describe('stored terms', () => {
  it('are read as they were stored, whatever the product', () => {
    let stored = 0
    fc.assert(
      fc.property(anyRequest, (request) => {
        const product = accepted(request)
        if (!product?.terms) return
        expectStored(product.terms)
        stored++
      }),
      { numRuns: 500 },
    )
    expect(stored).toBeGreaterThan(100)
  })

  const good = toStoredTerms(productOf(loans.find(({ title }) => title.includes('three fees'))!.product, 1).terms!)
  const penalty = {
    base: 'fixed',
    value: '500',
    every: 'day',
    graceDays: 0,
    maxTimes: null,
    capOfPrincipal: null,
    per: 'loan',
  }
  it('with a penalty are whole', () =>
    expect(fromStoredTerms({ ...good, penalty })).toMatchObject({ penalty: { value: 500n } }))

  it.each([
    ['an unknown method', { ...good, interestMethod: 'compound' }],
    ['a rate that is no number', { ...good, interestRate: 3 }],
    ['a grace below zero', { ...good, principalGrace: -1 }],
    ['an unknown distance', { ...good, firstDueAfter: { every: 1, unit: 'fortnights' } }],
    ['no fees', { ...good, fees: undefined }],
    ['a fee of an unknown base', { ...good, fees: [{ ...good.fees[0]!, base: 'balance' }] }],
    ['a fee of an unknown treatment', { ...good, fees: [{ ...good.fees[0]!, treatment: 'refunded' }] }],
    ['an unknown rule of settlement', { ...good, earlySettlement: 'none' }],
    ['an allocation that leaves one out', { ...good, allocation: ['fees', 'interest', 'principal'] }],
    ['a cap that is no number', { ...good, totalChargeCap: 100 }],
    ['a penalty of an unknown base', { ...good, penalty: { ...penalty, base: 'balance' } }],
    ['a penalty that is raised at an unknown time', { ...good, penalty: { ...penalty, every: 'year' } }],
    ['a penalty with a grace below zero', { ...good, penalty: { ...penalty, graceDays: -1 } }],
    ['a text', 'flat'],
  ])('with %s are damaged', (_, stored) => {
    expect(() => fromStoredTerms(stored)).toThrow()
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { daysBetween } from '../../../src/domain/dates.ts'
import { divideHalfEven, sum } from '../../../src/domain/money.ts'
import { productOf } from '../../../src/domain/product/newProduct.ts'
import type { Product } from '../../../src/domain/product/product.ts'
import { type Quote, quoteOf } from '../../../src/domain/product/quote.ts'
import { productSchedule } from '../../../src/domain/schedule/schedule.ts'
import { accepted, anyRequest } from './anyProduct.ts'
import { naiveInterest } from './naiveInterest.ts'

const DAYS = ['2026-01-31', '2027-12-15', '2028-02-29', '2026-08-30']

/** Checks what holds for every product, principal and day. @returns how many products were accepted */
function forEach(check: (product: Product, principal: bigint, on: string) => void, numRuns = 1_500): number {
  let count = 0
  fc.assert(
    fc.property(anyRequest, fc.bigInt(1n, 10n ** 9n), fc.constantFrom(...DAYS), (request, principal, on) => {
      const product = accepted(request)
      if (!product) return
      count++
      check(product, principal, on)
    }),
    { numRuns },
  )
  return count
}

describe('the schedule of any product', () => {
  it('sums to its principal, has nothing below zero, and dates that follow each other', () => {
    const count = forEach((product, principal, disbursedOn) => {
      const lines = productSchedule({ ...product, principal, disbursedOn })
      expect(lines).toHaveLength(product.numberOfRepayments)
      expect(sum(lines.map((line) => line.principal))).toBe(principal)
      for (const [index, line] of lines.entries()) {
        expect([line.principal, line.interest, line.fees].every((cell) => cell >= 0n)).toBe(true)
        expect(line.fromDate).toBe(index === 0 ? disbursedOn : lines[index - 1]!.dueDate)
        expect(line.dueDate > line.fromDate).toBe(true)
      }
    })
    expect(count).toBeGreaterThan(500)
  })

  it('has no principal in its grace, and no interest in that', () => {
    forEach((product, principal, disbursedOn) => {
      const lines = productSchedule({ ...product, principal, disbursedOn })
      const { principalGrace = 0, interestGrace = 0 } = product.terms ?? {}
      expect(sum(lines.slice(0, principalGrace).map((line) => line.principal))).toBe(0n)
      expect(sum(lines.slice(0, interestGrace).map((line) => line.interest))).toBe(0n)
    })
  })

  it('has in all the interest of a model that goes from day to day, and from period to period', () => {
    let compared = 0
    forEach((product, principal, disbursedOn) => {
      const lines = productSchedule({ ...product, principal, disbursedOn })
      const interest = naiveInterest(product, principal, lines)
      const tax = divideHalfEven(interest * (product.terms?.interestTax?.rate ?? 0n), 100_000_000n)
      expect(sum(lines.map((line) => line.interest))).toBe(interest + tax)
      compared++
    })
    expect(compared).toBeGreaterThan(500)
  })

  it('keeps to the multiple where principal is due, but in the last', () => {
    let kept = 0
    forEach((product, principal, disbursedOn) => {
      const { totalMultipleOf } = product
      if (totalMultipleOf === null) return
      const lines = productSchedule({ ...product, principal, disbursedOn })
      let left = principal
      for (const line of lines.slice(0, -1)) {
        left -= line.principal
        // What is left may be less than the multiple asks for.
        if (line.principal === 0n || left === 0n) continue
        if (product.terms?.interestTax) continue
        expect((line.principal + line.interest) % totalMultipleOf).toBe(0n)
        kept++
      }
    })
    expect(kept).toBeGreaterThan(100)
  })

  it('is level, where instalments are equal and nothing else intervenes', () => {
    let level = 0
    forEach((product, principal, disbursedOn) => {
      const { terms } = product
      if (terms?.interestMethod !== 'declining_equal_instalments' || terms.interestGrace > 0 || terms.interestTax)
        return
      const lines = productSchedule({ ...product, principal, disbursedOn }).slice(terms.principalGrace, -1)
      const [first, ...others] = lines
        .filter((line) => line.principal > 0n)
        .map((line) => line.principal + line.interest)
      const isRepaidEarly = sum(lines.map((line) => line.principal)) === principal
      if (first === undefined || isRepaidEarly) return
      expect(others.every((total) => total === first)).toBe(true)
      level++
    })
    expect(level).toBeGreaterThan(30)
  })
})

describe('flat interest per period', () => {
  it('is as 4.3.1 says, whatever the product', () => {
    const products = anyRequest.map((request) => ({
      ...request,
      ...{ grace: undefined, fees: [], penalty: undefined, earlySettlement: undefined, totalChargeCap: undefined },
      ...{ allocation: undefined, afterDue: undefined, interestTax: undefined },
      ...{ interestMethod: 'flat', ratePer: 'period', dayCount: 'periods' },
    }))
    fc.assert(
      fc.property(products, fc.bigInt(1n, 10n ** 12n), (request, principal) => {
        const product = productOf(request, 1)
        expect(product.terms).toBe(null)
        const lines = productSchedule({ ...product, principal, disbursedOn: '2026-01-31' })
        const n = BigInt(product.numberOfRepayments)
        const total = divideHalfEven(principal * product.ratePerPeriod * n, 100_000_000n)
        const [interest, share] = [divideHalfEven(total, n), divideHalfEven(principal, n)]
        const m = product.totalMultipleOf
        const rounded = m === null ? share : divideHalfEven(share + interest, m) * m - interest
        let [p, i] = [principal, total]
        const least = (a: bigint, b: bigint) => (a < b ? a : b)
        const expected = lines.map((_, index) => {
          const isLast = index === lines.length - 1
          const [paid, due] = isLast ? [p, i] : [least(rounded > 0n ? rounded : 0n, p), least(interest, i)]
          p -= paid
          i -= due
          return [paid, due, 0n]
        })
        expect(lines.map((line) => [line.principal, line.interest, line.fees])).toEqual(expected)
      }),
      { numRuns: 1_000 },
    )
  })
})

/** A principal that a product may lend on a day, as it was drawn or the smallest; undefined where the cap refuses it. */
function quoteOfAny(product: Product, drawn: bigint, on: string): Quote | undefined {
  try {
    return quoteOf(product, drawn < product.principalMin ? product.principalMin : drawn, on)
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_argument', faults: [{ role: 'principal' }] })
    return undefined
  }
}

describe('the APR of a quote', () => {
  it('makes what is due worth what was paid out, or is beyond a million percent', () => {
    forEach((product, drawn, disbursedOn) => {
      const quote = quoteOfAny(product, drawn, disbursedOn)
      if (!quote) return
      const { schedule, apr, totalInterest, totalFees } = quote
      const lent = Number(quote.netDisbursed)
      expect(lent).toBeGreaterThan(0)
      if (totalInterest + totalFees === 0n) return expect(apr).toBe(0)
      const worth = (percent: number) =>
        schedule.reduce((total, line) => {
          const due = Number(line.principal + line.interest + line.fees)
          return total + due / (1 + percent / 100) ** (daysBetween(disbursedOn, line.dueDate) / 365)
        }, 0)
      if (apr === null) return expect(worth(1_000_000)).toBeGreaterThan(lent)
      const slack = lent * 1e-9
      expect(worth(Math.max(0, apr - 0.006))).toBeGreaterThanOrEqual(lent - slack)
      expect(worth(apr + 0.006)).toBeLessThanOrEqual(lent + slack)
    }, 600)
  })
})

describe('the charges of a quote', () => {
  it('are what is due and not principal, and what was not paid out', () => {
    let deducted = 0
    forEach((product, drawn, disbursedOn) => {
      const quote = quoteOfAny(product, drawn, disbursedOn)
      if (!quote) return
      expect(quote.netDisbursed + quote.feesDeducted).toBe(quote.principal)
      expect(quote.totalDue - quote.netDisbursed).toBe(quote.totalInterest + quote.totalFees)
      if (quote.feesDeducted > 0n) deducted++
    }, 2_500)
    expect(deducted).toBeGreaterThan(50)
  })

  it('are within the cap of the product', () => {
    let capped = 0
    forEach((product, drawn, disbursedOn) => {
      const quote = quoteOfAny(product, drawn, disbursedOn)
      const cap = product.terms?.totalChargeCap ?? null
      if (!quote || cap === null) return
      capped++
      const most = divideHalfEven(quote.principal * cap, 100_000_000n)
      expect(quote.totalInterest + quote.totalFees).toBeLessThanOrEqual(most)
    })
    expect(capped).toBeGreaterThan(100)
  })
})

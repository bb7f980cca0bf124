import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LendingError } from '../../../src/domain/errors.ts'
import { termsOf } from '../../../src/domain/loan/terms/terms.ts'
import { applyRate, sum } from '../../../src/domain/money.ts'
import { type NewProduct, productOf } from '../../../src/domain/product/newProduct.ts'

const JANUARY = Date.UTC(2026, 0, 31, 6)
const LARGEST = 99_999_999_999_999n

const decimal = (least: number, most: number, scale: number) =>
  fc.integer({ min: least, max: most }).map((units) => ({ units: BigInt(units), scale }))

const fees = fc.array(
  fc.record({
    base: fc.constant('principal'),
    rate: decimal(1, 12_000, 2),
    when: fc.constant('disbursement'),
    treatment: fc.constantFrom('added', 'deducted'),
  }),
  { maxLength: 2 },
)

const penalty = fc.record({
  base: fc.constantFrom('principal', 'overdue_principal', 'overdue_total'),
  rate: decimal(1, 10_000, 0),
  every: fc.constant('week'),
  per: fc.constant('instalment'),
})

const products = fc.record<NewProduct>({
  name: fc.constant('any'),
  currency: fc.constantFrom('TZS', 'UGX'),
  principalMin: fc.constant({ units: 1n, scale: 0 }),
  principalMax: decimal(1, 999_999_999_999, 0),
  numberOfRepayments: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 2_000 })),
  repayEvery: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3_650 })),
  repayUnit: fc.constantFrom('days', 'weeks', 'months', 'years'),
  interestRate: fc.oneof(decimal(0, 2_000, 2), decimal(0, 10_000, 0)),
  totalMultipleOf: fc.option(decimal(1, 1_000, 0), { nil: undefined }),
  penaltyRate: fc.option(decimal(1, 10_000, 0), { nil: undefined }),
  fees: fees.map((all) => all.map((fee, index) => ({ name: `Fee ${index}`, ...fee }))),
})

/** Half of the products have penalties by their terms, in place of a single one. */
const withPenalties = fc
  .tuple(products, fc.option(penalty, { nil: undefined, freq: 1 }))
  .map(([request, terms]) => (terms ? { ...request, penaltyRate: undefined, penalty: terms } : request))

describe('a product that is accepted', () => {
  it('can lend its largest principal: what that costs is an amount, and its last day is within a century', () => {
    let accepted = 0
    fc.assert(
      fc.property(withPenalties, (request) => {
        let product: ReturnType<typeof productOf>
        try {
          product = productOf(request, 1)
        } catch (error) {
          expect(error).toBeInstanceOf(LendingError)
          return
        }
        accepted++
        const terms = termsOf(product, request.principalMax, JANUARY, 'Africa/Nairobi')
        expect(sum(terms.schedule.map(({ interest }) => interest))).toBeLessThanOrEqual(LARGEST)
        const charged = sum(terms.schedule.map((line) => line.fees)) + (terms.rules?.deducted ?? 0n)
        expect(charged).toBeLessThanOrEqual(LARGEST)
        expect(terms.rules?.deducted ?? 0n).toBeLessThan(terms.principal)
        expect(terms.penaltyAmount ?? 0n).toBeLessThanOrEqual(LARGEST)
        const rate = product.terms?.penalty?.value ?? 0n
        expect(applyRate(terms.principal, rate)).toBeLessThanOrEqual(LARGEST)
        expect(terms.dueOn <= '2126-01-31').toBe(true)
      }),
      { numRuns: 600 },
    )
    expect(accepted).toBeGreaterThan(40)
  })
})

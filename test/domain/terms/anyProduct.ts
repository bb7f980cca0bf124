import fc from 'fast-check'
import type { NewProduct } from '../../../src/domain/product/newProduct.ts'

const percent = (least: number, most: number) =>
  fc.integer({ min: least, max: most }).map((hundredths) => ({ units: BigInt(hundredths), scale: 2 }))

const whole = (units: number) => ({ units: BigInt(units), scale: 0 })

const fees = fc.array(
  fc.oneof(
    fc.record({
      base: fc.constant('fixed'),
      amount: percent(1, 5_000).map(({ units }) => ({ units, scale: 0 })),
      when: fc.constantFrom('disbursement', 'each_instalment', 'due_date'),
    }),
    fc.record({
      base: fc.constant('principal'),
      rate: percent(1, 500),
      when: fc.constantFrom('disbursement', 'each_instalment', 'due_date'),
    }),
    fc.record({ base: fc.constant('instalment'), rate: percent(1, 500), when: fc.constant('each_instalment') }),
  ),
  { maxLength: 3 },
)

const grace = fc.record(
  {
    principalPeriods: fc.integer({ min: 0, max: 3 }),
    interestPeriods: fc.integer({ min: 0, max: 3 }),
    firstDueAfter: fc.record({
      every: fc.integer({ min: 1, max: 10 }),
      unit: fc.constantFrom('days', 'weeks', 'months'),
    }),
  },
  { requiredKeys: [] },
)

/** Any request for a product; terms that do not go together are among them. */
export const anyRequest: fc.Arbitrary<NewProduct> = fc
  .record({
    currency: fc.constantFrom('TZS', 'UGX'),
    numberOfRepayments: fc.integer({ min: 1, max: 15 }),
    repayEvery: fc.integer({ min: 1, max: 3 }),
    repayUnit: fc.constantFrom('days', 'weeks', 'months', 'years'),
    interestRate: percent(0, 6_000),
    interestMethod: fc.constantFrom(
      'flat',
      'declining_equal_instalments',
      'declining_equal_principal',
      'interest_only',
    ),
    ratePer: fc.constantFrom('period', 'month', 'year'),
    dayCount: fc.constantFrom('periods', 'periods', 'actual/365', 'actual/360', 'actual/actual', '30/360'),
    totalMultipleOf: fc.option(fc.constantFrom(whole(1), whole(50), whole(1_000)), { nil: undefined }),
    grace: fc.option(grace, { nil: undefined }),
    fees: fees.map((all) => all.map((fee, index) => ({ name: `Fee ${index}`, ...fee }))),
  })
  .map((asked) => ({ name: 'Any', principalMin: whole(1), principalMax: whole(1_000_000_000), ...asked }))

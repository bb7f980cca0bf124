import fc from 'fast-check'
import { LendingError } from '../../../src/domain/errors.ts'
import { type NewProduct, productOf } from '../../../src/domain/product/newProduct.ts'
import type { Product } from '../../../src/domain/product/product.ts'

const percent = (least: number, most: number) =>
  fc.integer({ min: least, max: most }).map((hundredths) => ({ units: BigInt(hundredths), scale: 2 }))

const whole = (units: number) => ({ units: BigInt(units), scale: 0 })

const TIMES = ['disbursement', 'each_instalment', 'due_date']
const treatment = fc.constantFrom(undefined, 'added', 'deducted', 'deducted')

/** A fee as it was drawn, with `deducted` only where such a fee may be. */
const treated = <Asked extends { readonly when: string; readonly treatment?: string | undefined }>(
  fee: Asked,
): Asked => (fee.when === 'disbursement' ? fee : { ...fee, treatment: undefined })

const tax = fc.option(fc.record({ name: fc.constantFrom('VAT', 'Excise duty'), percent: percent(1, 3_000) }), {
  nil: undefined,
})

const fees = fc.array(
  fc.oneof(
    fc
      .record({
        base: fc.constant('fixed'),
        amount: percent(1, 5_000).map(({ units }) => ({ units, scale: 0 })),
        when: fc.constantFrom(...TIMES),
        treatment,
        tax,
      })
      .map(treated),
    fc
      .record({
        base: fc.constant('principal'),
        rate: percent(1, 500),
        when: fc.constantFrom(...TIMES),
        treatment,
        tax,
      })
      .map(treated),
    fc.record({ base: fc.constant('instalment'), rate: percent(1, 500), when: fc.constant('each_instalment') }),
  ),
  { maxLength: 3 },
)

const size = fc.oneof(
  fc.record({ base: fc.constant('fixed'), amount: fc.integer({ min: 1, max: 5_000 }).map(whole) }),
  fc.record({ base: fc.constantFrom('principal', 'overdue_principal', 'overdue_total'), rate: percent(1, 2_000) }),
)

const limits = fc.record(
  { graceDays: fc.integer({ min: 0, max: 20 }), capPercentOfPrincipal: percent(1, 3_000) },
  { requiredKeys: [] },
)

const repeated = fc.oneof(
  fc.record({ every: fc.constant('once') }),
  fc.record(
    { every: fc.constantFrom('day', 'week', 'period'), maxTimes: fc.integer({ min: 1, max: 12 }) },
    { requiredKeys: ['every'] },
  ),
)

const penalty = fc
  .tuple(size, limits, repeated, fc.constantFrom('loan', 'instalment'))
  .map(([base, limit, every, per]) => ({ ...base, ...limit, ...every, per }))

/** Few products are cheaper than a low cap allows. */
const totalChargeCap = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: percent(1, 20_000) },
  { weight: 2, arbitrary: percent(10_000, 1_000_000) },
)

const allocation = fc.oneof(
  fc.constant(undefined),
  fc.shuffledSubarray(['penalty', 'fees', 'interest', 'principal'], { minLength: 4 }),
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
    ratePer: fc.constantFrom('period', 'day', 'month', 'year'),
    afterDue: fc.constantFrom(undefined, undefined, { interest: 'none' }, { interest: 'runs_on', maxDays: 31 }),
    interestTax: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: tax }),
    dayCount: fc.oneof(fc.constant('periods'), fc.constantFrom('actual/365', 'actual/360', 'actual/actual', '30/360')),
    totalMultipleOf: fc.option(fc.constantFrom(whole(1), whole(50), whole(1_000)), { nil: undefined }),
    grace: fc.option(grace, { nil: undefined }),
    fees: fees.map((all) => all.map((fee, index) => ({ name: `Fee ${index}`, ...fee }))),
    penalty: fc.option(penalty, { nil: undefined }),
    earlySettlement: fc.constantFrom(undefined, 'full_interest', 'interest_to_date', 'interest_to_period_end'),
    totalChargeCap,
    allocation,
    principalMin: fc.constantFrom(whole(1), whole(20_000), whole(1_000_000), whole(1_000_000)),
  })
  .map((asked) => ({
    ...{ name: 'Any', principalMax: whole(1_000_000_000) },
    ...asked,
    afterDue: asked.ratePer === 'day' ? asked.afterDue : undefined,
  }))

/** The product of a request; undefined for terms that do not go together, whose refusal has a reason. */
export function accepted(request: NewProduct, id = 1): Product | undefined {
  try {
    return productOf(request, id)
  } catch (error) {
    if (error instanceof LendingError && error.code === 'invalid_argument' && error.faults.length === 1)
      return undefined
    throw error
  }
}

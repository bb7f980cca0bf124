import fc from 'fast-check'
import { currencyOf, RATE_UNIT } from '../../../src/domain/money.ts'
import type { Product } from '../../../src/domain/product/product.ts'
import {
  EARLY_SETTLEMENTS,
  type Fee,
  PENALTY_BASES,
  PENALTY_REPEATS,
  PENALTY_SCOPES,
  type PenaltyTerms,
  PRODUCT_METHODS,
  type ProductTerms,
} from '../../../src/domain/product/terms.ts'
import { productSchedule } from '../../../src/domain/schedule/schedule.ts'
import { dateOf, dayAt } from './naive/calendar.ts'
import { PARTS } from './naive/debt.ts'
import { naiveLoan } from './naive/loan.ts'

/** A product, and what is lent on it. */
export interface Lent {
  readonly product: Product
  /** Minor units. */
  readonly principal: bigint
  readonly disbursedAt: number
}

const PERCENT = 1_000_000n

/** A rate in millionths of a percent, of hundredths of a percent. */
const rate = (least: number, most: number) =>
  fc.integer({ min: least, max: most }).map((hundredths) => (BigInt(hundredths) * PERCENT) / 100n)

/** One time in three, and three in four: the option of fast-check names the share of what is left out. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof(fc.constant(null), fc.constant(null), arbitrary)
const mostly = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 4 })

const when = fc.constantFrom('disbursement', 'each_instalment', 'due_date')
const added = { treatment: fc.constant('added') }
const named = fc.constant('Fee')
const tax = sometimes(fc.record({ name: fc.constantFrom('VAT', 'Excise duty'), rate: rate(1, 3_000) }))
const taxed = { ...added, tax }
const fee: fc.Arbitrary<Fee> = fc.oneof(
  fc.record({ name: named, base: fc.constant('fixed'), value: fc.bigInt(1n, 5_000n), when, ...taxed }),
  fc.record({ name: named, base: fc.constant('principal'), value: rate(1, 300), when, ...taxed }),
  fc.record({
    ...{ name: named, base: fc.constant('instalment'), value: rate(1, 500) },
    ...{ when: fc.constant('each_instalment'), ...taxed },
  }),
  fc.record({
    ...{ name: named, base: fc.constant('principal'), value: rate(1, 300) },
    ...{ when: fc.constant('disbursement'), treatment: fc.constant('deducted'), tax },
  }),
)

const penalty: fc.Arbitrary<PenaltyTerms> = fc
  .record({
    base: fc.constantFrom(...PENALTY_BASES),
    percent: rate(1, 2_000),
    amount: fc.oneof(fc.bigInt(1n, 20n), fc.bigInt(1n, 50_000n)),
    every: fc.constantFrom(...PENALTY_REPEATS),
    graceDays: fc.constantFrom(0, 0, 0, 1, 2, 5, 31),
    maxTimes: sometimes(fc.integer({ min: 1, max: 4 })),
    capOfPrincipal: sometimes(rate(1, 4_000)),
    per: fc.constantFrom(...PENALTY_SCOPES),
  })
  .map(({ percent, amount, maxTimes, ...terms }) => ({
    ...terms,
    value: terms.base === 'fixed' ? amount : percent,
    maxTimes: terms.every === 'once' ? null : maxTimes,
  }))

/** How many instalments of which distance: loans end within two years. */
const distances = fc.oneof(
  fc.record({
    numberOfRepayments: fc.integer({ min: 1, max: 8 }),
    repayEvery: fc.integer({ min: 1, max: 3 }),
    repayUnit: fc.constantFrom('days', 'weeks'),
  }),
  fc.record({
    numberOfRepayments: fc.integer({ min: 1, max: 6 }),
    repayEvery: fc.integer({ min: 1, max: 2 }),
    repayUnit: fc.constant('months'),
  }),
  fc.record({
    numberOfRepayments: fc.integer({ min: 1, max: 2 }),
    repayEvery: fc.constant(1),
    repayUnit: fc.constantFrom('months', 'years'),
  }),
)

const asked = fc.record({
  distance: distances,
  interestMethod: fc.constantFrom(...PRODUCT_METHODS),
  interestRate: rate(0, 4_000),
  ratePer: fc.constantFrom('period', 'day', 'day', 'month', 'year'),
  daysAfterDue: mostly(fc.constantFrom(1, 5, 31, 100)),
  interestTax: tax,
  dayCount: fc.constantFrom('periods', 'periods', 'actual/365', '30/360'),
  principalGrace: fc.integer({ min: 0, max: 2 }),
  interestGrace: fc.integer({ min: 0, max: 3 }),
  firstDueAfter: sometimes(
    fc.record({ every: fc.integer({ min: 1, max: 6 }), unit: fc.constantFrom('days', 'weeks', 'months') }),
  ),
  fees: fc.array(fee, { maxLength: 2 }),
  penalty: mostly(penalty),
  earlySettlement: fc.constantFrom(...EARLY_SETTLEMENTS),
  /** What the cap of all charges leaves for penalties and single charges, of the principal. */
  roomForCharges: sometimes(rate(0, 3_000)),
  allocation: fc.oneof(fc.constant([...PARTS]), fc.shuffledSubarray([...PARTS], { minLength: 4 })),
  currency: fc.constantFrom('TZS', 'UGX').map(currencyOf),
  totalMultipleOf: sometimes(fc.constantFrom(1n, 50n, 1_000n)),
  /** Products without terms beyond those of contract 4.3, with or without the single penalty. */
  isPlain: fc.integer({ min: 0, max: 7 }).map((one) => one === 0),
  penaltyRate: sometimes(rate(1, 1_500)),
})

type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never

/** Returns a product of terms that go together. */
function productFor(given: Asked): Product {
  const { distance, interestMethod, penaltyRate, currency, isPlain } = given
  const isInterestOnly = interestMethod === 'interest_only'
  const isByDays = interestMethod !== 'flat' && given.ratePer !== 'period'
  const most = distance.numberOfRepayments - 1
  const { ratePer, fees, penalty, earlySettlement, allocation, firstDueAfter, interestTax } = given
  const isPerDay = ratePer === 'day'
  const interestRate = isPerDay ? given.interestRate / 30n : given.interestRate
  const terms: ProductTerms = {
    ...{ interestMethod, interestRate, ratePer, firstDueAfter, penalty, earlySettlement, allocation },
    dayCount: isByDays ? given.dayCount : 'periods',
    principalGrace: isInterestOnly ? 0 : Math.min(given.principalGrace, most),
    interestGrace: Math.min(given.interestGrace, most),
    fees: fees.map((fee, index) => ({ ...fee, name: `Fee ${index + 1}` })),
    totalChargeCap: null,
    interestTax,
    daysAfterDue: isPerDay ? given.daysAfterDue : null,
    maxRatePerMonth: null,
  }
  return {
    ...{ id: 1, name: 'Any', currency, principalMin: 1n, principalMax: 10n ** 14n },
    ...distance,
    ratePerPeriod: interestRate,
    terms: isPlain ? null : terms,
    totalMultipleOf: isInterestOnly ? null : given.totalMultipleOf,
    penaltyRate: isPlain || penalty === null ? penaltyRate : null,
    ...{ enforceCreditLimit: false, retired: false },
  }
}

/** Returns the product with a cap of all charges that leaves some room beyond its interest and fees. */
function withCap(product: Product, room: bigint | null, { principal, disbursedAt }: Omit<Lent, 'product'>): Product {
  if (room === null || product.terms === null) return product
  const schedule = productSchedule({ ...product, principal, disbursedOn: dateOf(dayAt(disbursedAt)) })
  let charges = naiveLoan(product, principal, disbursedAt, schedule).deducted
  for (const { interest, fees } of schedule) charges += interest + fees
  const least = (charges * RATE_UNIT + principal - 1n) / principal + 1n
  return { ...product, terms: { ...product.terms, totalChargeCap: least + room } }
}

const MOMENTS = ['2026-01-31T09:30:00', '2027-12-15T23:59:59.999', '2028-02-29T00:00:00', '2026-08-30T12:00:00'].map(
  (text) => Date.parse(`${text}+03:00`),
)

/** Any loan of a product. */
export const anyLent: fc.Arbitrary<Lent> = fc
  .tuple(
    asked,
    fc.oneof({ weight: 4, arbitrary: fc.bigInt(1_000n, 10n ** 7n) }, fc.bigInt(1n, 300n)),
    fc.constantFrom(...MOMENTS),
  )
  .map(([given, principal, disbursedAt]) => {
    const product = productFor(given)
    return { product: withCap(product, given.roomForCharges, { principal, disbursedAt }), principal, disbursedAt }
  })
  // A fee that is kept back leaves something to pay out (contract 10.4).
  .filter(({ product, principal, disbursedAt }) => naiveLoan(product, principal, disbursedAt, []).deducted < principal)

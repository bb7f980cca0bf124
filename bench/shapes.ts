import { CACHED, cached } from '../src/db/loans/loanColumns.ts'
import { dateIn } from '../src/domain/dates.ts'
import type { NewEntry } from '../src/domain/loan/entry.ts'
import { carriedForward, replay } from '../src/domain/loan/replay.ts'
import { termsOf } from '../src/domain/loan/terms/terms.ts'
import type { Product } from '../src/domain/product/product.ts'
import { DEMO_PRODUCTS } from '../src/services/organizations/seedDemo.ts'

/** Rows of one loan, but for its ids: column → value, as JSON takes them. */
export interface Shape {
  readonly loan: Readonly<Record<string, unknown>>
  readonly periods: readonly Readonly<Record<string, unknown>>[]
  readonly entries: readonly Readonly<Record<string, unknown>>[]
  /** What one of its instalments comes to, in minor units. */
  readonly instalment: number
}

const SHAPES = 240
const DAY_MS = 86_400_000
const LONG_ENTRIES = 2_000

/** Mostly twelve weekly instalments, some of six months, a few of one. */
const MIX: readonly { product: Product; span: number }[] = [
  ...Array<{ product: Product; span: number }>(7).fill({ product: DEMO_PRODUCTS[3]!, span: 110 }),
  ...Array<{ product: Product; span: number }>(2).fill({ product: DEMO_PRODUCTS[2]!, span: 200 }),
  { product: DEMO_PRODUCTS[0]!, span: 40 },
]

/**
 * What the loans of the book are copies of: of different products, sizes, ages and histories, each made by the domain
 * itself, so that every figure of every copy is right by construction.
 * @param averageEntries transactions a loan
 */
export function shapesOf(now: number, zone: string, averageEntries: number): Shape[] {
  return Array.from({ length: SHAPES }, (_, index) => {
    const { product, span } = MIX[index % MIX.length]!
    const age = 1 + ((index * 13) % span)
    const share = ((index * 7) % SHAPES) / (SHAPES - 1)
    const entries = Math.round(share * 2 * averageEntries)
    // Seven tenths of the debt at most, so that all have something left to repay.
    const part = Math.floor(0.7 / Math.max(1, 2 * averageEntries) / 0.000001) / 1_000_000
    return shapeOf(
      product,
      BigInt(200 + ((37 * index) % 1_800)) * 100_00n,
      now - age * DAY_MS,
      zone,
      now,
      entries,
      part,
    )
  })
}

/** A large loan, so that all the load of a slot does not pay it off. */
export const hotShape = (now: number, zone: string): Shape =>
  shapeOf(DEMO_PRODUCTS[3]!, DEMO_PRODUCTS[3]!.principalMax, now - 30 * DAY_MS, zone, now, 0, 0)

/** A large loan with thousands of transactions behind it. */
export const longShape = (now: number, zone: string): Shape =>
  shapeOf(DEMO_PRODUCTS[3]!, DEMO_PRODUCTS[3]!.principalMax, now - 60 * DAY_MS, zone, now, LONG_ENTRIES, 0.00001)

function shapeOf(
  product: Product,
  principal: bigint,
  disbursedAt: number,
  zone: string,
  now: number,
  count: number,
  part: number,
): Shape {
  const terms = termsOf(product, { units: principal, scale: 2 }, disbursedAt, zone)
  const amount = BigInt(Math.max(100, Math.floor(Number(principal) * part)))
  const entries = Array.from({ length: count }, (_, index): NewEntry => {
    const postedAt = Math.floor(disbursedAt + ((now - disbursedAt) * (index + 1)) / (count + 1))
    const ordinal = index + 1
    const plain = { ordinal, place: ordinal, type: 'Repayment' as const, amount, postedAt, token: null, note: null }
    return { ...plain, valueDate: dateIn(zone, postedAt), replaces: null, reversedAt: null }
  })
  const state = replay(terms, entries, now)
  const figures = cached(state)
  const moment = (instant: number) => new Date(instant).toISOString()
  const [first] = terms.schedule
  return {
    instalment: Number(first!.principal + first!.interest),
    loan: {
      product_id: product.id,
      currency: terms.currency.code,
      principal: terms.principal,
      number_of_repayments: terms.numberOfRepayments,
      rate_per_period: terms.ratePerPeriod,
      penalty_amount: terms.penaltyAmount,
      disbursed_at: moment(disbursedAt),
      disbursed_on: terms.disbursedOn,
      due_on: terms.dueOn,
      due_at: moment(terms.dueAt),
      version: 1 + count,
      entry_count: count,
      carried_forward: carriedForward(terms, state),
      carried_version: 1 + count,
      ...Object.fromEntries(CACHED.map((column, index) => [column, figures[index]])),
      created_at: moment(disbursedAt),
      updated_at: moment(now),
    },
    periods: terms.schedule.map(({ period, fromDate, dueDate, ...amounts }) => ({
      period,
      from_date: fromDate,
      due_date: dueDate,
      ...amounts,
    })),
    entries: entries.map(({ ordinal, place, type, valueDate, postedAt, amount: paid }) => ({
      ordinal,
      place,
      type,
      value_date: valueDate,
      posted_at: moment(postedAt),
      amount: paid,
    })),
  }
}

import type { Bucket, DelinquencyPolicy } from '../delinquency/policy.ts'
import { type Cell, type CellKey, NO_SUMS, plusSums, type Sums } from './cells.ts'

/** What a portfolio can be divided by, besides the currency: amounts of two currencies have no sum. */
export const DIVISIONS = ['product', 'currency', 'month'] as const
export type Division = (typeof DIVISIONS)[number]

/** The open loans of a currency, and of a product and a month where the portfolio is divided by them. */
export interface Group {
  readonly currency: string
  /** Undefined: not divided by product. Null: of no product, but of a record system. */
  readonly productId: number | null | undefined
  readonly month: string | undefined
  readonly total: Sums
  /** Every bucket of the policy, in order. */
  readonly buckets: readonly (Sums & { readonly bucket: Bucket })[]
}

/** Returns the groups of cells, in the order of the cells. */
export function groupsOf(cells: readonly Cell[], { buckets }: DelinquencyPolicy, by: readonly Division[]): Group[] {
  const keyOf = ({ currency, productId, month }: CellKey) => ({
    currency,
    productId: by.includes('product') ? productId : undefined,
    month: by.includes('month') ? month : undefined,
  })
  const groups = Map.groupBy(cells, (cell) => JSON.stringify(keyOf(cell)))
  return [...groups.values()].map((some) => ({
    ...keyOf(some[0]!),
    total: some.reduce(plusSums, NO_SUMS),
    buckets: buckets.map((bucket, index) => ({
      bucket,
      ...some.filter((cell) => cell.index === index).reduce(plusSums, NO_SUMS),
    })),
  }))
}

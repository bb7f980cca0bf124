import type { LocalDate } from '../dates.ts'
import type { Bucket, DelinquencyPolicy } from '../delinquency/policy.ts'
import { isRestructuredBy, type Position, type Positioned } from '../delinquency/position.ts'

/** The figures of portfolio at risk as they are named: PAR 1, 30, 60, 90. */
export const AT_RISK_DAYS = [1, 30, 60, 90] as const

/**
 * Returns the days past due from which a loan is in a figure: PAR 1 has the loans that are past due for a day or more, PAR
 * 30 those that are past due for more than 30 days, and so on (CGAP).
 */
export const atRiskFrom = (days: (typeof AT_RISK_DAYS)[number]): number => (days === 1 ? 1 : days + 1)

/** The loans of a portfolio that are counted together besides their bucket. */
export interface CellKey {
  /** Null: of no product, but of a record system. */
  readonly productId: number | null
  readonly currency: string
  /** The month of disbursement, YYYY-MM. */
  readonly month: string
  /** True where a restructure of the loan counts from the day of the portfolio or from a day before it. */
  readonly isRestructured: boolean
  /** The account of the officer; null: nobody has the loans. Left out where nobody asked for officers. */
  readonly officerId?: number | null | undefined
}

/** The open loans of a bucket, in sums. Amounts in minor units. */
export interface Sums {
  readonly loans: number
  /** The principal outstanding. */
  readonly principal: bigint
  /** The sum of the provisions of the loans. */
  readonly provision: bigint
  /** The principal outstanding of the loans in each figure of portfolio at risk: `AT_RISK_DAYS`, in their order. */
  readonly atRisk: readonly bigint[]
}

/** The open loans of one key that are in one bucket. */
export interface Cell extends CellKey, Sums {
  /** The index of the bucket. */
  readonly index: number
}

export const NO_SUMS: Sums = { loans: 0, principal: 0n, provision: 0n, atRisk: AT_RISK_DAYS.map(() => 0n) }

/** Returns two sums together. */
export const plusSums = (a: Sums, b: Sums): Sums => ({
  loans: a.loans + b.loans,
  principal: a.principal + b.principal,
  provision: a.provision + b.provision,
  atRisk: a.atRisk.map((amount, place) => amount + b.atRisk[place]!),
})

/** Returns sums without some of their loans. */
export const lessSums = (all: Sums, some: Sums): Sums => ({
  loans: all.loans - some.loans,
  principal: all.principal - some.principal,
  provision: all.provision - some.provision,
  atRisk: all.atRisk.map((amount, place) => amount - some.atRisk[place]!),
})

/** Returns the sums of one loan. */
export const sumsOf = ({ principal, provision, daysPastDue }: Position): Sums => ({
  loans: 1,
  principal,
  provision,
  atRisk: AT_RISK_DAYS.map((days) => (daysPastDue >= atRiskFrom(days) ? principal : 0n)),
})

/** Returns the month of a day, YYYY-MM. */
export const monthOf = (day: LocalDate): string => day.slice(0, 7)

/** Returns where a loan is counted in the portfolio of a day. */
export const cellKeyOf = (
  { terms, entries, productId, officerId }: Positioned & Pick<CellKey, 'productId' | 'officerId'>,
  day: LocalDate,
): CellKey => ({
  productId,
  currency: terms.currency.code,
  month: monthOf(terms.disbursedOn),
  isRestructured: isRestructuredBy(day, entries),
  officerId,
})

/** The cells of a portfolio while they are summed up. */
export class Cells {
  private readonly cells = new Map<string, Cell>()

  add(cell: Cell): void {
    const { productId, currency, month, isRestructured, officerId, index } = cell
    const key = `${productId ?? ''} ${currency} ${month} ${isRestructured} ${officerId ?? ''} ${index}`
    const before = this.cells.get(key)
    this.cells.set(key, before ? { ...cell, ...plusSums(before, cell) } : cell)
  }

  /** Returns the cells, ordered by currency, product, month, loans that are not restructured first, officer, and bucket. */
  list(): Cell[] {
    return [...this.cells.values()].sort(
      (a, b) =>
        compare(a.currency, b.currency) ||
        (a.productId ?? 0) - (b.productId ?? 0) ||
        compare(a.month, b.month) ||
        Number(a.isRestructured) - Number(b.isRestructured) ||
        (a.officerId ?? 0) - (b.officerId ?? 0) ||
        a.index - b.index,
    )
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Returns the share of an amount in percent, to two decimals; 0 of nothing. */
export const shareOf = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : Number((part * 20_000n + whole) / (whole * 2n)) / 100

/** What a portfolio can be divided by, besides the currency: amounts of two currencies have no sum. */
export const DIVISIONS = ['product', 'currency', 'month', 'restructured', 'officer'] as const
export type Division = (typeof DIVISIONS)[number]

/** The open loans of a currency, and of a product, a month, an officer, and restructured or not where the portfolio is divided by them. */
export interface Group {
  readonly currency: string
  /** Undefined: not divided by product. Null: of no product, but of a record system. */
  readonly productId: number | null | undefined
  readonly month: string | undefined
  readonly isRestructured: boolean | undefined
  /** Undefined: not divided by officer. Null: nobody has the loans. */
  readonly officerId: number | null | undefined
  readonly total: Sums
  /** Every bucket of the policy, in order. */
  readonly buckets: readonly (Sums & { readonly bucket: Bucket })[]
}

/** Returns the groups of cells, in the order of the cells. */
export function groupsOf(cells: readonly Cell[], { buckets }: DelinquencyPolicy, by: readonly Division[]): Group[] {
  const keyOf = ({ currency, productId, month, isRestructured, officerId = null }: CellKey) => ({
    currency,
    productId: by.includes('product') ? productId : undefined,
    month: by.includes('month') ? month : undefined,
    isRestructured: by.includes('restructured') ? isRestructured : undefined,
    officerId: by.includes('officer') ? officerId : undefined,
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

/** A cell as it lies in JSON, which has no integers of the size of amounts. */
type StoredCell = readonly [
  productId: number | null,
  currency: string,
  month: string,
  isRestructured: boolean,
  index: number,
  loans: number,
  principal: string,
  provision: string,
  ...atRisk: string[],
]

/** Returns cells as JSON takes them. */
export const cellsToJson = (cells: readonly Cell[]): StoredCell[] =>
  cells.map(({ productId, currency, month, isRestructured, index, loans, principal, provision, atRisk }) => [
    ...([productId, currency, month, isRestructured, index, loans, String(principal), String(provision)] as const),
    ...atRisk.map(String),
  ])

/** Reads cells from JSON; undefined where it is damaged. */
export function cellsFromJson(json: unknown): Cell[] | undefined {
  try {
    return (json as StoredCell[]).map(
      ([productId, currency, month, isRestructured, index, loans, principal, provision, ...atRisk]): Cell => {
        if (atRisk.length !== AT_RISK_DAYS.length) throw new SyntaxError('a cell')
        return {
          productId,
          currency,
          month,
          isRestructured,
          index,
          loans,
          principal: BigInt(principal),
          provision: BigInt(provision),
          atRisk: atRisk.map(BigInt),
        }
      },
    )
  } catch {
    return undefined
  }
}

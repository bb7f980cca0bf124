import type { LocalDate } from '../dates.ts'
import type { Position } from '../delinquency/position.ts'

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

/** The open loans of one product, currency and month that are in one bucket. */
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

/** Returns the sums of one loan. */
export const sumsOf = ({ principal, provision, daysPastDue }: Position): Sums => ({
  loans: 1,
  principal,
  provision,
  atRisk: AT_RISK_DAYS.map((days) => (daysPastDue >= atRiskFrom(days) ? principal : 0n)),
})

/** Returns the month of a day, YYYY-MM. */
export const monthOf = (day: LocalDate): string => day.slice(0, 7)

/** The cells of a portfolio while they are summed up. */
export class Cells {
  private readonly cells = new Map<string, Cell>()

  add(cell: Cell): void {
    const { productId, currency, month, index } = cell
    const key = `${productId ?? ''} ${currency} ${month} ${index}`
    const before = this.cells.get(key)
    this.cells.set(key, before ? { ...cell, ...plusSums(before, cell) } : cell)
  }

  /** Returns the cells, ordered by currency, product, month and bucket. */
  list(): Cell[] {
    return [...this.cells.values()].sort(
      (a, b) =>
        compare(a.currency, b.currency) ||
        (a.productId ?? 0) - (b.productId ?? 0) ||
        compare(a.month, b.month) ||
        a.index - b.index,
    )
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

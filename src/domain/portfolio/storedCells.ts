import { AT_RISK_DAYS, type Cell } from './cells.ts'

/** A cell as it lies in JSON, which has no integers of the size of amounts. */
type StoredCell = readonly [
  productId: number | null,
  currency: string,
  month: string,
  index: number,
  loans: number,
  principal: string,
  provision: string,
  ...atRisk: string[],
]

/** Returns cells as JSON takes them. */
export const cellsToJson = (cells: readonly Cell[]): StoredCell[] =>
  cells.map(({ productId, currency, month, index, loans, principal, provision, atRisk }) => [
    ...([productId, currency, month, index, loans, String(principal), String(provision)] as const),
    ...atRisk.map(String),
  ])

/** Reads cells from JSON; undefined where it is damaged. */
export function cellsFromJson(json: unknown): Cell[] | undefined {
  try {
    return (json as StoredCell[]).map(
      ([productId, currency, month, index, loans, principal, provision, ...atRisk]): Cell => {
        if (atRisk.length !== AT_RISK_DAYS.length) throw new SyntaxError('a cell')
        return {
          productId,
          currency,
          month,
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

import type { TrialBalance } from '../trialBalance.ts'
import { type AccountAmount, incomeStatementOf, linesOfType, totalOf } from './incomeStatement.ts'

/**
 * What the loan business has and owes on a day, in one currency. Amounts in minor units: assets are liabilities, equity and
 * the accumulated result together.
 */
export interface BalanceSheet {
  readonly assets: readonly AccountAmount[]
  readonly liabilities: readonly AccountAmount[]
  readonly equity: readonly AccountAmount[]
  readonly totalAssets: bigint
  readonly totalLiabilities: bigint
  readonly totalEquity: bigint
  /** All income less all expenses up to the day. */
  readonly accumulatedResult: bigint
}

/** Returns the balance sheet of the day of a trial balance of one currency. */
export function balanceSheetOf(closing: TrialBalance): BalanceSheet {
  const [assets, liabilities, equity] = (['asset', 'liability', 'equity'] as const).map((type) =>
    linesOfType(closing, type, ({ balance }) => balance),
  ) as [AccountAmount[], AccountAmount[], AccountAmount[]]
  return {
    assets,
    liabilities,
    equity,
    totalAssets: totalOf(assets),
    totalLiabilities: totalOf(liabilities),
    totalEquity: totalOf(equity),
    accumulatedResult: incomeStatementOf(undefined, closing).result,
  }
}

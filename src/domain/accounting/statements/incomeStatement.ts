import { sum } from '../../money.ts'
import type { AccountType } from '../chart.ts'
import type { AccountBalance, TrialBalance } from '../trialBalance.ts'

/** An account in a financial statement. `amount`, in minor units, is above zero on the side where the type of the account has it. */
export interface AccountAmount {
  readonly code: string
  readonly name: string
  readonly amount: bigint
}

/** What the loan business earned and spent over some days, in one currency. Amounts in minor units. */
export interface IncomeStatement {
  /** By code, like the other lists of accounts here. */
  readonly income: readonly AccountAmount[]
  readonly expenses: readonly AccountAmount[]
  readonly totalIncome: bigint
  readonly totalExpenses: bigint
  /** Income less expenses: below zero for a loss. */
  readonly result: bigint
}

/**
 * Returns the income statement of the days between two trial balances of one currency: the accounts of the later one, with
 * what their balances changed.
 * @param opening the trial balance of the day before the first one; undefined: of all days up to the closing one
 */
export function incomeStatementOf(opening: TrialBalance | undefined, closing: TrialBalance): IncomeStatement {
  const before = new Map(opening?.accounts.map(({ code, balance }) => [code, balance]))
  const moved = (account: AccountBalance) => account.balance - (before.get(account.code) ?? 0n)
  const income = linesOfType(closing, 'income', moved)
  const expenses = linesOfType(closing, 'expense', moved)
  const [totalIncome, totalExpenses] = [totalOf(income), totalOf(expenses)]
  return { income, expenses, totalIncome, totalExpenses, result: totalIncome - totalExpenses }
}

/** Returns the accounts of a type in a trial balance, each with an amount. */
export const linesOfType = (
  { accounts }: TrialBalance,
  type: AccountType,
  amountOf: (account: AccountBalance) => bigint,
): AccountAmount[] =>
  accounts
    .filter((account) => account.type === type)
    .map((account) => ({ code: account.code, name: account.name, amount: amountOf(account) }))

/** Returns the sum of the amounts of accounts. */
export const totalOf = (lines: readonly AccountAmount[]): bigint => sum(lines.map(({ amount }) => amount))

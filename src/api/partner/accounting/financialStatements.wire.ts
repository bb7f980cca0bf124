import { z } from 'zod'
import type { AccountAmount } from '../../../domain/accounting/statements/incomeStatement.ts'
import { BASES } from '../../../domain/accounting/trialBalance.ts'
import { minorToNumber } from '../../../domain/money.ts'
import type { BooksOfDays } from '../../../services/accounting/financialStatements.ts'
import { word } from '../../openapi/answers.ts'
import { localDate } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

const basis = z
  .enum(BASES)
  .optional()
  .describe(
    'As of the trial balance. `booked` (default): as the books were kept, by booked day. `economic`: as the value dates say, whenever it was posted.',
  )

export const incomeStatementQuery = z.strictObject({
  from: localDate.meta({ description: 'The first day that counts.', examples: ['2026-02-01'] }),
  to: localDate.meta({ description: 'The last day that counts.', examples: ['2026-02-28'] }),
  basis,
})

export const balanceSheetQuery = z.strictObject({
  asOf: localDate.optional().describe('The day, at its end. Default: today.'),
  basis,
})

/** An amount in the currency that the answer names. */
const sum = (description: string) => z.number().meta({ description, examples: [1500] })

const line = named(
  'AccountAmount',
  z.object({
    code: z.string().describe('The code of the account.'),
    name: z.string(),
    amount: sum('Above zero on the side where the type of the account has it.'),
  }),
  { example: examples.accountAmount },
)

const accounts = z.array(line).describe('By code.')
const currencyCode = z.string().describe('ISO 4217, such as `TZS`.')

const incomeOfCurrency = named(
  'IncomeStatementOfCurrency',
  z.object({
    currencyCode,
    income: accounts,
    expenses: accounts,
    totalIncome: sum('All income of the days.'),
    totalExpenses: sum('All expenses of the days.'),
    result: sum('Income less expenses; below zero for a loss.'),
  }),
  { example: examples.incomeStatement.currencies[0]! },
)

const basisOfAnswer = word('By what days postings count', BASES)
const sequence = z
  .string()
  .describe('The last event in the answer. Of a last day in a closed month, its `closeSequence`.')
const CURRENCIES = 'By currency: that of the organization, and others that have postings up to the day.'

export const incomeStatementSchema = named(
  'IncomeStatement',
  z.object({
    from: z.iso.date(),
    to: z.iso.date(),
    basis: basisOfAnswer,
    currencies: z.array(incomeOfCurrency).describe(CURRENCIES),
    sequence,
  }),
  { example: examples.incomeStatement },
)

const sheetOfCurrency = named(
  'BalanceSheetOfCurrency',
  z.object({
    currencyCode,
    assets: accounts,
    liabilities: accounts,
    equity: accounts,
    totalAssets: sum('Equal to liabilities, equity and accumulated result together.'),
    totalLiabilities: sum('What the loan business owes.'),
    totalEquity: sum('The equity that the chart has, such as that of loans that were imported.'),
    accumulatedResult: sum('All income less all expenses up to the day.'),
  }),
  { example: examples.balanceSheet.currencies[0]! },
)

export const balanceSheetSchema = named(
  'BalanceSheet',
  z.object({
    asOf: z.iso.date(),
    basis: basisOfAnswer,
    currencies: z.array(sheetOfCurrency).describe(CURRENCIES),
    sequence,
  }),
  { example: examples.balanceSheet },
)

/** Builds the view of the income statement of some books. */
export const toIncomeStatement = ({
  from,
  to,
  basis: by,
  sequence: last,
  currencies,
}: BooksOfDays): z.input<typeof incomeStatementSchema> => ({
  from,
  to,
  basis: by,
  currencies: currencies.map(({ currency, incomeStatement }) => {
    const amount = (minor: bigint) => minorToNumber(minor, currency)
    const { income, expenses, totalIncome, totalExpenses, result } = incomeStatement
    return {
      currencyCode: currency.code,
      income: toLines(income, amount),
      expenses: toLines(expenses, amount),
      totalIncome: amount(totalIncome),
      totalExpenses: amount(totalExpenses),
      result: amount(result),
    }
  }),
  sequence: String(last),
})

/** Builds the view of the balance sheet of some books, as of their last day. */
export const toBalanceSheet = ({
  to,
  basis: by,
  sequence: last,
  currencies,
}: BooksOfDays): z.input<typeof balanceSheetSchema> => ({
  asOf: to,
  basis: by,
  currencies: currencies.map(({ currency, balanceSheet }) => {
    const amount = (minor: bigint) => minorToNumber(minor, currency)
    return {
      currencyCode: currency.code,
      assets: toLines(balanceSheet.assets, amount),
      liabilities: toLines(balanceSheet.liabilities, amount),
      equity: toLines(balanceSheet.equity, amount),
      totalAssets: amount(balanceSheet.totalAssets),
      totalLiabilities: amount(balanceSheet.totalLiabilities),
      totalEquity: amount(balanceSheet.totalEquity),
      accumulatedResult: amount(balanceSheet.accumulatedResult),
    }
  }),
  sequence: String(last),
})

const toLines = (lines: readonly AccountAmount[], amountOf: (minor: bigint) => number): z.input<typeof line>[] =>
  lines.map(({ code, name, amount }) => ({ code, name, amount: amountOf(amount) }))

import { balanceSheetCsv, incomeStatementCsv } from '../../../services/accounting/csv.ts'
import { getBooks, getBooksUpTo } from '../../../services/accounting/financialStatements.ts'
import type { Caches, Core } from '../../../services/deps.ts'
import { answerReport, reportAnswer } from '../../body/accepted.ts'
import type { StyleApp } from '../../style.ts'
import * as examples from './examples.ts'
import {
  balanceSheetQuery,
  balanceSheetSchema,
  incomeStatementQuery,
  incomeStatementSchema,
  toBalanceSheet,
  toIncomeStatement,
} from './financialStatements.wire.ts'

const tags = ['accounting']

/** Adds the financial statements of the loan business: the income statement and the balance sheet. */
export function financialStatementRoutes(app: StyleApp, deps: Core & Caches): void {
  app.get(
    '/v1/accounting/income-statement',
    {
      schema: {
        tags,
        operationId: 'getIncomeStatement',
        summary: 'Read the income statement',
        description:
          'What each account of income and expenses changed over some days, and the result. Of days up to one in a closed month, the booked one is the same to the byte for ever.',
        querystring: incomeStatementQuery,
        response: { 200: reportAnswer(incomeStatementSchema, examples.INCOME_STATEMENT_CSV) },
      },
    },
    async (request, reply) =>
      answerReport(request, reply, await getBooks(deps, request.caller, request.query), {
        toView: toIncomeStatement,
        toCsv: incomeStatementCsv,
        nameOf: ({ from, to }) => `income-statement-${from}-${to}`,
      }),
  )

  app.get(
    '/v1/accounting/balance-sheet',
    {
      schema: {
        tags,
        operationId: 'getBalanceSheet',
        summary: 'Read the balance sheet of the loan business',
        description:
          'Assets, liabilities and equity at the end of a day, and the accumulated result, which makes the two sides equal. Of a day in a closed month, the booked one is the same to the byte for ever.',
        querystring: balanceSheetQuery,
        response: { 200: reportAnswer(balanceSheetSchema, examples.BALANCE_SHEET_CSV) },
      },
    },
    async (request, reply) =>
      answerReport(request, reply, await getBooksUpTo(deps, request.caller, request.query), {
        toView: toBalanceSheet,
        toCsv: balanceSheetCsv,
        nameOf: ({ to }) => `balance-sheet-${to}`,
      }),
  )
}

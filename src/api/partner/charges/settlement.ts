import { z } from 'zod'
import { minorToNumber } from '../../../domain/money.ts'
import { EARLY_SETTLEMENTS } from '../../../domain/product/terms.ts'
import type { Deps } from '../../../services/deps.ts'
import { quoteSettlement, type SettlementQuote } from '../../../services/loans/settlementQuote.ts'
import { word } from '../../openapi/answers.ts'
import type { StyleApp } from '../../style.ts'
import { localDate, money } from '../../wire.ts'
import { named as component, LOAN_ADDRESSES } from '../registry.ts'
import * as examples from './examples.ts'

const settlementQuery = z.strictObject({
  on: localDate
    .meta({ examples: undefined })
    .optional()
    .describe('The value date of the repayment that pays the loan off. Default: today.'),
})

const settlementQuote = component(
  'SettlementQuote',
  z.object({
    loanId: z.string().describe("The service's number of the loan."),
    currencyCode: z.string(),
    on: z.iso.date().describe('The day of the settlement.'),
    earlySettlement: word('The rule of the product', EARLY_SETTLEMENTS),
    totalOutstanding: money.describe(
      'What is owed by the transactions dated up to that day, with the penalties of the days before. It may be less than `totalOutstanding` of the loan, which has the penalties of the day, too.',
    ),
    interestWaived: money.describe('The interest that is not earned on that day, and that a settlement waives.'),
    settlementAmount: money.describe('A repayment of this amount on that day pays the loan off.'),
    overpaid: money.describe('What the loan is overpaid by after the settlement; 0 where an amount is to be paid.'),
  }),
  { example: examples.settlementQuote },
)

const toSettlementQuote = ({ loan, settlement }: SettlementQuote): z.infer<typeof settlementQuote> => {
  const { currency, rules } = loan.terms
  const number = (minor: bigint) => minorToNumber(minor, currency)
  return {
    loanId: String(loan.id),
    currencyCode: currency.code,
    on: settlement.on,
    earlySettlement: rules?.earlySettlement ?? 'full_interest',
    totalOutstanding: number(settlement.outstanding),
    interestWaived: number(settlement.waived),
    settlementAmount: number(settlement.amount),
    overpaid: number(settlement.overpaid),
  }
}

/** Adds the quote of an early settlement (contract 10.11). */
export function settlementRoutes(app: StyleApp, deps: Deps): void {
  for (const { path, params, named } of LOAN_ADDRESSES)
    app.get(
      `/v1/loans${path}/settlement-quote`,
      {
        schema: {
          tags: ['loans'],
          operationId: named('getSettlementQuote', 'Loan'),
          summary: 'Quote a settlement',
          description:
            'What pays a loan off on a day, and the interest that the settlement waives. To settle, post a repayment of `settlementAmount` with `transactionDate` = `on`; on another day, quote again. The quote is not kept: a later transaction or penalty changes it. With `full_interest` it is what is outstanding.',
          params,
          querystring: settlementQuery,
          response: { 200: settlementQuote },
        },
      },
      async ({ caller, params: ref, query: { on } }) => toSettlementQuote(await quoteSettlement(deps, caller, ref, on)),
    )
}

import { z } from 'zod'
import { type Decimal, minorToNumber, parseDecimal } from '../../../domain/money.ts'
import type { Quote } from '../../../domain/product/quote.ts'
import type { Instalment } from '../../../domain/schedule/schedule.ts'
import { count } from '../../openapi/answers.ts'
import { codec, localDate, money, Refused } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

const queryAmount = codec<Decimal>(
  (value) => {
    if (typeof value !== 'string' || !/^\d+(\.\d+)?$/.test(value))
      return new Refused('must be an amount in decimal digits, such as 1500 or 99.95')
    return parseDecimal(value) ?? new Refused('is too large, or has too many digits')
  },
  { type: 'number', format: 'double', exclusiveMinimum: 0, maximum: 999_999_999_999.99, examples: [100_000] },
)

export const quoteQuery = z.strictObject({
  principal: queryAmount.describe("Within the product's bounds, in its currency."),
  disbursedOn: localDate.meta({ examples: undefined }).optional().describe('The day of disbursement. Default: today.'),
})

const quoteLine = named(
  'QuoteInstalment',
  z.object({
    period: count.describe('1, 2, 3 …'),
    fromDate: z.iso.date(),
    dueDate: z.iso.date(),
    principalDue: money,
    interestDue: money,
    feesDue: money,
    taxDue: money.optional().describe('The tax in interest and fees, where the product has one.'),
    totalDue: money.describe('Principal, interest and fees of this instalment.'),
    principalBalance: money.describe('Principal owed after this instalment.'),
  }),
  { example: examples.quoteLine },
)

export const quoteSchema = named(
  'LoanQuote',
  z.object({
    productId: count,
    currencyCode: z.string(),
    principal: money,
    netDisbursed: money.describe('What is paid out: the principal without the fees that are deducted.'),
    disbursedOn: z.iso.date(),
    totalInterest: money,
    totalFees: money.describe('Deducted ones too.'),
    feesDeducted: money.describe('The fees that are kept back from what is paid out.'),
    totalTax: money.optional().describe('The tax in interest and fees, deducted ones too, where the product has one.'),
    totalCostOfCredit: money.describe('Interest and fees.'),
    totalDue: money.describe(
      'What is due in all instalments: principal, interest, and the fees that are not deducted.',
    ),
    apr: z
      .number()
      .nullable()
      .meta({ minimum: 0 })
      .describe(
        'Percent a year: the rate at which what is due, discounted by days / 365 with yearly compounding, is worth what is paid out. Null above a million percent.',
      ),
    repaymentSchedule: z.array(quoteLine).describe('The instalments, the first one first.'),
  }),
  { example: examples.quote },
)

/** Builds the view of a quote. */
export function toQuote(quote: Quote): z.infer<typeof quoteSchema> {
  const { product, principal, disbursedOn, totalInterest, totalFees, taxes } = quote
  const number = (minor: bigint) => minorToNumber(minor, product.currency)
  let balance = principal
  const lineOf = (line: Instalment) => {
    balance -= line.principal
    return {
      period: line.period,
      fromDate: line.fromDate,
      dueDate: line.dueDate,
      principalDue: number(line.principal),
      interestDue: number(line.interest),
      feesDue: number(line.fees),
      ...(taxes && { taxDue: number(taxes.due[line.period - 1]!) }),
      totalDue: number(line.principal + line.interest + line.fees),
      principalBalance: number(balance),
    }
  }
  return {
    productId: product.id,
    currencyCode: product.currency.code,
    principal: number(principal),
    netDisbursed: number(quote.netDisbursed),
    disbursedOn,
    totalInterest: number(totalInterest),
    totalFees: number(totalFees),
    feesDeducted: number(quote.feesDeducted),
    ...(taxes && { totalTax: number(taxes.total) }),
    totalCostOfCredit: number(totalInterest + totalFees),
    totalDue: number(quote.totalDue),
    apr: quote.apr,
    repaymentSchedule: quote.schedule.map(lineOf),
  }
}

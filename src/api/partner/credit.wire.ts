import { z } from 'zod'
import { GRADES } from '../../domain/credit/policy.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import { type Currency, minorToNumber } from '../../domain/money.ts'
import type { CustomerNames, ScorecardNow } from '../../services/credit/credit.ts'
import type { BoostDecided } from '../../services/credit/creditBoosts.ts'
import { upload } from '../body/upload.ts'
import { count } from '../openapi/answers.ts'
import { externalIdParam, idParam, instant, money, text } from '../wire.ts'
import * as examples from './openapi/examples.ts'
import { named } from './registry.ts'

/** A path parameter that is either id of a customer; both forms are read, and the one that exists is used. */
export const eitherId = z
  .object({
    customer: externalIdParam.meta({
      description:
        "Your own id of the customer, or the service's number. Where one customer's externalId is another's number, the externalId wins.",
      examples: [examples.customer.externalId],
    }),
  })
  .transform(({ customer }): CustomerNames => {
    const id = idParam.safeParse(customer).data ?? null
    return { externalId: customer, id }
  })

const creditScore = count.max(1000).describe('0 to 1000; 0 while unscored.')
const grade = z
  .enum([...GRADES, 'XX'])
  .describe('A is best. `XX`: unscored, because the book says nothing of the customer yet.')

export const scorecardSchema = named(
  'CreditScorecard',
  z.object({
    externalId: z.string().nullable().describe('Null for a customer made by a record system.'),
    customerId: z.string().describe("The service's number of the customer."),
    grade,
    creditScore,
    creditLimit: money.describe("What the history earns, or a statement raised it to; in the organization's currency."),
    availableCreditLimit: money.describe('The limit while nothing is outstanding, else 0.'),
    totalOutstanding: money.describe('What is owed on all loans of the customer.'),
    totalPaid: money.describe('What was paid on all loans of the customer.'),
    currencyCode: z.string().describe('ISO 4217: the currency of the organization, and of every amount here.'),
    reasons: z.array(z.string()).describe('What raised and lowered the score, strongest first; then the limit.'),
    scoredAt: instant.describe('The moment that the scorecard is of: that of the request.'),
  }),
  { example: examples.scorecard },
)

export const boostCreditLimitRequest = named(
  'BoostCreditLimitRequest',
  z.strictObject({
    statement: upload({
      description:
        'The statement as it was issued: a PDF with text, at most 10 MiB and 200 pages, without a password. Of at least two whole months, ended at most 90 days ago (an organization may have set other bounds).',
      contentMediaType: 'application/pdf',
    }),
    fullName: text({ max: 200 })
      .describe(
        'If given, it has to be the name on the statement. One of both, or more, unless the organization takes statements without.',
      )
      .optional(),
    mobileNumber: text({ max: 30 })
      .describe(
        'If given, it has to be the number on the statement; where such statements name none, `fullName` is needed.',
      )
      .optional(),
  }),
  { example: { statement: '%PDF-1.7 …', fullName: 'Asha Mwangi', mobileNumber: '0754000123' } },
)

const statementMonth = named(
  'StatementMonth',
  z.object({
    from: z.iso.date().describe('The first day of the month.'),
    to: z.iso.date().describe('The last day of the month.'),
    inflow: money.describe('What came in as income: loans and reversals are none.'),
    closingBalance: money.describe('What was left on the last day.'),
  }),
  { example: examples.boost.statement.monthly[0]! },
)

const readStatement = named(
  'ReadStatement',
  z.object({
    layout: z.string().describe('Which kind of statement it was read as.'),
    from: z.iso.date().describe('The first day of the statement.'),
    to: z.iso.date().describe('The last day of the statement.'),
    months: count.describe('Whole months, counted back from the last day.'),
    averageMonthlyInflow: money.describe('Income of a whole month, on average.'),
    leastMonthlyInflow: money.describe('Income of the whole month that had least.'),
    openingBalance: money.describe('What was there before the first day.'),
    closingBalance: money.describe('What was left on the last day.'),
    transactions: count.describe('Lines of the statement.'),
    monthly: z.array(statementMonth).describe('The latest month first.'),
    nameChecked: z.boolean().describe('A name was given, and is that on the statement.'),
    mobileNumberChecked: z
      .boolean()
      .describe('A number was given, and is that on the statement. Statements of banks name none.'),
    usedBefore: z.boolean().describe('It has raised a limit before, and raises none again.'),
  }),
  { example: examples.boost.statement },
)

export const boostSchema = named(
  'CreditBoost',
  z.object({
    externalId: z.string().nullable().describe('Null for a customer made by a record system.'),
    boostStatus: z
      .enum(['raised', 'unchanged', 'cooldown'])
      .describe(
        '`unchanged`: the statement supports no higher limit, or has raised one before. `cooldown`: a statement raised the limit too short a time ago.',
      ),
    originalCreditLimit: money.describe('The limit before.'),
    statementCreditLimit: money.describe('What the statement supports.'),
    creditLimit: money.describe('The limit now.'),
    creditScore,
    grade,
    nextBoostOn: z.iso.date().describe('The first day on which another statement may raise the limit.'),
    statement: readStatement.describe('What was read. Neither the file nor whose it is is kept.'),
  }),
  { example: examples.boost },
)

const amounts = (currency: Currency) => (minor: bigint) => minorToNumber(minor, currency)

/** Builds the partner style's view of a scorecard. */
export function toScorecard(scored: ScorecardNow, zone: string): z.infer<typeof scorecardSchema> {
  const { position, currency, card, inputs, scoredAt } = scored
  const number = amounts(currency)
  return {
    externalId: position.externalId,
    customerId: String(position.customerId),
    grade: card.grade,
    creditScore: card.score,
    creditLimit: number(card.creditLimit),
    availableCreditLimit: number(card.availableLimit),
    totalOutstanding: number(inputs.history.outstanding),
    totalPaid: number(inputs.history.repaid),
    currencyCode: currency.code,
    reasons: [...card.reasons],
    scoredAt: toRfc3339(scoredAt, zone),
  }
}

/** Builds the partner style's view of a boost. */
export function toBoost({ externalId, currency, inputs, result }: BoostDecided): z.infer<typeof boostSchema> {
  const number = amounts(currency)
  const { statement, seenBefore } = inputs
  return {
    externalId,
    boostStatus: result.boostStatus,
    originalCreditLimit: number(inputs.currentLimit),
    statementCreditLimit: number(result.statementLimit),
    creditLimit: number(result.creditLimit),
    creditScore: inputs.score,
    grade: inputs.grade,
    nextBoostOn: result.nextBoostOn,
    statement: {
      layout: statement.layout,
      from: statement.from,
      to: statement.to,
      months: statement.months,
      averageMonthlyInflow: number(statement.averageMonthlyInflow),
      leastMonthlyInflow: number(statement.leastMonthlyInflow),
      openingBalance: number(statement.openingBalance),
      closingBalance: number(statement.closingBalance),
      transactions: statement.transactions,
      monthly: statement.monthly.map(({ from, to, inflow, closingBalance }) => ({
        from,
        to,
        inflow: number(inflow),
        closingBalance: number(closingBalance),
      })),
      nameChecked: statement.nameChecked,
      mobileNumberChecked: statement.mobileNumberChecked,
      usedBefore: seenBefore,
    },
  }
}

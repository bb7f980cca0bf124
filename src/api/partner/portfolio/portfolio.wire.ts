import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import { PRESETS } from '../../../domain/delinquency/presets.ts'
import { currencyOf, minorToNumber } from '../../../domain/money.ts'
import { AT_RISK_DAYS, type Sums } from '../../../domain/portfolio/cells.ts'
import { DIVISIONS, type Group } from '../../../domain/portfolio/groups.ts'
import { shareOf } from '../../../domain/portfolio/share.ts'
import type { NamedPolicy } from '../../../services/delinquency/policies.ts'
import type { PortfolioAtRisk } from '../../../services/portfolio/portfolioAtRisk.ts'
import { count, percent, total } from '../../document/answers.ts'
import { queryInstant, queryWords } from '../../lists/query.ts'
import { instant, localDate, money } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

const NAMES = PRESETS.map(({ name }) => name)

/** The policy that is asked for, in a query. */
export const queryPolicy = z
  .string()
  .max(100)
  .optional()
  .describe(`A published policy, ${NAMES.join(', ')}, or the number of a version of yours. Default: the one in force.`)

export const portfolioQuery = z.strictObject({
  asOf: localDate
    .meta({ examples: undefined })
    .optional()
    .describe('The day. Default: the day of `knownAt`, or today.'),
  knownAt: queryInstant
    .optional()
    .describe('Answers by what was known at this instant; a date stands for its last instant. Default: now.'),
  by: queryWords(DIVISIONS)
    .optional()
    .describe(
      'What the portfolio is divided by: `product`, `currency`, `month` (of disbursement). Amounts of two currencies have no sum, so the currency always divides.',
    ),
  policy: queryPolicy,
})

/** The members of an answer that name its policy. */
export const policyMembers = {
  policy: z.string().optional().describe('The name of the published policy, where it is one.'),
  policyVersion: count.optional().describe('The version of your policies; 0 before the first one was set.'),
  source: z.string().optional().describe('Where the figures of a published policy are from.'),
}

/** Names a policy in an answer. */
export const toPolicy = ({ name, version, source }: NamedPolicy) => ({
  ...(name !== null && { policy: name }),
  ...(version !== null && { policyVersion: version }),
  ...(source !== null && { source }),
})

const atRisk = named(
  'PortfolioAtRiskFigure',
  z.object({
    days: count.describe('1: loans that are past due for a day or more. 30, 60, 90: for more than so many days.'),
    principal: money.describe('Their principal outstanding.'),
    percent: percent.describe('Its share of the whole principal outstanding, in percent, to two decimals.'),
  }),
  { example: examples.group.atRisk[0]! },
)

const bucket = named(
  'PortfolioBucket',
  z.object({
    bucket: z.string().describe('The name of the bucket.'),
    loans: total,
    principalOutstanding: money,
  }),
  { example: examples.group.buckets[0]! },
)

const group = named(
  'PortfolioGroup',
  z.object({
    currencyCode: z.string().describe('ISO 4217, such as `TZS`.'),
    productId: count
      .nullable()
      .optional()
      .describe('Where the portfolio is divided by product. Null: loans of a record system.'),
    month: z.string().optional().describe('The month of disbursement, where the portfolio is divided by it.'),
    loans: total.describe('Open loans.'),
    principalOutstanding: money,
    atRisk: z.array(atRisk).describe('Portfolio at risk: PAR 1, 30, 60, 90.'),
    buckets: z.array(bucket).describe('Every bucket of the policy, in order.'),
  }),
  { example: examples.group },
)

export const portfolioSchema = named(
  'PortfolioAtRisk',
  z.object({
    asOf: z.iso.date(),
    knownAt: instant.optional().describe('Where it was asked for.'),
    ...policyMembers,
    groups: z.array(group).describe('By currency, product and month. None where no loan was open.'),
  }),
  { example: examples.portfolio },
)

const toAtRisk = ({ principal, atRisk: amounts }: Sums, code: string): z.infer<typeof atRisk>[] =>
  AT_RISK_DAYS.map((days, place) => ({
    days,
    principal: minorToNumber(amounts[place]!, currencyOf(code)),
    percent: shareOf(amounts[place]!, principal),
  }))

function toGroup({ currency: code, productId, month, total: sums, buckets }: Group): z.infer<typeof group> {
  const amount = (minor: bigint) => minorToNumber(minor, currencyOf(code))
  return {
    currencyCode: code,
    ...(productId !== undefined && { productId }),
    ...(month !== undefined && { month }),
    loans: sums.loans,
    principalOutstanding: amount(sums.principal),
    atRisk: toAtRisk(sums, code),
    buckets: buckets.map(({ bucket: { name }, loans, principal }) => ({
      bucket: name,
      loans,
      principalOutstanding: amount(principal),
    })),
  }
}

/** Builds the view of a portfolio at risk. */
export const toPortfolio = (
  { asOf, knownAt, policy, groups }: PortfolioAtRisk,
  zone: string,
): z.infer<typeof portfolioSchema> => ({
  asOf,
  ...(knownAt !== undefined && { knownAt: toRfc3339(knownAt, zone) }),
  ...toPolicy(policy),
  groups: groups.map(toGroup),
})

import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import { PRESETS } from '../../../domain/delinquency/policy.ts'
import { type Currency, currencyOf, minorToNumber, rateToNumber } from '../../../domain/money.ts'
import { AT_RISK_DAYS, DIVISIONS, type Group, type Sums, shareOf } from '../../../domain/portfolio/cells.ts'
import type { Moved, RollRates, RollRow } from '../../../domain/portfolio/rolls.ts'
import type { BookedProvisions } from '../../../services/accounting/bookProvisions.ts'
import type { NamedPolicy } from '../../../services/delinquency/policies.ts'
import type { PortfolioAtRisk, RollAnswer } from '../../../services/portfolio/portfolio.ts'
import type { ProvisionGroup, Provisions } from '../../../services/portfolio/provisions.ts'
import { queryInstant, queryWords } from '../../lists/query.ts'
import { count, percent, total } from '../../openapi/answers.ts'
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
      'What the portfolio is divided by: `product`, `currency`, `month` (of disbursement), `restructured` (or not, by the day). Amounts of two currencies have no sum, so the currency always divides.',
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
    loans: total(),
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
    restructured: z
      .boolean()
      .optional()
      .describe('Where the portfolio is divided by it: whether a restructure of the loans counts on the day.'),
    officerId: count
      .nullable()
      .optional()
      .describe(
        'Where the portfolio is divided by officer: the account that has the loans. Null: loans that nobody has.',
      ),
    loans: total().describe('Open loans.'),
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
    groups: z
      .array(group)
      .describe('By currency, product, month, restructured or not, and officer. None where no loan was open.'),
  }),
  { example: examples.portfolio },
)

const toAtRisk = ({ principal, atRisk: amounts }: Sums, code: string): z.infer<typeof atRisk>[] =>
  AT_RISK_DAYS.map((days, place) => ({
    days,
    principal: minorToNumber(amounts[place]!, currencyOf(code)),
    percent: shareOf(amounts[place]!, principal),
  }))

function toGroup({
  currency: code,
  productId,
  month,
  isRestructured,
  officerId,
  total: sums,
  buckets,
}: Group): z.infer<typeof group> {
  const amount = (minor: bigint) => minorToNumber(minor, currencyOf(code))
  return {
    currencyCode: code,
    ...(productId !== undefined && { productId }),
    ...(month !== undefined && { month }),
    ...(isRestructured !== undefined && { restructured: isRestructured }),
    ...(officerId !== undefined && { officerId }),
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

const asOf = localDate.meta({ examples: undefined }).optional().describe('The day. Default: today.')

export const provisionsQuery = z.strictObject({ asOf, policy: queryPolicy })

export const bookProvisionsRequest = named('BookProvisionsRequest', z.strictObject({ asOf }), {
  example: examples.booking,
})

/** An amount that may be below 0. */
const difference = z.number().meta({ examples: [1500] })

const provisionBucket = named(
  'ProvisionBucket',
  z.object({
    bucket: z.string().describe('The name of the bucket.'),
    provisionRate: percent.optional().describe('In percent; absent where the bucket has none.'),
    loans: total(),
    principalOutstanding: money,
    provision: money,
  }),
  { example: examples.provisionGroup.buckets[0]! },
)

const productId = count.nullable().describe('Null: loans of a record system.')

const provisionGroup = named(
  'ProvisionGroup',
  z.object({
    currencyCode: z.string().describe('ISO 4217, such as `TZS`.'),
    productId,
    loans: total().describe('Open loans.'),
    principalOutstanding: money,
    provision: money.describe('The sum of the provisions of the loans.'),
    booked: difference.describe('The allowance in the journal with value dates up to the day.'),
    difference: difference.describe('What a booking would post: `provision` less `booked`.'),
    buckets: z.array(provisionBucket).describe('Every bucket of the policy, in order.'),
  }),
  { example: examples.provisionGroup },
)

export const provisionsSchema = named(
  'Provisions',
  z.object({
    asOf: z.iso.date(),
    ...policyMembers,
    groups: z.array(provisionGroup).describe('By currency and product.'),
  }),
  { example: examples.provisions },
)

const posting = named(
  'ProvisionPosting',
  z.object({
    currencyCode: z.string().describe('ISO 4217, such as `TZS`.'),
    productId,
    provision: money.describe('What is booked now.'),
    bookedBefore: difference.describe('The allowance before.'),
    difference: difference.describe('What was posted; below 0 where less is expected to be lost.'),
  }),
  { example: examples.booked.postings[0]! },
)

export const bookedSchema = named(
  'BookedProvisions',
  z.object({
    asOf: z.iso.date(),
    postings: z.array(posting).describe('What was posted; empty where all was booked before.'),
  }),
  { example: examples.booked },
)

function toProvisionGroup({
  currency: code,
  productId: of,
  total: sums,
  booked,
  buckets,
}: ProvisionGroup): z.infer<typeof provisionGroup> {
  const currency: Currency = currencyOf(code)
  const amount = (minor: bigint) => minorToNumber(minor, currency)
  return {
    currencyCode: code,
    productId: of,
    loans: sums.loans,
    principalOutstanding: amount(sums.principal),
    provision: amount(sums.provision),
    booked: amount(booked),
    difference: amount(sums.provision - booked),
    buckets: buckets.map(({ bucket: { name, provisionRate }, loans, principal, provision }) => ({
      bucket: name,
      ...(provisionRate !== null && { provisionRate: rateToNumber(provisionRate) }),
      loans,
      principalOutstanding: amount(principal),
      provision: amount(provision),
    })),
  }
}

/** Builds the view of provisions. */
export const toProvisions = ({ asOf: day, policy, groups }: Provisions): z.infer<typeof provisionsSchema> => ({
  asOf: day,
  ...toPolicy(policy),
  groups: groups.map(toProvisionGroup),
})

/** Builds the view of a booking. */
export const toBooked = ({ asOf: day, postings }: BookedProvisions): z.infer<typeof bookedSchema> => ({
  asOf: day,
  postings: postings.map(({ currency: code, productId: of, provision, bookedBefore, difference: posted }) => {
    const amount = (minor: bigint) => minorToNumber(minor, currencyOf(code))
    return {
      currencyCode: code,
      productId: of,
      provision: amount(provision),
      bookedBefore: amount(bookedBefore),
      difference: amount(posted),
    }
  }),
})

export const rollQuery = z.strictObject({
  from: localDate.meta({ description: 'The first day, at whose end the rows begin.', examples: ['2026-01-31'] }),
  to: localDate.meta({ examples: undefined }).optional().describe('The last day, after `from`. Default: today.'),
  policy: queryPolicy,
})

const moved = { loans: total(), principal: money }

const movedSchema = named('RollRateCell', z.object(moved), { example: examples.row.closed })

const target = named('RollRateTarget', z.object({ bucket: z.string(), ...moved }), { example: examples.row.to[0]! })

const row = {
  loans: total().describe('All loans of the row: the sum of its other figures.'),
  principal: money.describe('Their principal outstanding on the first day.'),
  to: z.array(target).describe('The buckets of the last day, in order.'),
  closed: movedSchema.describe('Loans that owe nothing on the last day.'),
  writtenOff: movedSchema.describe('Loans that were written off by the last day.'),
}

const bucketRow = named(
  'RollRateRow',
  z.object({ bucket: z.string().describe('The bucket of the first day.'), ...row }),
  {
    example: examples.row,
  },
)

const { bucket: _, ...withoutBucket } = examples.row
const addedRow = named('RollRateAddition', z.object(row), { example: withoutBucket })

const rates = named(
  'RollRates',
  z.object({
    currencyCode: z.string().describe('ISO 4217, such as `TZS`.'),
    rows: z.array(bucketRow).describe('The buckets of the first day, in order. Each row sums to its opening.'),
    lent: addedRow.describe('Loans that were disbursed after the first day, with the principal of the last day.'),
    reopened: addedRow.describe(
      'Loans that owed nothing on the first day and do on the last, with the principal of the last day.',
    ),
  }),
  { example: examples.rates },
)

export const rollSchema = named(
  'RollRateMatrix',
  z.object({ from: z.iso.date(), to: z.iso.date(), ...policyMembers, currencies: z.array(rates) }),
  { example: examples.rolls },
)

const toMoved = ({ loans, principal }: Moved, currency: Currency) => ({
  loans,
  principal: minorToNumber(principal, currency),
})

const toRow = (one: RollRow, currency: Currency) => ({
  ...toMoved(one, currency),
  to: one.to.map(({ bucket, ...cell }) => ({ bucket: bucket.name, ...toMoved(cell, currency) })),
  closed: toMoved(one.closed, currency),
  writtenOff: toMoved(one.writtenOff, currency),
})

function toRates({ currency: code, from, lent, reopened }: RollRates): z.infer<typeof rates> {
  const currency = currencyOf(code)
  return {
    currencyCode: code,
    rows: from.map(({ bucket, ...one }) => ({ bucket: bucket.name, ...toRow(one, currency) })),
    lent: toRow(lent, currency),
    reopened: toRow(reopened, currency),
  }
}

/** Builds the view of the moves between two days. */
export const toRolls = ({ from, to, policy, rates: found }: RollAnswer): z.infer<typeof rollSchema> => ({
  from,
  to,
  ...toPolicy(policy),
  currencies: found.map(toRates),
})

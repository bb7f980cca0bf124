import { z } from 'zod'
import { PERIOD_UNITS } from '../../../domain/dates.ts'
import { minorToNumber, rateToNumber } from '../../../domain/money.ts'
import { LONGEST_FEE_NAME, MOST_FEES, NO_DEDUCTION } from '../../../domain/product/newTerms.ts'
import type { Product } from '../../../domain/product/product.ts'
import {
  FEE_BASES,
  FEE_TIMES,
  type Fee,
  PRODUCT_DAY_COUNTS,
  PRODUCT_METHODS,
  RATE_PERIODS,
} from '../../../domain/product/terms.ts'
import { count, percent, word } from '../../document/answers.ts'
import { amount, codec, decimal, money, Refused, smallInt, text } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

/** A rate of a request, in percent. */
export const rate = decimal.meta({ minimum: 0, maximum: 10_000, description: 'Percent: 10 is 10%.', examples: [10] })
/** A rate that may not be 0. */
export const rateAboveZero = rate.meta({ minimum: undefined, exclusiveMinimum: 0 })

const MOST_GRACE = 1_999

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Takes an object within a body, with null for members that are left out, as a body itself does. */
const within = <T extends z.ZodType>(schema: T) =>
  z.preprocess(
    (value) => (isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null)) : value),
    schema,
  )

const newFirstDueAfter = named(
  'FirstDueAfterRequest',
  z.strictObject({ every: smallInt({ min: 1, max: 3_650 }), unit: z.enum(PERIOD_UNITS) }),
  { example: examples.firstDueAfter },
)

const newGrace = named(
  'GraceRequest',
  z.strictObject({
    principalPeriods: smallInt({ min: 0, max: MOST_GRACE })
      .optional()
      .describe('Instalments at the beginning without principal. Default 0.'),
    interestPeriods: smallInt({ min: 0, max: MOST_GRACE })
      .optional()
      .describe('Instalments at the beginning without interest, which is due with the one after them. Default 0.'),
    firstDueAfter: within(newFirstDueAfter)
      .optional()
      .describe('From disbursement to the first due date, at most ten years. Default: the distance of instalments.'),
  }),
  { example: examples.grace },
)

const treatment = codec<'added'>(
  (value) => (value === 'added' ? value : new Refused(value === 'deducted' ? NO_DEDUCTION : 'must be added')),
  { type: 'string', enum: ['added'], description: 'The fee is added to the schedule, which is the default.' },
)

const newFee = named(
  'FeeRequest',
  z.strictObject({
    name: text({ max: LONGEST_FEE_NAME }),
    base: z.enum(FEE_BASES).describe('What `rate` is a share of; `fixed` takes an amount.'),
    rate: rateAboveZero.optional().describe('Percent of the base; required unless the base is `fixed`.'),
    amount: amount.optional().describe('Required where the base is `fixed`.'),
    when: z.enum(FEE_TIMES).describe('With which instalment: the first, each, or the last.'),
    treatment: treatment.optional(),
  }),
  { example: examples.fee },
)

const newRegulation = named(
  'RegulationRequest',
  z.strictObject({
    maxRatePerMonth: rate.optional().describe('Percent a month that `interestRate` may not exceed.'),
  }),
  { example: examples.regulation },
)

/** The terms in a request for a product. */
export const termsOfRequest = {
  interestMethod: z
    .enum(PRODUCT_METHODS)
    .optional()
    .describe('Flat on the principal, which is the default, or on the balance with three ways to repay the principal.'),
  ratePer: z.enum(RATE_PERIODS).optional().describe('What `interestRate` is per. Default `period`.'),
  dayCount: z
    .enum(PRODUCT_DAY_COUNTS)
    .optional()
    .describe(
      'How days become interest. Default `periods`: each period alike. Any other needs interest on the balance and a rate per month or year.',
    ),
  grace: within(newGrace).optional(),
  fees: z
    .array(within(newFee))
    .max(MOST_FEES)
    .optional()
    .describe('Fees that the schedule has; each with a name of its own.'),
  regulation: within(newRegulation).optional(),
}

const firstDueAfter = named('FirstDueAfter', z.object({ every: count, unit: z.enum(PERIOD_UNITS) }), {
  example: examples.firstDueAfter,
})

const grace = named(
  'Grace',
  z.object({
    principalPeriods: count.optional().describe('Left out: 0.'),
    interestPeriods: count.optional().describe('Left out: 0.'),
    firstDueAfter: firstDueAfter.optional(),
  }),
  { example: examples.grace },
)

const fee = named(
  'Fee',
  z.object({
    name: z.string(),
    base: word('What the fee is a share of', FEE_BASES),
    rate: percent.optional().describe('Percent of the base.'),
    amount: money.optional().describe('Where the base is `fixed`.'),
    when: word('With which instalment it is due: the first, each, or the last', FEE_TIMES),
    treatment: word('How it is charged', ['added']),
  }),
  { example: examples.fee },
)

const regulation = named('Regulation', z.object({ maxRatePerMonth: percent.optional() }), {
  example: examples.regulation,
})

/** The terms in the answer of a product that has any. */
export const termsOfAnswer = {
  interestMethod: word('How interest is computed', PRODUCT_METHODS)
    .optional()
    .describe('Of a product with terms beyond flat interest per period, as what follows. Left out: `flat`.'),
  interestRate: percent.optional().describe('Percent per `ratePer`.'),
  ratePer: word('What the rate is per', RATE_PERIODS).optional(),
  dayCount: word('How days become interest', PRODUCT_DAY_COUNTS).optional(),
  grace: grace.optional(),
  fees: z.array(fee).optional(),
  regulation: regulation.optional(),
}

/** Builds the terms of a product's view; nothing for a product that has none. */
export function toTerms({ terms, currency }: Product) {
  if (terms === null) return {}
  const { interestMethod, interestRate, ratePer, dayCount, principalGrace, interestGrace, firstDueAfter: first } = terms
  const hasGrace = principalGrace + interestGrace > 0 || first !== null
  const feeOf = ({ name, base, value, when }: Fee) => ({
    ...{ name, base },
    ...(base === 'fixed' ? { amount: minorToNumber(value, currency) } : { rate: rateToNumber(value) }),
    ...{ when, treatment: 'added' },
  })
  return {
    ...{ interestMethod, interestRate: rateToNumber(interestRate), ratePer, dayCount },
    ...(hasGrace && {
      grace: {
        ...(principalGrace > 0 && { principalPeriods: principalGrace }),
        ...(interestGrace > 0 && { interestPeriods: interestGrace }),
        ...(first && { firstDueAfter: first }),
      },
    }),
    ...(terms.fees.length > 0 && { fees: terms.fees.map(feeOf) }),
    ...(terms.maxRatePerMonth !== null && { regulation: { maxRatePerMonth: rateToNumber(terms.maxRatePerMonth) } }),
  }
}

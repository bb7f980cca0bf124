import { z } from 'zod'
import { PERIOD_UNITS } from '../../../domain/dates.ts'
import { COMPONENTS } from '../../../domain/loan/portions.ts'
import { type Currency, minorToNumber, rateToNumber } from '../../../domain/money.ts'
import type { Product } from '../../../domain/product/product.ts'
import {
  EARLY_SETTLEMENTS,
  FEE_BASES,
  FEE_TIMES,
  FEE_TREATMENTS,
  type Fee,
  isUsualOrder,
  PENALTY_BASES,
  PENALTY_REPEATS,
  PENALTY_SCOPES,
  type PenaltyTerms,
  PRODUCT_DAY_COUNTS,
  PRODUCT_METHODS,
  type ProductTerms,
  RATE_PERIODS,
} from '../../../domain/product/terms.ts'
import { count, percent, word } from '../../document/answers.ts'
import { money } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

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
    treatment: word('Whether it is in the schedule, or was kept back from what was paid out', FEE_TREATMENTS),
  }),
  { example: examples.fee },
)

const penalty = named(
  'Penalty',
  z.object({
    base: word('What a penalty is a share of', PENALTY_BASES),
    rate: percent.optional().describe('Percent of the base.'),
    amount: money.optional().describe('Where the base is `fixed`.'),
    every: word('How often it is raised', PENALTY_REPEATS),
    graceDays: count
      .optional()
      .describe('Days from the due date to the first penalty; 0 is the due date itself. Left out: 0.'),
    maxTimes: count
      .optional()
      .describe('How many penalties may be raised on the loan, or on each instalment. Left out: no limit.'),
    capPercentOfPrincipal: percent
      .optional()
      .describe('The largest sum of the penalties of a loan, in percent of its principal. Left out: no limit.'),
    per: word('Whether it follows the last due date of the loan, or that of each instalment', PENALTY_SCOPES),
  }),
  { example: examples.penalty },
)

const regulation = named('Regulation', z.object({ maxRatePerMonth: percent.optional() }), {
  example: examples.regulation,
})

/** The terms in the answer of a product that has any. */
export const termsOfAnswer = {
  interestMethod: word('How interest is computed', PRODUCT_METHODS)
    .optional()
    .describe(
      'How interest is computed. This member and those up to `regulation` are in the answer of a product with terms beyond flat interest per period. Left out: `flat`.',
    ),
  interestRate: percent.optional().describe('Percent per `ratePer`.'),
  ratePer: word('What the rate is per', RATE_PERIODS).optional(),
  dayCount: word('How days become interest', PRODUCT_DAY_COUNTS).optional(),
  grace: grace.optional(),
  fees: z.array(fee).optional(),
  penalty: penalty.optional().describe('Left out: none, or the one-time penalty of `penaltyPercentOfPrincipal`.'),
  earlySettlement: word('The interest that a loan bears which is paid off early', EARLY_SETTLEMENTS)
    .optional()
    .describe('The interest that a loan bears which is paid off early. Left out: `full_interest`.'),
  totalChargeCap: percent
    .optional()
    .describe(
      'The most interest, fees and penalties of a loan together, in percent of its principal. Left out: no limit.',
    ),
  allocation: z
    .array(word('A component of an instalment', COMPONENTS))
    .optional()
    .describe(`The order in which money pays them. Left out: \`${COMPONENTS.join('`, `')}\`.`),
  regulation: regulation.optional(),
}

/** Builds the size of a charge. */
const sizeOf = ({ base, value }: Pick<Fee | PenaltyTerms, 'base' | 'value'>, currency: Currency) =>
  base === 'fixed' ? { amount: minorToNumber(value, currency) } : { rate: rateToNumber(value) }

const penaltyOf = (terms: PenaltyTerms, currency: Currency) => ({
  base: terms.base,
  ...sizeOf(terms, currency),
  every: terms.every,
  ...(terms.graceDays > 0 && { graceDays: terms.graceDays }),
  ...(terms.maxTimes !== null && { maxTimes: terms.maxTimes }),
  ...(terms.capOfPrincipal !== null && { capPercentOfPrincipal: rateToNumber(terms.capOfPrincipal) }),
  per: terms.per,
})

const graceOf = ({ principalGrace, interestGrace, firstDueAfter: first }: ProductTerms) => ({
  ...(principalGrace > 0 && { principalPeriods: principalGrace }),
  ...(interestGrace > 0 && { interestPeriods: interestGrace }),
  ...(first && { firstDueAfter: first }),
})

/** Builds the terms of a product's view; nothing for a product that has none. */
export function toTerms({ terms, currency }: Product) {
  if (terms === null) return {}
  const { interestMethod, interestRate, ratePer, dayCount, earlySettlement, totalChargeCap, allocation } = terms
  const grace = graceOf(terms)
  return {
    interestMethod,
    interestRate: rateToNumber(interestRate),
    ratePer,
    dayCount,
    ...(Object.keys(grace).length > 0 && { grace }),
    ...(terms.fees.length > 0 && {
      fees: terms.fees.map((fee) => ({
        name: fee.name,
        base: fee.base,
        ...sizeOf(fee, currency),
        when: fee.when,
        treatment: fee.treatment,
      })),
    }),
    ...(terms.penalty && { penalty: penaltyOf(terms.penalty, currency) }),
    ...(earlySettlement !== 'full_interest' && { earlySettlement }),
    ...(totalChargeCap !== null && { totalChargeCap: rateToNumber(totalChargeCap) }),
    ...(!isUsualOrder(allocation) && { allocation: [...allocation] }),
    ...(terms.maxRatePerMonth !== null && { regulation: { maxRatePerMonth: rateToNumber(terms.maxRatePerMonth) } }),
  }
}

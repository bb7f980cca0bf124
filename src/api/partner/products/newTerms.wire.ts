import { z } from 'zod'
import { PERIOD_UNITS } from '../../../domain/dates.ts'
import { COMPONENTS } from '../../../domain/loan/portions.ts'
import { LONGEST_FEE_NAME, MOST_FEES, MOST_GRACE_DAYS, MOST_TIMES } from '../../../domain/product/newCharges.ts'
import { MOST_DAYS_AFTER_DUE } from '../../../domain/product/newTerms.ts'
import {
  AFTER_DUE,
  EARLY_SETTLEMENTS,
  FEE_BASES,
  FEE_TIMES,
  FEE_TREATMENTS,
  PENALTY_BASES,
  PENALTY_REPEATS,
  PENALTY_SCOPES,
  PRODUCT_DAY_COUNTS,
  PRODUCT_METHODS,
  RATE_PERIODS,
} from '../../../domain/product/terms.ts'
import { TRIMMED } from '../../openapi/answers.ts'
import { amount, decimal, smallInt, text } from '../../wire.ts'
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
export const within = <T extends z.ZodType>(schema: T) =>
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

const newTax = named(
  'TaxRequest',
  z.strictObject({
    name: text({ max: LONGEST_FEE_NAME }).meta({ pattern: TRIMMED }),
    percent: rateAboveZero.meta({ maximum: 100 }).describe('Percent of the charge, to which the tax is added.'),
  }),
  { example: examples.tax },
)

const newAfterDue = named(
  'AfterDueRequest',
  z.strictObject({
    interest: z
      .enum(AFTER_DUE)
      .describe('`runs_on` raises interest each day after the last due date while principal is unpaid.'),
    maxDays: smallInt({ min: 1, max: MOST_DAYS_AFTER_DUE })
      .optional()
      .describe('The days after the last due date on which it is raised. Required with `runs_on`, and only then.'),
  }),
  { example: examples.afterDue },
)

const newFee = named(
  'FeeRequest',
  z.strictObject({
    name: text({ max: LONGEST_FEE_NAME }).meta({ pattern: TRIMMED }),
    base: z.enum(FEE_BASES).describe('What `rate` is a share of; `fixed` takes an amount.'),
    rate: rateAboveZero.optional().describe('Percent of the base; required unless the base is `fixed`.'),
    amount: amount.optional().describe('Required where the base is `fixed`.'),
    when: z.enum(FEE_TIMES).describe('With which instalment: the first, each, or the last.'),
    treatment: z
      .enum(FEE_TREATMENTS)
      .optional()
      .describe(
        '`added` to the schedule, which is the default, or `deducted` from what is paid out, which takes `when: disbursement` and the base `fixed` or `principal`.',
      ),
    tax: within(newTax).optional().describe('A tax that is added to the fee. Default: none.'),
  }),
  { example: examples.fee },
)

const newPenalty = named(
  'PenaltyRequest',
  z.strictObject({
    base: z
      .enum(PENALTY_BASES)
      .describe(
        "What `rate` is a share of: the loan's principal, the unpaid principal, or the unpaid principal, interest and fees; `fixed` takes an amount.",
      ),
    rate: rateAboveZero.optional().describe('Percent of the base; required unless the base is `fixed`.'),
    amount: amount.optional().describe('Required where the base is `fixed`.'),
    every: z
      .enum(PENALTY_REPEATS)
      .describe(
        'How often it is raised while anything but penalties is unpaid; a period is the distance of instalments.',
      ),
    graceDays: smallInt({ min: 0, max: MOST_GRACE_DAYS })
      .optional()
      .describe(
        'Days from the due date to the first penalty, which is raised at the time of day of the disbursement. Default 0: on the due date itself, hours before the instalment counts as overdue. 1: on the day after.',
      ),
    maxTimes: smallInt({ min: 1, max: MOST_TIMES })
      .optional()
      .describe(
        'How many penalties may be raised on the loan, or on each instalment; not with `once`. Default: no limit.',
      ),
    capPercentOfPrincipal: rateAboveZero
      .optional()
      .describe(
        'The largest sum of the penalties of a loan, single charges among them, in percent of its principal. Default: no limit.',
      ),
    per: z
      .enum(PENALTY_SCOPES)
      .describe(
        '`loan`: penalties begin after the last due date, look at what is unpaid of the whole loan, and are due with the last instalment. `instalment`: they begin after the due date of each instalment, look at that instalment alone, and are due with it. `maxTimes` counts on the loan, or on each instalment.',
      ),
  }),
  { example: examples.penalty },
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
      'How days become interest. Default `periods`: each period alike. Any other needs interest on the balance and a rate per day, month or year.',
    ),
  grace: within(newGrace).optional(),
  fees: z
    .array(within(newFee))
    .max(MOST_FEES)
    .optional()
    .describe('Fees that the schedule has, or that are deducted from what is paid out; each with a name of its own.'),
  penalty: within(newPenalty)
    .optional()
    .describe('Penalties for what is paid late. Not together with `penaltyPercentOfPrincipal`, which is one of them.'),
  earlySettlement: z
    .enum(EARLY_SETTLEMENTS)
    .optional()
    .describe(
      'The interest that a loan bears which is paid off early: all, by days, or all of the period that runs. Default `full_interest`.',
    ),
  afterDue: within(newAfterDue)
    .optional()
    .describe('Interest after the last due date, which needs `ratePer: day`. Default: none.'),
  interestTax: within(newTax).optional().describe('A tax that is added to all interest. Default: none.'),
  totalChargeCap: rateAboveZero
    .optional()
    .describe(
      'The most interest, fees and penalties of a loan together, in percent of its principal; in duplum is 100. Default: no limit.',
    ),
  allocation: z
    .array(z.enum(COMPONENTS))
    .meta({ minItems: COMPONENTS.length, maxItems: COMPONENTS.length, uniqueItems: true })
    .optional()
    .describe(
      `The components in the order in which money pays them within an instalment, each once. Default \`${COMPONENTS.join('`, `')}\`.`,
    ),
  regulation: within(newRegulation).optional(),
}

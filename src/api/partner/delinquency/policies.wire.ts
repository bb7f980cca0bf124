import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import {
  LONGEST_NAME,
  MOST_BUCKETS,
  MOST_CURE_DAYS,
  MOST_DAYS,
  PERCENT_DECIMALS,
} from '../../../domain/delinquency/newPolicy.ts'
import { type Bucket, COUNT_FROM, type DelinquencyPolicy, PRESETS } from '../../../domain/delinquency/policy.ts'
import { type Currency, minorToNumber, rateToNumber } from '../../../domain/money.ts'
import type { PolicyVersion } from '../../../services/delinquency/policies.ts'
import { LARGEST_INT32 } from '../../../toolbox/integers.ts'
import { clearable } from '../../body/validation.ts'
import { queryInt } from '../../lists/query.ts'
import { count, percent, word } from '../../openapi/answers.ts'
import { amountOrZero, decimal, instant, money, smallInt, text } from '../../wire.ts'
import { within } from '../products/newTerms.wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

/** The names of the presets. */
export const PRESET_NAMES = PRESETS.map(({ name }) => name)

export const policyQuery = z.strictObject({
  version: queryInt({ min: 0, max: LARGEST_INT32 })
    .optional()
    .describe('A version that was in force, back to 0. Default: the one in force.'),
})

const share = decimal.meta({ minimum: 0, maximum: 100, examples: [3] })
const SHARE_WORDS = `at most ${PERCENT_DECIMALS} decimals`

const newBucket = named(
  'DelinquencyBucketRequest',
  z.strictObject({
    name: text({ max: LONGEST_NAME }).describe('Unique in the policy.'),
    fromDays: smallInt({ min: 0, max: MOST_DAYS }).describe(
      'The least days past due: 0 in the first bucket, else one more than `toDays` of the bucket before it.',
    ),
    toDays: smallInt({ min: 0, max: MOST_DAYS })
      .optional()
      .describe('The most days past due. Left out in the last bucket, which has no end.'),
    class: text({ max: LONGEST_NAME }).optional().describe('The class in the words of a supervisor.'),
    stage: smallInt({ min: 1, max: 3 })
      .optional()
      .describe('The stage of IFRS 9; it never falls from one to the next.'),
    provisionRate: share
      .optional()
      .describe(`The provision in percent of the principal outstanding, 0 to 100, with ${SHARE_WORDS}.`),
  }),
  { example: examples.bucket },
)

const newMateriality = named(
  'MaterialityRequest',
  z.strictObject({
    amount: amountOrZero
      .optional()
      .describe(
        'Arrears up to this amount do not count. In the currency of your organization; loans in another have no such limit.',
      ),
    percentOfPrincipal: share
      .optional()
      .describe(`Arrears up to this percentage of the principal lent do not count; with ${SHARE_WORDS}.`),
  }),
  { example: examples.materiality },
)

export const updatePolicyRequest = named(
  'UpdateDelinquencyPolicyRequest',
  z.strictObject({
    preset: clearable(
      z.enum(PRESET_NAMES as [string, ...string[]]).describe('A policy by its name. Together with nothing else.'),
    ),
    buckets: clearable(
      z
        .array(within(newBucket))
        .min(1)
        .max(MOST_BUCKETS)
        .describe('Your own policy, by days past due, without gap or overlap. Required without `preset`.'),
    ),
    countFrom: clearable(
      z
        .enum(COUNT_FROM)
        .describe(
          'Required with `buckets`. `oldest_unpaid`: days count from the due date of the oldest instalment that is overdue. `first_arrears`: from the day before the first day of arrears that have lasted without a break since then.',
        ),
    ),
    materiality: clearable(
      within(newMateriality).describe(
        'Small arrears that do not count: both limits have to be exceeded where both are given.',
      ),
    ),
    cureDays: clearable(
      smallInt({ min: 0, max: MOST_CURE_DAYS }).describe(
        'The days in a row for which a loan has to be in a better bucket before it moves there. Default 0.',
      ),
    ),
  }),
  { example: examples.newPolicy },
)

const bucketSchema = named(
  'DelinquencyBucket',
  z.object({
    name: z.string(),
    fromDays: count.describe('The least days past due.'),
    toDays: count.optional().describe('The most days past due; absent in the last bucket.'),
    class: z.string().optional(),
    stage: count.optional().describe('The stage of IFRS 9, 1 to 3.'),
    provisionRate: percent.optional().describe('The provision in percent of the principal outstanding.'),
  }),
  { example: examples.bucket },
)

const materialitySchema = named(
  'Materiality',
  z.object({
    amount: money.optional().describe('In the currency of your organization.'),
    percentOfPrincipal: percent.optional(),
  }),
  { example: examples.materiality },
)

export const policySchema = named(
  'DelinquencyPolicy',
  z.object({
    version: count.describe(`0 is the preset \`${PRESET_NAMES[0]}\`, by which every lender begins.`),
    preset: word('The name of the preset, where the policy was set by it', PRESET_NAMES).optional(),
    source: z.string().optional().describe('Where the figures of the preset are from.'),
    setAt: instant.optional().describe('When the version was set; absent of version 0.'),
    buckets: z.array(bucketSchema).describe('By days past due.'),
    countFrom: word('From which day days past due count', COUNT_FROM),
    materiality: materialitySchema.optional().describe('Absent: all arrears count.'),
    cureDays: count.describe('The days in a row for which a loan has to be in a better bucket before it moves there.'),
  }),
  { example: examples.policy },
)

const toBucket = ({ name, fromDays, toDays, class: ofClass, stage, provisionRate }: Bucket) => ({
  name,
  fromDays,
  ...(toDays !== null && { toDays }),
  ...(ofClass !== null && { class: ofClass }),
  ...(stage !== null && { stage }),
  ...(provisionRate !== null && { provisionRate: rateToNumber(provisionRate) }),
})

const toMateriality = (
  { amount, percentOfPrincipal: rate }: NonNullable<DelinquencyPolicy['materiality']>,
  currency: Currency,
) => ({
  ...(amount !== null && { amount: minorToNumber(amount, currency) }),
  ...(rate !== null && { percentOfPrincipal: rateToNumber(rate) }),
})

/** Builds the view of a policy. @param of.currency the organization's */
export const toPolicy = (
  { version, name, source, setAt, policy: { buckets, countFrom, materiality, cureDays } }: PolicyVersion,
  of: { readonly currency: Currency; readonly zone: string },
): z.infer<typeof policySchema> => ({
  version,
  ...(name !== null && { preset: name }),
  ...(source !== null && { source }),
  ...(setAt !== null && { setAt: toRfc3339(setAt, of.zone) }),
  buckets: buckets.map(toBucket),
  countFrom,
  ...(materiality && { materiality: toMateriality(materiality, of.currency) }),
  cureDays,
})

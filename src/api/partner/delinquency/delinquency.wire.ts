import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import { PRESETS } from '../../../domain/delinquency/policy.ts'
import type { DelinquencyNow } from '../../../domain/delinquency/position.ts'
import type { Span } from '../../../domain/delinquency/segments.ts'
import { type Currency, minorToNumber } from '../../../domain/money.ts'
import type { Delinquency } from '../../../services/delinquency/loanDelinquency.ts'
import { queryInstant } from '../../lists/query.ts'
import { count, word } from '../../openapi/answers.ts'
import { instant, localDate, money } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

const POLICIES = PRESETS.map(({ name }) => name)

export const delinquencyQuery = z.strictObject({
  asOf: localDate
    .meta({ examples: undefined })
    .optional()
    .describe('The last day that is looked at. Default: the day of `knownAt`, or today.'),
  knownAt: queryInstant
    .optional()
    .describe(
      'Answers by the transactions that were posted, and not reversed, up to this instant; a date stands for its last instant. Default: now.',
    ),
  policy: z
    .string()
    .max(100)
    .optional()
    .describe(
      `The buckets: a preset, ${POLICIES.join(', ')}, or the number of a version of your policies. Default: the policy that was in force at \`knownAt\`, or is now.`,
    ),
})

const spanSchema = named(
  'DelinquencySpan',
  z.object({
    from: z.iso.date().describe('The first day.'),
    to: z.iso.date().optional().describe('The last day; absent while the span goes on.'),
    bucket: z.string().describe('The bucket of the days past due.'),
    class: z.string().optional().describe('The class of the supervisor, where the policy has one.'),
    stage: count.optional().describe('The stage of IFRS 9, 1 to 3, where the policy has one.'),
    daysPastDueFrom: count.describe('Days past due on the first day.'),
    daysPastDueTo: count.describe('Days past due on the last day, or on the day that is looked at.'),
    began: z.array(z.string()).describe('What began the span.'),
    ended: z.array(z.string()).describe('What ended it; empty while it goes on.'),
  }),
  { example: examples.span },
)

export const delinquencySchema = named(
  'LoanDelinquency',
  z.object({
    loanId: z.string().describe("The service's number of the loan."),
    asOf: z.iso.date(),
    knownAt: instant.optional().describe('Where it was asked for.'),
    policyVersion: count.optional().describe('The version of your policies; absent where a preset was asked for.'),
    policy: word('The name of the preset, where the policy is one', POLICIES).optional(),
    source: z.string().optional().describe('Where the figures of the policy are from.'),
    spans: z.array(spanSchema).describe('From disbursement on; none for days on which nothing was owed.'),
  }),
  { example: examples.delinquency },
)

const toSpan = ({ from, to, bucket, daysFrom, daysTo, began, ended }: Span): z.infer<typeof spanSchema> => ({
  from,
  ...(to !== null && { to }),
  bucket: bucket.name,
  ...(bucket.class !== null && { class: bucket.class }),
  ...(bucket.stage !== null && { stage: bucket.stage }),
  daysPastDueFrom: daysFrom,
  daysPastDueTo: daysTo,
  began: [...began],
  ended: [...ended],
})

/** Builds the view of the arrears of a loan. */
export const toDelinquency = ({
  loan,
  asOf,
  knownAt,
  policy: { version, name, source },
  spans,
}: Delinquency): z.infer<typeof delinquencySchema> => ({
  loanId: String(loan.id),
  asOf,
  ...(knownAt !== undefined && { knownAt: toRfc3339(knownAt, loan.terms.zone) }),
  ...(version !== null && { policyVersion: version }),
  ...(name !== null && { policy: name }),
  ...(source !== null && { source }),
  spans: spans.map(toSpan),
})

export const delinquencyNowSchema = named(
  'DelinquencyNow',
  z.object({
    daysPastDue: count.describe('As `countFrom` of your delinquency policy says; 0 for arrears that do not count.'),
    bucket: z.string().describe('The bucket of your delinquency policy.'),
    since: z.iso.date().describe('The first day from which on the loan has been in the bucket.'),
    stage: count.optional().describe('The stage of IFRS 9, 1 to 3, where the policy has one.'),
    class: z.string().optional().describe('The class of the supervisor, where the policy has one.'),
    provision: money
      .optional()
      .describe(
        'The principal outstanding × the provision rate of the bucket, rounded half up; where there is a rate.',
      ),
    restructuredOn: z.iso
      .date()
      .optional()
      .describe('The day from which the last restructure of the loan counts, where there is one.'),
  }),
  { example: examples.delinquencyNow },
)

/** Builds the view of how late a loan is. */
export const toDelinquencyNow = (
  { daysPastDue, bucket, since, provision, restructuredOn }: DelinquencyNow,
  currency: Currency,
): z.infer<typeof delinquencyNowSchema> => ({
  daysPastDue,
  bucket: bucket.name,
  since,
  ...(bucket.stage !== null && { stage: bucket.stage }),
  ...(bucket.class !== null && { class: bucket.class }),
  ...(provision !== null && { provision: minorToNumber(provision, currency) }),
  ...(restructuredOn !== null && { restructuredOn }),
})

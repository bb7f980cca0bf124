import { z } from 'zod'
import { PERIOD_UNITS } from '../../../domain/dates.ts'
import { invalidArgument } from '../../../domain/errors.ts'
import type { Entry } from '../../../domain/loan/entry.ts'
import { planOf, RESTRUCTURE_REASONS, type RestructurePlan } from '../../../domain/loan/restructure/plan.ts'
import {
  type AskedChange,
  RESTRUCTURE_FEE_TREATMENTS,
  type RestructureRequest,
} from '../../../domain/loan/restructure/restructureLoan.ts'
import type { ScheduleVersion } from '../../../domain/loan/restructure/scheduleVersions.ts'
import { type Currency, minorToNumber, rateToNumber } from '../../../domain/money.ts'
import { rateOf } from '../../../domain/product/newValues.ts'
import { RATE_PERIODS } from '../../../domain/product/terms.ts'
import { MOST_INSTALMENTS } from '../../../domain/schedule/schedule.ts'
import type { RestructuredLoan } from '../../../services/loans/restructures.ts'
import { count, percent, word } from '../../openapi/answers.ts'
import { amount, localDate, money, note, smallInt, text } from '../../wire.ts'
import { loanSummary, toLoanSummary } from '../loans.wire.ts'
import { rate, within } from '../products/newTerms.wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

/** The most periods of a holiday. */
const MOST_PERIODS = 120
const COUNTS_AS = ['commercial', 'hardship'] as const

const holidayRequest = named('HolidayRequest', z.strictObject({ periods: smallInt({ min: 1, max: MOST_PERIODS }) }), {
  example: { periods: 1 },
})

const changeRequest = named(
  'RestructureChangeRequest',
  z.strictObject({
    newFirstDueDate: localDate
      .optional()
      .describe(
        'The first instalment that owes something is due on this day, and the others follow at their distance.',
      ),
    postponeBy: within(holidayRequest)
      .optional()
      .describe('A holiday: the first is due so many periods after the next due date, and the others follow.'),
    numberOfRepayments: smallInt({ min: 1, max: MOST_INSTALMENTS })
      .optional()
      .describe('An extension: what is owed is divided into so many equal instalments.'),
    repaymentEvery: smallInt({ min: 1, max: 3_650 })
      .optional()
      .describe('With `numberOfRepayments`: their distance, from the effective date on. Default: that of before.'),
    repaymentFrequencyType: z.enum(PERIOD_UNITS).optional().describe('The unit of `repaymentEvery`. Default `months`.'),
    instalmentAmount: amount
      .optional()
      .describe('What is owed is divided into instalments of this amount, with what is left in the last.'),
    until: localDate
      .optional()
      .describe('A roll-over: the one instalment that is left is due on this day, which is later than before.'),
  }),
  { example: examples.newRestructure.change },
)

const feeRequest = named(
  'RestructureFeeRequest',
  z.strictObject({
    name: text({ max: 100 }).describe('What is charged, as the customer reads it.'),
    amount: amount.describe("Greater than 0, in the loan's currency."),
    treatment: z
      .enum(RESTRUCTURE_FEE_TREATMENTS)
      .describe(
        '`due_now`: an instalment of its own that is due today, or tomorrow where the penalties of today are raised; `added`: due with the next instalment.',
      ),
  }),
  { example: { name: 'Extension', amount: 500, treatment: 'added' } },
)

const waiveRequest = named(
  'RestructureWaiversRequest',
  z.strictObject({ penalty: amount.optional(), fees: amount.optional(), interest: amount.optional() }),
  { example: { penalty: 1_000 } },
)

const interestWord = named('AddedInterestWord', z.enum(['keep', 'none']), { example: 'none' })

const interestRate = named(
  'AddedInterestRateRequest',
  z.strictObject({ rate, ratePer: z.enum(RATE_PERIODS).describe('What the rate is per.') }),
  { example: { rate: 2, ratePer: 'month' } },
)

const addedInterestRequest = named('AddedInterestRequest', z.union([interestWord, interestRate]), { example: 'none' })

export const restructureLoanRequest = named(
  'RestructureLoanRequest',
  z.strictObject({
    effectiveDate: localDate
      .optional()
      .describe(
        'The day from which it counts: from the disbursement and the last restructure on, not in the future. Default: today.',
      ),
    change: changeRequest.describe('Exactly one change of the instalments that owe something.'),
    interest: addedInterestRequest
      .optional()
      .describe(
        'The interest of the added time on the principal that is owed: `keep`, which is the default, by the rate of the loan; `none`; or by another rate. The interest of before stays as it is.',
      ),
    fee: within(feeRequest).optional().describe('Posted as a single fee.'),
    waive: within(waiveRequest).optional().describe('Amounts that are waived first, each as a transaction of its own.'),
    reason: z
      .enum(RESTRUCTURE_REASONS)
      .describe('Why. It decides what the restructure counts as where arrears are judged.'),
    note: note.optional(),
    preview: z.boolean().optional().describe('True: answers what the loan would be, and changes nothing.'),
  }),
  { example: examples.newRestructure },
)

const holiday = named('Holiday', z.object({ periods: count }), { example: { periods: 1 } })

const changeSchema = named(
  'RestructureChange',
  z.object({
    newFirstDueDate: z.iso.date().optional(),
    postponeBy: holiday.optional(),
    numberOfRepayments: count.optional(),
    repaymentEvery: count.optional(),
    repaymentFrequencyType: z.enum(PERIOD_UNITS).optional(),
    instalmentAmount: money.optional(),
    until: z.iso.date().optional(),
  }),
  { example: examples.restructure.change },
)

const restructureSchema = named(
  'Restructure',
  z.object({
    id: z.string().describe('The id of its transaction, by which it is reversed.'),
    on: z.iso.date().describe('The day from which it counts.'),
    change: changeSchema,
    interest: word('The interest of the added time', ['keep', 'none', 'rate']),
    interestRate: percent.optional().describe('Percent per `ratePer`, where `interest` is `rate`.'),
    ratePer: word('What the rate is per', RATE_PERIODS).optional(),
    reason: word('Why', RESTRUCTURE_REASONS),
    countsAs: word('What it counts as where arrears are judged', COUNTS_AS),
    interestAdded: money.describe('The interest that it added when it was posted.'),
    note: z.string().optional().describe('As it was sent.'),
  }),
  { example: examples.restructure },
)

export const restructuredLoanSchema = named(
  'RestructuredLoan',
  loanSummary.extend({
    scheduleVersion: count.describe(
      'The version of the schedule in force: 1 as it was lent, one more with each restructure.',
    ),
    restructures: z.array(restructureSchema).describe('Those that are not reversed, in the order of their days.'),
  }),
  { example: examples.restructuredLoan },
)

const versionSummary = named(
  'ScheduleVersionSummary',
  z.object({
    version: count.describe('1 as it was lent, one more with each restructure.'),
    numberOfRepayments: count,
    dueDate: z.iso.date().describe('The last due date.'),
    restructure: restructureSchema.optional().describe('The restructure that made it; absent of the first.'),
  }),
  { example: examples.firstVersion },
)

export const versionsSchema = named(
  'ScheduleVersions',
  z.object({ items: z.array(versionSummary).describe('The last is in force.') }),
  { example: { items: [examples.firstVersion] } },
)

const lineSchema = named(
  'ScheduleLine',
  z.object({
    period: count,
    fromDate: z.iso.date(),
    dueDate: z.iso.date(),
    principal: money,
    interest: money,
    fees: money,
    total: money.describe('Without penalties.'),
  }),
  { example: examples.line },
)

export const versionSchema = named(
  'ScheduleVersion',
  versionSummary.extend({
    repaymentSchedule: z.array(lineSchema).describe('The instalments, as the version made them.'),
  }),
  { example: { ...examples.firstVersion, repaymentSchedule: [examples.line] } },
)

/** The names of the changes in a body, of which there is one. */
const CHANGES = ['newFirstDueDate', 'postponeBy', 'numberOfRepayments', 'instalmentAmount', 'until'] as const

/** Reads the change of a body. @throws LendingError `invalid_argument` where there is not exactly one */
function toChange(change: z.output<typeof changeRequest>): AskedChange {
  const given = CHANGES.filter((name) => change[name] !== undefined)
  if (given.length !== 1)
    throw invalidArgument(
      'change',
      `must have exactly one of ${CHANGES.join(', ')}${given.length === 0 ? '' : `, not ${given.join(' and ')}`}`,
    )
  const { repaymentEvery, repaymentFrequencyType } = change
  const hasDistance = repaymentEvery !== undefined || repaymentFrequencyType !== undefined
  if (hasDistance && change.numberOfRepayments === undefined)
    throw invalidArgument('change', 'takes repaymentEvery and repaymentFrequencyType with numberOfRepayments alone')
  if (change.newFirstDueDate !== undefined) return { kind: 'newFirstDueDate', on: change.newFirstDueDate }
  if (change.postponeBy !== undefined) return { kind: 'postponeBy', periods: change.postponeBy.periods }
  if (change.instalmentAmount !== undefined) return { kind: 'instalmentAmount', amount: change.instalmentAmount }
  if (change.until !== undefined) return { kind: 'until', on: change.until }
  const every = hasDistance ? { every: repaymentEvery ?? 1, unit: repaymentFrequencyType ?? 'months' } : null
  return { kind: 'numberOfRepayments', count: change.numberOfRepayments!, every }
}

/** Reads the body of a restructure. @throws LendingError `invalid_argument` */
export function toRestructure(body: z.output<typeof restructureLoanRequest>): RestructureRequest {
  const { interest = 'keep', fee, waive = {} } = body
  return {
    effectiveDate: body.effectiveDate,
    change: toChange(body.change),
    interest:
      typeof interest === 'string' ? interest : { rate: rateOf('interest', interest.rate), ratePer: interest.ratePer },
    fee: fee ?? null,
    waive: {
      ...(waive.penalty && { penalty: waive.penalty }),
      ...(waive.fees && { fees: waive.fees }),
      ...(waive.interest && { interest: waive.interest }),
    },
    reason: body.reason,
    note: body.note ?? null,
  }
}

function toChangeView({ change }: RestructurePlan, currency: Currency): z.infer<typeof changeSchema> {
  switch (change.kind) {
    case 'newFirstDueDate':
      return { newFirstDueDate: change.on }
    case 'until':
      return { until: change.on }
    case 'postponeBy':
      return { postponeBy: { periods: change.periods } }
    case 'instalmentAmount':
      return { instalmentAmount: minorToNumber(change.amount, currency) }
    case 'numberOfRepayments': {
      const { count: numberOfRepayments, every } = change
      if (every === null) return { numberOfRepayments }
      return { numberOfRepayments, repaymentEvery: every.every, repaymentFrequencyType: every.unit }
    }
  }
}

/** Builds the view of the restructure that made a version; undefined for the version as it was lent. */
function toRestructureView({ made }: ScheduleVersion<Entry>, currency: Currency) {
  const plan = planOf(made?.entry.restructure)
  if (!made || !plan) return undefined
  const { entry, countsAs } = made
  const { interest, reason } = plan
  return {
    id: String(entry.id),
    on: entry.valueDate,
    change: toChangeView(plan, currency),
    ...(typeof interest === 'string'
      ? { interest }
      : { interest: 'rate' as const, interestRate: rateToNumber(interest.rate), ratePer: interest.ratePer }),
    reason,
    countsAs,
    interestAdded: minorToNumber(entry.amount, currency),
    ...(entry.note !== null && { note: entry.note }),
  }
}

/** Builds the view of a loan with its restructures. */
export function toRestructuredLoan({
  loan,
  state,
  versions,
}: RestructuredLoan): z.infer<typeof restructuredLoanSchema> {
  const { currency } = loan.terms
  return {
    ...toLoanSummary({ loan, state }),
    scheduleVersion: versions.length,
    restructures: versions.flatMap((version) => toRestructureView(version, currency) ?? []),
  }
}

/** Builds the view of a version without its lines. */
export function toVersionSummary(version: ScheduleVersion<Entry>, currency: Currency): z.infer<typeof versionSummary> {
  const restructure = toRestructureView(version, currency)
  return {
    version: version.version,
    numberOfRepayments: version.lines.length,
    dueDate: version.lines.at(-1)!.dueDate,
    ...(restructure && { restructure }),
  }
}

/** Builds the view of a version. */
export function toVersion(version: ScheduleVersion<Entry>, currency: Currency): z.infer<typeof versionSchema> {
  const number = (minor: bigint) => minorToNumber(minor, currency)
  return {
    ...toVersionSummary(version, currency),
    repaymentSchedule: version.lines.map(({ period, fromDate, dueDate, principal, interest, fees }) => ({
      period,
      fromDate,
      dueDate,
      principal: number(principal),
      interest: number(interest),
      fees: number(fees),
      total: number(principal + interest + fees),
    })),
  }
}

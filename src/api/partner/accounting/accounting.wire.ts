import { z } from 'zod'
import { ACCOUNT_TYPES } from '../../../domain/accounting/chart.ts'
import { METHODS } from '../../../domain/accounting/contribution.ts'
import { firstDayOf } from '../../../domain/accounting/months.ts'
import { CODE_PATTERN, LONGEST_CODE, LONGEST_NAME, MOST_ACCOUNTS } from '../../../domain/accounting/newChart.ts'
import { chartToJson } from '../../../domain/accounting/newChartJson.ts'
import { POSTING_KINDS } from '../../../domain/accounting/postingKinds.ts'
import { isOptional, type OptionalSlot, SLOTS, type Slot } from '../../../domain/accounting/slots.ts'
import { BASES } from '../../../domain/accounting/trialBalance.ts'
import { toRfc3339 } from '../../../domain/dates.ts'
import { type Currency, currencyCodes, minorToNumber } from '../../../domain/money.ts'
import type { ChartView } from '../../../services/accounting/charts.ts'
import { PERIOD_STATES, type Period } from '../../../services/accounting/periods.ts'
import type { Posting } from '../../../services/accounting/postings.ts'
import type { TrialBalanceView } from '../../../services/accounting/trialBalance.ts'
import { LONGEST_CURSOR } from '../../../services/paging.ts'
import { LARGEST_INT32 } from '../../../toolbox/integers.ts'
import { queryInt } from '../../lists/query.ts'
import { count, word } from '../../openapi/answers.ts'
import { codec, instant, loanNumber, localDate, Refused, text } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

export const trialBalanceQuery = z.strictObject({
  asOf: localDate.optional().describe('The last day that counts. Default: today.'),
  basis: z
    .enum(BASES)
    .optional()
    .describe(
      '`booked` (default): as the books were kept, by booked day. `economic`: as the value dates say, whenever it was posted.',
    ),
  currency: z
    .enum(currencyCodes as [string, ...string[]])
    .optional()
    .describe("Default: the organization's."),
  productId: queryInt({ min: 1, max: LARGEST_INT32 })
    .optional()
    .describe('Only what loans of this product contribute: zeros where no product has the id.'),
})

const CODE_WORDS = `must be 1 to ${LONGEST_CODE} letters without accents, digits, dots, hyphens and underscores`
const CODE = new RegExp(CODE_PATTERN)

/** The code of an account. */
const code = codec<string>(
  (value) => (typeof value === 'string' && CODE.test(value) ? value : new Refused(CODE_WORDS)),
  {
    type: 'string',
    pattern: CODE_PATTERN,
    examples: ['1000'],
  },
)

const accountMembers = { code, name: text({ max: LONGEST_NAME }), type: z.enum(ACCOUNT_TYPES) }

const newAccount = named('LedgerAccountRequest', z.strictObject(accountMembers), { example: examples.ledgerAccount })

const slots = <T extends z.ZodType>(schema: T) => ({
  ...(Object.fromEntries(SLOTS.filter((slot) => !isOptional(slot)).map((slot) => [slot, schema])) as Record<
    Exclude<Slot, OptionalSlot>,
    T
  >),
  ...(Object.fromEntries(SLOTS.filter(isOptional).map((slot) => [slot, schema.optional()])) as Record<
    OptionalSlot,
    z.ZodOptional<T>
  >),
})

const newSlots = named('ChartSlotsRequest', z.strictObject(slots(code)), { example: examples.newChart.slots })

/** `null` leaves out a slot that may be left out (contract 1.7). */
const slotsOrNull = z.preprocess((value) => {
  if (typeof value !== 'object' || value === null) return value
  const isLeftOut = ([slot, one]: [string, unknown]) =>
    one === null && SLOTS.some((name) => name === slot && isOptional(name))
  return Object.fromEntries(Object.entries(value).filter((entry) => !isLeftOut(entry)))
}, newSlots)

const PRODUCT_WORDS = 'must be an object such as {"1": "accrual_upfront"}: the id of a product, and a method'

/** Methods by the id of the product; the domain knows which there are. */
const productMethods = codec<Record<string, string>>(
  (value) => {
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
    const isOfTexts = isMap && Object.values(value).every((one) => typeof one === 'string')
    return isOfTexts ? (value as Record<string, string>) : new Refused(PRODUCT_WORDS)
  },
  { type: 'object', additionalProperties: true, description: 'The methods of products, by their ids.' },
)

const newMethods = named(
  'ChartMethodsRequest',
  z.strictObject({
    default: z.enum(METHODS).describe('Of products that `products` does not name, and of loans without a product.'),
    products: productMethods.optional(),
  }),
  { example: examples.newChart.method },
)

/** A text stands for the default alone. */
const method = z.preprocess((value) => (typeof value === 'string' ? { default: value } : value), newMethods)

export const updateChartRequest = named(
  'UpdateChartRequest',
  z.strictObject({
    accounts: z
      .array(newAccount)
      .min(1)
      .max(MOST_ACCOUNTS)
      .describe('All accounts; each code once. One that has postings has to stay.'),
    slots: slotsOrNull,
    method,
  }),
  { example: examples.newChart },
)

const accountOfAnswer = {
  code: z.string(),
  name: z.string(),
  type: word('The type of the account', ACCOUNT_TYPES),
}

const ledgerAccount = named('LedgerAccount', z.object(accountOfAnswer), { example: examples.ledgerAccount })

/** An amount of the journal, in the currency that the answer names. */
const sum = (description: string) => z.number().meta({ description, examples: [1500] })

const accountBalance = named(
  'AccountBalance',
  z.object({
    ...accountOfAnswer,
    debit: sum('All debits up to the day.'),
    credit: sum('All credits up to the day.'),
    balance: sum('Above zero on the side where the type of the account has it.'),
  }),
  { example: examples.account },
)

const slotsOfAnswer = named('ChartSlots', z.object(slots(z.string())), { example: examples.newChart.slots })

const methods = named(
  'ChartMethods',
  z.object({
    default: word('How income is recognised', METHODS),
    products: z.unknown().meta({
      type: 'object',
      additionalProperties: true,
      description: 'The methods of products, by their ids.',
    }),
  }),
  { example: examples.newChart.method },
)

export const chartSchema = named(
  'Chart',
  z.object({
    version: count.describe('1 is the chart that every lender begins with.'),
    inForce: z.boolean().describe('False: the journal comes to the chart later. An answer waits 10 s for it.'),
    countsFrom: z.iso
      .date()
      .nullable()
      .describe(
        'The first booked day for which the chart counts; null: it counts from the beginning, or is not in force yet.',
      ),
    accounts: z.array(ledgerAccount).describe('By code.'),
    slots: slotsOfAnswer,
    method: methods,
  }),
  { example: examples.chart },
)

export const trialBalanceSchema = named(
  'TrialBalance',
  z.object({
    asOf: z.iso.date(),
    basis: word('By what days postings count', BASES),
    currencyCode: z.string().describe('ISO 4217, such as `TZS`.'),
    accounts: z
      .array(accountBalance)
      .describe('The accounts of the chart in force on the day, and others that have postings; by code.'),
    totalDebit: sum('Equal to `totalCredit`.'),
    totalCredit: sum('Equal to `totalDebit`.'),
    sequence: z
      .string()
      .describe(
        'The last event in the answer. Of a day in a closed month its `closeSequence`: the answer never changes again.',
      ),
  }),
  { example: examples.trialBalance },
)

const MOST_ROWS = 1_000
const USUAL_ROWS = 100

export const journalQuery = z.strictObject({
  from: localDate.meta({ description: 'The first booked day.', examples: ['2026-01-01'] }),
  to: localDate.meta({ description: 'The last booked day.', examples: ['2026-03-31'] }),
  loanId: loanNumber.optional().describe('Only the postings of this loan.'),
  account: code.optional().describe('Only postings that have a line on the account with this code.'),
  after: text({ max: LONGEST_CURSOR }).optional().meta({
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'The `next` of an earlier answer: gives the postings after it.',
  }),
  rows: queryInt(
    { min: 1, max: MOST_ROWS },
    { description: 'Postings in the answer at most.', default: USUAL_ROWS },
  ).default(USUAL_ROWS),
})

const postingLine = named(
  'PostingLine',
  z.object({
    account: z.string().describe('The code of the account.'),
    debit: sum('0 in a line with a credit.'),
    credit: sum('0 in a line with a debit.'),
  }),
  { example: examples.posting.lines[0]! },
)

const postingSchema = named(
  'Posting',
  z.object({
    id: z.string().describe('The number of the posting: 1, 2, 3 … in your organization.'),
    sequence: z.string().describe('The last event up to the change.'),
    bookedOn: z.iso.date().describe('The day from which the posting counts in the books.'),
    valueDate: z.iso.date().describe('The day to which the change belongs.'),
    late: z
      .boolean()
      .describe('True: the value date is before the booked day, because it was before the first open day.'),
    postedAt: instant,
    kind: word('What the posting is of', POSTING_KINDS),
    loanId: z.string().nullable().describe('Null: of no loan, but a move between accounts.'),
    transactionId: z.string().nullable(),
    paymentId: z.string().optional().describe('Of a payment that was received, returned or reversed; else absent.'),
    currencyCode: z.string().describe('ISO 4217, such as `TZS`.'),
    lines: z
      .array(postingLine)
      .describe('Debits equal credits. An account has two lines where two of its slots have amounts.'),
  }),
  { example: examples.posting },
)

export const postingPage = named(
  'PostingPage',
  z.object({
    items: z.array(postingSchema),
    next: z
      .string()
      .optional()
      .describe(
        'The cursor after all that was looked at: send it as `after`. Absent at the end, where there is no item.',
      ),
  }),
  { example: { items: [examples.posting], next: 'am91cm5hbC4y' } },
)

const MONTH = { type: 'string', pattern: '^(19|2[0-9])[0-9]{2}-(0[1-9]|1[0-2])$', examples: ['2026-01'] }

/** Reads a month; undefined for any other text. */
const readMonth = (value: unknown) => (typeof value === 'string' && firstDayOf(value) !== undefined ? value : undefined)

export const exportQuery = z.strictObject({
  period: codec<string>((value) => readMonth(value) ?? new Refused('must be a month, such as 2026-01'), {
    ...MONTH,
    description: 'The month, by booked day.',
  }),
})

/** A month in a path. A text that is none is null, and the answer is `not_found`. */
export const periodParams = z.object({
  period: codec<string | null>((value) => readMonth(value) ?? null, { ...MONTH, description: 'The month.' }),
})

export const periodSchema = named(
  'Period',
  z.object({
    month: z.string().meta(MONTH),
    state: word('Whether the month is closed', PERIOD_STATES),
    closeSequence: z
      .string()
      .nullable()
      .describe('The event of the close; null of a month that is not closed, like the two below.'),
    trialBalanceHash: z
      .string()
      .nullable()
      .describe(
        'SHA-256, in hex digits, of a line `currency,code,debit,credit` and a line feed for each account with a posting up to the last day, as booked: amounts with all decimals of the currency, sorted by currency and code as ASCII.',
      ),
    closedAt: instant.nullable(),
  }),
  { example: examples.closedPeriod },
)

export const periodList = named('PeriodList', z.object({ items: z.array(periodSchema) }), {
  example: { items: [examples.closedPeriod] },
})

const amounts = ({ debit, credit }: { readonly debit: bigint; readonly credit: bigint }, currency: Currency) => ({
  debit: minorToNumber(debit, currency),
  credit: minorToNumber(credit, currency),
})

/** Builds the view of a trial balance. */
export function toTrialBalance(view: TrialBalanceView): z.input<typeof trialBalanceSchema> {
  const { asOf, basis, currency, sequence, accounts, totalDebit, totalCredit } = view
  return {
    asOf,
    basis,
    currencyCode: currency.code,
    accounts: accounts.map(({ code, name, type, balance, ...turnover }) => ({
      code,
      name,
      type,
      ...amounts(turnover, currency),
      balance: minorToNumber(balance, currency),
    })),
    totalDebit: minorToNumber(totalDebit, currency),
    totalCredit: minorToNumber(totalCredit, currency),
    sequence: String(sequence),
  }
}

/** Builds the view of a posting. */
export const toPosting = ({ currency, lines, ...posting }: Posting, zone: string): z.input<typeof postingSchema> => ({
  id: String(posting.id),
  sequence: String(posting.sequence),
  bookedOn: posting.bookedOn,
  valueDate: posting.valueDate,
  late: posting.late,
  postedAt: toRfc3339(posting.postedAt, zone),
  kind: posting.kind,
  loanId: posting.loanId === null ? null : String(posting.loanId),
  transactionId: posting.transactionId === null ? null : String(posting.transactionId),
  ...(posting.paymentId !== null && { paymentId: String(posting.paymentId) }),
  currencyCode: currency.code,
  lines: lines.map(({ account, ...turnover }) => ({ account, ...amounts(turnover, currency) })),
})

/** Builds the view of a month. */
export const toPeriod = (period: Period, zone: string): z.input<typeof periodSchema> => ({
  month: period.month,
  state: period.state,
  trialBalanceHash: period.trialBalanceHash,
  closeSequence: period.closeSequence === null ? null : String(period.closeSequence),
  closedAt: period.closedAt === null ? null : toRfc3339(period.closedAt, zone),
})

/** Builds the view of a chart. */
export const toChart = ({ version, inForce, countsFrom, chart }: ChartView): z.input<typeof chartSchema> => ({
  version,
  inForce,
  countsFrom,
  ...chartToJson(chart),
})

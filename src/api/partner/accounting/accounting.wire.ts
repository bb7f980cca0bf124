import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import { firstDayOf } from '../../../domain/journal/months.ts'
import { POSTING_KINDS } from '../../../domain/journal/postingKinds.ts'
import { BASES } from '../../../domain/journal/trialBalance.ts'
import { type Currency, currencyCodes, minorToNumber } from '../../../domain/money.ts'
import { LARGEST_ID } from '../../../domain/product/smallId.ts'
import { PERIOD_STATES, type Period } from '../../../services/journal/periods.ts'
import type { Posting } from '../../../services/journal/postings.ts'
import type { TrialBalanceView } from '../../../services/journal/trialBalance.ts'
import { LONGEST_CURSOR } from '../../../services/paging.ts'
import { word } from '../../document/answers.ts'
import { queryInt } from '../../lists/query.ts'
import { codec, instant, localDate, Refused, readId, text } from '../../wire.ts'
import { named } from '../registry.ts'
import { accountBalance, code, sum } from './chart.wire.ts'
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
  productId: queryInt({ min: 1, max: LARGEST_ID })
    .optional()
    .describe('Only what loans of this product contribute: zeros where no product has the id.'),
})

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

const queryLoan = codec<bigint>(
  (value) => (typeof value === 'string' ? readId(value) : null) ?? new Refused('must be the number of a loan'),
  { type: 'string', pattern: '^[1-9][0-9]{0,18}$', examples: ['1'] },
)

const MOST_ROWS = 1_000
const USUAL_ROWS = 100

export const journalQuery = z.strictObject({
  from: localDate.meta({ description: 'The first booked day.', examples: ['2026-01-01'] }),
  to: localDate.meta({ description: 'The last booked day.', examples: ['2026-03-31'] }),
  loanId: queryLoan.optional().describe('Only the postings of this loan.'),
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

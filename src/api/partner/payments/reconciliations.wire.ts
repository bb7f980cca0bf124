import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import { currencyOf, minorToNumber } from '../../../domain/money.ts'
import { LINE_KINDS } from '../../../domain/payments/reconciliation.ts'
import { STATEMENT_LAYOUTS } from '../../../domain/payments/statementLayouts.ts'
import { LONGEST_TOLD } from '../../../domain/payments/told.ts'
import {
  MOST_TOLD_LINES,
  type Reconciliation,
  type StoredLine,
} from '../../../services/payments/reconciliation/reconcile.ts'
import { listQuery, queryWords } from '../../lists/query.ts'
import { count, word } from '../../openapi/answers.ts'
import { decimal, idParam, instant, localDate, moment, money, text } from '../../wire.ts'
import { named, pageOf } from '../registry.ts'
import { channelNumber } from './payments.wire.ts'
import * as examples from './reconciliationExamples.ts'

/** A number that no comparison has. */
const NONE = 0n

/** The number of a comparison in a path. */
export const reconciliationParams = z
  .object({ id: idParam.meta({ examples: [examples.reconciliation.id] }) })
  .transform(({ id }) => ({ id: id ?? NONE }))

/** The most characters of a statement in a body; the command line takes longer ones. */
const LONGEST_STATEMENT = 900_000

const signed = decimal.meta({ description: 'An amount in the currency of the channel; below 0 where money went out.' })

const statementLine = named(
  'StatementLineRequest',
  z.strictObject({
    receipt: text({ max: LONGEST_TOLD.receipt }),
    at: moment,
    amount: signed,
    reference: text({ max: LONGEST_TOLD.reference }).optional(),
    reverses: text({ max: LONGEST_TOLD.receipt }).optional().describe('The receipt that the line takes back.'),
  }),
  { example: examples.newReconciliation.lines[0]! },
)

export const reconcileRequest = named(
  'CreateReconciliationRequest',
  z.strictObject({
    channelId: channelNumber,
    from: localDate.describe('The first day of the statement, in the zone of the channel.'),
    to: localDate.describe('The last day, included; at most 93 days.'),
    layout: z
      .enum(STATEMENT_LAYOUTS)
      .optional()
      .describe('Of `statement`: how the file is laid out. Default: `plain`.'),
    statement: text({ max: LONGEST_STATEMENT, lines: true })
      .optional()
      .describe('The statement as the provider wrote it: CSV, or the XML of camt.053. Either this or `lines`.'),
    lines: z.array(statementLine).min(1).max(MOST_TOLD_LINES).optional().describe('The lines of the statement.'),
    opening: signed.optional().describe('The balance before; that of the statement, if it says one, when left out.'),
    closing: signed.optional().describe('The balance after.'),
  }),
  { example: examples.newReconciliation },
)

const figure = named('ReconciliationFigure', z.object({ lines: count, amount: money }), {
  example: examples.reconciliation.matched,
})

export const reconciliationSchema = named(
  'Reconciliation',
  z.object({
    id: z.string().describe("The service's number."),
    channelId: z.string(),
    from: z.iso.date(),
    to: z.iso.date(),
    layout: word('How the statement was laid out; `lines` where they were told', [...STATEMENT_LAYOUTS, 'lines']),
    matched: figure.describe('Payments that are in both, with the same amount.'),
    missingHere: figure.describe('In the statement, and not received: `apply` receives them.'),
    missingThere: figure.describe('Received or taken back as of these days, and not in the statement.'),
    amountDiffers: figure.describe('In both, with another amount in the statement.'),
    reversals: figure.describe('Taken back, and known.'),
    reversalsMissing: figure.describe('Taken back, and not known: `apply` takes them back here.'),
    other: figure.describe('What is of no payment, such as charges and withdrawals.'),
    difference: z.number().describe('Money of payments by the statement, less that by the payments.'),
    balanced: z
      .boolean()
      .describe('Whether nothing is missing or different, and the balances are the sum of the lines.'),
    createdAt: instant,
    updatedAt: instant,
  }),
  { example: examples.reconciliation },
)

export const reconciliationPage = pageOf('ReconciliationPage', reconciliationSchema)

export const reconciliationQuery = listQuery.extend({
  channelId: idParam.optional().describe('Only those of this channel.'),
})

export const linesQuery = listQuery.omit({ page: true }).extend({
  kind: queryWords(LINE_KINDS)
    .optional()
    .describe(`Only lines of these kinds: ${LINE_KINDS.join(', ')}.`),
})

const lineSchema = named(
  'ReconciliationLine',
  z.object({
    line: count.describe('The place of the line; those of payments that the statement does not have come last.'),
    kind: word('What the statement and the payments say', LINE_KINDS),
    receipt: z.string(),
    at: instant,
    amount: z.number().describe('Below 0 where money went out.'),
    reference: z.string().nullable(),
    reverses: z.string().nullable(),
    paymentId: z.string().nullable(),
  }),
  { example: examples.line },
)

export const linePage = pageOf('ReconciliationLinePage', lineSchema)

/** Builds the view of a comparison. @param currency that of its channel */
export function toReconciliation(
  run: Reconciliation,
  currency: string,
  zone: string,
): z.input<typeof reconciliationSchema> {
  const number = (minor: bigint) => minorToNumber(minor, currencyOf(currency))
  const { figures } = run
  const of = (kind: keyof typeof figures) => ({
    lines: figures[kind].lines,
    amount: number(BigInt(figures[kind].amount)),
  })
  return {
    id: String(run.id),
    channelId: String(run.channelId),
    from: run.fromDate,
    to: run.toDate,
    layout: run.layout,
    matched: of('matched'),
    missingHere: of('missing_here'),
    missingThere: of('missing_there'),
    amountDiffers: of('amount_differs'),
    reversals: of('reversal'),
    reversalsMissing: of('reversal_missing'),
    other: of('other'),
    difference: number(run.difference),
    balanced: run.balanced,
    createdAt: toRfc3339(run.createdAt, zone),
    updatedAt: toRfc3339(run.updatedAt, zone),
  }
}

/** Builds the view of a line. */
export const toLine = (line: StoredLine, currency: string, zone: string): z.input<typeof lineSchema> => ({
  line: line.line,
  kind: line.kind,
  receipt: line.receipt,
  at: toRfc3339(line.at, zone),
  amount: minorToNumber(line.amount, currencyOf(currency)),
  reference: line.reference,
  reverses: line.reverses,
  paymentId: line.paymentId === null ? null : String(line.paymentId),
})

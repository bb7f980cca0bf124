import { z } from 'zod'
import { type LocalDate, toRfc3339 } from '../../../domain/dates.ts'
import { currencyCodes, currencyOf, minorToNumber } from '../../../domain/money.ts'
import { type Candidate, MATCH_REASONS } from '../../../domain/payments/matching.ts'
import { inSuspense, PAYMENT_STATUSES } from '../../../domain/payments/payment.ts'
import { LONGEST_TOLD, type ToldPayment } from '../../../domain/payments/told.ts'
import {
  LONGEST_NOTE,
  MOST_ALLOCATIONS,
  type PaymentPart,
  type PaymentView,
  type Position,
} from '../../../services/payments/payments.ts'
import { lineMembers } from '../../body/lines.ts'
import { listQuery, queryInstant, queryWords } from '../../lists/query.ts'
import { count, word } from '../../openapi/answers.ts'
import { amount, idParam, instant, int64, loanNumber, localDate, moment, money, text } from '../../wire.ts'
import { named, pageOf } from '../registry.ts'
import * as examples from './examples.ts'

/** A number that no payment and no channel has. */
const NONE = 0n

/** The number of a payment in a path. */
export const paymentParams = z
  .object({ id: idParam.meta({ examples: [examples.payment.id] }) })
  .transform(({ id }) => ({ id: id ?? NONE }))

/** The number of a channel in a body. */
export const channelNumber = int64({ min: 1n }).meta({ type: 'string', examples: [examples.channel.id] })

export const newPaymentRequest = named(
  'PostPaymentRequest',
  z.strictObject({
    channelId: channelNumber.describe('The channel on which the money came in.'),
    receipt: text({ max: LONGEST_TOLD.receipt }).describe(
      "The provider's number of the payment: unique on the channel for ever. The same receipt again gets the first payment, whatever else the body says.",
    ),
    amount: amount.describe('What was paid, in the currency of the channel.'),
    currencyCode: z
      .enum(currencyCodes as [string, ...string[]])
      .optional()
      .describe('That of the channel, if given.'),
    paidAt: moment
      .optional()
      .describe(
        'When it was paid, as the provider says; now when left out. Its day in the zone of the channel is the value date of its repayments; a time to come counts as now.',
      ),
    reference: text({ max: LONGEST_TOLD.reference }).optional().describe('As the payer typed it.'),
    payerPhone: text({ max: LONGEST_TOLD.payerPhone }).optional(),
    payerName: text({ max: LONGEST_TOLD.payerName }).optional(),
  }),
  { example: examples.newPayment },
)

type NewPaymentBody = z.output<typeof newPaymentRequest>

/** Reads the body of a payment. */
export const toTold = ({ channelId: _, ...told }: NewPaymentBody): ToldPayment => told

const allocation = named(
  'PaymentAllocation',
  z.object({
    loanId: z.string(),
    loanExternalId: z.string().nullable(),
    transactionId: z.string().describe('The repayment, whose `idempotencyKey` is `payment:{id}:{n}`.'),
    amount: money,
    date: z.iso.date().describe('The value date.'),
    status: z.enum(['posted', 'reversed']),
  }),
  { example: examples.allocation },
)

const candidate = named(
  'PaymentCandidate',
  z.object({
    loanId: z.string(),
    why: word('In what the payment names the loan', MATCH_REASONS),
    open: z.boolean().describe('Whether something is owed on the loan.'),
    currencyCode: z.string(),
  }),
  { example: examples.payment.candidates[0]! },
)

export const paymentSchema = named(
  'Payment',
  z.object({
    id: z.string().describe("The service's number."),
    channelId: z.string(),
    receipt: z.string().describe("The provider's number."),
    status: word('Where its money is', PAYMENT_STATUSES),
    amount: money.describe('The whole payment, in its currency: allocated + suspense + returned + reversed.'),
    currencyCode: z.string(),
    allocated: money.describe('With loans.'),
    returned: money.describe('Paid back to the payer.'),
    reversed: money.describe('Taken back by the provider.'),
    suspense: money.describe('With no loan: it waits for somebody.'),
    paidAt: instant,
    valueDate: z.iso.date(),
    reference: z.string().nullable(),
    payerPhone: z.string().nullable(),
    payerName: z.string().nullable(),
    awaitsStatement: z
      .boolean()
      .describe('Whether the statement of the provider has to confirm it before it is allocated.'),
    cause: z.string().nullable().describe('Why its money is with no loan.'),
    mismatch: z
      .array(z.string())
      .optional()
      .describe('Of a receipt that was received before with another content: the members that differ.'),
    allocations: z.array(allocation).describe('Its repayments, reversed ones too.'),
    candidates: z
      .array(candidate)
      .optional()
      .describe('Loans that it may be for, at most 5, while money of it waits; absent where there is none.'),
    receivedAt: instant,
    updatedAt: instant,
  }),
  { example: examples.payment },
)

export const paymentPage = pageOf('PaymentPage', paymentSchema)

export const paymentLineAnswer = named(
  'PaymentLine',
  z.object({ ...lineMembers, payment: paymentSchema.optional().describe('Where the status is 200.') }),
  { example: { line: 1, status: 200, payment: examples.payment, replayed: true } },
)

export const paymentQuery = listQuery.extend({
  status: queryWords(PAYMENT_STATUSES)
    .optional()
    .describe(`Only payments with one of these statuses, separated by commas: ${PAYMENT_STATUSES.join(', ')}.`),
  channelId: idParam.optional().describe('Only payments of this channel.'),
  receipt: text({ max: LONGEST_TOLD.receipt }).optional().describe('Only the payment with this receipt.'),
  reference: text({ max: LONGEST_TOLD.reference })
    .optional()
    .describe('Only payments with this reference, as the payer typed it.'),
  loanId: loanNumber.optional().describe('Only payments of which a repayment is on this loan.'),
  from: queryInstant
    .optional()
    .describe('Only what was paid from this instant on; a date stands for its first instant.'),
  to: queryInstant.optional().describe('Only what was paid before this instant; of a date, the whole day is included.'),
})

const partRequest = named(
  'PaymentPartRequest',
  z.strictObject({
    loanId: loanNumber.optional(),
    loanExternalId: text({ max: 100 }).optional().describe('Your own id of the loan, instead of `loanId`.'),
    amount,
  }),
  { example: { loanId: '4000000000000001', amount: 10_000 } },
)

export const allocateRequest = named(
  'AllocatePaymentRequest',
  z.strictObject({
    allocations: z
      .array(partRequest)
      .min(1)
      .max(MOST_ALLOCATIONS)
      .describe('The parts: all of them are posted, or none.'),
  }),
  { example: { allocations: [{ loanId: '4000000000000001', amount: 10_000 }] } },
)

export const reverseAllocationsRequest = named(
  'ReverseAllocationsRequest',
  z.strictObject({
    transactionIds: z
      .array(loanNumber)
      .min(1)
      .max(MOST_ALLOCATIONS)
      .optional()
      .describe('The repayments that are reversed; all that stand when left out.'),
    note: text({ max: LONGEST_NOTE, lines: true }).optional().describe('Why.'),
  }),
  { example: { note: 'It was for another loan' } },
).optional()

export const returnRequest = named(
  'ReturnPaymentRequest',
  z.strictObject({
    amount: amount.optional().describe('All that is in suspense when left out.'),
    note: text({ max: LONGEST_NOTE, lines: true }).describe('Why, and how it was paid back.'),
  }),
  { example: { note: 'Sent back to the payer, receipt SKL8AB12CD' } },
)

const asAmount = (currency: string) => (minor: bigint) => minorToNumber(minor, currencyOf(currency))

/** Builds the view of a payment. @param differs the members in which it was told otherwise the second time */
export function toPayment(
  { payment, payer, parts, candidates }: PaymentView,
  zone: string,
  differs: readonly string[] = [],
): z.input<typeof paymentSchema> {
  const number = asAmount(payment.currency)
  return {
    id: String(payment.id),
    channelId: String(payment.channelId),
    receipt: payment.receipt,
    status: payment.status,
    amount: number(payment.amount),
    currencyCode: payment.currency,
    allocated: number(payment.allocated),
    returned: number(payment.returned),
    reversed: number(payment.reversed),
    suspense: number(inSuspense(payment)),
    paidAt: toRfc3339(payment.paidAt, zone),
    valueDate: payment.valueDate,
    reference: payment.reference,
    payerPhone: payer.phone,
    payerName: payer.name,
    awaitsStatement: payment.unconfirmed,
    cause: payment.cause,
    ...(differs.length > 0 && { mismatch: [...differs] }),
    allocations: parts.map((part) => toAllocation(part, number)),
    ...(candidates.length > 0 && { candidates: candidates.map(toCandidate) }),
    receivedAt: toRfc3339(payment.receivedAt, zone),
    updatedAt: toRfc3339(payment.updatedAt, zone),
  }
}

const toAllocation = (part: PaymentPart, number: (minor: bigint) => number): z.input<typeof allocation> => ({
  loanId: String(part.loanId),
  loanExternalId: part.loanExternalId,
  transactionId: String(part.transactionId),
  amount: number(part.amount),
  date: part.valueDate,
  status: part.reversedAt === null ? 'posted' : 'reversed',
})

const toCandidate = ({ loanId, why, isOpen, currency }: Candidate): z.input<typeof candidate> => ({
  loanId: String(loanId),
  why,
  open: isOpen,
  currencyCode: currency,
})

export const positionQuery = z.strictObject({
  asOf: localDate.optional().describe('The last day that counts. Default: today.'),
})

export const positionSchema = named(
  'PaymentChannelPosition',
  z.object({
    channelId: z.string(),
    asOf: z.iso.date(),
    currencyCode: z.string(),
    payments: count,
    received: money.describe('All payments of the channel up to the day: allocated + suspense + returned + reversed.'),
    allocated: money.describe('With loans now.'),
    suspense: money.describe('With no loan now.'),
    returned: money.describe('Paid back by now.'),
    reversed: money.describe('Taken back by the provider by now.'),
  }),
  { example: examples.position },
)

/** Builds the view of a position. */
export function toPosition(channelId: bigint, position: Position): z.input<typeof positionSchema> {
  const number = asAmount(position.currency)
  const asOf: LocalDate = position.asOf
  return {
    channelId: String(channelId),
    asOf,
    currencyCode: position.currency,
    payments: position.payments,
    received: number(position.received),
    allocated: number(position.allocated),
    suspense: number(position.suspense),
    returned: number(position.returned),
    reversed: number(position.reversed),
  }
}

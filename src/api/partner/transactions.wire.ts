import { z } from 'zod'
import { toRfc3339 } from '../../domain/dates.ts'
import { COMPONENTS } from '../../domain/loan/allocation.ts'
import { ENTRY_TYPES, type EntryType, paymentMethodOf } from '../../domain/loan/entry.ts'
import type { Posting } from '../../domain/loan/loan.ts'
import { type Decimal, minorToNumber } from '../../domain/money.ts'
import type { TransactionNow } from '../../services/loans/transactions.ts'
import { amount, amountOrZero, instant, localDate, money, note, text } from '../wire.ts'
import * as examples from './document/examples.ts'
import { named, pageOf } from './registry.ts'

const token = text({ max: 100 })

const valueDate = localDate
  .optional()
  .describe('The value date: the day it counts from. Default: today. Not before disbursement, not in the future.')

export const newRepayment = named(
  'NewRepayment',
  z.strictObject({
    transactionAmount: amount.describe("Greater than 0, in the loan's currency."),
    transactionDate: valueDate,
    idempotencyKey: token
      .optional()
      .describe('Seen before on this loan: the original transaction is answered and nothing is posted twice.'),
  }),
  {
    example: {
      transactionAmount: examples.repayment.amount,
      transactionDate: examples.repayment.date,
      idempotencyKey: examples.repayment.idempotencyKey,
    },
  },
)

const remark = { note: note.optional() }

export const newRecovery = named('NewRecovery', newRepayment.extend(remark), {
  example: { transactionAmount: examples.recovery.amount, note: examples.recovery.note },
})

export const newMovement = named(
  'NewTransaction',
  z.strictObject({ transactionAmount: amount, transactionDate: valueDate, ...remark }),
  { example: { transactionAmount: examples.waiver.amount, note: examples.waiver.note } },
)

/** This body may be left out: every field has a default. */
export const newMark = named('NewMark', z.strictObject({ transactionDate: valueDate, ...remark }), {
  example: { transactionDate: examples.chargeOff.date, note: examples.chargeOff.note },
}).optional()

export const newAdjustment = named(
  'NewAdjustment',
  z.strictObject({
    transactionAmount: amountOrZero.describe('0 only reverses.'),
    transactionDate: localDate.optional().describe("Default: the original's."),
    ...remark,
  }),
  { example: { transactionAmount: examples.adjusted.amount } },
)

export const newReversal = named('NewReversal', z.strictObject(remark), {
  example: { note: 'Posted to the wrong loan' },
}).optional()

/** The fields that the body of any transaction may have. */
interface TransactionBody {
  readonly transactionAmount?: Decimal
  readonly transactionDate?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly note?: string | undefined
}

/** Reads the body of a transaction as a posting. */
export const toPosting = (type: EntryType, body: TransactionBody = {}): Posting => ({
  type,
  amount: body.transactionAmount ?? null,
  valueDate: body.transactionDate,
  token: body.idempotencyKey ?? null,
  note: body.note ?? null,
})

type Type = Exclude<EntryType, 'Recovery Repayment'>

const typeOf = (type: EntryType): Type => (type === 'Recovery Repayment' ? 'Repayment' : type)

const TYPES: readonly Type[] = [...new Set(ENTRY_TYPES.map(typeOf))]

export const transactionSchema = named(
  'Transaction',
  z.object({
    id: z.string(),
    loanId: z.string(),
    type: z
      .enum(TYPES)
      .describe('`Repayment` for all money that a customer paid; a recovery is one too, with `recovery: true`.'),
    recovery: z.literal(true).optional().describe('Of a repayment that was posted as a recovery.'),
    date: z.iso.date().describe('The value date.'),
    transactionAt: instant.describe('The instant of posting.'),
    amount: money,
    principal: money.optional().describe('Portions are left out where they are 0.'),
    interest: money.optional(),
    fees: money.optional(),
    penalty: money.optional(),
    overpayment: money.optional(),
    status: z.enum(['posted', 'reversed']),
    paymentMethod: z
      .string()
      .optional()
      .describe('How the money was paid: a setting of the lender. Absent where no money moved.'),
    idempotencyKey: z.string().optional(),
    note: z.string().optional(),
  }),
  { example: examples.repayment },
)

export const transactionPage = pageOf('TransactionPage', transactionSchema)

export type TransactionView = z.infer<typeof transactionSchema>

/** Builds the partner style's view of a transaction; a reversed one has no effect, and so no portions. */
export function toTransaction({ loan, entry, outcome }: TransactionNow): TransactionView {
  const { currency, zone } = loan.terms
  const number = (minor: bigint) => minorToNumber(minor, currency)
  const view: TransactionView = {
    id: String(entry.id),
    loanId: String(loan.id),
    type: typeOf(entry.type),
    ...(entry.type === 'Recovery Repayment' && { recovery: true as const }),
    date: entry.valueDate,
    transactionAt: toRfc3339(entry.postedAt, zone),
    amount: number(entry.amount),
    status: entry.reversedAt === null ? 'posted' : 'reversed',
  }
  if (outcome) {
    for (const component of COMPONENTS)
      if (outcome.portions[component] > 0n) view[component] = number(outcome.portions[component])
    if (outcome.overpayment > 0n) view.overpayment = number(outcome.overpayment)
  }
  const paymentMethod = paymentMethodOf(entry)
  if (paymentMethod !== null) view.paymentMethod = paymentMethod
  if (entry.token !== null) view.idempotencyKey = entry.token
  if (entry.note !== null) view.note = entry.note
  return view
}

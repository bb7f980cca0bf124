import { z } from 'zod'
import { toRfc3339 } from '../../domain/dates.ts'
import { ENTRY_TYPES, type Entry, type EntryType, isCharge, paymentMethodOf } from '../../domain/loan/entry.ts'
import type { Posting } from '../../domain/loan/loan.ts'
import type { Outcome } from '../../domain/loan/outcomes.ts'
import { COMPONENTS } from '../../domain/loan/portions.ts'
import { type Decimal, minorToNumber } from '../../domain/money.ts'
import { changedAt, type TransactionNow } from '../../services/loans/transactions.ts'
import { lineMembers } from '../body/lines.ts'
import { word } from '../openapi/answers.ts'
import { amount, amountOrZero, instant, loanNumber, localDate, money, note, text } from '../wire.ts'
import * as examples from './openapi/examples.ts'
import { named, pageOf } from './registry.ts'

const token = text({ max: 100 })

const valueDate = localDate
  .optional()
  .describe('The value date: the day it counts from. Default: today. Not before disbursement, not in the future.')

const remark = { note: note.optional().describe('A remark for people; answered again with the transaction.') }

const payment = {
  transactionAmount: amount.describe("Greater than 0, in the loan's currency."),
  transactionDate: valueDate,
  idempotencyKey: token
    .optional()
    .describe(
      'Your own id of the payment. Seen before on this loan: the original transaction is answered and nothing is posted twice.',
    ),
}

const movement = { transactionAmount: amount, transactionDate: valueDate, ...remark }

const loss = { transactionDate: valueDate, ...remark }

export const postRepaymentRequest = named('PostRepaymentRequest', z.strictObject(payment), {
  example: {
    transactionAmount: examples.repayment.amount,
    idempotencyKey: examples.repayment.idempotencyKey,
  },
})

/** A line of a batch of repayments. */
export const repaymentLine = named(
  'RepaymentLineRequest',
  z.strictObject({
    loanId: loanNumber.optional().describe("The service's number of the loan; or `loanExternalId`."),
    loanExternalId: text({ max: 100 }).optional().describe('Your own id of the loan.'),
    ...payment,
    idempotencyKey: token.describe(
      'Your own id of the payment. Seen before on this loan: the original transaction is answered and nothing is posted twice.',
    ),
  }),
  {
    example: {
      loanExternalId: examples.newLoan.externalId,
      transactionAmount: examples.repayment.amount,
      idempotencyKey: examples.repayment.idempotencyKey,
    },
  },
)

export const postRecoveryRequest = named('PostRecoveryRequest', z.strictObject({ ...payment, ...remark }), {
  example: { transactionAmount: examples.recovery.amount, note: examples.recovery.note },
})

export const waiveInterestRequest = named('WaiveInterestRequest', z.strictObject(movement), {
  example: { transactionAmount: examples.waiver.amount, note: examples.waiver.note },
})

export const postRefundRequest = named('PostRefundRequest', z.strictObject(movement), {
  example: { transactionAmount: examples.refund.amount, note: examples.refund.note },
})

export const refundCreditBalanceRequest = named('RefundCreditBalanceRequest', z.strictObject(movement), {
  example: { transactionAmount: examples.paidOut.amount, note: examples.paidOut.note },
})

/** The bodies below may be left out: every field has a default. */
export const chargeOffLoanRequest = named('ChargeOffLoanRequest', z.strictObject(loss), {
  example: { note: examples.chargeOff.note },
}).optional()

export const writeOffLoanRequest = named('WriteOffLoanRequest', z.strictObject(loss), {
  example: { note: examples.writeOff.note },
}).optional()

export const reverseTransactionRequest = named('ReverseTransactionRequest', z.strictObject(remark), {
  example: { note: 'Posted to the wrong loan' },
}).optional()

export const adjustTransactionRequest = named(
  'AdjustTransactionRequest',
  z.strictObject({
    transactionAmount: amountOrZero.describe('The right amount; 0 only reverses.'),
    transactionDate: localDate.optional().describe("The right value date. Default: the original's."),
    ...remark,
  }),
  { example: { transactionAmount: examples.adjusted.amount } },
)

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

/** The types of transactions that clients see. */
export const TRANSACTION_TYPES: readonly Type[] = [...new Set(ENTRY_TYPES.map(typeOf))]

/** Returns the types of entries that clients see as a type. */
export const entryTypesOf = (type: Type): EntryType[] => ENTRY_TYPES.filter((one) => typeOf(one) === type)

export const transactionSchema = named(
  'Transaction',
  z.object({
    id: z.string().describe("The service's number."),
    loanId: z.string().describe("The service's number of the loan."),
    type: word(
      'What was posted; `Repayment` for all money that a customer paid (a recovery is one too, with `recovery: true`), `Fee` and `Penalty` for single charges, `Settlement Waiver` for the interest that an early settlement forgave',
      TRANSACTION_TYPES,
    ),
    recovery: z.boolean().optional().describe('True of a repayment that was posted as a recovery, else absent.'),
    date: z.iso.date().describe('The value date.'),
    transactionAt: instant.describe('The instant of posting.'),
    amount: money.describe(
      'The whole amount, in the currency of the loan. Of a charge-off, a write-off or a settlement waiver: as it was when it was posted; the portions say what it is now.',
    ),
    principal: money
      .optional()
      .describe(
        'The part of the amount that moved principal. Portions are left out where they are 0, and of a reversed transaction. They can change when an earlier transaction is posted or reversed.',
      ),
    interest: money.optional(),
    fees: money.optional(),
    penalty: money.optional(),
    overpayment: money
      .optional()
      .describe(
        'The part that exceeds the loan; of a payout, the part that was overpayment; of a single charge, the part that overpayment of the loan paid at once.',
      ),
    status: z.enum(['posted', 'reversed']).describe('A reversed transaction stays visible and has no effect.'),
    paymentMethod: z
      .string()
      .optional()
      .describe('How the money was paid: a setting of the lender. Absent where no money moved.'),
    idempotencyKey: z.string().optional().describe('As it was sent.'),
    note: z.string().optional().describe('As it was sent.'),
    name: z.string().optional().describe('Of a single charge: what is charged.'),
    dueDate: z.iso
      .date()
      .optional()
      .describe(
        'Of a single charge: it is due with the first instalment due on or after this day, or with an instalment of its own on this day where there is none.',
      ),
    createdAt: instant.describe('The instant of posting.'),
    updatedAt: instant.describe('The instant of posting or, of a reversed transaction, of the reversal.'),
  }),
  { example: examples.repayment },
)

/** The answer to a line of a batch. */
export const repaymentLineAnswer = named(
  'RepaymentLine',
  z.object({
    ...lineMembers,
    repayment: transactionSchema.optional().describe('Where the status is 200.'),
    mismatch: z
      .array(z.string())
      .optional()
      .describe('The members in which the line differs from the repayment that was posted before with its key.'),
  }),
  { example: { line: 1, status: 200, repayment: examples.repayment, replayed: true } },
)

export const transactionPage = pageOf('TransactionPage', transactionSchema)

export type TransactionView = z.infer<typeof transactionSchema>

const toTimes = (entry: Entry, zone: string) => ({
  createdAt: toRfc3339(entry.postedAt, zone),
  updatedAt: toRfc3339(changedAt(entry), zone),
})

/** A transaction, with the effect that is shown of it. */
type ShownTransaction = Pick<TransactionNow, 'loan' | 'entry'> & {
  readonly outcome: Pick<Outcome, 'portions' | 'overpayment'> | undefined
}

/** Builds the partner style's view of a transaction; a reversed one has no effect, and so no portions. */
export function toTransaction({ loan, entry, outcome }: ShownTransaction): TransactionView {
  const { currency, zone } = loan.terms
  const number = (minor: bigint) => minorToNumber(minor, currency)
  const view: Omit<TransactionView, 'createdAt' | 'updatedAt'> = {
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
  if (isCharge(entry.type)) {
    if (entry.note !== null) view.name = entry.note
    if (entry.dueOn) view.dueDate = entry.dueOn
  } else if (entry.note !== null) view.note = entry.note
  return { ...view, ...toTimes(entry, zone) }
}

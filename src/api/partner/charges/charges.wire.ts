import { z } from 'zod'
import type { ChargeType } from '../../../domain/loan/entry.ts'
import type { Posting } from '../../../domain/loan/loan.ts'
import type { TransactionNow } from '../../../services/loans/transactions.ts'
import { amount, localDate, text } from '../../wire.ts'
import { named, pageOf } from '../registry.ts'
import { toTransaction, transactionSchema } from '../transactions.wire.ts'
import * as examples from './examples.ts'

const TYPE_OF = { fee: 'Fee', penalty: 'Penalty' } as const satisfies Readonly<Record<string, ChargeType>>

export const chargeLoanRequest = named(
  'ChargeLoanRequest',
  z.strictObject({
    name: text({ max: 100 }).describe('What is charged, as the customer reads it.'),
    amount: amount.describe("Greater than 0, in the loan's currency."),
    dueDate: localDate
      .optional()
      .describe(
        'The charge is due with the first instalment due on or after that day, or with one of its own after the last. Default: today.',
      ),
    kind: z.enum(['fee', 'penalty']).describe('Which of the figures of the loan the charge is in.'),
  }),
  { example: examples.newCharge },
)

export const chargeSchema = named(
  'Charge',
  transactionSchema.required({ name: true, dueDate: true }).omit({ recovery: true, paymentMethod: true }),
  { example: examples.charge },
)

export const chargePage = pageOf('ChargePage', chargeSchema)

/** Builds the view of a charge. */
export function toCharge({ loan, entry, outcome }: TransactionNow): z.infer<typeof chargeSchema> {
  const { name = '', dueDate = entry.valueDate, ...view } = toTransaction({ loan, entry, outcome })
  return { ...view, name, dueDate }
}

/** Reads the request for a charge as a posting of today. */
export const toChargePosting = ({
  name,
  amount: given,
  dueDate,
  kind,
}: z.output<typeof chargeLoanRequest>): Posting => ({
  type: TYPE_OF[kind],
  amount: given,
  valueDate: undefined,
  dueOn: dueDate,
  token: null,
  note: name,
})

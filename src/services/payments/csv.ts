import { toRfc3339 } from '../../domain/dates.ts'
import { currencyOf, minorToText } from '../../domain/money.ts'
import { inSuspense } from '../../domain/payments/payment.ts'
import { type Column, othersText } from '../csv.ts'
import type { Channel } from './channels.ts'
import type { PaymentView } from './payments.ts'
import type { LineAmounts } from './reconciliation/lineAmounts.ts'

/** Returns the columns of a file of payments with money in suspense. @param zone of the instants */
export function suspenseColumns(zone: string): readonly Column<PaymentView>[] {
  const amount = ({ payment }: PaymentView, minor: bigint) => minorToText(minor, currencyOf(payment.currency))
  return [
    ['id', ({ payment }) => String(payment.id)],
    ['channelId', ({ payment }) => payment.channelId],
    ['receipt', ({ payment }) => othersText(payment.receipt)],
    ['status', ({ payment }) => payment.status],
    ['currencyCode', ({ payment }) => payment.currency],
    ['amount', (view) => amount(view, view.payment.amount)],
    ['suspense', (view) => amount(view, inSuspense(view.payment))],
    ['paidAt', ({ payment }) => toRfc3339(payment.paidAt, zone)],
    ['valueDate', ({ payment }) => payment.valueDate],
    ['reference', ({ payment }) => othersText(payment.reference)],
    ['payerPhone', ({ payer }) => othersText(payer.phone)],
    ['payerName', ({ payer }) => othersText(payer.name)],
    ['awaitsStatement', ({ payment }) => String(payment.unconfirmed)],
    ['cause', ({ payment }) => othersText(payment.cause)],
    ['candidateLoans', ({ candidates }) => candidates.map(({ loanId }) => loanId).join(' ')],
    ['receivedAt', ({ payment }) => toRfc3339(payment.receivedAt, zone)],
  ]
}

/** Returns the columns of a file of lines of a comparison. @param channel its zone and its currency are those of the lines */
export function lineColumns({ currency, zone }: Pick<Channel, 'currency' | 'zone'>): readonly Column<LineAmounts>[] {
  const amount = (minor: bigint | null) => (minor === null ? '' : minorToText(minor, currencyOf(currency)))
  return [
    ['line', ({ line }) => line],
    ['kind', ({ kind }) => kind],
    ['receipt', ({ receipt }) => othersText(receipt)],
    ['at', ({ at }) => toRfc3339(at, zone)],
    ['currencyCode', () => currency],
    ['amountInStatement', ({ there }) => amount(there)],
    ['amountHere', ({ here }) => amount(here)],
    ['reference', ({ reference }) => othersText(reference)],
    ['reverses', ({ reverses }) => othersText(reverses)],
    ['paymentId', ({ paymentId }) => (paymentId === null ? '' : String(paymentId))],
  ]
}

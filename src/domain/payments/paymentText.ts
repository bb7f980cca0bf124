import { type Instant, toDay } from '../dates.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from './payment.ts'
import type { Allocation, MovedMoney, PaymentChange } from './paymentChange.ts'

/** The entity of the trail. */
export const PAYMENT = 'payment'

/** Returns what the trail keeps of a payment after a change, as JSON: amounts as texts of minor units; nothing is left out. */
export const writtenPayment = (change: PaymentChange): object => ({
  channelId: change.channelId,
  receipt: change.receipt,
  amount: String(change.amount),
  currency: change.currency,
  paidAt: new Date(change.paidAt),
  valueDate: change.valueDate,
  status: change.status,
  cause: change.cause,
  allocated: String(change.allocated),
  returned: String(change.returned),
  reversed: String(change.reversed),
  allocations: change.allocations.map(({ loanId, transactionId, amount }) => ({
    loanId: String(loanId),
    transactionId: String(transactionId),
    amount: String(amount),
  })),
  moved: change.moved && {
    amount: String(change.moved.amount),
    on: change.moved.on,
    account: change.moved.account,
  },
  note: change.note,
})

/** Reads what the trail keeps of a payment; undefined for a damaged text. */
export function paymentFromText(text: string | null): PaymentChange | undefined {
  if (text === null) return undefined
  try {
    return readPayment(objectIn(JSON.parse(text)))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

type Members = Readonly<Record<string, unknown>>

const readPayment = (members: Members): PaymentChange => ({
  channelId: numberIn(members.channelId),
  receipt: textIn(members.receipt),
  amount: amountIn(members.amount),
  currency: textIn(members.currency),
  paidAt: instantIn(members.paidAt),
  valueDate: toDay(textIn(members.valueDate)),
  status: statusIn(members.status),
  cause: textOrNull(members.cause),
  allocated: amountIn(members.allocated),
  returned: amountIn(members.returned),
  reversed: amountIn(members.reversed),
  allocations: listIn(members.allocations).map(allocationIn),
  moved: members.moved === null ? null : movedIn(objectIn(members.moved)),
  note: textOrNull(members.note),
})

const allocationIn = (value: unknown): Allocation => {
  const { loanId, transactionId, amount } = objectIn(value)
  return { loanId: amountIn(loanId), transactionId: amountIn(transactionId), amount: amountIn(amount) }
}

const movedIn = ({ amount, on, account }: Members): MovedMoney => ({
  amount: amountIn(amount),
  on: toDay(textIn(on)),
  account: textOrNull(account),
})

function objectIn(value: unknown): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('an object')
  return value as Members
}

function listIn(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new SyntaxError('a list')
  return value
}

function amountIn(value: unknown): bigint {
  if (typeof value !== 'string' || !/^-?\d{1,30}$/.test(value)) throw new SyntaxError('an amount')
  return BigInt(value)
}

function numberIn(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new SyntaxError('a whole number')
  return value
}

function textIn(value: unknown): string {
  if (typeof value !== 'string') throw new SyntaxError('a text')
  return value
}

function instantIn(value: unknown): Instant {
  const instant = Date.parse(textIn(value))
  if (Number.isNaN(instant)) throw new SyntaxError('an instant')
  return instant
}

const textOrNull = (value: unknown): string | null => (value === null ? null : textIn(value))

function statusIn(value: unknown): PaymentStatus {
  const status = PAYMENT_STATUSES.find((one) => one === value)
  if (status === undefined) throw new SyntaxError('a status')
  return status
}

import type { EntryType } from '../loan/entry.ts'

/** The kinds of postings: by what changed a loan, and those that change no loan. */
export const POSTING_KINDS = [
  'disbursement',
  'repayment',
  'recovery_repayment',
  'waive_interest',
  'refund',
  'credit_balance_refund',
  'charge_off',
  'write_off',
  'fee',
  'penalty',
  'settlement_waiver',
  'waive_fees',
  'waive_penalty',
  'restructure',
  'reversal',
  'adjustment',
  'restatement',
  'time',
  'opening',
  'method_changed',
  'chart_changed',
  'provision',
  'payment_received',
  'payment_returned',
  'payment_reversed',
] as const

export type PostingKind = (typeof POSTING_KINDS)[number]

const OF_ENTRY: Readonly<Record<EntryType, PostingKind>> = {
  Repayment: 'repayment',
  'Recovery Repayment': 'recovery_repayment',
  'Waive Interest': 'waive_interest',
  Refund: 'refund',
  'Credit Balance Refund': 'credit_balance_refund',
  'Charge-off': 'charge_off',
  'Write-off': 'write_off',
  Fee: 'fee',
  Penalty: 'penalty',
  'Settlement Waiver': 'settlement_waiver',
  'Waive Fees': 'waive_fees',
  'Waive Penalty': 'waive_penalty',
  Restructure: 'restructure',
}

/** Returns the kind of the posting of a change of a payment, by the action of the trail. */
export function paymentKindOf(action: string): PostingKind {
  if (action === 'return') return 'payment_returned'
  return action === 'reverse' ? 'payment_reversed' : 'payment_received'
}

/** A change of a loan, as far as it decides the kind of its posting. */
export interface PostedChange {
  readonly action: string
  /** The types of the entries that the change posted and reversed; null where it did neither. */
  readonly postedType: string | null
  readonly reversedType: string | null
}

/** Returns the kind of the posting of a change of a loan of this book. */
export function postingKindOf({ action, postedType, reversedType }: PostedChange): PostingKind {
  if (action === 'create') return 'disbursement'
  if (reversedType !== null) return postedType === null ? 'reversal' : 'adjustment'
  if (postedType !== null) return OF_ENTRY[postedType as EntryType] ?? 'restatement'
  return action === 'time' ? 'time' : 'restatement'
}

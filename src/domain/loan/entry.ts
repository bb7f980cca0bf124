import type { Instant, LocalDate } from '../dates.ts'
import type { RestructureRole } from './restructure/plan.ts'

/** The details of a repayment that a record system sent, beyond the fields of every entry. */
export interface RepaymentRecord {
  readonly method: string | null
  readonly collectedBy: string | null
}

/** The types of entries; integrators see the same names (contract 4.4.4). */
export const ENTRY_TYPES = [
  'Repayment',
  'Recovery Repayment',
  'Waive Interest',
  'Refund',
  'Credit Balance Refund',
  'Charge-off',
  'Write-off',
  'Fee',
  'Penalty',
  'Settlement Waiver',
  'Waive Fees',
  'Waive Penalty',
  'Restructure',
] as const

export type EntryType = (typeof ENTRY_TYPES)[number]

/** Something that happened to a loan, as it was posted. Only the mark of a reversal is ever added. */
export interface Entry {
  readonly id: bigint
  readonly type: EntryType
  /** The day from which the entry counts, whenever it was posted. */
  readonly valueDate: LocalDate
  readonly postedAt: Instant
  /** 1, 2, 3 … in the order of posting on its loan. */
  readonly ordinal: number
  /** Its place among the entries of its value date: its own ordinal, or that of the entry it replaces. */
  readonly place: number
  /**
   * Minor units. Of a charge-off or write-off what was owed, of a settlement waiver what was forgiven, and of a restructure
   * the interest that was added, when it was posted; a replay computes it again.
   */
  readonly amount: bigint
  /** The caller's dedupe token, unique on the loan. */
  readonly token: string | null
  readonly note: string | null
  /** The entry that this one was posted in place of. */
  readonly replaces: bigint | null
  readonly reversedAt: Instant | null
  /** Further details that a record system sent; null or left out: none. */
  readonly record?: RepaymentRecord | null
  /** The lender's payment method at the posting; null or left out where no money moved. */
  readonly paymentMethod?: string | null
  /**
   * The day from which a single charge looks for its instalment: it is due with the first one due on or after that day.
   * Null or left out for any other entry. The note of a single charge is its name.
   */
  readonly dueOn?: LocalDate | null
  /** Of a restructure, its plan; of a waiver or a fee that was posted with one, which. Null or left out for any other entry. */
  readonly restructure?: RestructureRole | null
  /** Of a repayment that was allocated from a received payment, the id of the payment. Null or left out for any other entry. */
  readonly paymentId?: bigint | null
}

/** An entry that is about to be posted. The database gives the id, unless the client chose one. */
export type NewEntry = Omit<Entry, 'id'> & { readonly id?: bigint }

/** The types of entries that are money that a customer paid. */
export const CUSTOMER_REPAYMENTS: readonly EntryType[] = ['Repayment', 'Recovery Repayment']

/**
 * Returns whether an entry is money that a customer paid, as in `repaymentHistory` and the lists of repayments
 * (contract 4.4.5).
 */
export const isCustomerRepayment = (type: EntryType): boolean => CUSTOMER_REPAYMENTS.includes(type)

/** The types of entries that are single charges on a loan (contract 10.12). */
export const CHARGES = ['Fee', 'Penalty'] as const satisfies readonly EntryType[]
export type ChargeType = (typeof CHARGES)[number]

/** Returns whether entries of the type are single charges. */
export const isCharge = (type: EntryType): type is ChargeType => CHARGES.some((one) => one === type)

/** The types of entries that are posted by a restructure alone: no posting of a caller has them. */
export const OF_RESTRUCTURES = ['Waive Fees', 'Waive Penalty', 'Restructure'] as const satisfies readonly EntryType[]
type OfRestructure = (typeof OF_RESTRUCTURES)[number]

/** The types of entries that a posting may have. */
export type PostableType = Exclude<EntryType, OfRestructure>

/** Returns whether entries of the type are posted by a restructure alone. */
export const isOfRestructures = (type: EntryType): type is OfRestructure => OF_RESTRUCTURES.some((one) => one === type)

const MOVES_MONEY: readonly EntryType[] = ['Repayment', 'Recovery Repayment', 'Refund', 'Credit Balance Refund']

/** Returns whether money changes hands with entries of the type, so that they have a payment method. */
export const movesMoney = (type: EntryType): boolean => MOVES_MONEY.includes(type)

/** Returns how the money of an entry was paid: the record system's method, or else the lender's (contract 4.4.3). */
export const paymentMethodOf = ({ type, record, paymentMethod }: Pick<Entry, 'type' | 'record' | 'paymentMethod'>) =>
  movesMoney(type) ? (record?.method ?? paymentMethod ?? null) : null

/** Compares entries for the order of a replay: by value date, then by posting (contract 4.3.6). */
export function byValueDate(a: Pick<Entry, 'valueDate' | 'place' | 'ordinal'>, b: typeof a): number {
  if (a.valueDate !== b.valueDate) return a.valueDate < b.valueDate ? -1 : 1
  return a.place - b.place || a.ordinal - b.ordinal
}

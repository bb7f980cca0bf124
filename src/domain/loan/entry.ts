import type { Instant, LocalDate } from '../dates.ts'
import type { RepaymentRecord } from '../recordStyle/loanRecord.ts'
import type { LoanTerms } from './terms.ts'

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
  /** Minor units. Of a charge-off or write-off what was owed, and of a settlement waiver what was forgiven,
   * when it was posted; a replay computes it again. */
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

/** A loan is its terms and its entries (in the order of posting). */
export interface Loan {
  readonly terms: LoanTerms
  readonly entries: readonly Entry[]
}

import { LRUCache } from 'lru-cache'
import { type LoanKey, nameOf } from './loans.ts'
import type { StoredLoan } from './storedLoan.ts'

/** A loan as it was read or saved last, with as many of its entries as it had then: the list itself may have grown. */
export interface Known {
  readonly loan: StoredLoan
  readonly entries: number
}

/** Long histories that need not be read again while the loan is still what it was. */
export interface Histories {
  readonly get: (key: LoanKey) => Known | undefined
  readonly keep: (key: LoanKey, loan: StoredLoan) => void
}

/**
 * Keeps those that were asked for last.
 * @param from entries that a loan has at least; 1 or more
 * @param most entries in all, which bounds the memory: one takes half a kilobyte, with what replay made of it
 */
export function makeHistories(from: number, most = 30_000): Histories {
  const kept = new LRUCache<string, Known>({ maxSize: most, sizeCalculation: ({ entries }) => entries })
  return {
    get: (key) => kept.get(nameOf(key)),
    keep: (key, loan) => {
      if (loan.entries.length >= from) kept.set(nameOf(key), { loan, entries: loan.entries.length })
    },
  }
}

import type { Entry } from '../entry.ts'
import type { Loan } from '../loan.ts'
import type { End } from '../replay.ts'
import { memoOf } from '../replayCache.ts'
import { withoutReading } from './notRead.ts'

/** What of a loan's entries is known without having read them. */
export interface BroughtForward {
  /** Where the entries have brought the loan. */
  readonly end: End
  /** How many there are. */
  readonly count: number
  /** Keys that none of those that were not read has. */
  readonly absent: Absent
  /** Entries that were posted after it was read. */
  readonly since: readonly Entry[]
}

/** Keys by which an entry could be known from before, and is not. */
export interface Absent {
  readonly token: readonly string[]
  readonly id: readonly bigint[]
}

const forwards = memoOf<Loan, BroughtForward>('brought forward')

/** A loan that goes on from there: its entries were not read. */
export function bringForward<Kind extends Loan>(loan: Omit<Kind, 'entries'>, forward: BroughtForward): Kind {
  const brought = withoutReading<Kind, 'entries' & keyof Kind>(loan as Kind, 'entries')
  forwards.set(brought, forward)
  return brought
}

/** Undefined for a loan whose entries were read. */
export const broughtForward = (loan: Loan): BroughtForward | undefined => forwards.get(loan)

/** How many entries a loan has. */
export const countOf = (loan: Loan): number => broughtForward(loan)?.count ?? loan.entries.length

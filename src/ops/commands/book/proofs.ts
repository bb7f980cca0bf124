import type { Checked } from '../../../services/book/bookCheck.ts'

/** Facts that are proven when a check finds nothing. */
const PROVES = [
  "each loan's balances, status and instalments, and the sums of the book, are what its entries make of it",
  'currency, rate, principal, instalments, dates and penalty of a loan follow from its product, or from what the record system sent',
  'no entry is dated before disbursement or after the day it was posted, and each charge-off and write-off has the amount that was owed',
  'each row of the book is in the audit trail, once and with the same content, and nothing else is',
  'the postings of each loan are what its changes make of them, and their sum is what replay contributes; the trial balances are the sums of the postings, and those of closed months have the hash of the close',
  'each Idempotency-Key names a change that its account made, and no row refers to one that is not there',
  'each row of the audit trail is as the service wrote it, also where it is not sealed yet',
  'no row of the audit trail was changed, removed or added since it was sealed; loans, schedules, entries, customers, products, lenders, accounts, keys and credit decisions are as their last change was sealed',
] as const

/** The fact that heads add. */
const WITH_HEADS =
  'the chain of each head, in HEADS_FILE or given, is the chain of then, up to that head: nothing before it was rewritten'

/** Facts that a check cannot prove. */
const NEVER = [
  'that no other row was changed by hand in the moment before it was sealed, or is in changes that are not sealed yet: those are compared with the audit trail only',
  'that money was paid: hold the entries against the statements of the bank or the wallet',
  'that a credit decision follows from its facts (credit-decisions show makes each again)',
  'work that is under way, counters, and sums that are computed again: docs/operating/book.md lists each column, and --json in notFound',
] as const

const WITHOUT_HEADS =
  'that the end of the chain was not cut off, and that somebody who has KEY_ENCRYPTION_SECRET did not make the chain again: set HEADS_FILE, or give a head that was kept elsewhere (book seal, book check --head)'
const AFTER_HEADS =
  'that the chain was not cut off or made again after the last head, and of organizations of which there is no head'

/** Returns what a check proves and does not, with heads or without. */
export const proofsOf = (hasHeads: boolean): { proves: readonly string[]; doesNot: readonly string[] } => ({
  proves: hasHeads ? [...PROVES, WITH_HEADS] : PROVES,
  doesNot: [hasHeads ? AFTER_HEADS : WITHOUT_HEADS, ...NEVER],
})

/** Returns what the result of a check has proven, and what not: where anything differs, nothing. */
export function provenBy({ found, stopped }: Checked, hasHeads: boolean) {
  const { proves, doesNot } = proofsOf(hasHeads)
  const isProven = found === 0 && !stopped
  return { isProven, proven: isProven ? proves : [], notProven: isProven ? doesNot : [...proves, ...doesNot] }
}

import { type EntryFilter, entryOrders, findEntries, findLoanId } from '../../db/loans/lists/entryList.ts'
import type { LoanRef } from '../../db/loans/loans.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { invariant } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import type { Caches, Core } from '../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { noSuchLoan } from './loans.ts'
import { readInSlices } from './readInSlices.ts'
import type { TransactionNow } from './transactions.ts'

/** The transactions to list; a property that is left out sets no condition. */
export type TransactionFilter = Omit<EntryFilter, 'loanId'>

/** The transactions that a client asks for: on one loan or on all, a filter, and a part of the list. */
export interface TransactionListRequest {
  readonly ref?: LoanRef | undefined
  readonly filter: TransactionFilter
  readonly range: Range
}

/** A transaction with its whole loan, which names the customer. */
export interface ListedTransaction extends TransactionNow {
  readonly loan: StoredLoan
}

/**
 * Returns a part of the transactions of the organization, or of one loan, in the order in which they were posted, each
 * with its outcome now.
 * @param toView is called for the transactions of one loan after the other
 * @throws LendingError `not_found` for the loan; `invalid_argument` for a range that names no part; `resource_exhausted`
 *   when too many lists over such long loans are requested at once; `unavailable`
 */
export async function listTransactions<View>(
  deps: Core & Caches,
  { organizationId }: Caller,
  { ref, filter, range }: TransactionListRequest,
  toView: (transaction: ListedTransaction) => View,
): Promise<Ranged<View>> {
  const loanId = ref && (await requireLoanId(deps, organizationId, ref))
  const position = positionOf(range, entryOrders(loanId), filter.updatedSince)
  const { items, ...rest } = rangedOf(
    await findEntries(deps, { organizationId, filter: { ...filter, loanId }, position }),
  )
  const views = new Map<bigint, View>()
  const byLoan = Map.groupBy(items, (item) => item.loanId)
  const loans = [...byLoan].map(([id, [first]]) => ({ id, weight: first!.weight }))
  await readInSlices(deps, organizationId, loans, ({ loan, state }) => {
    const entries = new Map(loan.entries.map((entry) => [entry.id, entry]))
    for (const { id } of byLoan.get(loan.id) ?? []) {
      const entry = entries.get(id)
      invariant(entry, 'an entry of the loan')
      views.set(id, toView({ loan, entry, outcome: state.outcomes.get(entry.ordinal) }))
    }
  })
  return { items: items.map(({ id }) => views.get(id)!), ...rest }
}

async function requireLoanId({ db }: Core, organizationId: number, ref: LoanRef): Promise<bigint> {
  const id = await findLoanId(db, organizationId, ref)
  if (id === undefined) throw noSuchLoan(ref)
  return id
}

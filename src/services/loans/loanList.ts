import { findLoans, findLoansBy, LOAN_ORDERS, type LoanFilter, type LoanOrder } from '../../db/loans/lists/loanList.ts'
import { invalidArgument } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import type { Caches, Core } from '../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import type { LoanNow } from './loans.ts'
import { readInSlices } from './readInSlices.ts'

export type { LoanFilter, LoanOrder } from '../../db/loans/lists/loanList.ts'

/** The loans that a client asks for: a filter, a part of the list, and an order other than that in which they came. */
export interface LoanListRequest {
  readonly filter: LoanFilter
  readonly range: Range
  readonly order?: (LoanOrder & { readonly role: 'orderBy' | 'sortOrder' }) | undefined
}

/**
 * Returns a part of the organization's loans, each as it is now.
 * @param toView is called for one loan after the other, so that a page of long schedules is never in memory as a whole
 * @throws LendingError `invalid_argument` for a range that names no part; `resource_exhausted` when too many pages of
 *   such a size are requested at once; `unavailable`
 */
export async function listLoans<View>(
  deps: Core & Caches,
  { organizationId }: Caller,
  request: LoanListRequest,
  toView: (now: LoanNow) => View,
): Promise<Ranged<View>> {
  const { items, ...rest } = await findRange(deps, organizationId, request)
  const views: View[] = []
  await readInSlices(deps, organizationId, items, (now) => void views.push(toView(now)))
  return { items: views, ...rest }
}

async function findRange(deps: Core & Caches, organizationId: number, { filter, range, order }: LoanListRequest) {
  if (order === undefined) {
    const position = positionOf(range, LOAN_ORDERS, filter.updatedSince)
    return rangedOf(await findLoans(deps, { organizationId, filter, position }))
  }
  if (range.after !== undefined || filter.updatedSince !== undefined)
    throw invalidArgument(
      order.role,
      (nameOf) =>
        `cannot be given together with ${nameOf(range.after === undefined ? 'updatedSince' : 'after')}, which has an order of its own`,
    )
  const position = { page: range.page ?? 1, rows: range.rows }
  return rangedOf(await findLoansBy(deps, { organizationId, filter, position }, order))
}

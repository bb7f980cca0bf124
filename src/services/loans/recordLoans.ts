import { type Customer, findCustomer } from '../../db/customers/customers.ts'
import { LOAN_ORDERS, type LoanFilter } from '../../db/loans/lists/loanList.ts'
import { findRecordLoan, findRecordLoans, type RecordLoan } from '../../db/loans/recordLoans.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { alreadyExists, notFound } from '../../domain/errors.ts'
import { replay } from '../../domain/loan/replay.ts'
import { currencyOf } from '../../domain/money.ts'
import { type LoanUpdate, modifyTerms } from '../../domain/recordStyle/modifyTerms.ts'
import {
  type Agreed,
  agree,
  durationOf,
  type LoanRequest,
  loanTypeOf,
  sameLoan,
} from '../../domain/recordStyle/recordLoan.ts'
import type { Caller } from '../access/caller.ts'
import type { Recorded } from '../customers/borrowers.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { changeLoan } from './changes/changeLoan.ts'
import { saveModifiedTerms } from './changes/modifiedTerms.ts'
import { noSuchLoan, notActive } from './loans.ts'
import { makeLoanAs } from './makeLoan.ts'

export type { RecordLoan } from '../../db/loans/recordLoans.ts'

/** A record system's request to book a loan under an id that the client chose. */
export interface NewRecordLoan {
  readonly id: bigint
  readonly borrowerId: bigint
  readonly request: LoanRequest
}

/**
 * Books a loan under an id that the client chose (contract 5.1–5.3), in the organization's currency. A repeated request
 * with the same content gets the stored loan.
 * @throws LendingError `invalid_argument` for its terms, `already_exists` when the id is taken by another, `not_found`
 *   for the borrower, `failed_precondition` for one that is not Active
 */
export async function createRecordLoan(
  deps: Core & Writing & Pick<Caches, 'organizations'>,
  caller: Caller,
  { id, borrowerId, request }: NewRecordLoan,
): Promise<Recorded<RecordLoan>> {
  requirePermission(caller, 'loans.write')
  const { organizationId } = caller
  const [organization, existing, borrower] = await Promise.all([
    getOrganization(deps, caller),
    findRecordLoan(deps.db, organizationId, id),
    findCustomer(deps.db, organizationId, { id: borrowerId }),
  ])
  const now = deps.now(organizationId)
  const agreed = agree(request, currencyOf(organization.currency), deps.config.zone, now)
  if (existing) return { item: requireSameRequest(existing, borrowerId, agreed), replayed: true }
  if (!borrower) throw noSuchBorrower()
  if (borrower.status !== 'Active') throw notActive(borrower)

  const { terms, record } = agreed
  const whose = { author: caller, id, customerId: borrowerId, productId: null, externalId: null }
  const fresh = { ...whose, terms, record, state: replay(terms, [], now), at: now }
  const inserted = await makeLoanAs(deps, fresh)
  if (inserted === 'leftOut') throw notActive({ status: 'Closed' })
  if (inserted === 'made')
    deps.listener.loanDisbursed({ organizationId, currency: terms.currency.code, amount: terms.principal })
  // The loan was made by this request, or by another one that was faster.
  const loan = await getRecordLoan(deps, caller, id)
  return { item: requireSameRequest(loan, borrowerId, agreed), replayed: inserted !== 'made' }
}

/** Returns a stored loan whose content is that of the request. @throws LendingError `already_exists` */
function requireSameRequest(stored: RecordLoan, borrowerId: bigint, { terms, record }: Agreed): RecordLoan {
  if (sameLoan(stored, { ...terms, borrowerId, record })) return stored
  throw alreadyExists('loanId', 'a loan with that id exists already, with other content')
}

const noSuchBorrower = () => notFound((nameOf) => `no borrower has that id, given as ${nameOf('borrowerId')}`)

/**
 * Updates a loan; with other terms, its schedule is computed and its repayments are replayed again (contract 5.4).
 * @throws LendingError `not_found` for the loan or a new borrower, `failed_precondition`, `invalid_argument`, `aborted`
 */
export async function updateRecordLoan(
  deps: Core & Writing,
  caller: Caller,
  id: bigint,
  update: LoanUpdate,
): Promise<RecordLoan> {
  requirePermission(caller, 'loans.write')
  const { borrowerId } = update
  const [stored, borrower] = await Promise.all([
    getRecordLoan(deps, caller, id),
    borrowerId === undefined ? undefined : findCustomer(deps.db, caller.organizationId, { id: borrowerId }),
  ])
  const change = { author: caller, ref: { id }, alongside: [saveModifiedTerms] }
  const changed = await changeLoan(deps, change, (loan, now) => {
    if (borrowerId !== undefined && borrowerId !== loan.customerId) requireBorrower(borrower)
    const decision = modifyTerms(loan, update, now, shownOf(stored))
    return decision ? { save: decision } : { answer: undefined }
  })
  if (!changed) throw noSuchLoan({ id })
  return getRecordLoan(deps, caller, id)
}

const shownOf = (loan: RecordLoan) => ({ ...durationOf(loan), loanType: loanTypeOf(loan) })

function requireBorrower(borrower: Customer | undefined): void {
  if (!borrower) throw noSuchBorrower()
  if (borrower.status !== 'Active') throw notActive(borrower)
}

/** Returns a loan. @throws LendingError `not_found` */
export async function getRecordLoan(deps: Core, caller: Caller, id: bigint): Promise<RecordLoan> {
  const loan = await findRecordLoan(deps.db, caller.organizationId, id)
  if (!loan) throw noSuchLoan({ id })
  return loan
}

/** Returns a part of the loans of the organization. @throws LendingError `invalid_argument` for a range that names no part, `unavailable` */
export async function listRecordLoans(
  deps: Core & Caches,
  { organizationId }: Caller,
  filter: LoanFilter,
  range: Range,
): Promise<Ranged<RecordLoan>> {
  const position = positionOf(range, LOAN_ORDERS, filter.updatedSince)
  return rangedOf(await findRecordLoans(deps, { organizationId, filter, position }))
}

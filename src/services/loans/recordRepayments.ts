import { entryOrders } from '../../db/loans/lists/entryList.ts'
import {
  findRecordRepayment,
  findRecordRepayments,
  type RecordRepayment,
  type RepaymentFilter,
} from '../../db/loans/recordRepayments.ts'
import type { StoredRow } from '../../db/loans/storedLoan.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { invariant, notFound } from '../../domain/errors.ts'
import type { Entry } from '../../domain/loan/entry.ts'
import { type Posting, post } from '../../domain/loan/loan.ts'
import { findById, type RepaymentRequest, sameRepayment } from '../../domain/recordStyle/loanRecord.ts'
import type { Caller } from '../access/caller.ts'
import type { Recorded } from '../customers/borrowers.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { countPosted, postToLoan, type SavedChange } from './changes/changeLoan.ts'
import { entryIdTaken } from './changes/save.ts'

export type { RecordRepayment, RepaymentFilter } from '../../db/loans/recordRepayments.ts'

/**
 * Posts a repayment under an id that the client chose, which is its dedupe token (contract 5.1, 5.6). A repeated
 * request with the same content gets the stored repayment, and nothing is posted twice.
 * @throws LendingError `not_found` for the loan, `invalid_argument`, `failed_precondition`; `already_exists` when the
 *   id is taken by another entry of any loan; `aborted`
 */
export async function postRecordRepayment(
  deps: Core & Writing & Pick<Caches, 'organizations'>,
  caller: Caller,
  loanId: bigint,
  request: RepaymentRequest,
): Promise<Recorded<RecordRepayment>> {
  requirePermission(caller, 'repayments.post')
  const { id, amount, collectedOn: valueDate, description: note, record } = request
  const { paymentMethod } = await getOrganization(deps, caller)
  const posting: Posting = { type: 'Repayment', amount, valueDate, token: null, note, id, record, paymentMethod }
  const changed = await postToLoan(deps, { author: caller, ref: { id: loanId }, posting }, (loan, now) => {
    const original = findById(loan, id)
    if (!original) return { save: post(loan, posting, now) }
    if (!sameRepayment(loan, original, request)) throw entryIdTaken()
    return { answer: original }
  })
  if (!changed) throw notFound((nameOf) => `no loan has that id, given as ${nameOf('loanId')}`)
  if ('answer' in changed) {
    deps.listener.duplicateAnswered('token')
    return { item: asRecord(changed.loan, changed.answer), replayed: true }
  }
  countPosted(deps.listener, changed)
  return { item: asRecord(changed.loan, entryOf(changed)), replayed: false }
}

function entryOf({ posted }: SavedChange): Entry {
  invariant(posted, 'a decision that posts an entry')
  return posted
}

const asRecord = (loan: StoredRow, entry: Entry): RecordRepayment => ({
  id: entry.id,
  loanId: loan.id,
  currency: loan.terms.currency,
  amount: entry.amount,
  valueDate: entry.valueDate,
  note: entry.note,
  record: entry.record ?? null,
  paymentMethod: entry.paymentMethod ?? null,
  postedAt: entry.postedAt,
  reversedAt: entry.reversedAt,
})

/**
 * Returns a customer's repayment, reversed or not.
 * @throws LendingError `not_found`, also for an entry of another type
 */
export async function getRecordRepayment(deps: Core, caller: Caller, id: bigint): Promise<RecordRepayment> {
  const repayment = await findRecordRepayment(deps.db, caller.organizationId, id)
  if (!repayment) throw notFound('no repayment has that id')
  return repayment
}

/**
 * Returns a part of the customers' repayments, of one loan or of all.
 * @throws LendingError `invalid_argument` for a range that names no part, `unavailable`
 */
export async function listRecordRepayments(
  deps: Core & Caches,
  { organizationId }: Caller,
  filter: RepaymentFilter,
  range: Range,
): Promise<Ranged<RecordRepayment>> {
  const position = positionOf(range, entryOrders(filter.loanId), filter.updatedSince)
  return rangedOf(await findRecordRepayments(deps, { organizationId, filter, position }))
}

import { requirePermission } from '../../domain/access/permissions.ts'
import { failedPrecondition } from '../../domain/errors.ts'
import type { Decimal } from '../../domain/money.ts'
import { inSuspense } from '../../domain/payments/payment.ts'
import type { Caller } from '../access/caller.ts'
import { type Preview, previewDecision } from '../loans/changes/preview.ts'
import type { LoanRef, ReadDeps } from '../loans/loans.ts'
import { postingPart, reversingPart } from './allocateParts.ts'
import { channelOf } from './channelCache.ts'
import type { DecideDeps } from './decidePayments.ts'
import { getPayment, type PaymentPart, type PaymentView, requireAllocatable } from './payments.ts'

/** What a change of a payment makes of a loan, and the payment as it is before. */
export interface PaymentPreview {
  readonly view: PaymentView
  /** The amount that goes to the loan, in minor units. */
  readonly amount: bigint
  readonly preview: Preview
}

/**
 * Decides on the allocation of a part of a payment to a loan, and saves nothing.
 * @throws LendingError as `allocatePayment` does
 */
export async function previewAllocation(
  deps: DecideDeps & ReadDeps,
  caller: Caller,
  id: bigint,
  { loan, amount: asked }: { readonly loan: LoanRef; readonly amount: Decimal },
): Promise<PaymentPreview> {
  requirePermission(caller, 'repayments.post')
  const view = await getPayment(deps, caller, id)
  const { payment } = view
  if (inSuspense(payment) === 0n) throw failedPrecondition('nothing of the payment is in suspense')
  const [amount] = requireAllocatable(payment, [asked])
  const { name: paymentMethod } = await channelOf(deps, payment)
  const decide = postingPart(payment, { part: payment.parts + 1, amount: amount!, paymentMethod })
  const preview = await previewDecision(deps, caller, loan, (found, now) => ({ save: decide(found, now) }))
  return { view, amount: amount!, preview }
}

/**
 * Decides on the reversal of one repayment of a payment, and saves nothing.
 * @throws LendingError as `reverseAllocations` does
 */
export function previewReversal(
  deps: DecideDeps & ReadDeps,
  caller: Caller,
  { loanId, transactionId }: Pick<PaymentPart, 'loanId' | 'transactionId'>,
  note: string | null,
): Promise<Preview> {
  requirePermission(caller, 'repayments.reverse')
  const decide = reversingPart(transactionId, note)
  return previewDecision(deps, caller, { id: loanId }, (loan, now) => ({ save: decide(loan, now) }))
}

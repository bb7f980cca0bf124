import { invariant } from '../../domain/errors.ts'
import type { EntryType } from '../../domain/loan/entry.ts'
import { refusalByState } from '../../domain/loan/lifecycle.ts'
import * as examples from './openapi/examples.ts'
import {
  chargeOffLoanRequest,
  postRecoveryRequest,
  postRefundRequest,
  postRepaymentRequest,
  refundCreditBalanceRequest,
  waiveInterestRequest,
  writeOffLoanRequest,
} from './transactions.wire.ts'

/**
 * A kind of transaction that can be posted on a loan: its path after the loan's, its type, its body, and its group, name
 * and texts of the document.
 */
interface Kind {
  readonly path: string
  readonly type: EntryType
  readonly example: object
  readonly body: unknown
  readonly tag: 'repayments' | 'corrections' | 'losses and reversals'
  readonly operation: string
  readonly summary: string
  readonly description: string
}

export const POSTINGS = [
  {
    path: '/repayments',
    type: 'Repayment',
    example: examples.repayment,
    body: postRepaymentRequest,
    tag: 'repayments',
    operation: 'postRepayment',
    summary: 'Post a repayment',
    description:
      'Applied to the oldest instalment first, and within one to penalty, fees, interest, principal, or in the `allocation` of the product; what exceeds the loan is overpayment. Where the repayment settles the loan early, a `Settlement Waiver` is posted with it: see `GET …/transactions`. A token seen before on the loan answers the original.',
  },
  {
    path: '/repayments/waive-interest',
    type: 'Waive Interest',
    example: examples.waiver,
    body: waiveInterestRequest,
    tag: 'corrections',
    operation: 'waiveInterest',
    summary: 'Waive interest',
    description: 'Up to the interest outstanding; the oldest instalment first.',
  },
  {
    path: '/repayments/recover',
    type: 'Recovery Repayment',
    example: examples.recovery,
    body: postRecoveryRequest,
    tag: 'losses and reversals',
    operation: 'postRecovery',
    summary: 'Post a recovery',
    description:
      'Money on a charged-off loan, applied as a repayment, or on a written-off one, whose status and schedule stay; never above what was written off.',
  },
  {
    path: '/repayments/refund',
    type: 'Refund',
    example: examples.refund,
    body: postRefundRequest,
    tag: 'corrections',
    operation: 'postRefund',
    summary: 'Refund',
    description:
      'Cash back out of what was paid in: of an Overpaid loan up to the overpayment; of an Active one up to what was paid, un-paying from the latest instalment backwards.',
  },
  {
    path: '/repayments/credit-balance-refund',
    type: 'Credit Balance Refund',
    example: examples.paidOut,
    body: refundCreditBalanceRequest,
    tag: 'corrections',
    operation: 'refundCreditBalance',
    summary: 'Pay out an overpayment',
    description: 'Only of an Overpaid loan, up to `totalOverpaid`; at 0 the loan is Closed (obligations met).',
  },
  {
    path: '/repayments/charge-off',
    type: 'Charge-off',
    example: examples.chargeOff,
    body: chargeOffLoanRequest,
    tag: 'losses and reversals',
    operation: 'chargeOffLoan',
    summary: 'Charge off',
    description: 'Marks an Active loan charged off with all that is outstanding; repayments go on.',
  },
  {
    path: '/write-off',
    type: 'Write-off',
    example: examples.writeOff,
    body: writeOffLoanRequest,
    tag: 'losses and reversals',
    operation: 'writeOffLoan',
    summary: 'Write off',
    description: 'Active → Closed (written off).',
  },
] as const satisfies readonly Kind[]

/** The description of a refusal by the state of a loan. */
export const WRONG_STATE = 'The state of the loan or of the transaction does not allow it.'

/** Returns the refusal of a loan whose state takes no such transaction; for the document. */
export function refusalOf(type: EntryType): string {
  const status = type === 'Recovery Repayment' ? 'Active' : 'Closed (written off)'
  const refusal = refusalByState({ status, chargedOffOn: null }, type)
  invariant(refusal !== undefined, `a loan that is ${status} takes a ${type}`)
  return refusal
}

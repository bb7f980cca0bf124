import type { Deps } from '../../app/deps.ts'
import { getBorrower } from '../../services/customers/borrowers.ts'
import { getRecordLoan } from '../../services/loans/recordLoans.ts'
import { getRecordRepayment } from '../../services/loans/recordRepayments.ts'
import { cannotReplayResponse, type ReplayResponse } from '../http/idempotency.ts'
import { scored } from './borrowers.ts'
import { toLoan } from './loanView.ts'
import { toItem } from './registry.ts'
import { toRepayment } from './repayments.wire.ts'

/**
 * Builds the answer of a repeated request: the resource that the first one changed, as it is now, in the record style.
 */
export const replayResponse =
  (deps: Deps): ReplayResponse =>
  async (caller, { entity, entityId, transactionId }) => {
    const { zone } = deps.config
    if (entityId === null) return cannotReplayResponse()
    if (entity === 'customer') return toItem(await scored(deps, caller, await getBorrower(deps, caller, entityId)))
    if (entity !== 'loan') return cannotReplayResponse()
    if (transactionId !== null) return toItem(toRepayment(await getRecordRepayment(deps, caller, transactionId), zone))
    return toItem(toLoan(await getRecordLoan(deps, caller, entityId), zone))
  }

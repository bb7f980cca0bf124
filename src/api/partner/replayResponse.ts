import type { Deps } from '../../app/deps.ts'
import { findPendingAction } from '../../services/approvals/approvals.ts'
import { getBoost } from '../../services/credit/creditBoosts.ts'
import { getCustomer } from '../../services/customers/customers.ts'
import { getOrganization } from '../../services/lenders/organizations.ts'
import { getProduct } from '../../services/lenders/products.ts'
import { getLoan } from '../../services/loans/loans.ts'
import { getTransaction } from '../../services/loans/transactions.ts'
import { getShownEndpoint } from '../../services/webhooks/endpoints.ts'
import { cannotReplayResponse, type ReplayResponse } from '../http/idempotency.ts'
import { toPendingAction } from './approvals/approvals.wire.ts'
import { toBoost } from './credit.wire.ts'
import { toCustomer } from './customers.wire.ts'
import { toLoanSummary } from './loans.wire.ts'
import { toProduct } from './products/products.wire.ts'
import { toTransaction } from './transactions.wire.ts'
import { toShownEndpoint } from './webhooks/webhooks.wire.ts'

/**
 * Builds the answer of a repeated request: the resource that the first one changed, as it is now, in the partner style.
 */
export const replayResponse =
  (deps: Deps): ReplayResponse =>
  async (caller, { entity, entityId, transactionId }) => {
    if (entityId === null) return cannotReplayResponse()
    const ref = { id: entityId }
    if (entity === 'customer' && transactionId !== null) return toBoost(await getBoost(deps, caller, transactionId))
    if (entity === 'customer')
      return toCustomer(await getCustomer(deps, caller, ref), await getOrganization(deps, caller), deps.config.zone)
    // With a number, it was a recovery, whose answer is not known any more.
    if (entity === 'webhook endpoint' && transactionId === null)
      return toShownEndpoint(await getShownEndpoint(deps, caller, entityId), deps.config.zone)
    if (entity === 'pending action')
      return toPendingAction(await findPendingAction(deps, caller, entityId), deps.config.zone)
    if (entity === 'loan product') return toProduct(await getProduct(deps, caller, entityId))
    if (entity !== 'loan') return cannotReplayResponse()
    if (transactionId === null) return toLoanSummary(await getLoan(deps, caller, ref))
    return toTransaction(await getTransaction(deps, caller, ref, transactionId))
  }

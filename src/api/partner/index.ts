import type { FaultNames } from '../../domain/errors.ts'
import { KEY_HEADER } from '../../services/access/idempotency.ts'
import { findPendingAction } from '../../services/approvals/approvals.ts'
import { getAssignmentOf } from '../../services/collections/assignments.ts'
import { getContact } from '../../services/collections/contacts.ts'
import { getHold } from '../../services/collections/holds.ts'
import { getPromise } from '../../services/collections/promises.ts'
import { getBoost } from '../../services/credit/creditBoosts.ts'
import { getConsent } from '../../services/customers/consents.ts'
import { getCustomer } from '../../services/customers/customers.ts'
import { DATA_REQUEST, findKept } from '../../services/customers/dataRequests.ts'
import type { Deps } from '../../services/deps.ts'
import { exportNamed } from '../../services/exports/exports.ts'
import { getLoan } from '../../services/loans/loans.ts'
import { getSchedules } from '../../services/loans/restructures.ts'
import { getCollateral } from '../../services/loans/security/collateral.ts'
import { getGuarantor } from '../../services/loans/security/guarantors.ts'
import { getTransaction } from '../../services/loans/transactions.ts'
import { getOrganization } from '../../services/organizations/organizations.ts'
import { getProduct } from '../../services/organizations/products.ts'
import { channelNamed } from '../../services/payments/channels.ts'
import { getPayment } from '../../services/payments/payments.ts'
import { getShownEndpoint } from '../../services/webhooks/endpoints.ts'
import { partnerHints } from '../body/validation.ts'
import { requireBearer } from '../http/bearer.ts'
import { failureWords } from '../http/failure.ts'
import { acceptIdempotencyKeys, cannotReplayResponse, type ReplayResponse } from '../http/idempotency.ts'
import type { Style } from '../style.ts'
import { accountingRoutes } from './accounting/accounting.ts'
import { approvalRoutes } from './approvals/approvals.ts'
import { toPendingAction } from './approvals/approvals.wire.ts'
import { auditRoutes } from './audit.ts'
import { contactRoutes, toContact } from './collections/contacts.ts'
import { holdRoutes, toAssignment, toHold } from './collections/holds.ts'
import { promiseRoutes, toPromise } from './collections/promises.ts'
import { worklistRoutes } from './collections/worklist.ts'
import { consentRoutes, toConsent } from './consents.ts'
import { creditRoutes } from './credit.ts'
import { toBoost } from './credit.wire.ts'
import { customerRoutes } from './customers.ts'
import { toCustomer } from './customers.wire.ts'
import { policyRoutes } from './delinquency/policies.ts'
import { documentRoutes } from './documents/documents.ts'
import { eventRoutes } from './events/events.ts'
import { exportRoutes } from './exports/exports.ts'
import { toExport } from './exports/exports.wire.ts'
import { loanRoutes } from './loans.ts'
import { toLoanSummary } from './loans.wire.ts'
import { CHAPTERS, TAGS, VARIABLES } from './openapi/introduction.ts'
import { ORDER } from './openapi/story.ts'
import { organizationRoutes } from './organization/organization.ts'
import { roleRoutes } from './organization/roles.ts'
import { officeSignInRoutes } from './organization/signIn.ts'
import { channelRoutes } from './payments/channels.ts'
import { toShownChannel } from './payments/channels.wire.ts'
import { inboundRoutes } from './payments/inbound.ts'
import { messageRoutes } from './payments/messages.ts'
import { paymentRoutes } from './payments/payments.ts'
import { toPayment } from './payments/payments.wire.ts'
import { reconciliationRoutes } from './payments/reconciliations.ts'
import { simulatorRoutes } from './payments/simulator.ts'
import { dataRequestRoutes } from './people/dataRequests.ts'
import { toDataRequest } from './people/dataRequests.wire.ts'
import { portfolioRoutes } from './portfolio/portfolio.ts'
import { productRoutes } from './products/products.ts'
import { toProduct } from './products/products.wire.ts'
import { registry } from './registry.ts'
import { toRestructuredLoan } from './restructures/restructures.wire.ts'
import { collateralRoutes, toCollateral } from './security/collateral.ts'
import { guarantorRoutes, toGuarantor } from './security/guarantors.ts'
import { testClockRoutes } from './testClock/testClock.ts'
import { transactionListRoutes, transactionRoutes } from './transactions.ts'
import { toTransaction } from './transactions.wire.ts'
import { webhookRoutes } from './webhooks/webhooks.ts'
import { toShownEndpoint } from './webhooks/webhooks.wire.ts'

const FAULT_NAMES: FaultNames = {
  amount: 'transactionAmount',
  valueDate: 'transactionDate',
  chargeAmount: 'amount',
  paymentAmount: 'amount',
  chargeDueOn: 'dueDate',
  guarantorId: 'customerId',
  guarantorIdentity: 'identity',
  guaranteed: 'amount',
  collateralValue: 'value',
  promisedAmount: 'amount',
  promisedBy: 'by',
  holdUntil: 'until',
  assignedTo: 'accountId',
  releaseDate: 'releasedOn',
  idempotencyKey: KEY_HEADER,
  currency: 'currencyCode',
  principalMin: 'minPrincipal',
  principalMax: 'maxPrincipal',
  repayEvery: 'repaymentEvery',
  repayUnit: 'repaymentFrequencyType',
  totalMultipleOf: 'installmentAmountInMultiplesOf',
  penaltyRate: 'penaltyPercentOfPrincipal',
  maxRatePerMonth: 'regulation.maxRatePerMonth',
}

/**
 * Builds the answer of a repeated request: the resource that the first one changed, as it is now, in the partner style.
 */
const replayResponse =
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
    if (entity === 'payment') return toPayment(await getPayment(deps, caller, entityId), deps.config.zone)
    if (entity === 'export file') return toExport(await exportNamed(deps, caller, entityId), deps.config.zone)
    // The address is known to nobody any more: a new secret makes another.
    if (entity === 'payment channel')
      return toShownChannel({ channel: await channelNamed(deps, caller, entityId), secret: null }, deps.config)
    if (entity === 'pending action')
      return toPendingAction(await findPendingAction(deps, caller, entityId), deps.config.zone)
    if (entity === DATA_REQUEST) return toDataRequest(await findKept(deps, caller, entityId), deps.config.zone)
    if (entity === 'consent') return toConsent(await getConsent(deps, caller, entityId), deps.config.zone)
    if (entity === 'guarantor') return toGuarantor(await getGuarantor(deps, caller, entityId), deps.config.zone)
    if (entity === 'collateral') return toCollateral(await getCollateral(deps, caller, entityId), deps.config.zone)
    if (entity === 'contact') return toContact(await getContact(deps, caller, entityId), deps.config.zone)
    if (entity === 'promise') return toPromise(await getPromise(deps, caller, entityId), deps.config.zone)
    if (entity === 'loan assignment')
      return toAssignment(await getAssignmentOf(deps, caller, entityId), deps.config.zone)
    if (entity === 'loan hold') return toHold(await getHold(deps, caller, entityId), deps.config.zone)
    if (entity === 'loan product') return toProduct(await getProduct(deps, caller, entityId))
    if (entity !== 'loan') return cannotReplayResponse()
    if (transactionId === null) return toLoanSummary(await getLoan(deps, caller, ref))
    const transaction = await getTransaction(deps, caller, ref, transactionId)
    // The answer to a restructure is the loan, also where its fee was posted last.
    if (transaction.entry.restructure) return toRestructuredLoan(await getSchedules(deps, caller, ref))
    return toTransaction(transaction)
  }

/** The partner style: camelCase, customers (contract 4). */
export const partnerStyle: Style = {
  name: 'partner',
  title: 'Mkopo: partner API',
  description: 'Customers, loans, repayments and credit decisions, for a lender’s own systems.',
  tags: TAGS,
  order: ORDER,
  chapters: CHAPTERS,
  variables: VARIABLES,
  registry,
  faultNames: FAULT_NAMES,
  hints: partnerHints,
  failureBody: failureWords,
  routes(app, deps) {
    requireBearer(app, deps)
    acceptIdempotencyKeys(app, deps, replayResponse(deps))
    customerRoutes(app, deps)
    consentRoutes(app, deps)
    productRoutes(app, deps)
    loanRoutes(app, deps)
    guarantorRoutes(app, deps)
    collateralRoutes(app, deps)
    worklistRoutes(app, deps)
    contactRoutes(app, deps)
    promiseRoutes(app, deps)
    holdRoutes(app, deps)
    transactionRoutes(app, deps)
    documentRoutes(app, deps)
    transactionListRoutes(app, deps)
    paymentRoutes(app, deps)
    channelRoutes(app, deps)
    reconciliationRoutes(app, deps)
    exportRoutes(app, deps)
    messageRoutes(app, deps)
    policyRoutes(app, deps)
    creditRoutes(app, deps)
    eventRoutes(app, deps)
    webhookRoutes(app, deps)
    portfolioRoutes(app, deps)
    accountingRoutes(app, deps)
    organizationRoutes(app, deps)
    roleRoutes(app, deps)
    officeSignInRoutes(app, deps)
    dataRequestRoutes(app, deps)
    approvalRoutes(app, deps)
    auditRoutes(app, deps)
    testClockRoutes(app, deps)
    simulatorRoutes(app, deps)
  },
  secretRoutes: inboundRoutes,
}

import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { type Needs, requirePermission } from '../domain/access/permissions.ts'

/**
 * What each operation of the API asks of its caller, of every style, by its `operationId`; one by an externalId asks what that by the
 * number does. An operation that is not here, and is not public, cannot be registered.
 */
const NEEDS: Readonly<Record<string, Needs>> = {
  // Tokens.
  authenticate: 'signed in',
  authorize: 'signed in',

  // Customers and borrowers.
  createCustomer: 'customers.write',
  assignExternalId: 'customers.write',
  updateIdentity: 'customers.write',
  activateCustomer: 'customers.write',
  closeCustomer: 'customers.write',
  createBorrower: 'customers.write',
  updateBorrower: 'customers.write',
  createConsent: 'customers.write',
  withdrawConsent: 'customers.write',
  // An erasure asks for people.decide, too: see askForData.
  createDataRequest: 'customers.write',
  listCustomers: 'signed in',
  getCustomer: 'signed in',
  listBorrowers: 'signed in',
  getBorrower: 'signed in',
  listConsents: 'signed in',
  getIdentity: 'people.read',
  listDataRequests: 'people.read',
  getDataRequest: 'people.read',
  getDataRequestResult: 'people.read',
  getDataRequestResultPdf: 'people.read',
  confirmErasure: 'people.decide',
  completeDataRequest: 'people.decide',
  refuseDataRequest: 'people.decide',
  withdrawDataRequest: 'people.decide',

  // Files for credit bureaus.
  listExports: 'people.read',
  getExport: 'people.read',
  listExportExceptions: 'people.read',
  listExcludedLoans: 'people.read',
  getExportFile: 'people.read',
  listExportFormats: 'people.read',
  getExportFormat: 'people.read',
  listListingNotices: 'people.read',
  listDisputes: 'people.read',
  createExport: 'people.decide',
  acceptExport: 'people.decide',
  createExportFormat: 'people.decide',
  createListingNotice: 'people.decide',
  createDispute: 'people.decide',
  resolveDispute: 'people.decide',

  // Products and policies.
  listLoanProducts: 'signed in',
  getLoanProduct: 'signed in',
  getLoanQuote: 'signed in',
  getDelinquencyPolicy: 'signed in',
  createLoanProduct: 'products.manage',
  retireLoanProduct: 'products.manage',
  updateDelinquencyPolicy: 'products.manage',

  // Loans.
  createLoan: 'loans.write',
  updateLoan: 'loans.write',
  createGuarantor: 'loans.write',
  releaseGuarantor: 'loans.write',
  createCollateral: 'loans.write',
  releaseCollateral: 'loans.write',
  boostCreditLimit: 'loans.write',
  waiveInterest: 'loans.write',
  chargeOffLoan: 'loans.write',
  writeOffLoan: 'loans.write_off',
  chargeLoan: 'loans.restructure',
  reverseCharge: 'loans.restructure',
  restructureLoan: 'loans.restructure',
  reverseRestructure: 'loans.restructure',
  listLoans: 'signed in',
  getLoan: 'signed in',
  getDelinquency: 'signed in',
  getSettlementQuote: 'signed in',
  listCharges: 'signed in',
  listSchedules: 'signed in',
  getSchedule: 'signed in',
  listGuarantors: 'signed in',
  listCollateral: 'signed in',
  getCreditScorecard: 'signed in',
  getStatement: 'signed in',
  getReceipt: 'signed in',
  verifyDocument: 'signed in',

  // Collections.
  getWorklist: 'signed in',
  listContacts: 'signed in',
  listPromises: 'signed in',
  listHolds: 'signed in',
  getAssignment: 'signed in',
  getReminderPolicy: 'signed in',
  createContact: 'collections.work',
  createPromise: 'collections.work',
  cancelPromise: 'collections.work',
  createHold: 'collections.work',
  releaseHold: 'collections.work',
  assignLoan: 'collections.work',
  updateReminderPolicy: 'organization.manage',

  // Transactions and payments.
  postRepayment: 'repayments.post',
  postRepayments: 'repayments.post',
  postRecovery: 'repayments.post',
  postRefund: 'repayments.post',
  refundCreditBalance: 'repayments.post',
  postPayment: 'repayments.post',
  postPayments: 'repayments.post',
  allocatePayment: 'repayments.post',
  adjustTransaction: 'repayments.reverse',
  reverseTransaction: 'repayments.reverse',
  reversePaymentAllocations: 'repayments.reverse',
  listRepayments: 'signed in',
  getRepayment: 'signed in',
  getTransaction: 'signed in',
  listTransactions: 'signed in',
  listLoanTransactions: 'signed in',
  getPayment: 'signed in',
  returnPayment: 'payments.manage',
  createPaymentChannel: 'payments.manage',
  updatePaymentChannel: 'payments.manage',
  rotatePaymentChannelSecret: 'payments.manage',
  createReconciliation: 'payments.manage',
  applyReconciliation: 'payments.manage',
  recoverPaymentMessage: 'payments.manage',
  testPayments: 'payments.manage',
  listPayments: 'reports.read',
  listPaymentChannels: 'reports.read',
  getPaymentChannel: 'reports.read',
  getPaymentChannelPosition: 'reports.read',
  listReconciliations: 'reports.read',
  getReconciliation: 'reports.read',
  listReconciliationLines: 'reports.read',
  listPaymentMessages: 'reports.read',
  getPaymentMessage: 'reports.read',

  // Accounting and reports.
  updateChart: 'accounting.manage',
  closePeriod: 'accounting.manage',
  bookProvisions: 'accounting.manage',
  getChart: 'reports.read',
  getTrialBalance: 'reports.read',
  getIncomeStatement: 'reports.read',
  getBalanceSheet: 'reports.read',
  listPostings: 'reports.read',
  getJournalCsv: 'reports.read',
  getJournalHledger: 'reports.read',
  listPeriods: 'reports.read',
  getPortfolioAtRisk: 'reports.read',
  getRollRates: 'reports.read',
  getProvisions: 'reports.read',
  listAuditTrail: 'reports.read',

  // Actions that wait for a second person.
  listPendingActions: 'reports.read',
  getPendingAction: 'reports.read',
  approvePendingAction: 'actions.approve',
  rejectPendingAction: 'actions.approve',
  rejectPendingActions: 'actions.approve',
  // The one who asked, whatever it was.
  withdrawPendingAction: 'signed in',

  // The organization, its events and webhooks.
  getOrganization: 'signed in',
  listEvents: 'signed in',
  getEvent: 'signed in',
  getTestClock: 'signed in',
  advanceTestClock: 'loans.write',
  resetTestOrganization: 'organization.manage',
  updateOrganization: 'organization.manage',
  listRoles: 'organization.manage',
  getRole: 'organization.manage',
  updateRole: 'organization.manage',
  deleteRole: 'organization.manage',
  getOfficeSignIn: 'organization.manage',
  updateOfficeSignIn: 'organization.manage',
  resetSecondFactor: 'organization.manage',
  createWebhookEndpoint: 'organization.manage',
  updateWebhookEndpoint: 'organization.manage',
  deleteWebhookEndpoint: 'organization.manage',
  testWebhookEndpoint: 'organization.manage',
  recoverWebhookEndpoint: 'organization.manage',
  rotateWebhookSecret: 'organization.manage',
  listWebhookEndpoints: 'reports.read',
  getWebhookEndpoint: 'reports.read',
  listWebhookDeliveries: 'reports.read',
}

/** Returns what an operation asks of its caller; undefined for one that the table does not have. */
export function needsOf(operationId: string): Needs | undefined {
  const name = operationId.replace(/By(Loan)?ExternalId$/, '')
  return Object.hasOwn(NEEDS, name) ? NEEDS[name] : undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the route asks of its caller: of an operation, what the table of `permissions.ts` says. */
    needs?: Needs
  }
}

type Check = (request: FastifyRequest) => Promise<void>

const CHECKS = new Map<Needs, Check>()

/** Returns the check of what a route needs: the same function for the same permission. */
function checkOf(needs: Needs): Check {
  const known = CHECKS.get(needs)
  if (known) return known
  const check: Check = async ({ caller }) => requirePermission(caller, needs)
  CHECKS.set(needs, check)
  return check
}

/**
 * Gives each route of the scope the check of the permission that its operation asks for, before its handler. What is malformed is refused
 * first, and a request whose Idempotency-Key has an answer gets that answer.
 * @throws Error at the start, for a route that is not public and says neither a permission nor that a token is enough
 */
export function requirePermissions(app: FastifyInstance): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.public) return
    const needs = route.config?.needs ?? needsOf(String(route.schema?.operationId ?? ''))
    if (needs === undefined)
      throw new Error(`${route.method} ${route.url} says no permission: add its operation to src/api/permissions.ts`)
    route.config = { ...route.config, needs }
    if (needs === 'signed in') return
    const own = [route.preHandler ?? []].flat()
    const check = checkOf(needs)
    // The route of HEAD is made from that of GET, which has the check already.
    if (!own.includes(check)) route.preHandler = [check, ...own]
  })
}

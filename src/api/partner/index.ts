import type { FaultNames } from '../../domain/errors.ts'
import { KEY_HEADER } from '../../services/access/idempotency.ts'
import { partnerHints } from '../body/hints.ts'
import { requireBearer } from '../http/bearer.ts'
import { failureWords } from '../http/failure.ts'
import { acceptIdempotencyKeys } from '../http/idempotency.ts'
import type { Style } from '../style.ts'
import { accountingRoutes } from './accounting/accounting.ts'
import { approvalRoutes } from './approvals/approvals.ts'
import { auditRoutes } from './audit.ts'
import { creditRoutes } from './credit.ts'
import { customerRoutes } from './customers.ts'
import { policyRoutes } from './delinquency/policies.ts'
import { CHAPTERS, TAGS } from './document/introduction.ts'
import { ORDER } from './document/story.ts'
import { VARIABLES } from './document/variables.ts'
import { documentRoutes } from './documents/documents.ts'
import { eventRoutes } from './events/events.ts'
import { transactionListRoutes } from './lists/transactionList.ts'
import { loanRoutes } from './loans.ts'
import { organizationRoutes } from './organization/organization.ts'
import { portfolioRoutes } from './portfolio/portfolio.ts'
import { productRoutes } from './products/products.ts'
import { registry } from './registry.ts'
import { replayResponse } from './replayResponse.ts'
import { testClockRoutes } from './testClock/testClock.ts'
import { transactionRoutes } from './transactions.ts'
import { webhookRoutes } from './webhooks/webhooks.ts'

const FAULT_NAMES: FaultNames = {
  amount: 'transactionAmount',
  valueDate: 'transactionDate',
  chargeAmount: 'amount',
  chargeDueOn: 'dueDate',
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
    productRoutes(app, deps)
    loanRoutes(app, deps)
    transactionRoutes(app, deps)
    documentRoutes(app, deps)
    transactionListRoutes(app, deps)
    policyRoutes(app, deps)
    creditRoutes(app, deps)
    eventRoutes(app, deps)
    webhookRoutes(app, deps)
    portfolioRoutes(app, deps)
    accountingRoutes(app, deps)
    organizationRoutes(app, deps)
    approvalRoutes(app, deps)
    auditRoutes(app, deps)
    testClockRoutes(app, deps)
  },
}

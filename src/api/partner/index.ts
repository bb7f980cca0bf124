import { requireBearer } from '../bearer.ts'
import { failureWords } from '../failure.ts'
import { acceptIdempotencyKeys } from '../idempotency.ts'
import type { Style } from '../style.ts'
import { auditRoutes } from './audit.ts'
import { creditRoutes } from './credit.ts'
import { customerRoutes } from './customers.ts'
import { loanRoutes } from './loans.ts'
import { productRoutes } from './products.ts'
import { registry } from './registry.ts'
import { sayAgain } from './sayAgain.ts'
import { transactionRoutes } from './transactions.ts'

/** camelCase, customers (contract 4). */
export const partnerStyle: Style = {
  name: 'partner',
  title: 'Mkopo: partner API',
  description: 'Customers, loans, repayments and credit decisions, for a lender’s own systems.',
  registry,
  statuses: {
    invalid_argument: 400,
    unauthenticated: 401,
    permission_denied: 403,
    not_found: 404,
    already_exists: 409,
    failed_precondition: 409,
    aborted: 409,
    payload_too_large: 413,
    unsupported_media_type: 415,
    resource_exhausted: 429,
    internal: 500,
    unavailable: 503,
  },
  fieldNames: { amount: 'transactionAmount', valueDate: 'transactionDate' },
  failureBody: failureWords,
  routes(app, deps) {
    requireBearer(app, deps)
    acceptIdempotencyKeys(app, deps, sayAgain(deps))
    customerRoutes(app, deps)
    productRoutes(app, deps)
    loanRoutes(app, deps)
    transactionRoutes(app, deps)
    creditRoutes(app, deps)
    auditRoutes(app, deps)
  },
}

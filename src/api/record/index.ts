import { LendingError } from '../../domain/errors.ts'
import { recordHints } from '../body/hints.ts'
import { requireBearer } from '../http/bearer.ts'
import { failureWords } from '../http/failure.ts'
import { acceptIdempotencyKeys } from '../http/idempotency.ts'
import type { Style, StyleApp } from '../style.ts'
import { borrowerRoutes } from './borrowers.ts'
import { loanRoutes } from './loans.ts'
import { registry } from './registry.ts'
import { repaymentRoutes } from './repayments.ts'
import { sayAgain } from './replayResponse.ts'

const NOT_THEIRS = "x-user-id must be the id of the caller's organization"

/** snake_case, borrowers, ids of the client’s own (contract 5). */
export const recordStyle: Style = {
  name: 'record',
  title: 'Mkopo: record API',
  description: 'Borrowers, loans and repayments as records under ids of the client’s own, on the same book.',
  registry,
  fieldNames: { principal: 'principal_amount', valueDate: 'collection_date', entryId: 'repayment_id' },
  refusals: ['permission_denied'],
  explained: {
    permission_denied: ['`x-user-id` names another organization.', NOT_THEIRS],
    already_exists: [
      'The id is already taken, with other content.',
      'a {thing} with that id exists already, with other content',
    ],
  },
  hints: recordHints,
  failureBody: (failure) => ({ success: false, ...failureWords(failure) }),
  headers: { 'x-api-version': '1.2' },
  requestHeaders: {
    'x-user-id': { type: 'integer', description: "The id of your organization; when present it must be the caller's." },
  },
  bearer: 'An API key (`mk_…`), or the token that GET /v1/auth/token answers.',
  routes(app, deps) {
    requireBearer(app, deps, { apiKeys: true })
    requireOwnOrganization(app)
    acceptIdempotencyKeys(app, deps, sayAgain(deps))
    borrowerRoutes(app, deps)
    loanRoutes(app, deps)
    repaymentRoutes(app, deps)
  },
}

/** `x-user-id` carries the organization's id; when present it must be the caller's (contract 3.5). */
function requireOwnOrganization(app: StyleApp): void {
  app.addHook('onRequest', async ({ caller, headers }) => {
    const named = headers['x-user-id']
    if (named !== undefined && named !== String(caller.organizationId))
      throw new LendingError('permission_denied', NOT_THEIRS)
  })
}

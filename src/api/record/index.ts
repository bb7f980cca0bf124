import { type FaultNames, LendingError } from '../../domain/errors.ts'
import { KEY_HEADER } from '../../services/access/idempotency.ts'
import { getBorrower } from '../../services/customers/borrowers.ts'
import { getConsent } from '../../services/customers/consents.ts'
import type { Deps } from '../../services/deps.ts'
import { getRecordLoan } from '../../services/loans/recordLoans.ts'
import { getRecordRepayment } from '../../services/loans/recordRepayments.ts'
import { getCollateral } from '../../services/loans/security/collateral.ts'
import { getGuarantor } from '../../services/loans/security/guarantors.ts'
import { recordHints } from '../body/validation.ts'
import { requireBearer } from '../http/bearer.ts'
import { failureWords } from '../http/failure.ts'
import { acceptIdempotencyKeys, cannotReplayResponse, type ReplayResponse } from '../http/idempotency.ts'
import type { Style, StyleApp } from '../style.ts'
import { borrowerRoutes, scored } from './borrowers.ts'
import { consentRoutes, toConsent } from './consents.ts'
import { documentRoutes } from './documents/documents.ts'
import { eventRoutes } from './events/events.ts'
import { loanRoutes } from './loans.ts'
import { toLoan } from './loanView.ts'
import { CHAPTERS, TAGS, VARIABLES } from './openapi/introduction.ts'
import { registry, toItem } from './registry.ts'
import { repaymentRoutes } from './repayments.ts'
import { toRepayment } from './repayments.wire.ts'
import { securityRoutes, toCollateral, toGuarantor } from './security.ts'

const NOT_THEIRS = "x-user-id must be the id of the caller's organization"

const FAULT_NAMES: FaultNames = {
  idempotencyKey: KEY_HEADER,
  updatedSince: 'updated_since',
  dateOfBirth: 'identity.date_of_birth',
  verifiedOn: 'identity.verification.on',
  givenAt: 'given_at',
  withdrawnAt: 'withdrawn_at',
  guarantorId: 'borrower_id',
  guarantorIdentity: 'identity',
  guaranteed: 'amount',
  collateralValue: 'value',
  valuedOn: 'valued_on',
  releaseDate: 'released_on',
  loanId: 'loan_id',
  borrowerId: 'borrower_id',
  entryId: 'repayment_id',
  valueDate: 'collection_date',
  principal: 'principal_amount',
  releasedOn: 'released_date',
  dueOn: 'due_date',
  durationPeriod: 'duration_period',
  loanType: 'loan_type',
  termPrincipal: 'loan_principal_amount',
  termReleasedOn: 'loan_released_date',
  termDuration: 'loan_duration',
  termDurationPeriod: 'loan_duration_period',
  interestMethod: 'loan_interest_method',
  interestType: 'loan_interest_type',
  interestPeriod: 'loan_interest_period',
  interest: 'loan_interest',
  paymentScheme: 'loan_payment_scheme_id',
  numberOfRepayments: 'loan_num_of_repayments',
  decimalPlaces: 'loan_decimal_places',
  loanApplicationId: 'loan_application_id',
  disbursedById: 'loan_disbursed_by_id',
}

/**
 * Builds the answer of a repeated request: the resource that the first one changed, as it is now, in the record style.
 */
const replayResponse =
  (deps: Deps): ReplayResponse =>
  async (caller, { entity, entityId, transactionId }) => {
    const { zone } = deps.config
    if (entityId === null) return cannotReplayResponse()
    if (entity === 'customer') return toItem(await scored(deps, caller, await getBorrower(deps, caller, entityId)))
    if (entity === 'consent') return toItem(toConsent(await getConsent(deps, caller, entityId), zone))
    if (entity === 'guarantor') return toItem(toGuarantor(await getGuarantor(deps, caller, entityId), zone))
    if (entity === 'collateral') return toItem(toCollateral(await getCollateral(deps, caller, entityId), zone))
    if (entity !== 'loan') return cannotReplayResponse()
    if (transactionId !== null) return toItem(toRepayment(await getRecordRepayment(deps, caller, transactionId), zone))
    return toItem(toLoan(await getRecordLoan(deps, caller, entityId), zone))
  }

/** The record style: snake_case, borrowers, ids of the client’s own (contract 5). */
export const recordStyle: Style = {
  name: 'record',
  title: 'Mkopo: record API',
  description: 'Borrowers, loans and repayments as records under ids of the client’s own, on the same book.',
  tags: TAGS,
  chapters: CHAPTERS,
  variables: VARIABLES,
  registry,
  faultNames: FAULT_NAMES,
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
    'x-user-id': {
      type: 'integer',
      format: 'int32',
      minimum: 1,
      description: "The id of your organization; when present it must be the caller's.",
    },
  },
  bearer: 'An API key (`mk_…`), or the token that GET /v1/auth/token answers.',
  routes(app, deps) {
    requireBearer(app, deps, { apiKeys: true })
    requireOwnOrganization(app)
    acceptIdempotencyKeys(app, deps, replayResponse(deps))
    borrowerRoutes(app, deps)
    consentRoutes(app, deps)
    loanRoutes(app, deps)
    securityRoutes(app, deps)
    repaymentRoutes(app, deps)
    documentRoutes(app, deps)
    eventRoutes(app, deps)
  },
}

/** Refuses a request whose `x-user-id` is not the id of the caller's organization (contract 3.5). */
function requireOwnOrganization(app: StyleApp): void {
  app.addHook('onRequest', async ({ caller, headers }) => {
    const named = headers['x-user-id']
    if (named !== undefined && named !== String(caller.organizationId))
      throw new LendingError('permission_denied', NOT_THEIRS)
  })
}

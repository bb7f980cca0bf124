import { z } from 'zod'
import { invalidArgument } from '../../domain/errors.ts'
import type { Deps } from '../../services/deps.ts'
import {
  addCollateral,
  type CollateralView,
  listCollateral,
  releaseCollateral,
} from '../../services/loans/security/collateral.ts'
import {
  addGuarantor,
  type GuarantorRequest,
  type GuarantorView,
  listGuarantors,
  releaseGuarantor,
} from '../../services/loans/security/guarantors.ts'
import { wireInteger } from '../body/json.ts'
import { inWords } from '../lists/eventView.ts'
import { toIdentityView } from '../lists/identity.ts'
import { listQuery, rangeOf } from '../lists/query.ts'
import {
  COLLATERAL_ANSWER,
  COLLATERAL_MEMBERS,
  GUARANTOR_ANSWER,
  GUARANTOR_MEMBERS,
  RELEASE_MEMBERS,
  toCollateralView,
  toGuarantorView,
} from '../lists/security.ts'
import type { StyleApp } from '../style.ts'
import { IDENTITY_NAMES, identityIn, identityRequest, identitySchema } from './borrowers.wire.ts'
import * as examples from './openapi/examples.ts'
import { byId, byIdWith, itemOf, listOf, named, recordId, toItem, toList, wireId } from './registry.ts'

const tags = ['guarantors and collateral']

/** The names of the members of guarantors, collateral and releases. */
const NAMES = {
  relationship: 'relationship',
  amount: 'amount',
  from: 'from',
  until: 'until',
  kind: 'kind',
  description: 'description',
  value: 'value',
  valuedOn: 'valued_on',
  registration: 'registration',
  owner: 'owner',
  reason: 'reason',
  releasedOn: 'released_on',
  releaseReason: 'release_reason',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const

const createGuarantorRequest = named(
  'CreateGuarantorRequest',
  z.strictObject({
    borrower_id: recordId.optional().describe('The id of a guarantor who is a borrower.'),
    identity: identityRequest
      .optional()
      .describe('Who the guarantor is, where that is no borrower. It is encrypted with a key of the guarantor.'),
    ...inWords(GUARANTOR_MEMBERS, NAMES),
  }),
  { example: examples.newGuarantor },
)

const createCollateralRequest = named('CreateCollateralRequest', z.strictObject(inWords(COLLATERAL_MEMBERS, NAMES)), {
  example: examples.newCollateral,
})

const releaseRequest = named('ReleaseRequest', z.strictObject(inWords(RELEASE_MEMBERS, NAMES)), {
  example: examples.release,
})

const guarantorSchema = named(
  'Guarantor',
  z.object({
    id: wireId.describe("The service's number."),
    loan_id: wireId,
    borrower_id: wireId.optional().describe('Of a guarantor who is a borrower.'),
    identity: identitySchema.optional().describe('Who a guarantor is who is no borrower; for an ADMIN alone.'),
    ...inWords(GUARANTOR_ANSWER, NAMES),
  }),
  { example: examples.guarantor },
)

const collateralSchema = named(
  'Collateral',
  z.object({ id: wireId.describe("The service's number."), loan_id: wireId, ...inWords(COLLATERAL_ANSWER, NAMES) }),
  { example: examples.collateral },
)

const guarantorItem = itemOf('GuarantorItem', guarantorSchema)
const guarantorList = listOf('GuarantorList', guarantorSchema)
const collateralItem = itemOf('CollateralItem', collateralSchema)
const collateralList = listOf('CollateralList', collateralSchema)

/** Reads a guarantor to be recorded. @throws LendingError `invalid_argument` unless the body says in one way who it is */
function toRequest({
  borrower_id: id,
  identity,
  ...request
}: z.infer<typeof createGuarantorRequest>): GuarantorRequest {
  if ((id === undefined) === (identity === undefined))
    throw invalidArgument('guarantorId', (nameOf) => `must be given, or ${nameOf('guarantorIdentity')}, and not both`)
  return { ...request, who: identity ? { identity: identityIn(identity) } : { customer: { id: id! } } }
}

/** Builds the record style's view of a guarantor. */
export const toGuarantor = (view: GuarantorView, zone: string): z.infer<typeof guarantorSchema> => ({
  id: wireInteger(view.guarantor.id),
  loan_id: wireInteger(view.guarantor.loanId),
  ...(view.guarantor.customerId !== null && { borrower_id: wireInteger(view.guarantor.customerId) }),
  ...(view.identity && { identity: inWords(toIdentityView(view.identity), IDENTITY_NAMES) }),
  ...inWords(toGuarantorView(view, zone), NAMES),
})

/** Builds the record style's view of collateral. */
export const toCollateral = (view: CollateralView, zone: string): z.infer<typeof collateralSchema> => ({
  id: wireInteger(view.collateral.id),
  loan_id: wireInteger(view.collateral.loanId),
  ...inWords(toCollateralView(view, zone), NAMES),
})

/** Adds the guarantors and the collateral of loans. */
export function securityRoutes(app: StyleApp, deps: Deps): void {
  for (const add of [addGuarantors, addGuarantorRelease, addCollaterals, addCollateralRelease, addLists]) add(app, deps)
}

function addGuarantors(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/loans/:id/guarantors',
    {
      config: {
        refusals: ['already_exists', 'failed_precondition'],
        explained: {
          already_exists: ['The borrower is a guarantor of the loan.', 'is a guarantor of the loan already'],
          failed_precondition: [
            'The loan has as many as it may.',
            'the loan has 20 guarantors, the most that there may be; release one first',
          ],
        },
      },
      schema: {
        tags,
        operationId: 'createGuarantor',
        summary: 'Record a guarantor of a loan',
        description:
          'A borrower, or a person who is none. It changes nothing of the loan, and no event tells it. A loan has at most 20 at a time.',
        params: byId,
        body: createGuarantorRequest,
        response: { 200: guarantorItem },
      },
    },
    async ({ caller, params: ref, body }) =>
      toItem(toGuarantor(await addGuarantor(deps, caller, ref, toRequest(body)), deps.config.zone)),
  )
}

/** Of a guarantor or collateral that was released otherwise. */
const RELEASED: readonly [string, string] = [
  'It was released otherwise.',
  'was released on 2026-01-31 before, with another day or another reason',
]

function addGuarantorRelease(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/loans/:id/guarantors/:guarantorId/release',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: { failed_precondition: RELEASED },
        examples: { Released: toItem(examples.releasedGuarantor) },
      },
      schema: {
        tags,
        operationId: 'releaseGuarantor',
        summary: 'Release a guarantor',
        description: 'The same day and reason again change nothing.',
        params: byIdWith('guarantorId'),
        body: releaseRequest,
        response: { 200: guarantorItem },
      },
    },
    async ({ caller, params, body: { reason, released_on: releasedOn } }) =>
      toItem(toGuarantor(await releaseGuarantor(deps, caller, params, { reason, releasedOn }), deps.config.zone)),
  )
}

function addCollaterals(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/loans/:id/collateral',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'The loan has as much as it may.',
            'the loan has 20 pieces of collateral, the most that there may be; release one first',
          ],
        },
      },
      schema: {
        tags,
        operationId: 'createCollateral',
        summary: 'Record what a loan is secured by',
        description:
          'Description, registration and owner are encrypted with the key of the borrower. It changes nothing of the loan, and no event tells it. A loan has at most 20 at a time.',
        params: byId,
        body: createCollateralRequest,
        response: { 200: collateralItem },
      },
    },
    async ({ caller, params: ref, body: { valued_on: valuedOn, registration = null, owner = null, ...body } }) => {
      const details = { registration, owner, valuedOn }
      return toItem(toCollateral(await addCollateral(deps, caller, ref, { ...body, ...details }), deps.config.zone))
    },
  )
}

function addCollateralRelease(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/loans/:id/collateral/:collateralId/release',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: { failed_precondition: RELEASED },
        examples: { Released: toItem(examples.releasedCollateral) },
      },
      schema: {
        tags,
        operationId: 'releaseCollateral',
        summary: 'Release collateral',
        description: 'The same day and reason again change nothing.',
        params: byIdWith('collateralId'),
        body: releaseRequest,
        response: { 200: collateralItem },
      },
    },
    async ({ caller, params, body: { reason, released_on: releasedOn } }) =>
      toItem(toCollateral(await releaseCollateral(deps, caller, params, { reason, releasedOn }), deps.config.zone)),
  )
}

function addLists(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.get(
    '/v1/loans/:id/guarantors',
    {
      schema: {
        tags,
        operationId: 'listGuarantors',
        summary: 'List the guarantors of a loan',
        description: 'In the order in which they were recorded, with those that were released.',
        params: byId,
        querystring: listQuery,
        response: { 200: guarantorList },
      },
    },
    async ({ caller, params: ref, query }) =>
      toList(await listGuarantors(deps, caller, ref, rangeOf(query)), query, (one) => toGuarantor(one, zone)),
  )
  app.get(
    '/v1/loans/:id/collateral',
    {
      schema: {
        tags,
        operationId: 'listCollateral',
        summary: 'List the collateral of a loan',
        description: 'In the order in which it was recorded, with what was released.',
        params: byId,
        querystring: listQuery,
        response: { 200: collateralList },
      },
    },
    async ({ caller, params: ref, query }) =>
      toList(await listCollateral(deps, caller, ref, rangeOf(query)), query, (one) => toCollateral(one, zone)),
  )
}

import { z } from 'zod'
import { invalidArgument } from '../../../domain/errors.ts'
import type { Deps } from '../../../services/deps.ts'
import {
  addGuarantor,
  type GuarantorRequest,
  type GuarantorView,
  listGuarantors,
  releaseGuarantor,
} from '../../../services/loans/security/guarantors.ts'
import { toIdentity, toIdentityView } from '../../lists/identity.ts'
import { listQuery, rangeOf } from '../../lists/query.ts'
import { GUARANTOR_ANSWER, GUARANTOR_MEMBERS, toGuarantorView } from '../../lists/security.ts'
import type { StyleApp } from '../../style.ts'
import { externalId } from '../../wire.ts'
import { identityRequest, identitySchema } from '../customers.wire.ts'
import { LOAN_ADDRESSES, named, pageOf, toPage } from '../registry.ts'
import { releaseRequest } from './collateral.ts'
import * as examples from './examples.ts'

const tags = ['guarantors and collateral']

const createGuarantorRequest = named(
  'CreateGuarantorRequest',
  z.strictObject({
    customerId: externalId.optional().describe('The externalId of a guarantor who is a customer.'),
    identity: identityRequest
      .optional()
      .describe('Who the guarantor is, where that is no customer. It is encrypted with a key of the guarantor.'),
    ...GUARANTOR_MEMBERS,
  }),
  { example: examples.newGuarantor },
)

export const guarantorSchema = named(
  'Guarantor',
  z.object({
    id: z.string().describe("The service's number."),
    loanId: z.string(),
    customerId: z.string().optional().describe("The service's number of a guarantor who is a customer."),
    identity: identitySchema.optional().describe('Who a guarantor is who is no customer; for an ADMIN alone.'),
    ...GUARANTOR_ANSWER,
  }),
  { example: examples.guarantor },
)

const guarantorPage = pageOf('GuarantorPage', guarantorSchema)

/** Reads a guarantor to be recorded. @throws LendingError `invalid_argument` unless the body says in one way who it is */
function toRequest({ customerId, identity, ...request }: z.infer<typeof createGuarantorRequest>): GuarantorRequest {
  if ((customerId === undefined) === (identity === undefined))
    throw invalidArgument('guarantorId', (nameOf) => `must be given, or ${nameOf('guarantorIdentity')}, and not both`)
  if (identity) return { ...request, who: { identity: toIdentity(identity) } }
  return { ...request, who: { customer: { externalId: customerId! } } }
}

/** Builds the partner style's view of a guarantor. */
export const toGuarantor = (view: GuarantorView, zone: string): z.infer<typeof guarantorSchema> => ({
  id: String(view.guarantor.id),
  loanId: String(view.guarantor.loanId),
  ...(view.guarantor.customerId !== null && { customerId: String(view.guarantor.customerId) }),
  ...(view.identity && { identity: toIdentityView(view.identity) }),
  ...toGuarantorView(view, zone),
})

type Address = (typeof LOAN_ADDRESSES)[number]

/** Adds the guarantors of loans. */
export function guarantorRoutes(app: StyleApp, deps: Deps): void {
  for (const address of LOAN_ADDRESSES) {
    addCreation(app, deps, address)
    addList(app, deps, address)
    addRelease(app, deps, address)
  }
}

function addCreation(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  app.post(
    `/v1/loans${path}/guarantors`,
    {
      config: {
        refusals: ['already_exists', 'failed_precondition'],
        explained: {
          already_exists: ['The customer is a guarantor of the loan.', 'is a guarantor of the loan already'],
          failed_precondition: [
            'The loan has as many as it may.',
            'the loan has 20 guarantors, the most that there may be; release one first',
          ],
        },
      },
      schema: {
        tags,
        operationId: named('createGuarantor', 'Loan'),
        summary: 'Record a guarantor of a loan',
        description:
          'A customer, or a person who is none. It changes nothing of the loan, and no event tells it. A loan has at most 20 at a time.',
        params,
        body: createGuarantorRequest,
        response: { 200: guarantorSchema },
      },
    },
    async ({ caller, params: ref, body }) =>
      toGuarantor(await addGuarantor(deps, caller, ref, toRequest(body)), deps.config.zone),
  )
}

function addList(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  const { zone } = deps.config
  app.get(
    `/v1/loans${path}/guarantors`,
    {
      schema: {
        tags,
        operationId: named('listGuarantors', 'Loan'),
        summary: 'List the guarantors of a loan',
        description: 'In the order in which they were recorded, with those that were released.',
        params,
        querystring: listQuery,
        response: { 200: guarantorPage },
      },
    },
    async ({ caller, params: ref, query }) =>
      toPage(await listGuarantors(deps, caller, ref, rangeOf(query)), query, (one) => toGuarantor(one, zone)),
  )
}

function addRelease(app: StyleApp, deps: Deps, { path, withPart, named }: Address): void {
  const operationId = named('releaseGuarantor', 'Loan')
  app.post(
    `/v1/loans${path}/guarantors/:guarantorId/release`,
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'The guarantor was released otherwise.',
            'was released on 2026-01-31 before, with another day or another reason',
          ],
        },
        examples: { Released: examples.releasedGuarantor },
        ...(operationId !== 'releaseGuarantor' && { prefilled: { params: { guarantorId: '2' } } }),
      },
      schema: {
        tags,
        operationId,
        summary: 'Release a guarantor',
        description: 'The same day and reason again change nothing.',
        params: withPart('guarantorId'),
        body: releaseRequest,
        response: { 200: guarantorSchema },
      },
    },
    async ({ caller, params, body }) =>
      toGuarantor(await releaseGuarantor(deps, caller, params, body), deps.config.zone),
  )
}

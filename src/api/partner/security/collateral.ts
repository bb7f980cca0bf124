import { z } from 'zod'
import type { Deps } from '../../../services/deps.ts'
import {
  addCollateral,
  type CollateralRequest,
  type CollateralView,
  listCollateral,
  releaseCollateral,
} from '../../../services/loans/security/collateral.ts'
import { listQuery, rangeOf } from '../../lists/query.ts'
import { COLLATERAL_ANSWER, COLLATERAL_MEMBERS, RELEASE_MEMBERS, toCollateralView } from '../../lists/security.ts'
import type { StyleApp } from '../../style.ts'
import { LOAN_ADDRESSES, named, pageOf, toPage } from '../registry.ts'
import * as examples from './examples.ts'

const tags = ['guarantors and collateral']

const createCollateralRequest = named('CreateCollateralRequest', z.strictObject(COLLATERAL_MEMBERS), {
  example: examples.newCollateral,
})

/** The body that releases a guarantor or collateral. */
export const releaseRequest = named('ReleaseRequest', z.strictObject(RELEASE_MEMBERS), { example: examples.release })

export const collateralSchema = named(
  'Collateral',
  z.object({ id: z.string().describe("The service's number."), loanId: z.string(), ...COLLATERAL_ANSWER }),
  { example: examples.collateral },
)

const collateralPage = pageOf('CollateralPage', collateralSchema)

const toRequest = (body: z.infer<typeof createCollateralRequest>): CollateralRequest => ({
  ...body,
  registration: body.registration ?? null,
  owner: body.owner ?? null,
})

/** Builds the partner style's view of collateral. */
export const toCollateral = (view: CollateralView, zone: string): z.infer<typeof collateralSchema> => ({
  id: String(view.collateral.id),
  loanId: String(view.collateral.loanId),
  ...toCollateralView(view, zone),
})

type Address = (typeof LOAN_ADDRESSES)[number]

/** Adds the collateral of loans. */
export function collateralRoutes(app: StyleApp, deps: Deps): void {
  for (const address of LOAN_ADDRESSES) {
    addCreation(app, deps, address)
    addList(app, deps, address)
    addRelease(app, deps, address)
  }
}

function addCreation(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  app.post(
    `/v1/loans${path}/collateral`,
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
        operationId: named('createCollateral', 'Loan'),
        summary: 'Record what a loan is secured by',
        description:
          'Description, registration and owner are encrypted with the key of the customer. It changes nothing of the loan, and no event tells it. A loan has at most 20 at a time.',
        params,
        body: createCollateralRequest,
        response: { 200: collateralSchema },
      },
    },
    async ({ caller, params: ref, body }) =>
      toCollateral(await addCollateral(deps, caller, ref, toRequest(body)), deps.config.zone),
  )
}

function addList(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  const { zone } = deps.config
  app.get(
    `/v1/loans${path}/collateral`,
    {
      schema: {
        tags,
        operationId: named('listCollateral', 'Loan'),
        summary: 'List the collateral of a loan',
        description: 'In the order in which it was recorded, with what was released.',
        params,
        querystring: listQuery,
        response: { 200: collateralPage },
      },
    },
    async ({ caller, params: ref, query }) =>
      toPage(await listCollateral(deps, caller, ref, rangeOf(query)), query, (one) => toCollateral(one, zone)),
  )
}

function addRelease(app: StyleApp, deps: Deps, { path, withPart, named }: Address): void {
  const operationId = named('releaseCollateral', 'Loan')
  app.post(
    `/v1/loans${path}/collateral/:collateralId/release`,
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'It was released otherwise.',
            'was released on 2026-01-31 before, with another day or another reason',
          ],
        },
        examples: { Released: examples.releasedCollateral },
        ...(operationId !== 'releaseCollateral' && { prefilled: { params: { collateralId: '2' } } }),
      },
      schema: {
        tags,
        operationId,
        summary: 'Release collateral',
        description: 'The same day and reason again change nothing.',
        params: withPart('collateralId'),
        body: releaseRequest,
        response: { 200: collateralSchema },
      },
    },
    async ({ caller, params, body }) =>
      toCollateral(await releaseCollateral(deps, caller, params, body), deps.config.zone),
  )
}

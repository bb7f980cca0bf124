import {
  askForData,
  confirmErasure,
  type DataRequest,
  endRequest,
  getDataRequest,
  listDataRequests,
} from '../../../services/customers/dataRequests.ts'
import type { Core, Deps } from '../../../services/deps.ts'
import { rangeOf } from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { CUSTOMER_ADDRESSES, toPage } from '../registry.ts'
import {
  completeDataRequestRequest,
  createDataRequestRequest,
  dataRequestPage,
  dataRequestParams,
  dataRequestQuery,
  dataRequestSchema,
  refuseDataRequestRequest,
  toDataRequest,
} from './dataRequests.wire.ts'
import * as examples from './examples.ts'

const tags = ['people']

const DECIDED = ['It is decided already.', 'the data request is done already'] as const

/** Adds what people may ask of a lender by the law of data protection (contract 18). */
export function dataRequestRoutes(app: StyleApp, deps: Deps): void {
  askRoutes(app, deps)
  readRoutes(app, deps)
  confirmRoute(app, deps)
  endRoutes(app, deps)
}

const view = ({ config }: Core, request: DataRequest) => toDataRequest(request, config.zone)

function askRoutes(app: StyleApp, deps: Deps): void {
  for (const { path, params, named } of CUSTOMER_ADDRESSES)
    app.post(
      `/v1/customers${path}/data-requests`,
      {
        config: {
          refusals: ['failed_precondition'],
          explained: {
            failed_precondition: [
              'The person was erased.',
              'the customer was erased, and nothing of it can be changed',
            ],
          },
        },
        schema: {
          tags,
          operationId: named('createDataRequest'),
          summary: 'Keep what a person asks for',
          description:
            'An erasure takes the role ADMIN, and waits for another ADMIN; where a loan is open, or what is known has to be kept still, it is `refused` at once, and `obstacles` say why. One erasure of a customer waits at a time: another gets the same.',
          params,
          body: createDataRequestRequest,
          response: { 200: dataRequestSchema },
        },
      },
      async ({ caller, params: ref, body }) => view(deps, await askForData(deps, caller, ref, body)),
    )
}

function readRoutes(app: StyleApp, deps: Deps): void {
  app.get(
    '/v1/data-requests',
    {
      config: { role: 'ADMIN' },
      schema: {
        tags,
        operationId: 'listDataRequests',
        summary: 'List data requests',
        description: 'What people asked for, and the erasures that the service proposes, oldest first.',
        querystring: dataRequestQuery,
        response: { 200: dataRequestPage },
      },
    },
    async ({ caller, query }) => {
      const { customerId, kind, state, dueBefore } = query
      const filter = { customerId, kind, state, dueBefore }
      return toPage(await listDataRequests(deps, caller, filter, rangeOf(query)), query, (one) => view(deps, one))
    },
  )

  app.get(
    '/v1/data-requests/:id',
    {
      config: { role: 'ADMIN' },
      schema: {
        tags,
        operationId: 'getDataRequest',
        summary: 'Read a data request',
        description: 'What a person asked for, and what became of it.',
        params: dataRequestParams,
        response: { 200: dataRequestSchema },
      },
    },
    async ({ caller, params: { id } }) => view(deps, await getDataRequest(deps, caller, id)),
  )
}

function confirmRoute(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/data-requests/:id/confirm',
    {
      config: {
        role: 'ADMIN',
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'It is decided already, it is no erasure, or something is against it now.',
            'the person cannot be erased: a loan is open: 4000000000000001',
          ],
        },
        examples: { Erased: examples.confirmed },
      },
      schema: {
        tags,
        operationId: 'confirmErasure',
        summary: 'Erase a person',
        description:
          'Another ADMIN than the one who asked; of what the service proposed, any. The key of the customer is destroyed and its externalId becomes a pseudonym: nobody can read any more who it is, in the trail and in backups of what is written from then on either. Loans, amounts and dates stay. It cannot be undone.',
        params: dataRequestParams,
        response: { 200: dataRequestSchema },
      },
    },
    async ({ caller, params: { id } }) => view(deps, await confirmErasure(deps, caller, id)),
  )
}

function endRoutes(app: StyleApp, deps: Deps): void {
  const ending = {
    role: 'ADMIN',
    refusals: ['failed_precondition'],
    explained: { failed_precondition: DECIDED },
  } as const
  app.post(
    '/v1/data-requests/:id/complete',
    {
      config: { ...ending, examples: { Done: examples.completed } },
      schema: {
        tags,
        operationId: 'completeDataRequest',
        summary: 'Complete a data request',
        description: 'What the person asked for is done, and the person is answered. An erasure is confirmed instead.',
        params: dataRequestParams,
        body: completeDataRequestRequest,
        response: { 200: dataRequestSchema },
      },
    },
    async ({ caller, params: { id }, body }) =>
      view(deps, await endRequest(deps, caller, id, { state: 'done', note: body.note })),
  )

  app.post(
    '/v1/data-requests/:id/refuse',
    {
      config: { ...ending, examples: { Refused: examples.refused } },
      schema: {
        tags,
        operationId: 'refuseDataRequest',
        summary: 'Refuse a data request',
        description: 'Also a proposal of the service.',
        params: dataRequestParams,
        body: refuseDataRequestRequest,
        response: { 200: dataRequestSchema },
      },
    },
    async ({ caller, params: { id }, body }) =>
      view(deps, await endRequest(deps, caller, id, { state: 'refused', note: body.note })),
  )

  app.post(
    '/v1/data-requests/:id/withdraw',
    {
      config: { ...ending, examples: { Withdrawn: examples.withdrawn } },
      schema: {
        tags,
        operationId: 'withdrawDataRequest',
        summary: 'Withdraw a data request',
        description: 'The person does not ask for it any more.',
        params: dataRequestParams,
        response: { 200: dataRequestSchema },
      },
    },
    async ({ caller, params: { id } }) => view(deps, await endRequest(deps, caller, id, { state: 'withdrawn' })),
  )
}

import type { FastifyReply } from 'fastify'
import {
  askForData,
  confirmErasure,
  type DataRequest,
  endRequest,
  getDataRequest,
  listDataRequests,
} from '../../../services/customers/dataRequests.ts'
import { printDataResult, type ResultPdf } from '../../../services/customers/dataResultPdf.ts'
import type { Core, Deps } from '../../../services/deps.ts'
import { pdfAnswer, receiptQuery, sendFile } from '../../body/accepted.ts'
import { keepOutOfCaches } from '../../http/failure.ts'
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
import { dataResultSchema, type ResultFile, writeDataResult } from './results.wire.ts'

const tags = ['people']

const DECIDED = ['It is decided already.', 'the data request is done already'] as const

/** Adds what people may ask of a lender by the law of data protection (contract 18). */
export function dataRequestRoutes(app: StyleApp, deps: Deps): void {
  askRoutes(app, deps)
  readRoutes(app, deps)
  resultRoutes(app, deps)
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
            'An erasure takes the permission `people.decide` besides (ADMIN has it), and waits for another ADMIN; where a loan is open, or what is known has to be kept still, it is `refused` at once, and `obstacles` say why. One erasure of a customer waits at a time: another gets the same.',
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

const NO_RESULT = [
  'It is of another kind, it was refused or withdrawn, the person was erased, or more is known than a result holds.',
  'the person was erased, and nothing is known of it any more',
] as const

function resultRoutes(app: StyleApp, deps: Deps): void {
  const config = {
    refusals: ['failed_precondition', 'resource_exhausted'],
    explained: { failed_precondition: NO_RESULT },
  } as const
  app.get(
    '/v1/data-requests/:id/result',
    {
      config,
      schema: {
        tags,
        operationId: 'getDataRequestResult',
        summary: 'Read the result of a data request',
        description:
          'All that you know of the person, for a request of the kind `access`, for machines. It is kept nowhere; the audit trail says who has read it.',
        params: dataRequestParams,
        response: { 200: dataResultSchema },
      },
    },
    async ({ caller, params: { id } }, reply) => sendUnkept(reply, await writeDataResult(deps, caller, id)),
  )

  app.get(
    '/v1/data-requests/:id/result.pdf',
    {
      config,
      schema: {
        tags,
        operationId: 'getDataRequestResultPdf',
        summary: 'Read the result of a data request as PDF',
        description:
          'The same for the person, in your legal name and with your logo. One of more than 10,000 lines is to be had as JSON alone.',
        params: dataRequestParams,
        querystring: receiptQuery,
        response: { 200: pdfAnswer },
      },
    },
    async ({ caller, params: { id }, query: { language } }, reply) =>
      sendUnkept(reply, await printDataResult(deps, caller, id, language)),
  )
}

/** Sends a file that no cache keeps. */
function sendUnkept(reply: FastifyReply, file: ResultFile | ResultPdf) {
  keepOutOfCaches(reply)
  return sendFile(reply, file) as never
}

function confirmRoute(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/data-requests/:id/confirm',
    {
      config: {
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

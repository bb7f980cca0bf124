import { z } from 'zod'
import type { Deps } from '../../../app/deps.ts'
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  updateEndpoint,
} from '../../../services/webhooks/endpoints.ts'
import { listQuery, rangeOf } from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { toPage } from '../registry.ts'
import { deliveryRoutes } from './deliveries.ts'
import {
  createEndpointRequest,
  endpointPage,
  endpointParams,
  endpointSchema,
  shownEndpointSchema,
  toEndpoint,
  toShownEndpoint,
  updateEndpointRequest,
} from './webhooks.wire.ts'

const tags = ['webhooks']

const BAD_URL = [
  'The URL may not be called.',
  'url: must lead to an address of the internet, not of a private, local or reserved network',
] as const

/** Adds the management of the endpoints of webhooks, for operators. */
export function webhookRoutes(app: StyleApp, deps: Deps): void {
  collectionRoutes(app, deps)
  deliveryRoutes(app, deps)
  singleRoutes(app, deps)
}

function collectionRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.post(
    '/v1/webhook-endpoints',
    {
      config: {
        role: 'ADMIN',
        answersSecret: true,
        refusals: ['failed_precondition'],
        explained: {
          invalid_argument: BAD_URL,
          failed_precondition: [
            'There are as many endpoints as there may be, or the cursor is older than the events that are kept.',
            'the organization has 20 webhook endpoints, the most that there may be',
          ],
        },
      },
      schema: {
        tags,
        operationId: 'createWebhookEndpoint',
        summary: 'Create a webhook endpoint',
        description:
          'Events are sent to it from now on, or from where you say. The answer has the secret that signs them, and no later answer has it.',
        body: createEndpointRequest,
        response: { 200: shownEndpointSchema },
      },
    },
    async ({ caller, body }) => toShownEndpoint(await createEndpoint(deps, caller, body), zone),
  )

  app.get(
    '/v1/webhook-endpoints',
    {
      config: { role: 'AUDITOR' },
      schema: {
        tags,
        operationId: 'listWebhookEndpoints',
        summary: 'List webhook endpoints',
        description: 'In the order in which they were made, with how far each is behind.',
        querystring: listQuery,
        response: { 200: endpointPage },
      },
    },
    async ({ caller, query }) =>
      toPage(await listEndpoints(deps, caller, rangeOf(query)), query, (one) => toEndpoint(one, zone)),
  )
}

/** Adds the operations on one endpoint. They come last, because one of them deletes it. */
function singleRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.get(
    '/v1/webhook-endpoints/:id',
    {
      config: { role: 'AUDITOR' },
      schema: {
        tags,
        operationId: 'getWebhookEndpoint',
        summary: 'Read a webhook endpoint',
        description: 'Its state, and how far it is behind.',
        params: endpointParams,
        response: { 200: endpointSchema },
      },
    },
    async ({ caller, params: { id } }) => toEndpoint(await getEndpoint(deps, caller, id), zone),
  )

  app.patch(
    '/v1/webhook-endpoints/:id',
    {
      config: { role: 'ADMIN', explained: { invalid_argument: BAD_URL } },
      schema: {
        tags,
        operationId: 'updateWebhookEndpoint',
        summary: 'Change a webhook endpoint',
        description:
          'A field that is left out stays. `state` `active` wakes an endpoint that backs off or is disabled: it continues where it stopped.',
        params: endpointParams,
        body: updateEndpointRequest,
        response: { 200: endpointSchema },
      },
    },
    async ({ caller, params: { id }, body }) => toEndpoint(await updateEndpoint(deps, caller, id, body), zone),
  )

  app.delete(
    '/v1/webhook-endpoints/:id',
    {
      config: { role: 'ADMIN' },
      schema: {
        tags,
        operationId: 'deleteWebhookEndpoint',
        summary: 'Delete a webhook endpoint',
        description: 'Nothing more is sent to it. What was attempted is deleted, too.',
        params: endpointParams,
        response: { 204: z.null().describe('Deleted.') },
      },
    },
    async ({ caller, params: { id } }, reply) => {
      await deleteEndpoint(deps, caller, id)
      return reply.code(204).send(null)
    },
  )
}

import { z } from 'zod'
import type { Core, Deps, Writing } from '../../../services/deps.ts'
import { listAttempts, recoverEndpoint } from '../../../services/webhooks/attempts.ts'
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  rotateSecret,
  testEndpoint,
  updateEndpoint,
} from '../../../services/webhooks/endpoints.ts'
import { listQuery, rangeOf } from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { toPage } from '../registry.ts'
import * as examples from './examples.ts'
import {
  createEndpointRequest,
  deliveryPage,
  deliveryQuery,
  endpointPage,
  endpointParams,
  endpointSchema,
  recoverEndpointRequest,
  recoveredSchema,
  rotateSecretRequest,
  shownEndpointSchema,
  testedSchema,
  toDelivery,
  toEndpoint,
  toShownEndpoint,
  toTested,
  USUAL_OVERLAP_HOURS,
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

function collectionRoutes(app: StyleApp, deps: Core & Writing): void {
  const { zone } = deps.config
  app.post(
    '/v1/webhook-endpoints',
    {
      config: {
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
function singleRoutes(app: StyleApp, deps: Core & Writing): void {
  const { zone } = deps.config
  app.get(
    '/v1/webhook-endpoints/:id',
    {
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
      config: { explained: { invalid_argument: BAD_URL } },
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

/** Adds what is done with the deliveries to an endpoint: try one, read them, send them again, and change what signs them. */
function deliveryRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.post(
    '/v1/webhook-endpoints/:id/test',
    {
      schema: {
        tags,
        operationId: 'testWebhookEndpoint',
        summary: 'Send a test to a webhook endpoint',
        description:
          'Sends an event of the type `webhook.test` now, also to an endpoint that is disabled, and answers what came of it. The event has no data and no number, and is sent only once.',
        params: endpointParams,
        response: { 200: testedSchema },
      },
    },
    async (request) => {
      const tested = await testEndpoint(deps, request.caller, request.params.id)
      // The time of the receiver is not the service's own.
      request.waitedMs = tested.ms
      return toTested(tested)
    },
  )

  app.get(
    '/v1/webhook-endpoints/:id/deliveries',
    {
      schema: {
        tags,
        operationId: 'listWebhookDeliveries',
        summary: 'List the deliveries to a webhook endpoint',
        description:
          'Each attempt, newest first; the latest 100,000 are kept. A cursor goes back in time; attempts that are made meanwhile are not in it.',
        params: endpointParams,
        querystring: deliveryQuery,
        response: { 200: deliveryPage },
      },
    },
    async ({ caller, params: { id }, query }) => {
      const part = await listAttempts(deps, caller, { id, state: query.state }, rangeOf(query))
      return toPage(part, query, toDelivery(caller.organizationId, zone))
    },
  )

  recoveryRoutes(app, deps)
}

function recoveryRoutes(app: StyleApp, deps: Core & Writing): void {
  const { zone } = deps.config
  app.post(
    '/v1/webhook-endpoints/:id/recover',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'The cursor is older than the events that are kept.',
            'since: is older than the events that are kept, 90 days; the oldest cursor is ZXZlbnRzLjI',
          ],
        },
      },
      schema: {
        tags,
        operationId: 'recoverWebhookEndpoint',
        summary: 'Send events to a webhook endpoint again',
        description:
          'From an instant or a cursor on, all events that the endpoint wants, in their order, also those that it has taken. A back-off ends.',
        params: endpointParams,
        body: recoverEndpointRequest,
        response: { 200: recoveredSchema },
      },
    },
    async ({ caller, params: { id }, body }) => ({ queued: await recoverEndpoint(deps, caller, id, body.since) }),
  )

  app.post(
    '/v1/webhook-endpoints/:id/rotate-secret',
    {
      config: { answersSecret: true, examples: { Rotated: examples.rotated } },
      schema: {
        tags,
        operationId: 'rotateWebhookSecret',
        summary: 'Give a webhook endpoint a new secret',
        description:
          'The answer has the new secret. Until the overlap ends, both secrets sign every delivery, so that the receiver can change at any moment in between.',
        params: endpointParams,
        body: rotateSecretRequest,
        response: { 200: shownEndpointSchema },
      },
    },
    async ({ caller, params: { id }, body }) =>
      toShownEndpoint(await rotateSecret(deps, caller, id, body?.overlapHours ?? USUAL_OVERLAP_HOURS), zone),
  )
}

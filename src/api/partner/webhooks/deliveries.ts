import type { Deps } from '../../../app/deps.ts'
import { listAttempts } from '../../../services/webhooks/attempts.ts'
import { rotateSecret } from '../../../services/webhooks/endpoints.ts'
import { recoverEndpoint } from '../../../services/webhooks/recovery.ts'
import { testEndpoint } from '../../../services/webhooks/testEndpoint.ts'
import { rangeOf } from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { toPage } from '../registry.ts'
import * as examples from './examples.ts'
import {
  deliveryPage,
  deliveryQuery,
  endpointParams,
  recoverEndpointRequest,
  recoveredSchema,
  rotateSecretRequest,
  shownEndpointSchema,
  testedSchema,
  toDelivery,
  toShownEndpoint,
  toTested,
  USUAL_OVERLAP_HOURS,
} from './webhooks.wire.ts'

const tags = ['webhooks']

/** Adds what is done with the deliveries to an endpoint: try one, read them, send them again, and change what signs them. */
export function deliveryRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.post(
    '/v1/webhook-endpoints/:id/test',
    {
      config: { role: 'ADMIN' },
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
      config: { role: 'AUDITOR' },
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

function recoveryRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.post(
    '/v1/webhook-endpoints/:id/recover',
    {
      config: {
        role: 'ADMIN',
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
      config: { role: 'ADMIN', answersSecret: true, examples: { Rotated: examples.rotated } },
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

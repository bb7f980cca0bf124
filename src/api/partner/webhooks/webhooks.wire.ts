import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import { WANTED_WORDS } from '../../../domain/webhooks/webhooks.ts'
import { eventIdOf } from '../../../services/events/toldEvent.ts'
import { LONGEST_CURSOR } from '../../../services/paging.ts'
import { LONGEST_URL } from '../../../services/webhooks/address.ts'
import { ATTEMPT_STATES, type Attempt } from '../../../services/webhooks/attempts.ts'
import type { Tested } from '../../../services/webhooks/endpoints.ts'
import {
  ENDPOINT_STATES,
  type EndpointView,
  EVENT_STYLES,
  LONGEST_DESCRIPTION,
  LONGEST_OVERLAP_HOURS,
  MOST_COUNTED,
  type ShownEndpoint,
} from '../../../services/webhooks/endpoints.ts'
import { listQuery } from '../../lists/query.ts'
import { count, word } from '../../openapi/answers.ts'
import { idParam, instant, smallInt, text } from '../../wire.ts'
import { named, pageOf } from '../registry.ts'
import * as examples from './examples.ts'

export const USUAL_OVERLAP_HOURS = 24

/** A number that no endpoint has. */
const NONE = 0n

/** The number of an endpoint in a path. */
export const endpointParams = z
  .object({ id: idParam.meta({ examples: [examples.endpoint.id] }) })
  .transform(({ id }) => ({ id: id ?? NONE }))

const url = text({ max: LONGEST_URL }).describe(
  'Where events are sent: `https:`, an address of the internet, any port, no user and no password. A redirect is not followed.',
)
const types = z
  .array(z.enum(WANTED_WORDS as [string, ...string[]]))
  .min(1)
  .max(WANTED_WORDS.length)
  .describe('The types of events that are sent: types, `loan.*` for all that begin with `loan.`, or `*` for all.')
const description = text({ min: 0, max: LONGEST_DESCRIPTION }).describe('For people.')

export const createEndpointRequest = named(
  'CreateWebhookEndpointRequest',
  z.strictObject({
    url,
    types: types.optional().meta({ default: ['*'] }),
    style: z
      .enum(EVENT_STYLES)
      .optional()
      .describe('The words of the events: of this API, or of the record API. Default: `partner`.'),
    description: description.optional(),
    from: text({ max: LONGEST_CURSOR })
      .optional()
      .describe(
        'The first event that is sent: `now` for the next one, `beginning` for the oldest that is kept, or a cursor of `GET /v1/events` for the one after it. Default: `now`.',
      ),
  }),
  { example: examples.newEndpoint },
)

export const updateEndpointRequest = named(
  'UpdateWebhookEndpointRequest',
  z.strictObject({
    url: url.optional(),
    types: types.optional(),
    state: z
      .enum(['active', 'disabled'])
      .optional()
      .describe('`active` also ends a back-off and every pause: what waits is sent at once. `disabled` sends nothing.'),
    description: description.optional(),
  }),
  { example: examples.changeOfEndpoint },
)

export const rotateSecretRequest = named(
  'RotateWebhookSecretRequest',
  z.strictObject({
    overlapHours: smallInt({ min: 0, max: LONGEST_OVERLAP_HOURS })
      .optional()
      .describe(`Hours for which the secret before signs, too. Default: ${USUAL_OVERLAP_HOURS}.`),
  }),
  { example: { overlapHours: USUAL_OVERLAP_HOURS } },
).optional()

export const recoverEndpointRequest = named(
  'RecoverWebhookEndpointRequest',
  z.strictObject({
    since: text({ max: LONGEST_CURSOR }).describe(
      'An instant, RFC 3339, or a cursor of `GET /v1/events`: events from then on are sent again.',
    ),
  }),
  { example: { since: '2026-02-10T00:00:00+03:00' } },
)

export const endpointSchema = named(
  'WebhookEndpoint',
  z.object({
    id: z.string().describe("The service's number."),
    url: z.string(),
    types: z.array(z.string()).describe('The types that are sent; `*` is every type.'),
    style: word('The words of the events', EVENT_STYLES),
    description: z.string(),
    state: word('Whether events are sent', ENDPOINT_STATES),
    stateReason: z.string().nullable().describe('Why it is not active.'),
    behind: count.describe(
      `Events that it has not taken yet, those that wait for another attempt included. Where it wants only some types, of the next ${MOST_COUNTED.toLocaleString('en')} events.`,
    ),
    oldestUndeliveredAt: instant
      .nullable()
      .describe('When the oldest of those events happened; null where there is none.'),
    nextAttemptAt: instant
      .nullable()
      .describe('Nothing is sent before: of a back-off, or because the receiver asked for it.'),
    createdAt: instant,
  }),
  { example: examples.endpoint },
)

export const shownEndpointSchema = named(
  'WebhookEndpointWithSecret',
  endpointSchema.extend({
    secret: z.string().describe('Signs the deliveries (Standard Webhooks 1.0.0). Shown only in this answer: keep it.'),
    previousSecretUntil: instant.nullable().describe('Until when the secret before signs, too.'),
  }),
  { example: examples.created },
)

export const endpointPage = pageOf('WebhookEndpointPage', endpointSchema)

export const deliveryQuery = listQuery.extend({
  state: z
    .enum(ATTEMPT_STATES)
    .optional()
    .describe('Only attempts in this state; `waiting` are the last attempts of events that will be tried again.'),
})

const deliverySchema = named(
  'WebhookDelivery',
  z.object({
    id: z.string().describe('The number of the attempt; later attempts have larger ones.'),
    eventId: z.string().describe('The event, which was also the `webhook-id`.'),
    type: z.string().describe('The type of the event.'),
    state: word('What came of the attempt', ATTEMPT_STATES),
    attempt: count.describe(
      '1 for the first. A probe of an endpoint that backs off does not count, and has the same number again.',
    ),
    at: instant,
    status: count.nullable().describe('The status of the answer; null where there was none.'),
    ms: count.describe('Milliseconds until the answer.'),
    error: z.string().nullable().describe('Why the attempt failed; null for a success.'),
    nextAttemptAt: instant.nullable().describe('When the next attempt is due, as of this one.'),
  }),
  { example: examples.delivery },
)

export const deliveryPage = pageOf('WebhookDeliveryPage', deliverySchema)

export const testedSchema = named(
  'WebhookTest',
  z.object({
    eventId: z.string().describe('The `webhook-id` of the delivery.'),
    status: count.nullable().describe('The status of the answer; null where there was none.'),
    ms: count.describe('Milliseconds until the answer.'),
    error: z.string().nullable().describe('Why the delivery failed; null for a success.'),
    answer: z.string().describe('The first kB of what was answered.'),
  }),
  { example: examples.tested },
)

export const recoveredSchema = named(
  'WebhookRecovery',
  z.object({ queued: count.describe('Events that will be sent again.') }),
  { example: { queued: 0 } },
)

type EndpointAnswer = z.input<typeof endpointSchema>

const at = (moment: number | null, zone: string) => (moment === null ? null : toRfc3339(moment, zone))

/** Builds the view of an endpoint, without its secret. */
export const toEndpoint = (endpoint: EndpointView, zone: string): EndpointAnswer => ({
  id: String(endpoint.id),
  url: endpoint.url,
  types: [...endpoint.types],
  style: endpoint.style,
  description: endpoint.description,
  state: endpoint.state,
  stateReason: endpoint.stateReason,
  behind: endpoint.behind,
  oldestUndeliveredAt: at(endpoint.oldestUndeliveredAt, zone),
  nextAttemptAt: at(endpoint.nextAttemptAt, zone),
  createdAt: toRfc3339(endpoint.createdAt, zone),
})

/** Builds the view of an endpoint with its secret. */
export const toShownEndpoint = ({ endpoint, secret }: ShownEndpoint, zone: string) => ({
  ...toEndpoint(endpoint, zone),
  secret,
  previousSecretUntil: at(endpoint.previousUntil, zone),
})

/** Builds the view of an attempt. */
export const toDelivery =
  (organizationId: number, zone: string) =>
  ({
    id,
    sequence,
    type,
    state,
    attempt,
    at: moment,
    status,
    ms,
    error,
    nextAttemptAt,
  }: Attempt): z.input<typeof deliverySchema> => ({
    id: String(id),
    eventId: eventIdOf({ organizationId, sequence }),
    type,
    state,
    attempt,
    at: toRfc3339(moment, zone),
    status,
    ms,
    error,
    nextAttemptAt: at(nextAttemptAt, zone),
  })

/** Builds the view of a test. */
export const toTested = ({ text: answer, ...tested }: Tested): z.input<typeof testedSchema> => ({ ...tested, answer })

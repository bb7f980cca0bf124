import type { Deps } from '../../../services/deps.ts'
import {
  changeChannel,
  createChannel,
  getChannel,
  listChannels,
  rotateChannelSecret,
} from '../../../services/payments/channels.ts'
import { getPosition } from '../../../services/payments/payments.ts'
import { listQuery, rangeOf } from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { toPage } from '../registry.ts'
import {
  channelChangeRequest,
  channelPage,
  channelParams,
  channelSchema,
  newChannelRequest,
  rotateChannelSecretRequest,
  shownChannelSchema,
  toChannel,
  toShownChannel,
  USUAL_OVERLAP_HOURS,
} from './channels.wire.ts'
import * as examples from './examples.ts'
import { positionQuery, positionSchema, toPosition } from './payments.wire.ts'

const tags = ['payment channels']

/** Adds the management of payment channels, for operators. */
export function channelRoutes(app: StyleApp, deps: Deps): void {
  collectionRoutes(app, deps)
  singleRoutes(app, deps)
  secretRoute(app, deps)
}

function collectionRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.post(
    '/v1/payment-channels',
    {
      config: {
        answersSecret: true,
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'There are as many channels as there may be.',
            'the organization has 100 payment channels, the most that there may be',
          ],
        },
      },
      schema: {
        tags,
        operationId: 'createPaymentChannel',
        summary: 'Create a payment channel',
        description:
          'A wallet or a bank account on which payments come in. The answer has the address for the messages of the provider, and no later answer has it.',
        body: newChannelRequest,
        response: { 200: shownChannelSchema },
      },
    },
    async ({ caller, body }) => toShownChannel(await createChannel(deps, caller, body), deps.config),
  )

  app.get(
    '/v1/payment-channels',
    {
      schema: {
        tags,
        operationId: 'listPaymentChannels',
        summary: 'List payment channels',
        description: 'In the order in which they were made.',
        querystring: listQuery,
        response: { 200: channelPage },
      },
    },
    async ({ caller, query }) =>
      toPage(await listChannels(deps, caller, rangeOf(query)), query, (one) => toChannel(one, zone)),
  )
}

function singleRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config

  app.get(
    '/v1/payment-channels/:id',
    {
      schema: {
        tags,
        operationId: 'getPaymentChannel',
        summary: 'Read a payment channel',
        description: 'Its settings, without its address.',
        params: channelParams,
        response: { 200: channelSchema },
      },
    },
    async ({ caller, params: { id } }) => toChannel(await getChannel(deps, caller, id), zone),
  )

  app.patch(
    '/v1/payment-channels/:id',
    {
      schema: {
        tags,
        operationId: 'updatePaymentChannel',
        summary: 'Change a payment channel',
        description:
          'A field that is left out stays. The adapter, the currency and the account cannot be changed: make another channel.',
        params: channelParams,
        body: channelChangeRequest,
        response: { 200: channelSchema },
      },
    },
    async ({ caller, params: { id }, body }) => toChannel(await changeChannel(deps, caller, id, body), zone),
  )

  app.get(
    '/v1/payment-channels/:id/position',
    {
      schema: {
        tags,
        operationId: 'getPaymentChannelPosition',
        summary: 'Say where the money of a channel is',
        description:
          'All payments that count up to a day: what was received is allocated, in suspense, returned or reversed, to the cent.',
        params: channelParams,
        querystring: positionQuery,
        response: { 200: positionSchema },
      },
    },
    async ({ caller, params: { id }, query }) => toPosition(id, await getPosition(deps, caller, id, query.asOf)),
  )
}

function secretRoute(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/payment-channels/:id/rotate-secret',
    {
      config: { answersSecret: true, examples: { Rotated: examples.rotatedChannel } },
      schema: {
        tags,
        operationId: 'rotatePaymentChannelSecret',
        summary: 'Give a payment channel a new address',
        description:
          'The answer has the new address. Until the overlap ends, the address before takes messages, too, so that the provider can change at any moment in between.',
        params: channelParams,
        body: rotateChannelSecretRequest,
        response: { 200: shownChannelSchema },
      },
    },
    async ({ caller, params: { id }, body }) =>
      toShownChannel(
        await rotateChannelSecret(deps, caller, id, body?.overlapHours ?? USUAL_OVERLAP_HOURS),
        deps.config,
      ),
  )
}

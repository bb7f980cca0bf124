import type { Deps } from '../../../services/deps.ts'
import { decideAgain, getMessage, listMessages } from '../../../services/payments/inbound/keptMessages.ts'
import { rangeOf } from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { toPage } from '../registry.ts'
import { channelParams } from './channels.wire.ts'
import * as examples from './messageExamples.ts'
import {
  messagePage,
  messageParams,
  messageQuery,
  messageSchema,
  openedMessageSchema,
  toMessage,
  toOpenedMessage,
} from './messages.wire.ts'

const tags = ['payment channels']

/** Adds the messages that providers have sent: listed, read, decided on again. */
export function messageRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.get(
    '/v1/payment-channels/:id/messages',
    {
      schema: {
        tags,
        operationId: 'listPaymentMessages',
        summary: "List a provider's messages",
        description:
          'As they came, and what came of each. Those that are `unreadable` wait for somebody. Messages are kept for 90 days.',
        params: channelParams,
        querystring: messageQuery,
        response: { 200: messagePage },
      },
    },
    async ({ caller, params: { id }, query }) => {
      const { state: states, ...range } = query
      return toPage(await listMessages(deps, caller, { channelId: id, states }, rangeOf(range)), query, (one) =>
        toMessage(one, zone),
      )
    },
  )

  app.get(
    '/v1/payment-channels/:id/messages/:messageId',
    {
      schema: {
        tags,
        operationId: 'getPaymentMessage',
        summary: "Read a provider's message",
        description: 'With its body, as it came.',
        params: messageParams,
        response: { 200: openedMessageSchema },
      },
    },
    async ({ caller, params }) => toOpenedMessage(await getMessage(deps, caller, params), zone),
  )

  app.post(
    '/v1/payment-channels/:id/messages/:messageId/decide-again',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: ['The message is not read yet.', 'the message is not read yet; it will be'],
        },
        examples: { Reopened: examples.reopenedMessage },
      },
      schema: {
        tags,
        operationId: 'recoverPaymentMessage',
        summary: 'Read a message again',
        description:
          'The message is pending, and is read again within a second, as after a change of the channel. A payment that came of it stays the only one.',
        params: messageParams,
        response: { 200: messageSchema },
      },
    },
    async ({ caller, params }) => toMessage(await decideAgain(deps, caller, params), zone),
  )
}

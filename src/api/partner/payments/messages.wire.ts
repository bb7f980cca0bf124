import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import {
  type KeptMessage,
  MESSAGE_STATES,
  type OpenedMessage,
} from '../../../services/payments/inbound/keptMessages.ts'
import { listQuery, queryWords } from '../../lists/query.ts'
import { word } from '../../openapi/answers.ts'
import { idParam, instant } from '../../wire.ts'
import { named, pageOf } from '../registry.ts'
import * as examples from './messageExamples.ts'

/** A number that nothing has. */
const NONE = 0n

/** The numbers of a channel and of its message in a path. */
export const messageParams = z
  .object({
    id: idParam.meta({ examples: [examples.message.channelId] }),
    messageId: idParam.meta({ examples: [examples.message.id] }),
  })
  .transform(({ id, messageId }) => ({ channelId: id ?? NONE, messageId: messageId ?? NONE }))

export const messageQuery = listQuery.extend({
  state: queryWords(MESSAGE_STATES).optional().describe('One or several states; all when left out.'),
})

export const messageSchema = named(
  'PaymentMessage',
  z.object({
    id: z.string().describe("The service's number."),
    channelId: z.string(),
    state: word('What came of it', MESSAGE_STATES),
    outcome: z.string().nullable().describe('What came of it, in words; null while it is pending.'),
    paymentId: z.string().nullable().describe('The payment that it tells of.'),
    receivedAt: instant,
    decidedAt: instant.nullable(),
  }),
  { example: examples.message },
)

const headers = named('PaymentMessageHeaders', z.record(z.string(), z.string()), {
  example: examples.openedMessage.headers,
})

export const openedMessageSchema = named(
  'PaymentMessageWithBody',
  messageSchema.extend({
    method: z.string().describe('POST or PUT.'),
    headers: headers.describe('The headers that the adapter reads, by their names.'),
    body: z.string().describe('The body as it came: personal data.'),
    encoding: z.enum(['utf8', 'base64']).describe('`base64` where the body is not UTF-8.'),
  }),
  { example: examples.openedMessage },
)

export const messagePage = pageOf('PaymentMessagePage', messageSchema)

/** Builds the view of a message, without what it says. */
export const toMessage = (message: KeptMessage, zone: string): z.input<typeof messageSchema> => ({
  id: String(message.id),
  channelId: String(message.channelId),
  state: message.state,
  outcome: message.outcome,
  paymentId: message.paymentId === null ? null : String(message.paymentId),
  receivedAt: toRfc3339(message.receivedAt, zone),
  decidedAt: message.decidedAt === null ? null : toRfc3339(message.decidedAt, zone),
})

/** Builds the view of a message with what it says. */
export function toOpenedMessage({ kept, message }: OpenedMessage, zone: string): z.input<typeof openedMessageSchema> {
  const { method, headers, body } = message
  const encoding = isUtf8(body) ? 'utf8' : 'base64'
  return { ...toMessage(kept, zone), method, headers: { ...headers }, body: body.toString(encoding), encoding }
}

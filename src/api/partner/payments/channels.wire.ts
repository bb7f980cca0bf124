import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import { currencyCodes, currencyOf, minorToNumber } from '../../../domain/money.ts'
import { ADAPTERS, type AdapterName } from '../../../domain/payments/adapters.ts'
import {
  type Channel,
  LONGEST_OVERLAP_HOURS,
  MOST_NETWORKS,
  type ShownChannel,
} from '../../../services/payments/channels.ts'
import { word } from '../../openapi/answers.ts'
import { amountOrZero, idParam, instant, money, smallInt, text } from '../../wire.ts'
import { named, pageOf } from '../registry.ts'
import * as examples from './examples.ts'

export const USUAL_OVERLAP_HOURS = 24

/** A number that no channel has. */
const NONE = 0n

/** The number of a channel in a path. */
export const channelParams = z
  .object({ id: idParam.meta({ examples: [examples.channel.id] }) })
  .transform(({ id }) => ({ id: id ?? NONE }))

const name = text({ max: 100 }).describe('For people; it is the payment method of its repayments.')
const shortCode = text({ max: 50 }).describe('The number of the wallet or the account at the provider.')
const zone = text({ max: 64 }).describe("The zone of the times in the provider's messages, such as `Africa/Nairobi`.")
const allowFrom = z
  .array(text({ max: 50 }))
  .max(MOST_NETWORKS)
  .describe('Addresses and networks (CIDR) from which messages are taken; none: from all.')
const autoAllocate = z.boolean().describe('Whether payments that fit one loan are allocated at once.')
const matchPhone = z.boolean().describe('Whether the phone number of the payer may decide, where nothing else does.')
const confirmAbove = amountOrZero.describe(
  'A payment that a message tells of and that is above this waits until the statement of the provider confirms it.',
)

const signingKey = text({ max: 4_000, lines: true }).describe(
  'The key by which the provider signs its messages, of Selcom and pawaPay: the secret that you share, or a public key in PEM. What is not signed by it is kept and never read. No answer has it.',
)

const ADAPTER_NAMES = Object.keys(ADAPTERS) as [AdapterName, ...AdapterName[]]

export const newChannelRequest = named(
  'CreatePaymentChannelRequest',
  z.strictObject({
    name,
    adapter: z.enum(ADAPTER_NAMES).describe('Which provider’s messages it takes.'),
    shortCode: shortCode.optional(),
    currencyCode: z
      .enum(currencyCodes as [string, ...string[]])
      .optional()
      .describe('Default: the currency of your organization.'),
    zone: zone.optional(),
    account: text({ max: 20 })
      .optional()
      .describe('The code of an account of the chart for its money. Default: the account of `cash`.'),
    allowFrom: allowFrom.optional(),
    autoAllocate: autoAllocate.optional().meta({ default: true }),
    matchPhone: matchPhone.optional().meta({ default: false }),
    confirmAbove: confirmAbove.optional(),
    signingKey: signingKey.optional(),
  }),
  { example: examples.newChannel },
)

export const channelChangeRequest = named(
  'UpdatePaymentChannelRequest',
  z.strictObject({
    name: name.optional(),
    shortCode: shortCode.nullable().optional(),
    zone: zone.optional(),
    allowFrom: allowFrom.optional(),
    autoAllocate: autoAllocate.optional(),
    matchPhone: matchPhone.optional(),
    confirmAbove: confirmAbove.nullable().optional(),
    signingKey: signingKey.nullable().optional(),
    state: z.enum(['active', 'disabled']).optional().describe('`disabled` takes no message and no payment.'),
  }),
  { example: { matchPhone: true } },
)

export const rotateChannelSecretRequest = named(
  'RotatePaymentChannelSecretRequest',
  z.strictObject({
    overlapHours: smallInt({ min: 0, max: LONGEST_OVERLAP_HOURS })
      .optional()
      .describe(`Hours for which the address before takes messages, too. Default: ${USUAL_OVERLAP_HOURS}.`),
  }),
  { example: { overlapHours: USUAL_OVERLAP_HOURS } },
).optional()

export const channelSchema = named(
  'PaymentChannel',
  z.object({
    id: z.string().describe("The service's number."),
    name: z.string(),
    adapter: word('The messages that it takes', ADAPTER_NAMES),
    shortCode: z.string().nullable(),
    currencyCode: z.string(),
    zone: z.string(),
    account: z.string().nullable().describe('Null: the account of `cash`.'),
    allowFrom: z.array(z.string()),
    autoAllocate: z.boolean(),
    matchPhone: z.boolean(),
    confirmAbove: money.nullable(),
    signed: z.boolean().describe('Whether the signatures of its messages are checked.'),
    state: z.enum(['active', 'disabled']),
    createdAt: instant,
  }),
  { example: examples.channel },
)

export const shownChannelSchema = named(
  'PaymentChannelWithSecret',
  channelSchema.extend({
    inboundUrl: z
      .string()
      .nullable()
      .describe('Where the provider sends its messages. It is a secret, and shown only in this answer: keep it.'),
    previousSecretUntil: instant.nullable().describe('Until when the address before takes messages, too.'),
  }),
  { example: examples.shownChannel },
)

export const channelPage = pageOf('PaymentChannelPage', channelSchema)

/** Builds the view of a channel, without its secret. */
export const toChannel = (channel: Channel, serviceZone: string): z.input<typeof channelSchema> => ({
  id: String(channel.id),
  name: channel.name,
  adapter: channel.adapter,
  shortCode: channel.shortCode,
  currencyCode: channel.currency,
  zone: channel.zone,
  account: channel.account,
  allowFrom: [...channel.allowFrom],
  autoAllocate: channel.autoAllocate,
  matchPhone: channel.matchPhone,
  confirmAbove:
    channel.confirmAbove === null ? null : minorToNumber(channel.confirmAbove, currencyOf(channel.currency)),
  signed: channel.signingKey !== null,
  state: channel.disabledAt === null ? 'active' : 'disabled',
  createdAt: toRfc3339(channel.createdAt, serviceZone),
})

/** Returns the address of a channel for the messages of its provider. */
export const inboundUrl = ({ baseUrl }: { readonly baseUrl: string }, secret: string): string =>
  `${baseUrl}/in/${secret}`

/** Builds the view of a channel with its address. @param shown without a secret where a request is repeated, whose answer was lost */
export const toShownChannel = (
  { channel, secret }: Pick<ShownChannel, 'channel'> & { readonly secret: string | null },
  { baseUrl, zone }: { readonly baseUrl: string; readonly zone: string },
): z.input<typeof shownChannelSchema> => ({
  ...toChannel(channel, zone),
  inboundUrl: secret === null ? null : inboundUrl({ baseUrl }, secret),
  previousSecretUntil: channel.previousUntil === null ? null : toRfc3339(channel.previousUntil, zone),
})

import { findCandidates } from '../../../db/payments/candidates.ts'
import type { Channel } from '../../../db/payments/channels.ts'
import type { Adapter, Refusal, Template } from '../../../domain/payments/adapters/adapter.ts'
import { type Asked, readAsked } from '../../../domain/payments/adapters/read.ts'
import type { Tree } from '../../../domain/payments/adapters/tree.ts'
import { filled, repeats } from '../../../domain/payments/adapters/write.ts'
import { adapterOf } from '../../../domain/payments/adapters.ts'
import { chooseLoan, typedReference } from '../../../domain/payments/matching.ts'
import type { Caches, Core, Writing } from '../../deps.ts'
import type { SecretBox } from '../../secretBox.ts'
import { enterOrganization } from '../../testClock/testClocks.ts'
import { phoneOf } from '../payer.ts'
import { readBody } from './messageBody.ts'

/** A message of a provider, as it comes. */
export interface Message {
  readonly method: string
  /** By name, in lower case; those that the adapter reads. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Why its signature is not right, by the key that its channel had when it came; null: it is, or the channel had none. */
  readonly signatureFault: string | null
}

/** An answer in the words of a provider. */
export interface Answer {
  readonly type: string
  readonly body: string
}

/** Encrypts a message for the inbox. */
const sealedMessage = (box: SecretBox, { method, headers, body, signatureFault }: Message): string =>
  box.encrypt(JSON.stringify([method, headers, body.toString('base64'), signatureFault]))

/** Returns a message of the inbox. @throws WrongSecretError */
export function openedMessage(box: SecretBox, sealed: string): Message {
  const kept = JSON.parse(box.decrypt(sealed)) as [string, Record<string, string>, string, string | null]
  const [method, headers, body, signatureFault] = kept
  return { method, headers, body: Buffer.from(body, 'base64'), signatureFault }
}

/** Returns the headers of a message that are kept with it. */
export const keptHeaders = (
  { headers: kept }: Adapter,
  given: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string> =>
  Object.fromEntries(
    ['content-type', ...kept].flatMap((name) => {
      const value = given[name]
      return value === undefined ? [] : [[name, String(value).slice(0, LONGEST_HEADER)]]
    }),
  )

const LONGEST_HEADER = 2_000

type TakeDeps = Pick<Core, 'now' | 'testClocks'> &
  Pick<Writing, 'paymentBatches' | 'paymentBox'> &
  Pick<Caches, 'organizations'>

/**
 * Keeps a message of a provider, whatever it says: what it tells is decided later.
 * @returns the answer, once the message is committed
 */
export async function takeMessage(deps: TakeDeps, channel: Channel, message: Message): Promise<Answer> {
  const { organizationId, id: channelId } = channel
  await enterOrganization(deps, organizationId)
  await deps.paymentBatches.keep({
    organizationId,
    channelId,
    receivedAt: deps.now(organizationId),
    message: sealedMessage(deps.paymentBox, message),
  })
  const adapter = adapterOf(channel)
  return answerIn(adapter.received, () => treeOf(adapter, message))
}

function treeOf(adapter: Adapter, { body }: Pick<Message, 'body'>): Tree | undefined {
  const read = readBody(adapter, body)
  return 'tree' in read ? read.tree : undefined
}

const answerIn = (template: Template, tree: () => Tree | undefined): Answer => ({
  type: template.type,
  body: filled(template, repeats(template) ? tree() : undefined),
})

/**
 * Answers a provider that asks before it takes the money of a payer: whether the payment fits one loan on which something is
 * owed. Nothing is written, and a payment that comes without having been asked about, or after a refusal, is received all the same.
 * @returns undefined where the provider of the channel does not ask
 */
export async function validateMessage(
  deps: Pick<Core, 'db'> & Pick<Writing, 'people'>,
  channel: Channel,
  message: Pick<Message, 'body'>,
): Promise<Answer | undefined> {
  const adapter = adapterOf(channel)
  const { validation } = adapter
  if (!validation) return undefined
  const tree = treeOf(adapter, message)
  const asked = tree === undefined ? undefined : readAsked(adapter, tree)
  const refusal = asked === undefined ? 'other' : await refusalOf(deps, channel, asked)
  return answerIn(refusal === undefined ? validation.accepted : validation.refused[refusal], () => tree)
}

/** Returns why a payment is refused before it is made; undefined where it is accepted. */
async function refusalOf(
  deps: Pick<Core, 'db'> & Pick<Writing, 'people'>,
  { organizationId, currency, matchPhone: isByPhone }: Channel,
  { reference, phone, amount, saysAmount }: Asked,
): Promise<Refusal | undefined> {
  if (saysAmount && (amount === undefined || amount.units <= 0n)) return 'amount'
  const typed = typedReference(reference ?? null)
  const wanted = { id: 0n, typed, ...phoneOf(deps, organizationId, isByPhone ? (phone ?? null) : null) }
  const candidates = (await findCandidates(deps.db, organizationId, [wanted])).get(wanted.id) ?? []
  const match = chooseLoan(candidates, { currency, isByPhone })
  const isOwed = 'loanId' in match && candidates.some(({ loanId, isOpen }) => loanId === match.loanId && isOpen)
  return isOwed ? undefined : 'account'
}

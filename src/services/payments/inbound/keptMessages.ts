import type { Author } from '../../../db/audit/trail.ts'
import {
  findMessage,
  findMessages,
  type KeptMessage,
  MESSAGE_ORDER,
  type MessageState,
  reopenMessage,
} from '../../../db/payments/inbox.ts'
import { isUniqueViolation } from '../../../db/postgres/errors.ts'
import { requirePermission } from '../../../domain/access/permissions.ts'
import { failedPrecondition, LendingError, notFound } from '../../../domain/errors.ts'
import type { Caller } from '../../access/caller.ts'
import { keyTaken } from '../../access/idempotency.ts'
import type { Core, Writing } from '../../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../../paging.ts'
import { channelNamed } from '../channels.ts'
import { type Message, openedMessage } from './messages.ts'

export { type KeptMessage, MESSAGE_STATES, type MessageState } from '../../../db/payments/inbox.ts'

/**
 * Returns a part of the messages of a channel, as they came, without what they say.
 * @param states undefined: of all states
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`
 */
export async function listMessages(
  { db }: Pick<Core, 'db'>,
  caller: Caller,
  { channelId, states }: { readonly channelId: bigint; readonly states: readonly MessageState[] | undefined },
  range: Range,
): Promise<Ranged<KeptMessage>> {
  requirePermission(caller, 'reports.read')
  const { organizationId, id } = await channelNamed({ db }, caller, channelId)
  const position = positionOf(range, { arrival: MESSAGE_ORDER })
  return rangedOf(await findMessages(db, { organizationId, channelId: id }, states, position))
}

/** A message with what it says. */
export interface OpenedMessage {
  readonly kept: KeptMessage
  readonly message: Message
}

type Of = { readonly channelId: bigint; readonly messageId: bigint }

/** Returns a message with what it says. @throws LendingError `permission_denied`, `not_found` */
export async function getMessage(
  { db, paymentBox }: Pick<Core, 'db'> & Pick<Writing, 'paymentBox'>,
  caller: Caller,
  of: Of,
): Promise<OpenedMessage> {
  requirePermission(caller, 'reports.read')
  const kept = await messageNamed({ db }, caller, of)
  return { kept, message: openedMessage(paymentBox, kept.message) }
}

async function messageNamed({ db }: Pick<Core, 'db'>, caller: Caller, of: Of): Promise<KeptMessage> {
  const { organizationId, id: channelId } = await channelNamed({ db }, caller, of.channelId)
  const message = await findMessage(db, { organizationId, channelId, id: of.messageId })
  if (!message) throw notFound('the payment channel has no message of that id')
  return message
}

/**
 * Lets a message be read again, as after a change of the time zone of its channel. A payment that came of it stays the only one.
 * @throws LendingError `permission_denied`, `not_found`, `failed_precondition` where it is not read yet, `aborted`
 */
export async function decideAgain({ db, now }: Pick<Core, 'db' | 'now'>, caller: Caller, of: Of): Promise<KeptMessage> {
  requirePermission(caller, 'payments.manage')
  const message = await messageNamed({ db }, caller, of)
  if (message.state === 'pending') throw failedPrecondition('the message is not read yet; it will be')
  const { organizationId, accountId, requestId, claim } = caller
  const author: Author = { organizationId, accountId, requestId, ...(claim && { claim }) }
  const isOpen = await reopenMessage(db, author, message, now(organizationId)).catch((error: unknown) => {
    throw isUniqueViolation(error) ? keyTaken() : error
  })
  if (!isOpen) throw new LendingError('aborted', 'the message was changed by others at once; try again', [], 1)
  return { ...message, state: 'pending', outcome: null, decidedAt: null }
}

import type { Channel } from '../../../db/payments/channels.ts'
import { requirePermission } from '../../../domain/access/permissions.ts'
import { failedPrecondition, invalidArgument, notFound } from '../../../domain/errors.ts'
import { currencyOf, type Decimal, minorToText, toMinor } from '../../../domain/money.ts'
import type { Adapter } from '../../../domain/payments/adapters/adapter.ts'
import { type Simulated, tellsReversals, writeMessage } from '../../../domain/payments/adapters/write.ts'
import { adapterOf } from '../../../domain/payments/adapters.ts'
import type { Caller } from '../../access/caller.ts'
import type { Deps } from '../../deps.ts'
import { getOrganization } from '../../organizations/organizations.ts'
import { channelNamed } from '../channels.ts'
import { type Answer, takeMessage } from './messages.ts'

/** The most payments of one simulation. */
export const MOST_SIMULATED = 100

/** The faults of a provider, each as the number of payments that it happens to, from the first one on. */
export const FAULTS = ['drop', 'repeat', 'delay', 'reorder', 'reverse'] as const
export type Faults = Readonly<Partial<Record<(typeof FAULTS)[number], number | undefined>>>

/** A payment that a provider is to tell of. */
export interface SimulatedPayment {
  readonly reference?: string | undefined
  readonly amount: Decimal
  readonly payerPhone?: string | undefined
  /** One that the simulator makes when left out. */
  readonly receipt?: string | undefined
}

/** A request to simulate a provider. */
export interface SimulationRequest {
  readonly channelId: bigint
  readonly payments: readonly SimulatedPayment[]
  readonly faults: Faults
}

/** A message that was sent, and its answer. */
export interface SentMessage {
  readonly receipt: string
  /** The receipt that a reversal takes back; undefined: the message tells of a payment. */
  readonly reverses: string | undefined
  readonly message: string
  readonly answer: Answer
}

/**
 * Sends messages of payments to a channel of a test organization, as its provider writes them and with the faults that are asked
 * for, by the way of any message but for the network.
 * @throws LendingError `permission_denied`, `failed_precondition` for a live organization and for a disabled channel, `not_found`,
 *   `invalid_argument`
 */
export async function simulatePayments(
  deps: Deps,
  caller: Caller,
  { channelId, payments, faults }: SimulationRequest,
): Promise<SentMessage[]> {
  requirePermission(caller, 'payments.manage')
  if ((await getOrganization(deps, caller)).mode !== 'test')
    throw failedPrecondition(
      'your organization is a live one, and only a test organization has a simulator of its providers',
    )
  const channel = await channelNamed(deps, caller, channelId).catch(() => {
    throw notFound((nameOf) => `no payment channel has that id, given as ${nameOf('channelId')}`)
  })
  if (channel.disabledAt !== null) throw failedPrecondition('the payment channel is disabled')
  const adapter = adapterOf(channel)
  if ((faults.reverse ?? 0) > 0 && !tellsReversals(adapter))
    throw invalidArgument('faults', `the provider of ${channel.adapter} sends no message of a reversal`)
  const at = deps.now(caller.organizationId)
  const told = payments.map((payment, index) => simulated(channel, payment, { at, index }))
  const sent: SentMessage[] = []
  for (const one of withFaults(told, faults)) sent.push(await send(deps, channel, adapter, one))
  return sent
}

/** Returns a payment as its provider knows it. */
function simulated(
  { currency }: Channel,
  { reference, amount, payerPhone: phone, receipt }: SimulatedPayment,
  { at, index }: { readonly at: number; readonly index: number },
): Simulated {
  const minor = toMinor(amount, currencyOf(currency), 'paymentAmount')
  return {
    receipt: receipt ?? `SIM${at.toString(36).toUpperCase()}${String(index).padStart(3, '0')}`,
    amount: minorToText(minor, currencyOf(currency)),
    currency,
    paidAt: at,
    reference,
    phone,
  }
}

/**
 * Returns the messages of payments in the order in which they are sent. Of the payments, the first ones are dropped, and of those that
 * are left the first ones have each of the other faults: their messages are sent twice; only after all others; each after the
 * one behind it; and taken back by another message, which comes before that of the payment where it is delayed.
 */
export function withFaults(payments: readonly Simulated[], faults: Faults): Simulated[] {
  const { drop = 0, repeat = 0, delay = 0, reorder = 0, reverse = 0 } = faults
  const left = payments.slice(drop)
  const reversals = left
    .slice(0, reverse)
    .map(({ receipt, ...payment }): Simulated => ({ ...payment, receipt: `${receipt}R`, reverses: receipt }))
  const inTime = left.slice(delay)
  for (let at = 0; at + 1 < inTime.length && at / 2 < reorder; at += 2)
    [inTime[at], inTime[at + 1]] = [inTime[at + 1]!, inTime[at]!]
  return [...inTime, ...reversals, ...left.slice(0, delay), ...left.slice(0, repeat)]
}

/** The simulator stands in for the provider, whose key nobody else has. */
const POSTED = { method: 'POST', signatureFault: null } as const

async function send(deps: Deps, channel: Channel, adapter: Adapter, one: Simulated): Promise<SentMessage> {
  const message = writeMessage(adapter, one, channel.zone)!
  const headers = { 'content-type': adapter.format === 'json' ? 'application/json' : 'application/xml' }
  const answer = await takeMessage(deps, channel, { ...POSTED, headers, body: Buffer.from(message) })
  return { receipt: one.receipt, reverses: one.reverses, message, answer }
}

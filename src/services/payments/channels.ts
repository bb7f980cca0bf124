import { createHash, randomBytes } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import { readCharts } from '../../db/accounting/charts.ts'
import type { Author } from '../../db/audit/trail.ts'
import {
  CHANNEL_ORDER,
  type Channel,
  countChannels,
  findChannel,
  findChannels,
  insertChannel,
  updateChannel,
} from '../../db/payments/channels.ts'
import { isUniqueViolation } from '../../db/postgres/errors.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import type { Instant } from '../../domain/dates.ts'
import { failedPrecondition, invalidArgument, LendingError, notFound } from '../../domain/errors.ts'
import { currencyOf, type Decimal, toMinor } from '../../domain/money.ts'
import type { Adapter } from '../../domain/payments/adapters/adapter.ts'
import { ADAPTERS, type AdapterName, adapterOf } from '../../domain/payments/adapters.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import type { Caller } from '../access/caller.ts'
import { keyTaken } from '../access/idempotency.ts'
import type { Deps } from '../deps.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { keyFault } from './inbound/signatures.ts'

export type { Channel } from '../../db/payments/channels.ts'

/** The most channels of an organization. */
export const MOST_CHANNELS = 100
/** The most networks that a channel takes messages from. */
export const MOST_NETWORKS = 50
/** The hours for which a secret that was replaced may be used, too. */
export const LONGEST_OVERLAP_HOURS = 72

const HOUR_MS = 3_600_000

/** A request for a channel. */
export interface NewChannel {
  readonly name: string
  readonly adapter: AdapterName
  readonly shortCode?: string | undefined
  /** The currency of the organization when left out. */
  readonly currencyCode?: string | undefined
  /** The zone of the service when left out. */
  readonly zone?: string | undefined
  readonly account?: string | undefined
  readonly allowFrom?: readonly string[] | undefined
  readonly autoAllocate?: boolean | undefined
  readonly matchPhone?: boolean | undefined
  readonly confirmAbove?: Decimal | undefined
  /** The key by which the provider signs its messages: a shared secret, or a public key in PEM. */
  readonly signingKey?: string | undefined
}

/** The changes of a channel; a property that is left out stays, and null takes away. */
export interface ChannelRequest {
  readonly name?: string | undefined
  readonly shortCode?: string | null | undefined
  readonly zone?: string | undefined
  readonly allowFrom?: readonly string[] | undefined
  readonly autoAllocate?: boolean | undefined
  readonly matchPhone?: boolean | undefined
  readonly confirmAbove?: Decimal | null | undefined
  readonly signingKey?: string | null | undefined
  readonly state?: 'active' | 'disabled' | undefined
}

/** A channel, with a secret that is shown only now. */
export interface ShownChannel {
  readonly channel: Channel
  readonly secret: string
}

const noSuchChannel = () => notFound('no payment channel has that id')

/** Returns the hash by which a secret is found. A secret is random and long: no salt is needed. */
export const secretHash = (secret: string): string => createHash('sha256').update(secret).digest('hex')

const newSecret = (): string => randomBytes(24).toString('base64url')

/**
 * Creates a channel, which takes messages at once.
 * @throws LendingError `permission_denied`, `invalid_argument`, `failed_precondition` where there are as many as there may be,
 *   `aborted` when its Idempotency-Key was taken meanwhile
 */
export async function createChannel(
  deps: Pick<Deps, 'db' | 'directory' | 'machineNow' | 'config' | 'organizations' | 'paymentBox'>,
  caller: Caller,
  request: NewChannel,
): Promise<ShownChannel> {
  requirePermission(caller, 'payments.manage')
  const organization = await getOrganization(deps, caller)
  const { name, adapter, shortCode = null, account = null, autoAllocate = true, matchPhone = false } = request
  const { currencyCode: currency = organization.currency, zone = deps.config.zone, allowFrom = [] } = request
  const { confirmAbove: limit, signingKey: key = null } = request
  const signingKey = key === null ? null : sealedKey(deps, ADAPTERS[adapter], key)
  const confirmAbove = limit === undefined ? null : toConfirmAbove(limit, currency)
  requireZone(zone)
  requireNetworks(allowFrom)
  if (account !== null) await requireAccount(deps, caller, account)
  const secret = newSecret()
  for (;;) {
    const { count, highest } = await countChannels(deps.db, caller.organizationId)
    if (count >= MOST_CHANNELS)
      throw failedPrecondition(`the organization has ${MOST_CHANNELS} payment channels, the most that there may be`)
    const channel: Channel = {
      organizationId: caller.organizationId,
      id: highest + 1,
      name,
      adapter,
      shortCode,
      currency,
      zone,
      account,
      allowFrom,
      autoAllocate,
      matchPhone,
      confirmAbove,
      secretHash: secretHash(secret),
      previousSecretHash: null,
      previousUntil: null,
      signingKey,
      disabledAt: null,
      silentSince: null,
      createdAt: deps.machineNow(),
    }
    await deps.directory.enter({ kind: 'channel', name: channel.secretHash }, caller.organizationId)
    try {
      await insertChannel(deps.db, authorOf(caller), channel)
      return { channel, secret }
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      // Prisma does not name the index: where the id is free, it was the Idempotency-Key.
      if (!(await findChannel(deps.db, caller.organizationId, channel.id))) throw keyTaken()
    }
  }
}

const authorOf = ({ organizationId, accountId, requestId, claim }: Caller): Author => ({
  organizationId,
  accountId,
  requestId,
  ...(claim && { claim }),
})

const toConfirmAbove = (limit: Decimal, currency: string): bigint =>
  toMinor(limit, currencyOf(currency), 'confirmAbove', { zeroAllowed: true })

/** @throws LendingError `invalid_argument` for what is no zone of the IANA database */
function requireZone(zone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    throw invalidArgument('zone', 'must be a zone of the IANA database, such as Africa/Nairobi')
  }
}

function requireNetworks(allowFrom: readonly string[]): void {
  const wrong = allowFrom.find((one) => networkOf(one) === undefined)
  if (wrong !== undefined)
    throw invalidArgument('allowFrom', 'must have addresses or networks such as 196.201.214.0/24')
}

interface Network {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

/** Reads a network in CIDR; an address alone is a network of one. */
function networkOf(text: string): Network | undefined {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return undefined
  const most = version === 4 ? 32 : 128
  const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  return length <= most ? { address, bits: length, family: version === 4 ? 'ipv4' : 'ipv6' } : undefined
}

/** Returns whether a channel takes messages from an address. */
export function isAllowedFrom({ allowFrom }: Pick<Channel, 'allowFrom'>, address: string): boolean {
  if (allowFrom.length === 0) return true
  const list = new BlockList()
  for (const one of allowFrom) {
    const network = networkOf(one)
    if (network) list.addSubnet(network.address, network.bits, network.family)
  }
  return list.check(address.replace(/^::ffff:/, ''), isIP(address.replace(/^::ffff:/, '')) === 6 ? 'ipv6' : 'ipv4')
}

/** Requires that the chart in force has an account of assets with a code. */
async function requireAccount({ db }: Pick<Deps, 'db'>, { organizationId }: Caller, code: string): Promise<void> {
  const charts = await readCharts(db, organizationId)
  const account = charts.at(-1)?.chart.accounts.find((one) => one.code === code)
  if (account?.type !== 'asset')
    throw invalidArgument('account', 'must be the code of an account of the chart that is an asset')
}

/** Returns a channel. @throws LendingError `permission_denied`, `not_found` */
export async function getChannel({ db }: Pick<Deps, 'db'>, caller: Caller, id: bigint): Promise<Channel> {
  requirePermission(caller, 'reports.read')
  return channelNamed({ db }, caller, id)
}

/** Returns a channel, for a caller whose permission was asked for already. @throws LendingError `not_found` */
export async function channelNamed({ db }: Pick<Deps, 'db'>, { organizationId }: Author, id: bigint): Promise<Channel> {
  const channel = id > LARGEST_INT32 ? undefined : await findChannel(db, organizationId, Number(id))
  if (!channel) throw noSuchChannel()
  return channel
}

/** Returns a part of the channels of the organization, by id. @throws LendingError `permission_denied`, `invalid_argument` */
export async function listChannels({ db }: Pick<Deps, 'db'>, caller: Caller, range: Range): Promise<Ranged<Channel>> {
  requirePermission(caller, 'reports.read')
  return rangedOf(await findChannels(db, caller.organizationId, positionOf(range, { arrival: CHANNEL_ORDER })))
}

/** Encrypts the key of the signatures of a provider. @throws LendingError `invalid_argument` where it is none that the provider signs by */
function sealedKey({ paymentBox }: Pick<Deps, 'paymentBox'>, adapter: Adapter, key: string): string {
  const why = keyFault(adapter, key)
  if (why !== undefined) throw invalidArgument('signingKey', why)
  return paymentBox.encrypt(key)
}

type ChangeDeps = Pick<Deps, 'db' | 'directory' | 'machineNow' | 'channels' | 'channelSecrets' | 'paymentBox'>

/**
 * Changes a channel. Its adapter, its currency and its account stay as they are: payments of another make another channel.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`, `aborted` where it is changed by others at once
 */
export function changeChannel(deps: ChangeDeps, caller: Caller, id: bigint, request: ChannelRequest): Promise<Channel> {
  requirePermission(caller, 'payments.manage')
  if (request.zone !== undefined) requireZone(request.zone)
  if (request.allowFrom !== undefined) requireNetworks(request.allowFrom)
  return change(deps, caller, { id, action: 'update' }, (channel, now) => {
    const { state, confirmAbove: limit, signingKey: key, ...rest } = request
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
    const disabledAt =
      state === 'active' ? null : state === 'disabled' ? (channel.disabledAt ?? now) : channel.disabledAt
    const confirmAbove = limit == null ? null : toConfirmAbove(limit, channel.currency)
    const signingKey = key == null ? null : sealedKey(deps, adapterOf(channel), key)
    const changed = { ...(limit !== undefined && { confirmAbove }), ...(key !== undefined && { signingKey }) }
    return { ...channel, ...given, disabledAt, ...changed }
  })
}

/**
 * Gives a channel a new secret. The one before is taken, too, until the overlap has ended.
 * @param overlapHours 0 to 72
 * @throws LendingError `permission_denied`, `not_found`, `aborted`
 */
export async function rotateChannelSecret(
  deps: ChangeDeps,
  caller: Caller,
  id: bigint,
  overlapHours: number,
): Promise<ShownChannel> {
  requirePermission(caller, 'payments.manage')
  const secret = newSecret()
  await deps.directory.enter({ kind: 'channel', name: secretHash(secret) }, caller.organizationId)
  const channel = await change(deps, caller, { id, action: 'rotate' }, (current, now) => ({
    ...current,
    secretHash: secretHash(secret),
    previousSecretHash: overlapHours > 0 ? current.secretHash : null,
    previousUntil: overlapHours > 0 ? now + overlapHours * HOUR_MS : null,
  }))
  return { channel, secret }
}

const MOST_TRIES = 5

async function change(
  { db, machineNow, channels, channelSecrets }: ChangeDeps,
  caller: Caller,
  { id, action }: { readonly id: bigint; readonly action: 'update' | 'rotate' },
  decide: (channel: Channel, now: Instant) => Channel,
): Promise<Channel> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const before = await channelNamed({ db }, caller, id)
    const now = machineNow()
    const after = decide(before, now)
    const isChanged = await updateChannel(db, authorOf(caller), { action, before, after }, now).catch(
      (error: unknown) => {
        throw isUniqueViolation(error) ? keyTaken() : error
      },
    )
    channels.forget(`${before.organizationId} ${before.id}`)
    for (const hash of [before.secretHash, before.previousSecretHash]) if (hash !== null) channelSecrets.forget(hash)
    if (isChanged) return after
  }
  throw new LendingError('aborted', 'the channel is being changed by others at once; try again', [], 1)
}

/**
 * Returns the channel that a secret names, for a message from an address; undefined for an unknown or an old secret, for a
 * channel that is disabled, and for an address from which it takes none: the sender is not told which.
 * @param hash of the secret
 */
export async function channelOfSecret(
  { channelSecrets, machineNow }: Pick<Deps, 'channelSecrets' | 'machineNow'>,
  hash: string,
  address: string,
): Promise<Channel | undefined> {
  const channel = await channelSecrets.get(hash)
  if (!channel || channel.disabledAt !== null) return undefined
  const isCurrent = channel.secretHash === hash || (channel.previousUntil ?? 0) > machineNow()
  return isCurrent && isAllowedFrom(channel, address) ? channel : undefined
}

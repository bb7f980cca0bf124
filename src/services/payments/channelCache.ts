import { type Channel, findChannel, findChannelBySecret } from '../../db/payments/channels.ts'
import type { Db } from '../../db/postgres/client.ts'
import { invariant } from '../../domain/errors.ts'
import type { Payment } from '../../domain/payments/payment.ts'
import { createReadCache, type ReadCache } from '../../toolbox/readCache.ts'

/** Channels by `organization id`, each read within the last seconds; undefined where there is none. */
export type Channels = Pick<ReadCache<string, Channel | undefined>, 'get' | 'forget'>

const MOST_CACHED = 10_000

/**
 * Creates a cache that keeps each channel for a few seconds, because every payment needs one. That there is none is not kept: it may
 * be made the next moment.
 */
export function cacheChannels(db: Db, now: () => number): Channels {
  const cache = createReadCache(now, MOST_CACHED, async (key: string) => {
    const [organizationId, id] = key.split(' ').map(Number)
    return findChannel(db, organizationId!, id!)
  })
  return {
    forget: cache.forget,
    async get(key) {
      const channel = await cache.get(key)
      if (!channel) cache.forget(key)
      return channel
    },
  }
}

/** Channels by the hash of their secrets, each read within the last seconds; undefined where no channel has that secret. */
export type ChannelSecrets = Pick<ReadCache<string, Channel | undefined>, 'get' | 'forget'>

/** Creates a cache that keeps for a few seconds which channel a secret names, and which secrets name none. */
export const cacheChannelSecrets = (db: Db, now: () => number): ChannelSecrets =>
  createReadCache(now, MOST_CACHED, (hash) => findChannelBySecret(db, hash))

/** Returns the channel of a payment. */
export async function channelOf(
  { channels }: { readonly channels: Channels },
  { organizationId, channelId }: Pick<Payment, 'organizationId' | 'channelId'>,
): Promise<Channel> {
  const channel = await channels.get(`${organizationId} ${channelId}`)
  invariant(channel, 'a payment is of a channel')
  return channel
}

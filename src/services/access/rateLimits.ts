import { type Addition, addToCounters } from '../../db/access/counters.ts'
import { createLru, type Lru } from '../../toolbox/lru.ts'
import type { Deps } from '../deps.ts'

const WINDOW_MS = 60_000
/** The longest time for which an instance counts alone before it shares its count. */
const SHARE_EVERY_MS = 1_000
/** One part in so many of a limit is shared at once, so that a burst is shared as it happens. */
const SHARE_PART = 10
/** The most accounts and addresses that are counted; the least recent are dropped first, and start again from 0. */
const MOST_KEYS = 100_000

/** What is limited: the requests of an account and of an address, the messages of a payment channel, and unknown secrets of an address. */
export type Limited = 'account' | 'address' | 'channel' | 'secret'

/**
 * The messages of a channel a minute: 5,000 a second, far above what a provider sends; and, of an address, the messages a minute
 * whose secret is not known to name a channel.
 */
export const MOST_MESSAGES = { channel: 300_000, secret: 60 } as const

/** The rest of a limit that remains to a caller. */
export interface Remaining {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Seconds until the window and its count end. */
  readonly reset: number
  readonly window: number
}

/** Requests a minute by account and by address, counted over all instances. */
export interface Limits {
  /** Counts a request, without a round trip; returns undefined where there is no such limit. */
  take(by: Limited, key: string): Remaining | undefined
  /** Shares the count since the last call with the other instances. */
  share(): Promise<void>
  stop(): Promise<void>
}

/** The count of one key in a window. */
interface Used {
  /** The count of all instances when it was last read. */
  shared: number
  /** The count that is being shared now, and the count since. */
  sharing: number
  unshared: number
  readonly window: number
}

/**
 * Creates limits that count in two stages. This process counts in memory, so that no request waits. Once a second, or
 * as soon as a tenth of a limit was counted, the process adds its count to the shared counters in Postgres and reads
 * the count of all instances. A limit can so be exceeded by what other instances let through meanwhile: a tenth each,
 * and the requests while the statement runs. While the database is away, each instance counts alone.
 */
export function createLimits({ db, config, machineNow }: Pick<Deps, 'db' | 'config' | 'machineNow'>): Limits {
  const used = createLru<string, Used>(MOST_KEYS)
  const unshared = new Set<string>()
  const share = createSharing({ db }, used, unshared)
  const limits: Readonly<Record<Limited, number>> = { ...config.rateLimits, ...MOST_MESSAGES }

  function take(by: Limited, key: string): Remaining | undefined {
    const limit = limits[by]
    if (limit === 0) return undefined
    const at = machineNow()
    const window = windowAt(at)
    const name = `${by} ${key}`
    let mine = used.get(name)
    if (mine === undefined || mine.window !== window) {
      mine = { shared: 0, sharing: 0, unshared: 0, window }
      used.set(name, mine)
    }
    const before = mine.shared + mine.sharing + mine.unshared
    const allowed = before < limit
    if (allowed) {
      mine.unshared++
      unshared.add(name)
      if (mine.unshared * SHARE_PART >= limit) void share()
    }
    const remaining = Math.max(0, limit - before - 1)
    const reset = Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - at) / 1000))
    return { allowed, limit, remaining, reset, window: WINDOW_MS / 1000 }
  }

  const timer = setInterval(share, SHARE_EVERY_MS).unref()
  return {
    take,
    share,
    async stop() {
      clearInterval(timer)
      await share()
      await share()
    },
  }
}

/**
 * Returns a function that adds what was counted to the shared counters, one run at a time.
 * @param unshared names in `used` that were counted since the last run
 */
function createSharing({ db }: Pick<Deps, 'db'>, used: Lru<string, Used>, unshared: Set<string>): () => Promise<void> {
  let sharing: Promise<void> | undefined
  const addAll = (additions: Addition[]) => addToCounters(db, additions).catch(() => undefined)

  async function shareNow(): Promise<void> {
    const counted: { key: string; mine: Used; addition: Addition }[] = []
    for (const name of unshared) {
      const mine = used.get(name)
      if (mine === undefined || mine.unshared === 0) continue
      mine.sharing = mine.unshared
      mine.unshared = 0
      const key = `${name} ${mine.window}`
      counted.push({ key, mine, addition: { key, points: mine.sharing, expires: (mine.window + 1) * WINDOW_MS } })
    }
    unshared.clear()
    // A count that cannot be shared now never is: the window ends soon, and until then this instance counts it.
    const all = counted.length === 0 ? undefined : await addAll(counted.map(({ addition }) => addition))
    for (const { key, mine } of counted) {
      mine.shared = Math.max(mine.shared + mine.sharing, all?.get(key) ?? 0)
      mine.sharing = 0
    }
  }

  return () => {
    sharing ??= shareNow().finally(() => {
      sharing = undefined
    })
    return sharing
  }
}

const windowAt = (now: number) => Math.floor(now / WINDOW_MS)

import { LRUCache } from 'lru-cache'
import type { Deps } from '../../app/deps.ts'
import { type Addition, addToCounters, PURGE, purgeCounters } from '../../db/access/counters.ts'

const WINDOW_MS = 60_000
/** How long an instance may count by itself before it tells the others. */
const TELL_EVERY_MS = 1_000
/** Or this share of a limit, if that is sooner: a burst is told as it happens. */
const TELL_SHARE = 10
/** Accounts and addresses remembered; the least recent are forgotten first, and start anew. */
const MOST_KEYS = 100_000

export type Limited = 'account' | 'address'

/** Where a caller stands with its limit. */
export interface Standing {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Seconds until the window ends, and the count with it. */
  readonly reset: number
  readonly window: number
}

/** Requests a minute by account and by address, counted over all instances. */
export interface Limits {
  /** Counts a request; undefined where there is no such limit. Costs no round trip. */
  take(by: Limited, key: string): Standing | undefined
  /** Tells the other instances what was counted since last time. */
  tell(): Promise<void>
  stop(): Promise<void>
}

/** What one key has used up in this window. */
interface Used {
  /** What all instances had counted when they were last asked. */
  told: number
  /** Being told right now, and counted since. */
  telling: number
  untold: number
  readonly window: number
}

/**
 * Two stages: this process counts in memory, so that a request waits for nothing; once a second, or as soon as a tenth
 * of a limit has come in, it adds what it counted to the shared counters in Postgres, and learns what the others have.
 * A limit can so be exceeded by what the other instances let through in the meantime: a tenth each, and what comes
 * while the statement runs. While the database is away, each instance counts by itself.
 */
export function createLimits({ db, config, now }: Pick<Deps, 'db' | 'config' | 'now'>): Limits {
  const used = new LRUCache<string, Used>({ max: MOST_KEYS })
  const untold = new Set<string>()
  let telling: Promise<void> | undefined
  let purged = windowAt(now())

  function take(by: Limited, key: string): Standing | undefined {
    const limit = config.rateLimits[by]
    if (limit === 0) return undefined
    const at = now()
    const window = windowAt(at)
    const name = `${by} ${key}`
    let mine = used.get(name)
    if (mine === undefined || mine.window !== window) {
      mine = { told: 0, telling: 0, untold: 0, window }
      used.set(name, mine)
    }
    const before = mine.told + mine.telling + mine.untold
    const allowed = before < limit
    if (allowed) {
      mine.untold++
      untold.add(name)
      if (mine.untold * TELL_SHARE >= limit) void tell()
    }
    const remaining = Math.max(0, limit - before - 1)
    const reset = Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - at) / 1000))
    return { allowed, limit, remaining, reset, window: WINDOW_MS / 1000 }
  }

  function tell(): Promise<void> {
    telling ??= tellNow().finally(() => {
      telling = undefined
    })
    return telling
  }

  async function tellNow(): Promise<void> {
    const told: { key: string; mine: Used; addition: Addition }[] = []
    for (const name of untold) {
      const mine = used.get(name)
      if (mine === undefined || mine.untold === 0) continue
      mine.telling = mine.untold
      mine.untold = 0
      const key = `${name} ${mine.window}`
      told.push({ key, mine, addition: { key, points: mine.telling, expires: (mine.window + 1) * WINDOW_MS } })
    }
    untold.clear()
    // What cannot be told now is never told: the window is over soon, and meanwhile this instance still counts it.
    const all = told.length === 0 ? undefined : await addAll(told.map(({ addition }) => addition))
    for (const { key, mine } of told) {
      mine.told = Math.max(mine.told + mine.telling, all?.get(key) ?? 0)
      mine.telling = 0
    }
    const window = windowAt(now())
    if (window === purged) return
    // The minute before left a counter for every address. Some at a time, so that nothing is told late because of them.
    const removed = await purgeCounters(db, now()).catch(() => 0)
    if (removed < PURGE) purged = window
  }

  const addAll = (additions: Addition[]) => addToCounters(db, additions).catch(() => undefined)

  const timer = setInterval(tell, TELL_EVERY_MS).unref()
  return {
    take,
    tell,
    async stop() {
      clearInterval(timer)
      await tell()
      await tell()
    },
  }
}

const windowAt = (now: number) => Math.floor(now / WINDOW_MS)

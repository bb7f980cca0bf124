import { type Clock, pauseMs } from './clock.ts'
import { isPassing, MkopoError } from './errors.ts'
import type { Call } from './operation.ts'

/** An event, and the cursor to store once it is processed. */
export interface Followed<Event> {
  readonly event: Event
  /** Following from here gives the events after this one. */
  readonly cursor: string
}

/** Options of following the events. */
export interface FollowOptions {
  /** Ends the loop. */
  readonly signal?: AbortSignal
  /** Is called with the cursor where there was no event for long, or none that the filter lets through. */
  readonly onCursor?: (cursor: string) => void | Promise<void>
}

/** A part of the feed. */
export interface Feed<Event> {
  readonly items: readonly Event[]
  readonly next: string
  readonly hasMore: boolean
}

/** Seconds that the service waits for the next event. */
const WAIT_S = 30
/** The least time between two answers without an event, where a proxy does not let the service wait. */
const LEAST_MS = 1_000

/**
 * Follows the feed of events for ever: waits for each, survives failures, and ends by the signal.
 * @param after the cursor that was stored last, `now`, or undefined for the oldest event that is kept
 * @throws MkopoError where the cursor, the account or the filter is refused
 */
export async function* follow<Event extends { readonly data: { readonly cursor: string } }, Filter extends object>(
  ask: (query: Filter & { after?: string; wait: number }, call: Call) => Promise<Feed<Event>>,
  clock: Clock,
  after: string | undefined,
  { signal, onCursor, ...filter }: FollowOptions & Filter,
): AsyncGenerator<Followed<Event>, void, undefined> {
  const call: Call = signal ? { signal } : {}
  let cursor = after
  for (let failures = 0; !signal?.aborted; ) {
    // Without a wait: an event of the time of a lost answer would be before the next "now".
    const query = { ...filter, ...(cursor !== undefined && { after: cursor }), wait: cursor === 'now' ? 0 : WAIT_S }
    const askedAt = clock.now()
    let feed: Feed<Event>
    try {
      feed = await ask(query as unknown as Filter & { after?: string; wait: number }, call)
      failures = 0
    } catch (error) {
      if (signal?.aborted) return
      if (!(error instanceof MkopoError && isPassing(error))) throw error
      await clock.sleep((error.retryAfter ?? 0) * 1_000 + pauseMs(failures++), signal).catch(() => undefined)
      continue
    }
    for (const event of feed.items) {
      yield { event, cursor: event.data.cursor }
      if (signal?.aborted) return
    }
    const isStart = cursor === 'now'
    cursor = feed.next
    if (feed.items.length > 0) continue
    await onCursor?.(cursor)
    const isEarly = !feed.hasMore && !isStart && clock.now() - askedAt < LEAST_MS
    if (isEarly) await clock.sleep(LEAST_MS, signal).catch(() => undefined)
  }
}

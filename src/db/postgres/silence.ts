import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

/** Milliseconds after which the server is asked whether it still works on a statement, and how often that is looked at. */
const ASK_AFTER_MS = 1_500
const LOOK_EVERY_MS = 250
/** An answer that was on its way while the server was asked has arrived by then. */
const ARRIVAL_MS = 50
const ASK_WITHIN_MS = 1_000

/** Finds connections that fell silent while the server itself answers. */
export interface SilenceWatch {
  /** Tells that a connection is the server's own process, no pooler's, so that the server can be asked about it. */
  isDirect(client: pg.ClientBase): void
  /** Tells that a statement was sent. @returns has to be called once it is answered */
  sent(client: pg.ClientBase): () => void
  stop(): void
}

/** Without a goodbye: the server that it would be for does not answer. */
export function cut(client: pg.ClientBase): void {
  streamOf(client)?.destroy()
}

const streamOf = (client: pg.ClientBase) =>
  (client as { connection?: { stream?: { destroy(): void; readonly writableLength: number } } }).connection?.stream

const pidOf = (client: pg.ClientBase) => (client as { processID?: number }).processID ?? 0

/**
 * Watches the statements of a pool. Of one that is not answered for 1.5 s, the server is asked on a connection of its
 * own; where its process has nothing to do, or is gone, the statement or its answer was lost, and the connection is
 * ended. A statement that the server works on, or that waits for a lock, is left alone.
 */
export function watchSilence(connectionString: string): SilenceWatch {
  const direct = new WeakSet<pg.ClientBase>()
  const pending = new Map<pg.ClientBase, number>()
  let asking = false

  async function look(): Promise<void> {
    const now = performance.now()
    const late = [...pending].filter(([client, since]) => now - since > ASK_AFTER_MS && direct.has(client))
    // What this process has not yet handed over, the server cannot know of.
    const unanswered = late.filter(([client]) => streamOf(client)?.writableLength === 0)
    if (asking || unanswered.length === 0) return
    asking = true
    try {
      const working = await findWorking(
        connectionString,
        unanswered.map(([client]) => pidOf(client)),
      )
      await pause(ARRIVAL_MS, undefined, { ref: false })
      for (const [client, since] of unanswered)
        if (pending.get(client) === since && !working.has(pidOf(client))) cut(client)
    } catch {
      // The server itself is away, or has no connection left: others find that out.
    } finally {
      asking = false
    }
  }

  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref()
  return {
    isDirect: (client) => direct.add(client),
    sent: (client) => {
      pending.set(client, performance.now())
      return () => pending.delete(client)
    },
    stop: () => clearInterval(timer),
  }
}

/** Those of the server's processes that work on a statement, as far as the server tells. */
async function findWorking(connectionString: string, pids: readonly number[]): Promise<Set<number>> {
  const patience = { connectionTimeoutMillis: ASK_WITHIN_MS, query_timeout: ASK_WITHIN_MS }
  const client = new pg.Client({ connectionString, application_name: 'mkopo silence', ...patience })
  client.on('error', () => undefined)
  try {
    await client.connect()
    // Where the server keeps no account of what its processes do (track_activities), each may be at work.
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1) AND coalesce(state, '') NOT LIKE 'idle%'`,
      [pids],
    )
    return new Set(rows.map(({ pid }) => pid))
  } finally {
    cut(client)
  }
}

import { type AccessEntry, insertAccessEntries, latestAccess } from '../../db/access/accessEntries.ts'
import type { Db } from '../../db/postgres/client.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { Deps } from '../deps.ts'
import type { Listener } from '../listener.ts'

export type { AccessEntry, AccessFilter } from '../../db/access/accessEntries.ts'

const WRITE_EVERY_MS = 1_000
/** The most entries that are written at once: of identified callers, and of others, who may be any number. */
const MOST_AT_ONCE = { identified: 1_000, unidentified: 100 }

/** The codes of refusals of access. */
const OF_ACCESS: readonly ErrorCode[] = ['unauthenticated', 'permission_denied', 'resource_exhausted']

/** A trail of sign-ins and refusals of access. */
export interface AccessTrail {
  readonly listener: Partial<Listener>
  /** Starts to write to a database; until then, entries are kept in memory. */
  open(db: Db): void
  /** Writes the entries that are in memory. */
  write(): Promise<void>
  stop(): Promise<void>
}

/**
 * Creates the access trail. Entries are kept in memory and written once a second, so that no request waits. Entries
 * above the maximum are dropped, and their number is logged.
 * @param writeEveryMs the milliseconds between two writes
 */
export function keepAccessTrail(
  now: () => number,
  log: { warn(context: object, message: string): void },
  writeEveryMs = WRITE_EVERY_MS,
): AccessTrail {
  let db: Db | undefined
  let waiting: { identified: AccessEntry[]; unidentified: AccessEntry[] } = { identified: [], unidentified: [] }
  let dropped = 0
  const add = (entry: Omit<AccessEntry, 'at'>) => {
    const kind = entry.organizationId === 0 ? 'unidentified' : 'identified'
    if (waiting[kind].length >= MOST_AT_ONCE[kind]) dropped++
    else waiting[kind].push({ ...entry, at: now() })
  }
  const write = async () => {
    if (!db) return
    const entries = [...waiting.identified, ...waiting.unidentified]
    waiting = { identified: [], unidentified: [] }
    if (dropped > 0) log.warn({ dropped }, 'more sign-ins and refusals than the access trail keeps')
    dropped = 0
    if (entries.length > 0) await insertAccessEntries(db, entries)
  }
  let underWay: Promise<void> = Promise.resolve()
  const writeNow = () => {
    underWay = underWay.then(write).catch((err: unknown) => log.warn({ err }, 'the access trail could not be written'))
    return underWay
  }
  let timer: NodeJS.Timeout | undefined
  return {
    listener: {
      signedIn: ({ organizationId, accountId, route, address, requestId }) =>
        add({ organizationId, accountId, outcome: 'signed in', route, address, requestId }),
      refused: ({ code, organizationId = 0, accountId = null, style, route, address, requestId }) => {
        if (OF_ACCESS.includes(code))
          add({ organizationId, accountId, outcome: code, route: `${style} ${route}`, address, requestId })
      },
    },
    open(opened) {
      db = opened
      timer ??= setInterval(writeNow, writeEveryMs).unref()
    },
    write: writeNow,
    async stop() {
      clearInterval(timer)
      await writeNow()
    },
  }
}

/** Returns the latest entries of the access trail, oldest first. */
export const readAccess = ({ db }: Pick<Deps, 'db'>, filter: Parameters<typeof latestAccess>[1], most: number) =>
  latestAccess(db, filter, most)

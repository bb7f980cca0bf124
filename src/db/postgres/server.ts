import type { Queries } from '../queries/statement.ts'

/** The major versions of PostgreSQL that the service is tested on, from and to. */
const VERSIONS = { from: 15, to: 18 } as const

/** The settings of a server on which money depends. */
export interface ServerFacts {
  /** `server_version_num`: 180001 is 18.1. */
  readonly version: number
  readonly fsync: string
  readonly fullPageWrites: string
  readonly synchronousCommit: string
  readonly synchronousStandbys: string
  /** Its clock, in epoch milliseconds. */
  readonly at: number
}

const FACTS = `SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS "fullPageWrites", current_setting('synchronous_commit') AS "synchronousCommit",
  current_setting('synchronous_standby_names') AS "synchronousStandbys",
  extract(epoch FROM clock_timestamp())::float8 * 1000 AS at`

/** Why the service does not run on a server of this version; undefined where it does. */
export function versionRefusal({ version }: Pick<ServerFacts, 'version'>): string | undefined {
  const major = Math.floor(version / 10_000)
  if (major >= VERSIONS.from && major <= VERSIONS.to) return undefined
  return `the server is PostgreSQL ${versionOf(version)}, and the service runs on ${VERSIONS.from} to ${VERSIONS.to}: set DATABASE_URL to such a server`
}

const versionOf = (version: number) => `${Math.floor(version / 10_000)}.${version % 10_000}`

/** The settings that lose acknowledged money, one line each: the setting, what is lost and when, and what would be right. */
export function settingWarnings(facts: Omit<ServerFacts, 'version' | 'at'>): string[] {
  const { fsync, fullPageWrites, synchronousCommit, synchronousStandbys } = facts
  const warnings: string[] = []
  if (fsync === 'off') warnings.push('fsync is off: a power cut can destroy the book; set it on')
  if (fullPageWrites === 'off')
    warnings.push('full_page_writes is off: a power cut can leave torn pages of the book; set it on')
  if (synchronousCommit === 'off')
    warnings.push('synchronous_commit is off: a crash of the database loses what was acknowledged last; set it on')
  else if (synchronousStandbys !== '' && synchronousCommit !== 'on' && synchronousCommit !== 'remote_apply')
    warnings.push(
      `synchronous_commit is ${synchronousCommit}: a failover to the synchronous standby can lose what was acknowledged last; set it on`,
    )
  return warnings
}

/** @throws Error, in one line, where the server is of a version that the service does not run on */
export async function requireVersion({ pool }: Queries): Promise<void> {
  const { rows } = await pool.query<ServerFacts>(FACTS)
  refuse(versionRefusal(rows[0]!))
}

function refuse(why: string | undefined): void {
  if (why !== undefined) throw new Error(why)
}

/**
 * Looks at the server before it is used.
 * @param options.log takes the version, and warnings of settings that lose acknowledged money and of a clock that is 1 s off
 * @throws Error, in one line, for another version, and where the clocks differ by 60 s or more
 */
export async function examineServer(
  { pool }: Queries,
  { now, log }: { now: () => number; log: { info(message: string): void; warn(message: string): void } },
): Promise<void> {
  const before = now()
  const { rows } = await pool.query<ServerFacts>(FACTS)
  const facts = rows[0]!
  const ahead = facts.at - (before + now()) / 2
  refuse(versionRefusal(facts) ?? clockTrouble(ahead))
  log.info(`the database is PostgreSQL ${versionOf(facts.version)}`)
  for (const warning of settingWarnings(facts)) log.warn(warning)
  const warning = clockWarning(ahead)
  if (warning !== undefined) log.warn(warning)
}

/** Milliseconds by which the clocks of the database and of this machine may differ: unsaid, and at all. */
const WARN_FROM_MS = 1_000
const REFUSE_FROM_MS = 60_000

const seconds = (ahead: number) =>
  `${(Math.abs(ahead) / 1000).toFixed(1)} s ${ahead < 0 ? 'behind' : 'ahead of'} the clock of this machine`

/** A line for the log, where the clock of the database is not ours; undefined where it is. */
export const clockWarning = (ahead: number): string | undefined =>
  Math.abs(ahead) < WARN_FROM_MS ? undefined : `the clock of the database is ${seconds(ahead)}: set both by NTP`

/** Why nothing can be served by clocks that differ so much that days and due times would be wrong. */
export const clockTrouble = (ahead: number): string | undefined =>
  Math.abs(ahead) < REFUSE_FROM_MS
    ? undefined
    : `the clock of the database is ${seconds(ahead)}, and may differ by less than ${REFUSE_FROM_MS / 1000} s: set both by NTP`

import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { readWhatCame } from '../../toolbox/inTime.ts'
import type { Mac } from '../audit/mac.ts'
import type { Stamping } from '../audit/stamp.ts'
import type { PersonBox, Sealing } from '../customers/personBox.ts'
import { PrismaClient } from '../generated/client.ts'
import { DISK_FAILS, READ_ONLY } from './errors.ts'
import { GatedPool } from './pool.ts'

/** One pool, and Prisma over the same pool. */
export interface Db {
  readonly pool: pg.Pool & Stamping & Sealing
  readonly prisma: PrismaClient
  /** Whether requests that arrive together share statements. */
  readonly together: boolean
  close(): Promise<void>
  /**
   * Whether the server answers; the liveness probe sets it. Gone, every connection ends where it stands, so that what
   * waits on one fails at once, and no other is opened.
   */
  setGone(gone: boolean): void
  /** Sets the milliseconds within which there has to be a connection, for the calls from now on. */
  setConnectWithin(ms: number): void
  /** Gives the keys that follow from the secret, once it could be read from the database itself. */
  setKeys(keys: Keys): void
  /** The number of statements so far that the server could not write to its disk. */
  diskFailures(): number
}

/** No statement of the service takes this long unless something is wrong; milliseconds. */
const statementTimeout = 30_000
/**
 * Nor does a transaction stand idle between two of its statements: a program that was stopped in the middle, an import
 * by Ctrl-Z, loses it, and with it the rows that others wait for.
 */
const idleTimeout = 30_000
/** Milliseconds after which a connection on which nothing is sent is asked by TCP whether its other end is there. */
const keepAliveAfter = 10_000
/** Milliseconds that a request waits for a connection: below the 3 s within which it has to be answered when the database is gone. */
export const CONNECT_WITHIN_MS = 2_000
/**
 * Milliseconds that a start and a command wait for one. Nobody waits for their answer, and on a machine at load a program
 * that works without a pause looks at its sockets seconds later.
 */
export const CONNECT_PATIENTLY_MS = 30_000

/**
 * How long a transaction of Prisma may wait for its connection, and take in all: the pool and the server, whose errors say why, end
 * it earlier.
 */
const transactionOptions = { maxWait: 2 * CONNECT_PATIENTLY_MS, timeout: 2 * statementTimeout }

/** The keys of a database: what neither writes a row of the trail nor reads a person's words needs none. */
export interface Keys {
  /** Makes the stamps of the audit trail. */
  readonly stampMac: Mac
  /** Encrypts the words of people. */
  readonly people: PersonBox
}

/** The options of a database. */
export interface DatabaseOptions {
  /** Connections at most; 20 when left out. */
  readonly max?: number
  /** False: each request has statements of its own, to compare with. */
  readonly together?: boolean
  /** Milliseconds that a statement waits for a locked row; 5,000 when left out. */
  readonly lockTimeout?: number
  /** Milliseconds within which there has to be a connection, new or free; those of a request when left out. */
  readonly connectWithin?: number
}

/**
 * Opens the pool; nothing is connected yet. Values read through `pool` are: bigint for `bigint`, `YYYY-MM-DD` for
 * `date`, epoch milliseconds for `timestamptz`, decimal text for `numeric`, and parsed JSON. Prisma has its own
 * conversions and is not affected.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Db {
  const silence = watchSilence(url)
  const pool = new GatedPool({
    connectionString: url,
    max: options.max ?? 20,
    application_name: 'mkopo',
    connectionTimeoutMillis: options.connectWithin ?? CONNECT_WITHIN_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfter,
    types: { getTypeParser },
    // Prisma writes instants without a zone and overlooks the zone of those it reads: both are right in UTC only. Set by
    // a statement, and not in the connection's `options`, because a pooler such as PgBouncer refuses those it does not
    // know, and because `options` in the URL would replace ours.
    onConnect: async (client) => {
      const text = [
        // The service's statements take less time to run than a server would take to compile them: up to a second for each of book check.
        `SET timezone = 'UTC'; SET jit = off; SET statement_timeout = ${statementTimeout}`,
        `SET lock_timeout = ${options.lockTimeout ?? 5_000}; SET idle_in_transaction_session_timeout = ${idleTimeout}`,
      ].join('; ')
      const within = { query_timeout: pool.options.connectionTimeoutMillis }
      const settings = { text: `${text}; SELECT pg_backend_pid() AS pid`, ...within }
      const results: unknown = await client.query(settings as pg.QueryConfig)
      const last = (results as pg.QueryResult<{ pid: number }>[]).at(-1)
      // Behind a pooler the number is another: the next statement may go to another process of the server.
      if (last?.rows[0]?.pid === (client as { processID?: number }).processID) silence.isDirect(client)
    },
  })
  // A connection that dies is an event, and without a listener it would end the process. The user of the connection gets
  // the error from the statement; the pool opens another connection.
  pool.on('error', () => undefined)
  let diskFailures = 0
  const failed = (client: pg.PoolClient, { code }: Error & { code?: unknown }) => {
    if (DISK_FAILS.has(code)) diskFailures++
    // A primary that was demoted, behind a name that leads elsewhere by now: the next connection is to the new one.
    if (code === READ_ONLY) void (client as unknown as pg.Client).end().catch(() => undefined)
  }
  const clients = new Set<pg.PoolClient>()
  pool.on('connect', (client) => {
    clients.add(client)
    Object.assign(client, keysOf(pool))
    client.on('error', () => undefined)
    attend(client, silence, failed)
  })
  pool.on('remove', (client) => clients.delete(client))
  // Made when it is first asked for: a client takes 20 ms, and a command or a pool beside the service may need none.
  const prisma = lazily(() => new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions }))
  return {
    pool,
    get prisma() {
      return prisma.get()
    },
    together: options.together ?? true,
    close: closing(pool, prisma, silence),
    diskFailures: () => diskFailures,
    setConnectWithin: (ms) => {
      pool.options.connectionTimeoutMillis = ms
    },
    setKeys(keys) {
      Object.assign(pool, keys)
      for (const client of clients) Object.assign(client, keys)
    },
    setGone: (gone) => {
      pool.gone = gone
      if (gone) for (const client of clients) cut(client)
    },
  }
}

/** A value that is made when it is first asked for. */
interface Lazily<T> {
  readonly made: T | undefined
  get(): T
}

function lazily<T>(make: () => T): Lazily<T> {
  let made: T | undefined
  return {
    get made() {
      return made
    },
    get() {
      made ??= make()
      return made
    },
  }
}

/** Milliseconds after which the server is asked whether it still works on a statement, and how often that is looked at. */
const ASK_AFTER_MS = 1_500
const LOOK_EVERY_MS = 250
/** An answer that was on its way while the server was asked has arrived by then. */
const ARRIVAL_MS = 50
const ASK_WITHIN_MS = 1_000

/** Finds connections that fell silent while the server itself answers. */
interface SilenceWatch {
  /** Tells that a connection is the server's own process, no pooler's, so that the server can be asked about it. */
  isDirect(client: pg.ClientBase): void
  /** Tells that a statement was sent. @returns has to be called once it is answered */
  sent(client: pg.ClientBase): () => void
  stop(): void
}

/**
 * Returns the function that closes a database, once. It is made here because the listeners of the pool keep what it
 * refers to: a pool that something still refers to after its end would keep Prisma's 5 MB.
 */
function closing(pool: pg.Pool, prisma: Lazily<PrismaClient>, silence: SilenceWatch): () => Promise<void> {
  let closed: Promise<void> | undefined
  return () => {
    closed ??= Promise.resolve(prisma.made?.$disconnect())
      .then(() => pool.end())
      .finally(silence.stop)
    return closed
  }
}

const keysOf = ({ stampMac, people }: Stamping & Sealing) => ({ stampMac, people })

/** The server ends a statement first, and says so; this is for a server that no longer says anything. */
const longestSilence = statementTimeout + 2000

type Answer = (error: Error | null, result: unknown) => void
type Ask = (config: unknown, values: unknown, answer: Answer) => void

/** An option of a statement: `answerWithin`, the milliseconds after which its connection is ended. */
export interface Patience {
  readonly answerWithin?: number
}

/**
 * Tells of statements that fail, and ends a connection whose statement nobody answers, unless that has a `query_timeout` of its own. The driver could do
 * it, but it keeps time by a function that it assigns to a property: V8 makes such a function old from the start, and
 * what it refers to, the rows of every statement, then stays until old objects are collected, 7 KB a repayment.
 */
function attend(
  client: pg.PoolClient,
  silence: SilenceWatch,
  failed: (client: pg.PoolClient, error: Error) => void,
): void {
  const ask = client.query.bind(client) as Ask
  const query = (config: object | string, given?: unknown, callback?: Answer) => {
    if (typeof config === 'object' && ('query_timeout' in config || 'submit' in config))
      return ask(config, given, callback!)
    const [values, answer] = typeof given === 'function' ? [undefined, given as Answer] : [given, callback]
    const { answerWithin = longestSilence } = config as Patience
    const statement = { client, isAnswered: false }
    const silent = setTimeout(cutUnanswered, answerWithin, statement)
    const answered = silence.sent(client)
    const heard = (tell: Answer) =>
      ask(config, values, (error, result) => {
        clearTimeout(silent)
        statement.isAnswered = true
        answered()
        if (error) failed(client, error)
        tell(error, result)
      })
    if (answer) return heard(answer)
    return new Promise((resolve, reject) => heard((error, result) => (error ? reject(error) : resolve(result)))).catch(
      (error: Error) => {
        // It leads to the socket; this, to who asked.
        Error.captureStackTrace(error)
        throw error
      },
    )
  }
  Object.assign(client, { query })
}

/** Ends the connection of a statement whose time is over, unless its answer has come. */
async function cutUnanswered(statement: {
  readonly client: pg.ClientBase
  readonly isAnswered: boolean
}): Promise<void> {
  await readWhatCame()
  if (!statement.isAnswered) cut(statement.client)
}

type Parse = (text: string) => unknown

const builtin = pg.types.getTypeParser as (oid: number, format?: string) => Parse

/** `2026-11-21 09:10:00.123+00` → epoch milliseconds; microseconds are cut. Infinity stays infinite. */
function parseInstant(text: string): number {
  // What a session in UTC sends; other zones, years before 1 and after 9999 take the long way.
  if (text.length >= 22 && text[10] === ' ' && text.endsWith('+00'))
    return Date.parse(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
  return Number(builtin(1184)(text))
}

const texts = builtin(1009) as (text: string) => (string | null)[]

const listOf =
  (parse: Parse): Parse =>
  (text) =>
    texts(text).map((element) => (element === null ? null : parse(element)))

const asText: Parse = (text) => text

/** By type number (pg_type.oid): bigint, date, timestamptz, numeric, and the array of each. */
const parsers: Readonly<Record<number, Parse>> = {
  20: BigInt,
  1016: listOf(BigInt),
  1082: asText,
  1182: listOf(asText),
  1184: parseInstant,
  1185: listOf(parseInstant),
  1700: asText,
  1231: listOf(asText),
}

function getTypeParser(oid: number, format?: string): Parse {
  return (format === 'binary' ? undefined : parsers[oid]) ?? builtin(oid, format)
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
function watchSilence(connectionString: string): SilenceWatch {
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
      await readWhatCame()
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

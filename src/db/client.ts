import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { PrismaClient } from './generated/client.ts'

export { isConflict, isUnavailable, isUniqueViolation } from './faults.ts'

/** Whatever takes a statement: the pool, or one connection of it that is in a transaction. */
export type Queries = Pick<pg.ClientBase, 'query'>

/** One pool, and Prisma over the same pool. */
export interface Db {
  readonly pool: pg.Pool
  readonly prisma: PrismaClient
  /** Whether requests that arrive together share statements. */
  readonly together: boolean
  close(): Promise<void>
}

/** No statement of the service takes this long unless something is wrong; milliseconds. */
const statementTimeout = 30_000
const connectTimeout = 3_000

/** How a database is used. */
export interface DatabaseOptions {
  /** Connections at most, 20 unless told. */
  readonly max?: number
  /** False: each request has statements of its own, to compare with. */
  readonly together?: boolean
}

/**
 * Opens the pool; nothing is connected yet. Values read through `pool` are: bigint for `bigint`, `YYYY-MM-DD` for
 * `date`, epoch milliseconds for `timestamptz`, decimal text for `numeric`, and parsed JSON. Prisma has its own
 * conversions and is not affected.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Db {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 20,
    application_name: 'mkopo',
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    // The server ends a statement first, and says so; this is for a server that no longer says anything.
    query_timeout: statementTimeout + 2000,
    types: { getTypeParser },
    // Prisma writes instants without a zone and overlooks the zone of those it reads: both are right in UTC only. Set by
    // a statement, and not in the connection's `options`, because a pooler such as PgBouncer refuses those it does not
    // know, and because `options` in the URL would replace ours.
    onConnect: async (client) => {
      const text = `SET timezone = 'UTC'; SET statement_timeout = ${statementTimeout}`
      await client.query({ text, query_timeout: connectTimeout } as pg.QueryConfig)
    },
  })
  // A connection that dies, idle or in somebody's hands, is an event with no listener: the process would end. Whoever
  // uses the connection gets the error from his statement; the pool opens another.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })
  let closed: Promise<void> | undefined
  return {
    pool,
    prisma,
    together: options.together ?? true,
    close: () => {
      closed ??= prisma.$disconnect().then(() => pool.end())
      return closed
    },
  }
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

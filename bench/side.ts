import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import { CONNECT_PATIENTLY_MS, openDatabase } from '../src/db/postgres/client.ts'
import { DEMO_OPERATOR, DEMO_PARTNER } from '../src/services/organizations/seedDemo.ts'
import type { Caller } from './byHand.ts'
import { fillBook, type Size } from './fillBook.ts'
import { HttpConnection } from './httpConnection.ts'
import { parentOf } from './processes.ts'
import { type Book, type Credentials, PROVIDER, toHttp } from './scenarios.ts'
import { startService } from './startService.ts'

/** A Postgres of its own with a book, at which one version of the service works, or the floor and the driver. */
export interface Side {
  readonly databaseUrl: string
  readonly postgresPid: number
  /** What Postgres says of its durability. */
  readonly durability: string
  readonly book: Book
  /** When the book was full. */
  readonly filledAt: Date
  readonly credentials: Credentials
  readonly caller: Caller
}

/** What is laid, and where. */
export interface SideOptions {
  readonly name: string
  /** The checkout whose tables the book has. */
  readonly checkout: string
  readonly directory: string
  readonly size: Size
  /** Gets what ends each part, to be called in the reverse order, also where the start went wrong. */
  readonly closing: (() => unknown)[]
  readonly say: (text: string) => void
}

/** The zone of the business that every version has by default. */
const ZONE = 'Africa/Nairobi'

/**
 * Starts a Postgres with durable commits and lays a book in it: the service of the checkout migrates and seeds its own
 * tables, and signs the caller in; the loans are filled in by SQL, in the columns that this version has.
 * @throws Error where commits are not durable, and where the service does not start
 */
export async function laySide({ name, checkout, directory, size, closing, say }: SideOptions): Promise<Side> {
  const own = join(directory, name)
  await mkdir(own)
  // As root, Postgres runs as another user, who has to get in.
  await chmod(own, 0o755)
  const quiet = { debug: () => undefined, info: () => undefined, warn: say }
  const server = await startEmbedded({ directory: join(own, 'data'), durable: true, log: quiet })
  closing.push(() => server.stop())
  const databaseUrl = server.url

  const started = performance.now()
  const service = await startService(checkout, databaseUrl, {
    processes: undefined,
    environment: { SEED_DEMO: 'true' },
  })
  const basic = basicOf(DEMO_PARTNER)
  const { token, inbound } = await openAccess(service.port, basic).finally(() => service.stop())
  const db = openDatabase(databaseUrl, { connectWithin: CONNECT_PATIENTLY_MS })
  try {
    const { rows: accounts } = await db.pool.query<Caller>(
      'SELECT organization_id AS org, id AS account FROM account WHERE email = $1',
      [DEMO_PARTNER.email],
    )
    const caller = accounts[0]!
    const book = await fillBook(db.pool, size, ZONE, caller.org)
    const { rows } = await db.pool.query<{ pid: number; durability: string; size: string; entries: bigint }>(
      `SELECT pg_backend_pid() AS pid, pg_size_pretty(pg_database_size(current_database())) AS size,
         (SELECT count(*) FROM loan_entry) AS entries,
         (SELECT string_agg(name || '=' || setting, ', ' ORDER BY name) FROM pg_settings
          WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method')) AS durability`,
    )
    const { pid, durability, size: bytes, entries } = rows[0]!
    if (!/fsync=on.*synchronous_commit=on/.test(durability)) throw new Error(`commits are not durable: ${durability}`)
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    say(`${name}: ${book.loans} loans, ${entries} transactions, ${bytes}, made in ${seconds} s; ${durability}`)
    const credentials = { token, basic, inbound }
    return { databaseUrl, postgresPid: parentOf(pid), durability, book, filledAt: new Date(), credentials, caller }
  } finally {
    await db.close()
  }
}

const basicOf = ({ email, password }: typeof DEMO_PARTNER): string =>
  Buffer.from(`${email}:${password}`).toString('base64')

/** The path of messages where the service has no payment channels: nothing is there. */
const NOWHERE = '/in/nowhere'

/** Signs the caller in, and makes a payment channel. @returns the token, and the path to which messages are sent */
async function openAccess(port: number, basic: string): Promise<{ token: string; inbound: string }> {
  const token = await signIn(port, basic)
  const operator = await signIn(port, basicOf(DEMO_OPERATOR))
  const made = await fetch(`http://127.0.0.1:${port}/v1/payment-channels`, {
    method: 'POST',
    headers: { host: 'api.localhost', authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Wallet', adapter: PROVIDER }),
  })
  return {
    token,
    inbound: made.ok ? new URL(((await made.json()) as { inboundUrl: string }).inboundUrl).pathname : NOWHERE,
  }
}

async function signIn(port: number, basic: string): Promise<string> {
  const connection = new HttpConnection(port)
  try {
    const request = toHttp({ kind: 'token' }, { token: '', basic, inbound: NOWHERE }, ZONE)
    const { status, body } = await connection.send(request, { keepBody: true })
    if (status !== 200) throw new Error(`the sign-in was answered ${status}: ${body.slice(0, 500)}`)
    return (JSON.parse(body) as { token: string }).token
  } finally {
    connection.close()
  }
}

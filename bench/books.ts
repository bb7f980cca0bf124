import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { readConfig } from '../src/app/config.ts'
import { openService } from '../src/app/service.ts'
import { type EmbeddedServer, startEmbedded } from '../src/db/embedded/embedded.ts'
import { type Decimal, parseDecimal } from '../src/domain/money.ts'
import { openBooks } from '../src/ops/books.ts'
import { createAccount } from '../src/services/access/accounts.ts'
import { operator } from '../src/services/access/caller.ts'
import { createOrganization } from '../src/services/organizations/organizations.ts'
import { createProduct } from '../src/services/organizations/products.ts'
import { HttpConnection } from './httpConnection.ts'
import { cpuSeconds, parentOf } from './processes.ts'
import { SECRET, startService } from './startService.ts'

// `node bench/books.ts`: the CPU of a repayment at the same rate, of one database, and of two and four books, each on a Postgres of its
// own: 4 lenders, and 64. The background is counted until it has caught up. `MKOPO_LENDERS` and `MKOPO_BOOKS` have others; 0 books are one database
// that is served as it always was.

const CONNECTIONS = 64
const RATE = Number(process.env.MKOPO_RATE ?? 500)
const SECONDS = Number(process.env.MKOPO_SECONDS ?? 15)
/** The background has caught up by then. */
const SETTLE_MS = 6_000
const LOANS_A_LENDER = 256
const PASSWORD = 'a password of the benchmark'
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined }

/** Returns a number that is written here. */
function decimal(text: string): Decimal {
  const value = parseDecimal(text)
  if (!value) throw new Error(`${text} is no number`)
  return value
}

/** Returns the process of a server. */
async function processOf(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const pid = parentOf(rows[0]!.pid)
  await client.end()
  return pid
}

interface Lender {
  readonly token: string
  readonly loans: readonly string[]
}

/** What a repayment took of the service and of the servers, in milliseconds of CPU. */
interface Took {
  readonly service: number
  readonly postgres: number
  readonly rate: number
}

const head = (method: string, path: string, authorization: string, length: number) =>
  `${method} ${path} HTTP/1.1\r\nHost: api.localhost\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

async function call(
  port: number,
  path: string,
  authorization: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}

/** Makes the lenders, each with a product and an account; where there are books, in the book of its slot. */
async function makeLenders(environment: Record<string, string>, count: number): Promise<void> {
  const config = readConfig({ ...environment, KEY_ENCRYPTION_SECRET: SECRET })
  const { databaseUrl, databaseOwnerUrl: ownerUrl } = config
  const directory = await openService({ config, databaseUrl, ownerUrl, now: Date.now, log: silent })
  const books =
    config.books.length > 0
      ? await openBooks(directory, { databaseUrl, ownerUrl }, { migrate: true, asOwner: false })
      : undefined
  for (let id = 1; id <= count; id++) {
    const deps = (await books?.place(id))?.deps ?? directory
    const by = operator(id, 'bench')
    await createOrganization(deps, by, { id, name: `Lender ${id}`, currency: 'TZS' })
    await createAccount(deps, by, { email: `admin@${id}.example`, password: PASSWORD, roles: ['ADMIN'] })
    await createProduct(deps, by, {
      id: 1,
      name: 'Plain',
      principalMin: decimal('1'),
      principalMax: decimal('1000000000'),
      numberOfRepayments: 1,
      repayEvery: 1,
      repayUnit: 'months',
      interestRate: decimal('0'),
    })
  }
  await books?.close()
  directory.statements.close()
  await directory.db.close()
}

async function lend(port: number, id: number): Promise<Lender> {
  const basic = `Basic ${Buffer.from(`admin@${id}.example:${PASSWORD}`).toString('base64')}`
  const token = `Bearer ${(await call(port, '/v1/auth/token', basic)).token}`
  await call(port, '/v1/customers', token, { externalId: 'amina' })
  const loans: string[] = []
  for (let made = 0; made < LOANS_A_LENDER; made += 32)
    loans.push(
      ...(await Promise.all(
        Array.from({ length: 32 }, async () =>
          String(
            (
              await call(port, '/v1/loans', token, { customerId: 'amina', productId: 1, principal: 1_000_000 })
            ).id,
          ),
        ),
      )),
    )
  return { token, loans }
}

/** Posts repayments at the rate, over all connections. @returns how many were acknowledged */
async function load(port: number, lenders: readonly Lender[]): Promise<number> {
  const begun = performance.now()
  let [sent, acknowledged] = [0, 0]
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, index) => {
      const connection = new HttpConnection(port)
      const { token, loans } = lenders[index % lenders.length]!
      for (;;) {
        const turn = sent++
        const wait = begun + (turn * 1_000) / RATE - performance.now()
        if (turn >= RATE * SECONDS) break
        if (wait > 0) await sleep(wait)
        const body = `{"transactionAmount":1,"idempotencyKey":"${index}-${turn}"}`
        const path = `/v1/loans/${loans[turn % loans.length]}/repayments`
        const { status } = await connection.send(head('POST', path, token, body.length) + body)
        if (status !== 200) throw new Error(`a repayment was answered ${status}`)
        acknowledged++
      }
      connection.close()
    }),
  )
  return acknowledged
}

async function measure(books: number, lenders: number): Promise<Took> {
  const closing: (() => Promise<unknown>)[] = []
  const directory = await mkdtemp(join(tmpdir(), 'mkopo-books-'))
  await chmod(directory, 0o755)
  try {
    const servers: EmbeddedServer[] = []
    for (let index = 0; index < Math.max(1, books); index++) {
      const server = await startEmbedded({ directory: join(directory, String(index)), log: silent })
      closing.push(() => server.stop())
      servers.push(server)
    }
    const [first] = servers
    const named = (which: 'serviceUrl' | 'url') =>
      servers.map((server, index) => `book${index}=${server[which]}`).join()
    const environment: Record<string, string> = {
      DATABASE_URL: first!.serviceUrl,
      DATABASE_OWNER_URL: first!.url,
      SEED_DEMO: 'false',
      ...(books > 0 && { BOOKS: named('serviceUrl'), BOOKS_OWNERS: named('url') }),
    }
    await makeLenders(environment, lenders)
    const rates = { RATE_LIMIT_ACCOUNT: '1000000000', RATE_LIMIT_ADDRESS: '1000000000' }
    const service = await startService('.', first!.serviceUrl, {
      processes: undefined,
      environment: { ...environment, ...rates },
    })
    closing.push(() => service.stop())
    const all: Lender[] = []
    for (let id = 1; id <= lenders; id++) all.push(await lend(service.port, id))
    await load(service.port, all)
    await sleep(SETTLE_MS)
    const pids = await Promise.all(servers.map((server) => processOf(server.url)))
    const postgres = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
    const before = { service: cpuSeconds(service.pid), postgres: postgres(), at: performance.now() }
    const acknowledged = await load(service.port, all)
    const seconds = (performance.now() - before.at) / 1_000
    await sleep(SETTLE_MS)
    return {
      service: ((cpuSeconds(service.pid) - before.service) * 1_000) / acknowledged,
      postgres: ((postgres() - before.postgres) * 1_000) / acknowledged,
      rate: acknowledged / seconds,
    }
  } finally {
    for (const close of closing.reverse()) await close()
    await rm(directory, { recursive: true, force: true, maxRetries: 20 })
  }
}

const ms = (value: number) => value.toFixed(3)
const listed = (text: string) => text.split(',').map(Number)
for (const lenders of listed(process.env.MKOPO_LENDERS ?? '4,64')) {
  let first: number | undefined
  for (const books of listed(process.env.MKOPO_BOOKS ?? '0,1,2,4')) {
    const { service, postgres, rate } = await measure(books, lenders)
    first ??= service + postgres
    console.info(
      `${lenders} lenders, ${books === 0 ? 'one database' : `${books} books`}: ${ms(service)} + ${ms(postgres)} ms of CPU a repayment at ${rate.toFixed(0)}/s, ${((service + postgres) / first).toFixed(2)} of the first`,
    )
  }
}

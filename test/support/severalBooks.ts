import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../src/app/config.ts'
import { openService } from '../../src/app/service.ts'
import { openBooks } from '../../src/ops/books.ts'
import type { Serving } from '../../src/process/serving.ts'
import { DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { databaseUrl, type FreshDatabase, freshDatabase, openPatiently } from './database.ts'
import { type Gateway, openGateway } from './gateway.ts'
import { opsThrough } from './ops.ts'
import { within } from './patience.ts'
import { serveHere } from './served.ts'
import { testConfig } from './service.ts'
import type { Node } from './standby.ts'
import type { Wire } from './wire.ts'

/** Loans that are made at the same time. */
const AT_ONCE = 8

/** An answer over HTTP. */
export interface HttpAnswer {
  readonly status: number
  readonly body: Wire
  readonly headers: Headers
  readonly text: string
}

/** A service on two books and a directory, which listens. */
export interface SeveralBooks {
  readonly config: Config
  readonly directory: FreshDatabase
  /** By its name: `one`, which has the demonstration data from before, and `two`. */
  readonly books: Readonly<Record<'one' | 'two', FreshDatabase>>
  readonly origin: string
  readonly opsOrigin: string
  readonly serving: Serving
  /** The ways by which the service reaches the directory and the books. */
  readonly ways: Readonly<Record<'directory' | 'one' | 'two', Gateway>>
  /** The command line, on the same settings. */
  readonly ops: ReturnType<typeof opsThrough>
  call(
    path: string,
    call?: { readonly method?: string; readonly token?: string; readonly body?: unknown },
  ): Promise<HttpAnswer>
  /** Signs in by e-mail and password. */
  tokenOf(email: string, password: string): Promise<string>
  close(): Promise<void>
}

/**
 * Starts a service on two books. The first was served alone before.
 * @param server the server of the second, where it has one of its own
 */
export async function startSeveralBooks(server?: Pick<Node, 'url' | 'serviceUrl'>): Promise<SeveralBooks> {
  const [directory, one] = [await freshDatabase('template0'), await freshDatabase()]
  const ways = {
    directory: await openGateway(one.url),
    one: await openGateway(one.url),
    two: await openGateway(server?.url ?? one.url),
  }
  const two = server ? ofServer(server, ways.two) : await freshDatabase('template0')
  const config = testConfig({
    DATABASE_URL: ways.directory.by(withRole(directory, one)),
    DATABASE_OWNER_URL: directory.url,
    BOOKS: `one=${ways.one.by(one.serviceUrl)},two=${ways.two.by(server ? two.serviceUrl : withRole(two, one))}`,
    BOOKS_OWNERS: `one=${one.url},two=${two.url}`,
    SEED_DEMO: 'false',
    PORT: '0',
    OPS_PORT: '0',
    STOP_GRACE_MS: '0',
  })
  const { databaseUrl: url, databaseOwnerUrl: ownerUrl } = config
  const { origin, opsOrigin, serving, stop } = await serveHere(config)
  const call: SeveralBooks['call'] = async (path, { method, token, body } = {}) => {
    const headers = {
      ...(token !== undefined && { authorization: token.includes(' ') ? token : `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const answer = await fetch(`${origin}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(within(20_000)),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json') ?? false
    return { status: answer.status, body: isJson ? JSON.parse(text) : {}, headers: answer.headers, text }
  }
  return {
    config,
    directory,
    books: { one, two },
    origin,
    opsOrigin,
    serving,
    ways,
    ops: opsThrough(async ({ migrate = false, asOwner = false } = {}) => {
      const deps = await openService({
        config,
        databaseUrl: url,
        ownerUrl,
        asOwner,
        now: Date.now,
        skipMigrations: !migrate,
        patience: 'always',
      })
      const books = await openBooks(deps, { databaseUrl: url, ownerUrl }, { migrate, asOwner })
      return {
        deps,
        books,
        close: async () => {
          await books.close()
          deps.statements.close()
          await deps.db.close()
        },
      }
    }),
    call,
    async tokenOf(email, password) {
      const token = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
      return (await call('/v1/auth/token', { token })).body.token
    },
    async close() {
      await stop()
      for (const way of Object.values(ways)) await way.close()
      for (const database of [directory, one, two]) await database.drop()
    },
  }
}

/** Returns the own database of a server, reached by a gateway, as another server may have taken its place. The server is left as it is. */
function ofServer({ url, serviceUrl }: Pick<Node, 'url' | 'serviceUrl'>, gateway: Gateway): FreshDatabase {
  const db = openPatiently(gateway.by(url))
  return { url: gateway.by(url), serviceUrl, db, drop: () => db.close() }
}

/** Returns the URL of a database by the role of the service, as another one has it. */
const withRole = (database: FreshDatabase, other: FreshDatabase): string =>
  databaseUrl(other.serviceUrl, new URL(database.url).pathname.slice(1))

/** The lender of the demonstration, in the book `one`, and a second one in the book `two`: a token of each. */
export interface TwoLenders {
  readonly first: string
  readonly second: string
}

/** Makes a second lender beside that of the demonstration, with a product. */
export async function makeTwoLenders({ ops, tokenOf }: SeveralBooks): Promise<TwoLenders> {
  const password = 'a password of the tests'
  for (const [command, stdin] of [
    ['organizations create Second --currency TZS --id 2'],
    ['accounts create admin@second.example -o 2 --role ADMIN', password],
    ['products create Plain -o 2 --min 1 --max 100000000 --instalments 1 --rate 0'],
  ] as const) {
    const { code, err } = await ops(command, { stdin: stdin ?? '' })
    if (code !== 0) throw new Error(err)
  }
  return {
    first: await tokenOf(DEMO_PARTNER.email, DEMO_PARTNER.password),
    second: await tokenOf('admin@second.example', password),
  }
}

/** Makes loans of the lender of a token, some at once. @returns their ids */
export async function lendIn({ call }: Pick<SeveralBooks, 'call'>, token: string, count: number): Promise<string[]> {
  const loans: string[] = []
  let left = count
  const lender = async (_: unknown, index: number) => {
    const externalId = `amina-${index}-${performance.now()}`
    await call('/v1/customers', { token, body: { externalId } })
    while (left-- > 0) {
      const body = { customerId: externalId, productId: 1, principal: 5_000_000 }
      const { status, body: loan, text } = await call('/v1/loans', { token, body })
      if (status !== 200) throw new Error(text)
      loans.push(String(loan.id))
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, lender))
  return loans
}

/** Repayments that are posted until they are stopped. */
export interface Repaying {
  /** The keys of those that were acknowledged, by loan, in their order. */
  readonly acknowledged: ReadonlyMap<string, readonly string[]>
  /** The milliseconds that each acknowledged one took, the tries before it counted. */
  readonly took: readonly number[]
  /** The milliseconds that each refusal took, and its words: what is refused is sent again. */
  readonly refusals: readonly { readonly ms: number; readonly text: string }[]
  /** The longest time in milliseconds without an acknowledgement. */
  longestGap(): number
  stop(): Promise<void>
}

/** How payers pay. */
export interface Paying {
  /** The pause of a payer after each repayment, in milliseconds; none when left out. */
  readonly everyMs?: number
  /** The payers, who share the loans: each pays its loans in turn. One for each loan when left out. */
  readonly payers?: number
}

/** Posts repayments on loans, one after the other on each, and sends again what is refused or lost. */
export function repayUntilStopped(
  { call }: Pick<SeveralBooks, 'call'>,
  token: string,
  loans: readonly string[],
  { everyMs = 0, payers = loans.length }: Paying = {},
): Repaying {
  const acknowledged = new Map<string, string[]>(loans.map((loan) => [loan, []]))
  const took: number[] = []
  const refusals: { ms: number; text: string }[] = []
  let isStopped = false
  let last = performance.now()
  let longest = 0
  const payer = async (_: unknown, place: number) => {
    const own = loans.filter((__, index) => index % payers === place)
    for (let index = 0; !isStopped; index++) {
      const loan = own[index % own.length]!
      const idempotencyKey = `${loan}-${index}`
      const body = { transactionAmount: 1, idempotencyKey }
      const begun = performance.now()
      for (;;) {
        const sent = performance.now()
        const answer = await call(`/v1/loans/${loan}/repayments`, { token, body })
        if (answer.status === 200) break
        if (answer.status !== 503) throw new Error(`answered ${answer.status}: ${answer.text}`)
        refusals.push({ ms: performance.now() - sent, text: answer.text })
        await pause(20)
      }
      const now = performance.now()
      took.push(now - begun)
      longest = Math.max(longest, now - last)
      last = now
      acknowledged.get(loan)!.push(idempotencyKey)
      if (everyMs > 0) await pause(everyMs)
    }
  }
  const all = Promise.all(Array.from({ length: payers }, payer))
  all.catch(() => undefined)
  return {
    acknowledged,
    took,
    refusals,
    longestGap: () => longest,
    async stop() {
      isStopped = true
      await all
    },
  }
}

/** Returns the keys of the repayments of each loan of an organization that a book has. */
export async function repaymentsIn(
  { books }: Pick<SeveralBooks, 'books'>,
  { book, organizationId }: { readonly book: 'one' | 'two'; readonly organizationId: number },
  loans: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const loan of loans) {
    const { rows } = await books[book].db.pool.query<{ token: string }>(
      'SELECT token FROM loan_entry WHERE organization_id = $1 AND loan_id = $2 AND token IS NOT NULL ORDER BY ordinal',
      [organizationId, loan],
    )
    found.set(
      loan,
      rows.map(({ token }) => token),
    )
  }
  return found
}

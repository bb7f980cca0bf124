import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inPlace } from '../../src/api/openapi/share.ts'
import { openService } from '../../src/app/service.ts'
import { raw } from '../api/toy.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { opsOn } from '../support/ops.ts'
import { within } from '../support/patience.ts'
import { type ServiceProcess, startProcess } from '../support/process.ts'
import { testConfig } from '../support/service.ts'
import { fictionalStatement, statementPdf } from '../support/statementPdf.ts'
import { showing } from '../support/upload.ts'

/** Values that must not be in a log; each names its source. */
const PASSWORD = 'Siri-Kubwa-93'
const EMAIL = 'wanjiru.kamau@duka.example'
const NAME = 'Wanjiru Kamau'
const PHONES = ['+254712345678', '0712345678', '254712345678'] as const
const SECRET = 'a secret of the tests'
const TEXT = `${NAME}, 0712345678, ${EMAIL}, ${PASSWORD}`

/** As much of a document as is looked at here. */
interface Document {
  readonly paths: Record<string, Record<string, Described>>
  readonly components: { readonly schemas: Record<string, { readonly examples?: Record<string, unknown>[] }> }
}

interface Described {
  readonly parameters?: { readonly in: string; readonly name: string }[]
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Reference }> }
}

interface Reference {
  readonly $ref?: string
  readonly anyOf?: Reference[]
}

interface Operation {
  readonly host: string
  readonly method: string
  readonly path: string
  readonly query: readonly string[]
  readonly media: string | undefined
  readonly example: Record<string, unknown>
}

let database: FreshDatabase
let service: ServiceProcess
let operations: Operation[]
let token: string
let apiKey: string
let customer: string
let loan: string
let transaction: string
let loanName: string
/** The place where the log begins, after the text for a newcomer. */
let banner: number
/** So that what is sent is new each time. */
let turn = 0
/** The number of requests that were signed wrongly, or by a key. */
let signed = 0
const statuses = new Map<number, number>()

const HOSTS = ['auth.localhost', 'api.localhost', 'records.localhost'] as const
const basic = (password: string) => `Basic ${Buffer.from(`${EMAIL}:${password}`).toString('base64')}`
const shownNow = () => ({ authorization: `Bearer ${token}` })

async function send(
  { host, method, path }: Pick<Operation, 'host' | 'method' | 'path'>,
  headers: Record<string, string> = shownNow(),
  body?: string | Buffer,
): Promise<{ status: number; text: string; headers: IncomingHttpHeaders }> {
  const sending = request(`${service.origin}${path}`, { method, headers: { host, ...headers } })
  sending.end(body)
  const [response] = await once(sending, 'response')
  const text = await textOf(response)
  statuses.set(response.statusCode, (statuses.get(response.statusCode) ?? 0) + 1)
  return { status: response.statusCode, text, headers: response.headers }
}

const JSON_TYPE = { 'content-type': 'application/json' }
const post = async (path: string, body: object) => {
  const [host, method] = ['api.localhost', 'POST']
  return JSON.parse((await send({ host, method, path }, { ...shownNow(), ...JSON_TYPE }, JSON.stringify(body))).text)
}

beforeAll(async () => {
  database = await freshDatabase()
  const settings = { DATABASE_URL: database.url, KEY_ENCRYPTION_SECRET: SECRET, SEED_DEMO: 'true', STOP_GRACE_MS: '0' }
  const config = testConfig({ ...settings, DATABASE_URL: '' })
  const deps = await openService({ config, databaseUrl: database.url, now: Date.now, patience: 'always' })
  const ops = opsOn({ deps })
  await ops(`accounts create ${EMAIL} --role ADMIN`, { stdin: PASSWORD })
  apiKey = (await ops(['api-keys', 'create', NAME, '--json'])).json.key
  await deps.db.close()
  service = await startProcess({ ...settings, LOG_LEVEL: 'trace', MAX_IN_FLIGHT: '30' })
  const login = { host: 'auth.localhost', method: 'GET', path: '/v1/auth/token' }
  banner = service.output().length
  token = JSON.parse((await send(login, { authorization: basic(PASSWORD) })).text).token
  customer = (await post('/v1/customers', { externalId: PHONES[2] })).id
  await lend()
  operations = (await Promise.all(HOSTS.map(readOperations))).flat()
})
afterAll(async () => {
  service.child.kill('SIGKILL')
  await database.drop()
})

/** A loan on which everything may still be done. */
async function lend(): Promise<void> {
  loanName = `${TEXT} ${++turn}`
  loan = (await post('/v1/loans', { customerId: PHONES[2], productId: 1, principal: 50_000, externalId: loanName })).id
  const paid = { transactionAmount: 20_000, idempotencyKey: `${TEXT} ${++turn}` }
  transaction = (await post(`/v1/loans/${loan}/repayments`, paid)).id
}

/** The operations of a host's document, with an example of each body. */
async function readOperations(host: string): Promise<Operation[]> {
  const document: Document = inPlace(JSON.parse((await send({ host, method: 'GET', path: '/openapi.json' })).text))
  const { schemas } = document.components
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]): Operation => {
      const [media, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
      const { $ref = '' } = content?.schema.anyOf?.[0] ?? content?.schema ?? {}
      const example = schemas[$ref.split('/').at(-1) ?? '']?.examples?.[0] ?? {}
      const query = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
      return { host, method: method.toUpperCase(), path, query, media, example }
    }),
  )
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

/** An example made fit for what is there, with personal texts, each a new one. */
function personal({ path, example }: Operation): Record<string, unknown> {
  const fit: Record<string, unknown> = {
    customerId: PHONES[2],
    phone: PHONES[++turn % 3],
    borrower_id: Number(customer),
    loan_id: path === '/v1/repayments' ? Number(loan) : ++turn,
    collection_date: daysAgo(0),
  }
  // What is not dated happens today.
  const given = Object.entries(example).filter(([name]) => !/^[a-z]+Date$/.test(name))
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (name in fit) return [name, fit[name]]
      if (typeof value === 'number') return [name, /(^|_)id$/.test(name) ? ++turn : value]
      const free = typeof value === 'string' && !/^loan_|date|period|rule/.test(name)
      return [name, free ? `${TEXT} ${++turn}` : value]
    }),
  )
}

const there = (path: string) =>
  path
    .replace(/(customers|credit-scorecard|borrowers)\/\{(id|customer)\}/, `$1/${customer}`)
    .replace('customers/external/{externalId}', `customers/external/${PHONES[2]}`)
    .replace('{externalId}', encodeURIComponent(loanName))
    .replace(/\{transactionId\}|(?<=repayments\/)\{id\}/, transaction)
    .replace('{id}', loan)

const nowhere = (path: string) =>
  path.replace(/\{\w+\}/g, (_, index: number) => encodeURIComponent(index % 2 ? TEXT : PHONES[0]))

const callOf =
  (operation: Operation) =>
  (path: string, headers: Record<string, string> = {}, body?: string | Buffer) =>
    send({ ...operation, path }, { ...shownNow(), ...headers }, body)

/** An operation that changes something, called rightly, with something to hide in its body. */
async function callRightly(operation: Operation): Promise<void> {
  const [call, right] = [callOf(operation), there(operation.path)]
  const key = { 'idempotency-key': `${TEXT} ${++turn}` }
  if (operation.media === undefined) await call(right, key)
  else if (operation.media === 'application/json')
    for (const headers of [key, {}])
      await call(right, { ...JSON_TYPE, ...headers }, JSON.stringify(personal(operation)))
  else {
    const { raw: statement, headers } = await aStatement()
    await call(right, { ...headers, ...key }, statement)
  }
}

const aStatement = async () =>
  showing(
    await statementPdf(
      fictionalStatement({
        layout: 'yas',
        owner: NAME.toUpperCase(),
        phone: PHONES[2],
        from: daysAgo(150),
        to: daysAgo(2),
      }),
    ),
    { fullName: NAME, mobileNumber: PHONES[0] },
  )

/** An operation in every way in which it may be called, rightly and wrongly, each with something to hide in it. */
async function callInEveryWay(operation: Operation): Promise<void> {
  const { query, media, example } = operation
  const call = callOf(operation)
  const [right, wrong] = [there(operation.path), nowhere(operation.path)]
  const asking = query.map((name) => `${name}=${encodeURIComponent(PHONES[0])}`).join('&')
  const key = { 'idempotency-key': `${TEXT} ${++turn}` }
  if (media === undefined) {
    await call(right)
    await call(`${wrong}?${asking}`)
    await call(`${right}?${encodeURIComponent(NAME)}=${PHONES[1]}&password=${PASSWORD}`)
  } else if (media === 'application/json') {
    const body = personal(operation)
    await call(right, { ...JSON_TYPE, ...key }, JSON.stringify(body))
    await call(right, { ...JSON_TYPE, ...key }, JSON.stringify({ ...body, note: TEXT }))
    await call(wrong, { ...JSON_TYPE, 'x-user-id': PHONES[2] }, JSON.stringify(personal(operation)))
    await call(right, JSON_TYPE, JSON.stringify(Object.fromEntries(Object.keys(example).map((name) => [name, [TEXT]]))))
    await call(right, JSON_TYPE, JSON.stringify({ ...personal(operation), [TEXT]: TEXT, password: PASSWORD }))
    await call(right, JSON_TYPE, `{"phone":"${PHONES[1]}","password":${PASSWORD}}`)
    await call(right, { 'content-type': `text/plain; name="${EMAIL}"` }, TEXT)
  } else {
    const { raw: statement, headers } = await aStatement()
    await call(right, { ...headers, ...key }, statement)
    await call(wrong, headers, statement)
    const broken = showing(Buffer.from(`%PDF-1.7 ${TEXT}`), { [NAME]: TEXT })
    await call(right, broken.headers, broken.raw)
    await call(right, headers, statement.subarray(0, 300))
  }
  // One hook reads them, whatever the operation: two of them for each, in turn.
  const signs = [`Bearer ${token}x`, `Bearer ${apiKey}`, `Bearer ${apiKey.slice(0, -1)}`, basic(PASSWORD), TEXT]
  for (const _ of [1, 2]) await send({ ...operation, path: right }, { authorization: signs[++signed % signs.length]! })
}

const UNPARSABLE = [
  `GET /v1/customers/${PHONES[1]} HTTX\r\n\r\n`,
  `GET / HTTP/1.1\r\nhost: api.localhost\r\n${NAME} ${PHONES[0]}\r\n\r\n`,
  `POST /v1/customers HTTP/1.1\r\nhost: api.localhost\r\nauthorization: Bearer \u0001${PASSWORD}\r\n\r\n`,
  `GET /v1/customers/%E0%A4%A/${PHONES[1]}?${EMAIL} HTTP/1.1\r\nhost: api.localhost\r\nconnection: close\r\n\r\n`,
]

describe('a log, at its most talkative, of every operation of every style', { timeout: within(240_000) }, () => {
  it('holds no password, token, API key, e-mail, name or phone number', async () => {
    for (const operation of operations) {
      // A read leaves the loan as it is.
      if (operation.method !== 'GET') await lend()
      await callInEveryWay(operation)
    }
    const { port } = new URL(service.origin)
    for (const words of UNPARSABLE) await raw(Number(port), words)
    for (const path of [`/loans/${loan}`, `/loans/${PHONES[1]}?name=${EMAIL}`, '/'])
      for (const password of [PASSWORD, `${PASSWORD}x`])
        await fetch(`${service.opsOrigin}${path}`, { headers: { authorization: basic(password) } })

    await lend()
    // And with a database that refuses each row, and shows it in the error.
    // Each table in a transaction of its own: the jobs of the service hold locks of several, in another order.
    for (const table of ['customer', 'loan', 'loan_entry', 'audit_entry', 'idempotency_key'])
      await database.db.pool.query(`ALTER TABLE ${table} ADD CONSTRAINT never CHECK (false) NOT VALID`)
    for (const operation of operations.filter(({ method }) => method !== 'GET')) await callRightly(operation)
    // Nor does it hold what the database is reached by, once it is gone.
    await database.db.pool.query('ALTER TABLE account RENAME TO nobody')
    for (const operation of operations.slice(0, 12)) await callInEveryWay(operation)
    service.child.kill('SIGTERM')
    await service.ended
    const log = service.output().slice(banner)

    expect([...statuses.keys()].sort()).toEqual(expect.arrayContaining([200, 400, 401, 403, 404, 409, 415, 500]))
    const lines = log
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
    const told = new Set(lines.map(({ method, route, style }) => `${style} ${method} ${route}`))
    const style: Record<string, string> = {
      'auth.localhost': 'auth',
      'api.localhost': 'partner',
      'records.localhost': 'record',
    }
    const missing = operations
      .filter(({ path }) => !path.startsWith('/health/'))
      .map(({ host, method, path }) => `${style[host]} ${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`)
      .filter((one) => !told.has(one))
    expect(missing).toEqual([])
    expect(lines.filter(({ level }) => level === 50).length).toBeGreaterThan(25)
    const [head, body, signature] = token.split('.') as [string, string, string]
    const hidden = [
      PASSWORD,
      'duka.example',
      NAME,
      NAME.toUpperCase(),
      'wanjiru',
      'Kamau',
      '712345678',
      head,
      body,
      signature,
    ]
    const keys = [signature.slice(0, 20), apiKey, apiKey.slice(3, 15), basic(PASSWORD).slice(6), SECRET]
    const found = [...hidden, ...keys].filter((secret) => log.includes(secret))
    const first = lines.find((line) => found.some((secret) => JSON.stringify(line).includes(secret)))
    expect(found, JSON.stringify(first)).toEqual([])
  })
})

import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { MOST_CHARACTERS } from '../../src/ops/mcp/answers.ts'
import { type Send, sendOverHttp, UnreachableError } from '../../src/ops/mcp/http.ts'
import { createApiKey } from '../../src/services/access/accounts.ts'
import { anAccount, commandLine, lend, PASSWORD } from '../support/approvals.ts'
import { dataOf, injecting, openSession, type SessionOptions } from '../support/mcp.ts'
import { aBorrower } from '../support/recordBodies.ts'
import { rawWith, recordsOf } from '../support/records.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
const tokens = { agent: '' }
beforeAll(async () => {
  service = await startService()
  tokens.agent = await anAccount(service, 'agent', ['ADMIN', 'PROPOSER'])
})
afterAll(() => service.close())

const open: Client[] = []
afterEach(async () => {
  for (const client of open.splice(0)) await client.close()
})

const inject = injecting(() => service)
async function session({ credential = tokens.agent, send = inject, proposes }: Partial<SessionOptions> = {}) {
  const opened = await openSession(service, { credential, send, proposes })
  open.push(opened.client)
  return opened
}

/** Lets the service listen on a port that the system chooses, once. */
let listens: Promise<string> | undefined
const listening = () => {
  listens ??= service.app.listen({ port: 0, host: '127.0.0.1' })
  return listens
}

describe('reading', () => {
  it('answers how much a customer owes: an operation is found, described and called', async () => {
    const loan = await lend(service, 'asha')
    const { tool, call } = await session()
    const found = await tool('search', { query: 'loans of a customer' })
    expect(JSON.parse(found.text)).toContainEqual(
      expect.objectContaining({ operation: 'listLoans', request: 'GET /v1/loans', changes: 'nothing: it reads' }),
    )
    const described = JSON.parse((await tool('describe', { operation: 'listLoans' })).text)
    expect(described.parameters.map(({ name }: { name: string }) => name)).toContain('customerId')
    expect(described.answers['200'].schema.$ref).toBe('#/components/schemas/LoanPage')
    expect(Object.keys(described.schemas)).toEqual(expect.arrayContaining(['LoanPage', 'ListedLoan']))
    const { body: customer } = await service.get('/v1/customers/external/asha')
    const owed = dataOf(await call('listLoans', { parameters: { customerId: customer.id } }))
    const { body: read } = await service.get(loan)
    expect(owed.items).toMatchObject([{ id: read.id, totalOutstanding: read.totalOutstanding }])
    expect(read.totalOutstanding).toBe(110_000)
  })

  it('reads the record style too, with every digit of an id, by an API key', async () => {
    const { key } = await createApiKey(service.deps, commandLine, { name: 'reads', roles: ['USER', 'PROPOSER'] })
    await recordsOf(service).post('/v1/borrowers', { raw: rawWith(aBorrower, 'id', '9223372036854775807') })
    const { call } = await session({ credential: key })
    const read = await call('getBorrower', { style: 'record', parameters: { id: '9223372036854775807' } })
    expect(read).toMatchObject({ isError: false, text: expect.stringContaining('9223372036854775807') })
    const refused = await call('updateBorrower', { style: 'record', parameters: { id: '1' }, body: {} })
    expect(refused).toMatchObject({ isError: true, head: expect.stringContaining('only reads') })
  })

  it('signs in with an e-mail and a password, and again when its token is refused', async () => {
    await anAccount(service, 'signs-in', ['USER'])
    let tokensIssued = 0
    let wasRefused = false
    const send: Send = async (request) => {
      if (request.url.endsWith('/v1/auth/token')) tokensIssued++
      if (tokensIssued === 1 && request.url.includes('/v1/loan-products') && !wasRefused) {
        wasRefused = true
        return { status: 401, type: 'application/json', text: '{}', isCut: false }
      }
      return inject(request)
    }
    const { call } = await session({ credential: { email: 'signs-in@lender.example', password: PASSWORD }, send })
    expect((await call('listLoanProducts')).isError).toBe(false)
    expect((await call('listLoanProducts')).isError).toBe(false)
    expect(tokensIssued).toBe(2)
    const wrong = await session({ credential: { email: 'signs-in@lender.example', password: 'another password' } })
    expect(await wrong.call('listLoanProducts')).toMatchObject({
      isError: true,
      head: expect.stringMatching(/^the sign-in is refused: 401 unauthenticated: wrong e-mail or password/),
    })
  })

  it('has a list of 20 items, and goes on by the cursor of the service', async () => {
    for (let n = 0; n < 21; n++) await service.post('/v1/customers', { body: { externalId: `of-many-${n}` } })
    const { call } = await session()
    const first = dataOf(await call('listCustomers'))
    expect(first.items).toHaveLength(20)
    const rest = dataOf(await call('listCustomers', { parameters: { rows: 100, page: 1 } }))
    expect(rest.items.length).toBeGreaterThan(20)
  })

  it.each([
    ['getLoan', {}, 'getLoan needs the parameter id, in its path'],
    ['getLoan', { id: '1', colour: 'red' }, 'getLoan has no parameter "colour"; it has id'],
    ['getLoans', {}, 'the partner style has no operation getLoans; near it are getLoan,'],
  ])('%s with %j is refused in words, before the service is asked', async (operation, parameters, message) => {
    const { call } = await session()
    expect(await call(operation, { parameters })).toMatchObject({
      isError: true,
      head: expect.stringContaining(message),
    })
  })

  it('refuses arguments that a tool does not have, and a parameter that would leave its path', async () => {
    const { tool, call } = await session()
    expect((await tool('search', { query: 'a', how: 'b' })).isError).toBe(true)
    expect((await tool('call', { operation: 'getLoan', style: 'auth' })).isError).toBe(true)
    const escaped = await call('getLoan', { parameters: { id: '../customers' } })
    expect(escaped).toMatchObject({
      isError: true,
      head: expect.stringContaining('GET /v1/loans/..%2Fcustomers was refused with 404'),
    })
  })
})

describe('a large answer', () => {
  it('is cut, says so, and goes on by its cursor to the last character, as it was', async () => {
    const whole = JSON.stringify({ items: Array.from({ length: 2_000 }, (_, n) => ({ id: String(n), name: 'Asha' })) })
    expect(whole.length).toBeGreaterThan(2 * MOST_CHARACTERS)
    const send: Send = async (request) =>
      request.url.includes('/v1/customers')
        ? { status: 200, type: 'application/json', text: whole, isCut: false }
        : inject(request)
    const { call, tool } = await session({ send })
    let told = await call('listCustomers')
    let text = ''
    for (;;) {
      const [, part = ''] = /^<data-[\w-]{12}>\n([\s\S]*)\n<\/data-[\w-]{12}>$/.exec(told.text) ?? []
      expect(part.length).toBeLessThanOrEqual(MOST_CHARACTERS)
      text += part
      const [, cursor] = /call the tool more with the cursor (\S+) to go on/.exec(told.head) ?? []
      if (cursor === undefined) break
      expect(told.head).toContain(`of ${whole.length}. It is cut here`)
      told = await tool('more', { cursor })
    }
    expect(text).toBe(whole)
  })

  it('of more bytes than are read says that it is not whole', async () => {
    const send: Send = async (request) => ({ ...(await inject(request)), isCut: request.url.includes('/v1/loans') })
    const { call } = await session({ send })
    expect((await call('listLoans')).head).toContain('more than is read: ask for fewer items')
  })

  it('a cursor of nothing that is kept is refused', async () => {
    const { tool } = await session()
    for (const cursor of ['1-20000', 'x', '7'])
      expect(await tool('more', { cursor })).toMatchObject({
        isError: true,
        head: expect.stringContaining('Call the operation again'),
      })
  })

  it('a file that is no JSON is refused, and not shown', async () => {
    const send: Send = async (request) =>
      request.url.includes('/v1/loans/')
        ? { status: 200, type: 'application/pdf', text: '%PDF-1.7', isCut: false }
        : inject(request)
    const { call } = await session({ send })
    const told = await call('getStatement', { parameters: { id: '1' } })
    expect(told).toMatchObject({ isError: true, head: expect.stringContaining('application/pdf, which is no JSON') })
  })
})

describe('a service that is away', () => {
  it('is unavailable, and the session lives on until it is back', async () => {
    let isAway = true
    const send: Send = async (request) => {
      if (isAway) throw new UnreachableError('http://api.localhost:3000 does not answer (ECONNREFUSED)')
      return inject(request)
    }
    const { call, tool } = await session({ send })
    for (const told of [await tool('search', { query: 'loan' }), await call('listLoanProducts')])
      expect(told).toMatchObject({
        isError: true,
        head: expect.stringMatching(/^unavailable: .* does not answer \(ECONNREFUSED\)/),
      })
    isAway = false
    expect((await call('listLoanProducts')).isError).toBe(false)
    isAway = true
    expect((await call('listLoanProducts')).head).toContain('unavailable')
    isAway = false
    expect((await call('listLoanProducts')).isError).toBe(false)
  })

  it('is asked by mkopo mcp on stdin and stdout, with a credential of its environment, until the client leaves', async () => {
    await listening()
    const url = new URL(service.app.listeningOrigin)
    const hosts = { AUTH_URL: 'auth', BASE_URL: 'api', RECORDS_URL: 'records' }
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [fileURLToPath(new URL('../../src/ops/mkopo.mjs', import.meta.url)), 'mcp', '--propose'],
      env: {
        ...Object.fromEntries(
          Object.entries(hosts).map(([name, host]) => [name, `http://${host}.localhost:${url.port}`]),
        ),
        MKOPO_TOKEN: tokens.agent,
      },
      stderr: 'pipe',
    })
    const shown: string[] = []
    transport.stderr?.on('data', (chunk: Buffer) => shown.push(chunk.toString()))
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport)
    open.push(client)
    const { content } = await client.callTool({ name: 'call', arguments: { operation: 'listLoanProducts' } })
    expect(JSON.stringify(content)).toContain('Flat 10% monthly')
    await client.close()
    expect(shown.join('')).toBe('')
  })

  it('over HTTP: an answer, a name below localhost, and nobody who listens', async () => {
    await listening()
    const { port } = new URL(service.app.listeningOrigin)
    const ask = (url: string) => sendOverHttp({ method: 'GET', url, headers: {} })
    expect(await ask(`http://api.localhost:${port}/health/live`)).toMatchObject({
      status: 200,
      text: '{"status":"ok"}',
      isCut: false,
    })
    await expect(ask('http://127.0.0.1:1/')).rejects.toThrow('http://127.0.0.1:1 does not answer (ECONNREFUSED)')
  })
})

import { createHmac, createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKey, revokeApiKey } from '../../src/services/access/accounts.ts'
import { operator } from '../../src/services/access/caller.ts'
import { addAccount } from '../support/accounts.ts'
import { documentOf, examplesOf, operationsOf } from '../support/document.ts'
import { startKeeper, startSequencer } from '../support/jobs.ts'
import { anotherLender } from '../support/lenders.ts'
import { queryOf } from '../support/prefilled.ts'
import { quiet } from '../support/quiet.ts'
import { aBasicLoan, aBorrower, aRepayment } from '../support/recordBodies.ts'
import { recordsOf } from '../support/records.ts'
import { type Answer, startService, type TestService } from '../support/service.ts'
import { showing } from '../support/upload.ts'
import type { Document } from '../support/wire.ts'

// Every operation of every style, of the documents, requested with every kind of credential. What is added to
// the documents is in this table without further work.

/** An operation and what of its document decides who may call it. */
interface Called {
  readonly host: string
  readonly style: 'auth' | 'partner' | 'record'
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly role: string | undefined
  /** Whether the operation may change something, by its method and by what the document says of it. */
  readonly isWrite: boolean
  /** Whether what the operation changes can wait for a second person. */
  readonly canWait: boolean
  readonly isPublic: boolean
  readonly isUpload: boolean
  readonly body: unknown
}

const HOSTS = { auth: 'auth.localhost:3000', partner: 'api.localhost:3000', record: 'records.localhost:3000' } as const

let service: TestService
let jobs: { stop(): Promise<void> }[]
let operations: Called[]
/** By the name of a parameter: something that organization 1 has, of each kind. */
let ids: Record<string, string>
let tokens: Record<string, string>

beforeAll(async () => {
  service = await startService()
  service.damages('accounts are disabled, and their tokens revoked, by SQL')
  jobs = [startSequencer(service.deps, quiet), startKeeper(service.deps, quiet)]
  const records = recordsOf(service)
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const { body: loan } = await service.post('/v1/loans', {
    body: { customerId: 'asha', productId: 1, principal: 100_000, externalId: 'l-1' },
  })
  const { body: paid } = await service.post(`/v1/loans/${loan.id}/repayments`, { body: { transactionAmount: 1 } })
  await records.post('/v1/borrowers', { body: { ...aBorrower, id: 71, business_name: 'Ours Alone' } })
  await records.post('/v1/loans', { body: { ...aBasicLoan, borrower_id: 71, loan_id: 71 } })
  await records.post('/v1/repayments', { body: { ...aRepayment, loan_id: 71, repayment_id: 71 } })
  const consent = { purpose: 'bureau', channel: 'app', givenAt: '2026-01-01T00:00:00Z' }
  const { body: consented } = await service.post('/v1/customers/external/asha/consents', { body: consent })
  const { body: agreed } = await records.post('/v1/borrowers/71/consents', {
    body: { purpose: 'bureau', channel: 'app', given_at: consent.givenAt },
  })
  const guarantor = { identity: { lastName: 'Juma' }, relationship: 'Brother' }
  const { body: guaranteed } = await service.post(`/v1/loans/${loan.id}/guarantors`, { body: guarantor })
  const vehicle = { kind: 'vehicle', description: 'Motorcycle', value: 1 }
  const { body: secured } = await service.post(`/v1/loans/${loan.id}/collateral`, { body: vehicle })
  const tomorrow = '2026-02-01'
  const { body: promised } = await service.post(`/v1/loans/${loan.id}/promises`, { body: { amount: 1, by: tomorrow } })
  const hold = { what: 'listing', until: tomorrow, reason: 'Asked for' }
  const { body: held } = await service.post(`/v1/loans/${loan.id}/holds`, { body: hold })
  ids = {
    ...{ transactionId: paid.id, customer: 'asha', version: '1', messageId: '1', consentId: consented.id },
    ...{ guarantorId: guaranteed.id, collateralId: secured.id, recordConsentId: String(agreed.item.id) },
    ...{ name: 'portfolio_return', disputeId: '1', promiseId: promised.id, holdId: held.id, loanId: loan.id },
  }
  const documents = await Promise.all(
    Object.entries(HOSTS).map(async ([style, host]) => {
      const body = await documentOf(service, host)
      return calledOf(style as Called['style'], host, body, loan.id)
    }),
  )
  operations = documents.flat()
  tokens = await credentials()
})
afterAll(async () => {
  for (const job of jobs) await job.stop()
  await service.close()
})

function calledOf(style: Called['style'], host: string, document: Document, loanId: string): Called[] {
  return operationsOf(document).map(([name, operation]): Called => {
    const [method = '', path = ''] = name.split(' ')
    const { security, 'x-required-role': role } = operation as typeof operation & {
      readonly 'x-required-role'?: string
    }
    const content = operation.requestBody?.content ?? {}
    const media = content['application/json']
    const isCustomer = path.startsWith('/v1/customers')
    const named = (parameter: string): string => {
      if (parameter === 'externalId') return isCustomer ? 'asha' : 'l-1'
      if (parameter === 'period') return '2026-01'
      if (parameter === 'consentId' && style === 'record') return ids.recordConsentId!
      if (parameter !== 'id') return ids[parameter]!
      if (style === 'record') return '71'
      return path.startsWith('/v1/loan-products') ? '1' : isCustomer ? 'asha' : loanId
    }
    return {
      host,
      style,
      method: method as Called['method'],
      path: path.replace(/\{(\w+)\}/g, (_, parameter: string) => named(parameter)) + queryOf(operation),
      role,
      isWrite: method !== 'GET' && !['authorize', 'verifyDocument'].includes(operation.operationId),
      canWait: 'x-can-wait' in operation,
      isPublic: security !== undefined && !security.some((scheme) => 'bearer' in scheme),
      isUpload: 'multipart/form-data' in content,
      body: media && examplesOf(document, media.schema)[0],
    }
  })
}

const forged = generateKeyPairSync('rsa', { modulusLength: 2048 })
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** One credential of each kind, by name. */
async function credentials(): Promise<Record<string, string>> {
  const { partner } = service.tokens
  const author = operator(1, 'test')
  const claims = decodeJwt(partner)
  const { kid } = decodeProtectedHeader(partner)
  const privateKey = createPrivateKey((await service.deps.keys.signing()).privatePem)
  const signed = (changes: object, header: object = {}, key = privateKey) =>
    new SignJWT({ ...claims, ...changes } as never)
      .setProtectedHeader({ alg: 'RS256', kid: String(kid), ...header })
      .sign(key)
  const account = async (email: string, roles: string[] = ['ADMIN']) => {
    await addAccount(service.deps, author, { email, password: 'a long enough secret', roles })
    return service.deps.signIn.issueToken(email, 'a long enough secret', '127.0.0.1')
  }
  const [disabled, revoked] = [await account('disabled@example.com'), await account('revoked@example.com')]
  const key = await createApiKey(service.deps, author, { name: 'books', roles: ['ADMIN'] })
  const gone = await createApiKey(service.deps, author, { name: 'gone', roles: ['ADMIN'] })
  await revokeApiKey(service.deps, author, gone.apiKey.id)
  const { pool } = service.deps.db
  await pool.query(`UPDATE account SET disabled_at = now() WHERE email = 'disabled@example.com'`)
  await pool.query(`UPDATE account SET tokens_from = '2100-01-01' WHERE email = 'revoked@example.com'`)
  const [{ public_pem }] = (await pool.query('SELECT public_pem FROM signing_key')).rows
  const unsigned = `${encode({ alg: 'HS256', kid })}.${encode(claims)}`
  return {
    USER: partner,
    ADMIN: service.tokens.operator,
    AUDITOR: await account('auditor@lender.example', ['AUDITOR']),
    'AUDITOR and USER': await account('both@lender.example', ['AUDITOR', 'USER']),
    PROPOSER: await account('agent@lender.example', ['ADMIN', 'PROPOSER']),
    'an API key of a PROPOSER': (
      await createApiKey(service.deps, author, { name: 'asks', roles: ['ADMIN', 'PROPOSER'] })
    ).key,
    'an API key of an AUDITOR': (await createApiKey(service.deps, author, { name: 'reads', roles: ['AUDITOR'] })).key,
    "another organization's": await anotherLender(service, 2, 'KES'),
    'an API key': key.key,
    'no token': '',
    'a word': 'abc',
    expired: await signed({ exp: 1 }),
    'of a disabled account': disabled,
    revoked: revoked,
    'a revoked API key': gone.key,
    'an unknown API key': `mk_${'x'.repeat(40)}`,
    'signed by another key': await signed({}, {}, forged.privateKey as never),
    'of an unknown key': await signed({}, { kid: 'unknown' }, forged.privateKey as never),
    'with alg none': `${encode({ alg: 'none', kid })}.${encode(claims)}.`,
    'HS256 with the public key': `${unsigned}.${createHmac('sha256', public_pem).update(unsigned).digest('base64url')}`,
    'with claims changed': partner
      .split('.')
      .with(1, encode({ ...claims, roles: ['ADMIN'], org: 2 }))
      .join('.'),
    'of another issuer': await signed({ iss: 'https://elsewhere.example' }),
    'of no account': await signed({ sub: '999999' }),
    'of another organization by its claim': await signed({ org: 2 }),
  }
}

async function call({ host, method, path, isUpload, body }: Called, token: string): Promise<Answer> {
  const upload = isUpload ? showing(Buffer.from('%PDF-1.7')) : undefined
  const payload = upload?.raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const type = upload?.headers ?? (body === undefined ? {} : { 'content-type': 'application/json' })
  const answer = await service.app.inject({
    method,
    url: path,
    headers: { host, ...type, ...(token !== '' && { authorization: `Bearer ${token}` }) },
    ...(payload !== undefined && { payload }),
  })
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  return {
    status: answer.statusCode,
    body: isJson ? answer.json() : ({} as Answer['body']),
    text: answer.payload,
    headers: answer.headers,
  }
}

const nameOf = ({ style, method, path }: Called) => `${style} ${method} ${path}`

/** Asks for every operation with a credential. @returns what was answered, as `operation: status code` */
async function ask(credential: string, of: (one: Called) => boolean = () => true): Promise<Map<Called, Answer>> {
  const answers = new Map<Called, Answer>()
  for (const operation of operations.filter(of)) answers.set(operation, await call(operation, tokens[credential]!))
  return answers
}

const said = (answers: Map<Called, Answer>) =>
  [...answers].map(([operation, { status, body }]) => `${nameOf(operation)}: ${status} ${body.code ?? ''}`)
const all = (answers: Map<Called, Answer>, word: string) =>
  [...answers.keys()].map((operation) => `${nameOf(operation)}: ${word}`)
const isClosed = ({ isPublic }: Called) => !isPublic

describe('every operation of the documents', () => {
  it('is in this table', () => {
    expect(operations.length).toBeGreaterThan(50)
    for (const style of ['auth', 'partner', 'record']) expect(operations.some((one) => one.style === style)).toBe(true)
    expect(operations.filter(({ path }) => path.includes('undefined'))).toEqual([])
  })

  const REFUSED = [
    ...['no token', 'a word', 'expired', 'of a disabled account', 'revoked', 'a revoked API key', 'an unknown API key'],
    ...['signed by another key', 'of an unknown key', 'with alg none', 'HS256 with the public key'],
    ...['with claims changed', 'of another issuer', 'of no account', 'of another organization by its claim'],
  ]

  it.each(REFUSED)('401 unauthenticated: %s', async (credential) => {
    const answers = await ask(credential, isClosed)
    expect(said(answers)).toEqual(all(answers, '401 unauthenticated'))
    for (const { headers } of answers.values()) expect(headers['www-authenticate']).toContain('Bearer')
    for (const { headers } of answers.values()) expect(headers['cache-control']).toBe('no-store')
  })

  it('401 unauthenticated: an API key, but for the record style', async () => {
    const answers = await ask('an API key', (one) => isClosed(one) && one.style !== 'record')
    expect(said(answers)).toEqual(all(answers, '401 unauthenticated'))
  })

  it('403 permission_denied: a USER, where the documents require ADMIN', async () => {
    const answers = await ask('USER', ({ role }) => role !== undefined)
    expect(answers.size).toBeGreaterThan(20)
    expect(said(answers)).toEqual(all(answers, '403 permission_denied'))
  })

  it.each(['AUDITOR', 'an API key of an AUDITOR'])(
    '403 permission_denied: %s, where an operation may change something; nothing changes',
    async (credential) => {
      const changes = async () =>
        (await service.deps.db.pool.query('SELECT count(*)::int AS rows FROM audit_entry WHERE organization_id = 1'))
          .rows
      const before = await changes()
      const isAsked = (one: Called) =>
        isClosed(one) && one.isWrite && (credential === 'AUDITOR' || one.style === 'record')
      const answers = await ask(credential, isAsked)
      expect(answers.size).toBeGreaterThan(credential === 'AUDITOR' ? 40 : 4)
      expect(said(answers)).toEqual(all(answers, '403 permission_denied'))
      expect(await changes()).toEqual(before)
    },
  )

  it.each(['PROPOSER', 'an API key of a PROPOSER'])(
    '403 permission_denied: %s, where an operation may change something and cannot wait; nothing changes',
    async (credential) => {
      const changes = async () =>
        (await service.deps.db.pool.query('SELECT count(*)::int AS rows FROM audit_entry WHERE organization_id = 1'))
          .rows
      const before = await changes()
      const isAsked = (one: Called) =>
        isClosed(one) && one.isWrite && !one.canWait && (credential === 'PROPOSER' || one.style === 'record')
      const answers = await ask(credential, isAsked)
      expect(answers.size).toBeGreaterThan(credential === 'PROPOSER' ? 40 : 4)
      expect(said(answers)).toEqual(all(answers, '403 permission_denied'))
      for (const { body } of answers.values()) expect(body.message).toContain('the role PROPOSER only asks for')
      expect(await changes()).toEqual(before)
    },
  )

  it('202, or a refusal: a PROPOSER, whatever the operation changes; nothing is posted', async () => {
    const { rows: before } = await service.deps.db.pool.query('SELECT max(id) AS last FROM loan_entry')
    const answers = await ask('PROPOSER', ({ canWait }) => canWait)
    expect(answers.size).toBeGreaterThan(10)
    expect([...answers.values()].filter(({ status }) => status === 200)).toEqual([])
    expect([...answers.values()].filter(({ status }) => status === 202).length).toBeGreaterThan(3)
    const { rows } = await service.deps.db.pool.query('SELECT max(id) AS last FROM loan_entry')
    expect(rows).toEqual(before)
    await service.post('/v1/pending-actions/reject', {
      body: { loanId: ids.loanId, reason: 'A test' },
      token: service.tokens.operator,
    })
  })

  it('403 permission_denied: an account that is AUDITOR and USER, where the documents require ADMIN', async () => {
    const answers = await ask('AUDITOR and USER', ({ role }) => role === 'ADMIN')
    expect(answers.size).toBeGreaterThan(10)
    expect(said(answers)).toEqual(all(answers, '403 permission_denied'))
  })

  it("404 not_found: another organization's token, for ids of this one; no list shows them", async () => {
    const closed = await ask("another organization's", (one) => isClosed(one) && one.role === undefined)
    for (const [operation, { status, body, text }] of closed) {
      expect([nameOf(operation), [401, 403, 500].includes(status)]).toEqual([nameOf(operation), false])
      const ours = ['l-1', '71', ids.transactionId!].some((id) => operation.path.split('/').includes(id))
      if (ours) expect([nameOf(operation), status, body.code]).toEqual([nameOf(operation), 404, 'not_found'])
      expect([nameOf(operation), /"(l-1|Ours Alone)"/.test(text) && !ours]).toEqual([nameOf(operation), false])
    }
  })

  const CLOSED_TO: Readonly<Record<string, (one: Called) => boolean>> = {
    USER: ({ role }) => role !== undefined,
    ADMIN: () => false,
    AUDITOR: ({ role, isWrite }) => isWrite || role === 'ADMIN',
    'AUDITOR and USER': ({ role }) => role === 'ADMIN',
    'an API key': ({ style }) => style !== 'record',
    'an API key of an AUDITOR': ({ style, isWrite }) => style !== 'record' || isWrite,
    PROPOSER: ({ isWrite }) => isWrite,
    'an API key of a PROPOSER': ({ style, isWrite }) => style !== 'record' || isWrite,
  }

  it.each(Object.keys(CLOSED_TO))('is open to %s where the documents name no other role', async (credential) => {
    const isOpen = (one: Called) => isClosed(one) && !CLOSED_TO[credential]!(one)
    const answers = await ask(credential, isOpen)
    for (const [operation, { headers }] of answers)
      expect([nameOf(operation), headers['cache-control']]).toEqual([nameOf(operation), 'no-store'])
    const turnedAway = said(answers).filter((line) => /: (401|403|500|503) /.test(line))
    expect(turnedAway.filter((line) => !line.startsWith('auth POST /v1/auth/authorize'))).toEqual([])
  })

  it('answers a public one without a token', async () => {
    const open = operations.filter(({ isPublic, path }) => isPublic && path !== '/v1/auth/token')
    expect(open.length).toBeGreaterThan(5)
    for (const operation of open)
      expect([nameOf(operation), (await call(operation, '')).status]).toEqual([nameOf(operation), 200])
  })
})

import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { countAttempts } from '../../../src/db/access/counters.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

const AUTH = 'auth.localhost:3000'

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.damages('an organization and accounts are made and disabled by SQL')
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

const basic = (email: string, password: string) => `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
const askToken = (authorization: string, remoteAddress = '10.1.1.1') =>
  service.app.inject({
    method: 'GET',
    url: '/v1/auth/token',
    remoteAddress,
    headers: { host: AUTH, ...(authorization === '' ? {} : { authorization }) },
  })

describe('GET /v1/auth/token', () => {
  it('answers a JWT: RS256 by the active key, kid in the header, 365 days, organization and roles', async () => {
    const answer = await askToken(basic('partner@example.com', 'partner-secret'))
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    const { token } = answer.json()
    const { kid, alg } = decodeProtectedHeader(token)
    expect(alg).toBe('RS256')
    const keys = await service.deps.db.prisma.signingKey.findMany()
    expect(keys.map((key) => key.kid)).toEqual([kid])
    const claims = decodeJwt(token)
    expect(claims).toMatchObject({
      iss: 'http://auth.localhost:3000',
      sub: expect.any(String),
      org: 1,
      roles: ['USER'],
    })
    expect(claims.exp! - claims.iat!).toBe(365 * 86_400)
    expect(claims.jti).toMatch(/^[\da-f-]{36}$/)
    expect(await service.get('/v1/loan-products', { token })).toMatchObject({ status: 200 })
  })

  it('the e-mail in any case; the operator is an ADMIN', async () => {
    const { token } = (await askToken(basic('Operator@Example.COM', 'operator-secret'))).json()
    expect(decodeJwt(token).roles).toEqual(['ADMIN'])
  })

  it.each([
    ['a wrong password', basic('partner@example.com', 'wrong')],
    ['an unknown e-mail', basic('nobody@example.com', 'partner-secret')],
    ['no credentials', ''],
    ['no colon', `Basic ${Buffer.from('partner').toString('base64')}`],
    ['no base64', 'Basic ???'],
    ['another scheme', 'Digest username=partner'],
    ['an e-mail of 250 characters', basic(`${'x'.repeat(238)}@example.com`, 'guess')],
    ['a password of 5,000 characters', basic('partner@example.com', 'x'.repeat(5_000))],
  ])('401 unauthenticated: %s', async (_, authorization) => {
    const answer = await askToken(authorization)
    expect(answer.statusCode).toBe(401)
    expect(answer.json()).toMatchObject({ code: 'unauthenticated' })
    expect(answer.headers['www-authenticate']).toContain('Basic')
  })

  it('401 unauthenticated: a disabled account, and its tokens within 5 s on every instance', async () => {
    const other = await service.another()
    const { token } = (await askToken(basic('partner@example.com', 'partner-secret'))).json()
    for (const instance of [service, other])
      expect(await instance.get('/v1/loan-products', { token })).toMatchObject({ status: 200 })
    const disable = (value: string) =>
      service.deps.db.pool.query(`UPDATE account SET disabled_at = ${value} WHERE email = 'partner@example.com'`)
    await disable('now()')
    service.clock.set('2026-01-31T09:30:05+03:00')
    for (const instance of [service, other])
      expect(await instance.get('/v1/loan-products', { token })).toMatchObject({ status: 401 })
    expect((await askToken(basic('partner@example.com', 'partner-secret'))).statusCode).toBe(401)
    await disable('NULL')
    expect(await service.get('/v1/loan-products', { token })).toMatchObject({ status: 200 })
  })

  it('401 unauthenticated: a token that was asked for before the tokens were revoked, and issued after it', async () => {
    const { db } = service.deps
    const account = {
      // The password is checked for a while after the account was read: meanwhile it is reset.
      findUnique: async (query: { where: { email: string } }) => {
        const row = await db.prisma.account.findUnique(query)
        service.clock.set('2026-01-31T09:30:02+03:00')
        await db.prisma.account.update({
          where: query.where,
          data: { tokensFrom: new Date(service.clock.machineNow()) },
        })
        service.clock.set('2026-01-31T09:30:04+03:00')
        return row
      },
    }
    const { createSignIn } = await import('../../../src/services/access/signIn.ts')
    const late = createSignIn({
      db: { ...db, prisma: { account, secondFactor: db.prisma.secondFactor } } as never,
      keys: service.deps.keys,
      tokenSigner: service.deps.tokenSigner,
      now: service.clock.now,
      issuer: service.deps.config.authUrl,
      config: service.deps.config,
    })
    const token = await late.issueToken('partner@example.com', 'partner-secret', '10.1.1.1')
    expect((await service.get('/v1/loan-products', { token })).status).toBe(401)
    await db.pool.query('UPDATE account SET tokens_from = NULL')
  })

  it('429 resource_exhausted: after ten failures of one e-mail, from whatever address, also with the right password', async () => {
    await service.deps.db.pool.query('DELETE FROM rate_limit')
    for (let attempt = 0; attempt < 10; attempt++)
      expect((await askToken(basic('operator@example.com', 'guess'), `10.0.0.${attempt}`)).statusCode).toBe(401)
    const answer = await askToken(basic('operator@example.com', 'operator-secret'), '10.9.9.9')
    expect(answer.statusCode).toBe(429)
    expect(answer.json()).toMatchObject({ code: 'resource_exhausted' })
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    // Signing in again is just what would not help.
    expect(answer.headers).not.toHaveProperty('www-authenticate')
    // Another e-mail is not affected.
    expect((await askToken(basic('partner@example.com', 'partner-secret'), '10.9.9.9')).statusCode).toBe(200)
    await service.deps.db.pool.query('DELETE FROM rate_limit')
  })

  it('429 resource_exhausted: after a hundred failures of one address; of IPv6 64 bits are one', async () => {
    const { db } = service.deps
    for (const [failing, same, other] of [
      ['10.1.2.3', '10.1.2.3', '10.1.2.4'],
      ['2001:db8:0:7::/64', '2001:db8::7:aaaa:0:0:1', '2001:db8:0:8::1'],
    ] as const) {
      await db.pool.query('DELETE FROM rate_limit')
      const failures = countAttempts(db, 'signin-address', 100, 900)
      for (let count = 0; count < 99; count++) await failures.take(failing)
      expect((await askToken(basic('nobody@example.com', 'guess'), same)).statusCode).toBe(401)
      expect((await askToken(basic('partner@example.com', 'partner-secret'), same)).statusCode).toBe(429)
      expect((await askToken(basic('partner@example.com', 'partner-secret'), other)).statusCode).toBe(200)
    }
    await db.pool.query('DELETE FROM rate_limit')
  })

  it('is on the auth host only', async () => {
    const answer = await service.get('/v1/auth/token')
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })
})

describe('every other call needs a token', () => {
  const forged = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = () => decodeJwt(service.tokens.partner)
  const kid = () => decodeProtectedHeader(service.tokens.partner).kid!
  const publicPem = async () => (await service.deps.db.prisma.signingKey.findFirstOrThrow()).publicPem

  const tokens: Record<string, () => string | Promise<string>> = {
    'signed by another key': () =>
      new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid: kid() }).sign(forged.privateKey),
    'with an unknown kid': () =>
      new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid: 'unknown' }).sign(forged.privateKey),
    'with alg none': () => `${encode({ alg: 'none', kid: kid() })}.${encode(claims())}.`,
    'HS256 with the public key as the secret': async () => {
      const content = `${encode({ alg: 'HS256', kid: kid() })}.${encode(claims())}`
      return `${content}.${createHmac('sha256', await publicPem())
        .update(content)
        .digest('base64url')}`
    },
    'with claims changed': () => {
      const [header, , signature] = service.tokens.partner.split('.')
      return `${header}.${encode({ ...claims(), roles: ['ADMIN'], org: 2 })}.${signature}`
    },
    'that is no JWT': () => 'abc',
    'of three empty parts': () => '..',
    'that is too long': () => `${service.tokens.partner}${'x'.repeat(9_000)}`,
  }

  it.each(Object.keys(tokens))('401 unauthenticated: a token %s', async (name) => {
    expect(createPublicKey(await publicPem()).asymmetricKeyType).toBe('rsa')
    const token = await tokens[name]!()
    for (const [method, path] of [
      ['get', '/v1/loans'],
      ['post', '/v1/loans'],
    ] as const)
      expect(await service[method](path, { token })).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
  })

  it('401 unauthenticated: an expired token, and not a second sooner', async () => {
    const { exp } = claims()
    service.clock.set(new Date((exp! - 1) * 1000).toISOString())
    expect(await service.get('/v1/loan-products')).toMatchObject({ status: 200 })
    service.clock.set(new Date(exp! * 1000 + 5_000).toISOString())
    expect(await service.get('/v1/loan-products')).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated', message: 'the token has expired' },
    })
  })

  it.each([undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b'])(
    '401 unauthenticated: Authorization: %s',
    async (authorization) => {
      const answer = await service.app.inject({
        url: '/v1/loans',
        headers: { host: 'api.localhost', ...(authorization === undefined ? {} : { authorization }) },
      })
      expect(answer.statusCode).toBe(401)
      expect(answer.json().code).toBe('unauthenticated')
      expect(answer.headers['www-authenticate']).toBe('Bearer')
    },
  )
})

describe('another organization', () => {
  it('404 not_found: its customers, loans and transactions, under every address', async () => {
    const { prisma } = service.deps.db
    const at = new Date()
    await prisma.organization.create({ data: { id: 2, name: 'Another', currency: 'KES', createdAt: at } })
    const { passwordHash } = await prisma.account.findFirstOrThrow({ where: { email: 'partner@example.com' } })
    const account = {
      organizationId: 2,
      email: 'other@example.com',
      passwordHash,
      roles: ['USER', 'ADMIN'],
      createdAt: at,
    }
    await prisma.account.create({ data: account })
    const token = await service.deps.signIn.issueToken('other@example.com', 'partner-secret', '127.0.0.1')

    await service.post('/v1/customers', { body: { externalId: 'asha' } })
    const application = { customerId: 'asha', productId: 1, principal: 5_000, externalId: 'hers' }
    const { body: loan } = await service.post('/v1/loans', { body: application })
    const { body: repayment } = await service.post(`/v1/loans/${loan.id}/repayments`, {
      body: { transactionAmount: 5 },
    })

    const nothing = { status: 404, body: { code: 'not_found' } }
    for (const path of [
      `/v1/customers/${loan.customerId}`,
      '/v1/customers/external/asha',
      `/v1/loans/${loan.id}`,
      '/v1/loans/external/hers',
      `/v1/loans/${loan.id}/repayments`,
      `/v1/loans/external/hers/repayments/${repayment.id}`,
      '/v1/loan-products/1',
    ])
      expect(await service.get(path, { token })).toMatchObject(nothing)
    const body = { transactionAmount: 5 }
    expect(await service.post(`/v1/loans/${loan.id}/repayments`, { token, body })).toMatchObject(nothing)
    expect(await service.post(`/v1/loans/${loan.id}/repayments/${repayment.id}/reverse`, { token })).toMatchObject(
      nothing,
    )
    expect(await service.post('/v1/loans', { token, body: application })).toMatchObject(nothing)
    for (const list of ['/v1/customers', '/v1/loans', '/v1/loan-products', '/v1/audit-trail?entity=loan'])
      expect((await service.get(list, { token })).body).toMatchObject({ items: [], total: 0 })
    // Its own externalIds are its own.
    expect(await service.post('/v1/customers', { token, body: { externalId: 'asha' } })).toMatchObject({ status: 200 })
  })
})

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { setRoles } from '../../src/services/access/accounts.ts'
import { operator } from '../../src/services/access/caller.ts'
import { putRole } from '../../src/services/access/roles.ts'
import { GRACE_MS } from '../../src/services/signIn/held.ts'
import { updateSignIn } from '../../src/services/signIn/settings.ts'
import { type Office, openOffice } from '../support/office.ts'
import { startProvider, type TestProvider } from '../support/provider.ts'
import { startService, type TestService } from '../support/service.ts'

// The sign-in at the office pages by a provider that is the npm package oidc-provider, on a free port of this machine.

const admin = operator(1, 'test')
const HOST = 'localhost'

let service: TestService
let office: Office
let provider: TestProvider
beforeAll(async () => {
  service = await startService({ SIGN_IN_TO_PRIVATE: 'true' })
})
afterAll(() => service.close())

beforeEach(async () => {
  provider = await startProvider()
  office = openOffice(service.deps)
  const { issuer, clientId, clientSecret } = provider
  const roles = { admins: 'ADMIN', auditors: 'AUDITOR', tellers: 'teller' }
  await putRole(service.deps, admin, 'teller', { permissions: ['repayments.post'] })
  await updateSignIn(service.deps, admin, {
    provider: { issuer, clientId, clientSecret, roleClaim: 'groups', roles },
  })
})
afterEach(async () => {
  await office.monitor.close()
  await provider.close()
})

const later = (ms: number) => service.clock.set(new Date(service.clock.machineNow() + ms).toISOString(), 'machine')

const get = (url: string, cookie = '') => office.monitor.inject({ url, headers: { host: HOST, cookie } })
const cookiesOf = (answer: { cookies: { name: string; value: string }[] }) =>
  answer.cookies
    .filter(({ value }) => value !== '')
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ')

/** Goes to the provider. @returns the address, and the cookie that the browser keeps */
async function begin(next = '/') {
  const answer = await get(`/sign-in/provider/go?organization=1&next=${encodeURIComponent(next)}`)
  return { answer, url: String(answer.headers.location), cookie: cookiesOf(answer) }
}

/** Comes back from the provider, to the address that it named. */
const comeBack = (address: string, cookie: string) => {
  const { pathname, search } = new URL(address)
  return get(pathname + search, cookie)
}

/** Signs a person in. @returns the answer and the cookie of the session */
async function signIn(subject: string, next = '/') {
  const { url, cookie } = await begin(next)
  const answer = await comeBack(await provider.signInAs(subject, url), cookie)
  return { answer, session: cookiesOf(answer) }
}

/** Returns the account of a person of the provider. */
const accountOf = (subject: string) =>
  service.deps.db.prisma.account.findFirstOrThrow({ where: { subject, issuer: provider.issuer } })

describe('a person whom the provider signs in', () => {
  it('goes there by code, PKCE, state and nonce, and comes back with a session and an account without a password', async () => {
    provider.groups.set('asha', ['auditors', 'others'])
    const { url, cookie } = await begin('/journal?page=1')
    const asked = new URL(url).searchParams
    expect(Object.fromEntries(asked)).toMatchObject({
      ...{ response_type: 'code', client_id: 'mkopo-office', code_challenge_method: 'S256' },
      ...{ redirect_uri: 'http://localhost/sign-in/provider/back', state: expect.any(String) },
      ...{ nonce: expect.any(String), code_challenge: expect.any(String) },
    })
    // The browser keeps nothing that it can read.
    for (const name of ['state', 'nonce'] as const) expect(cookie).not.toContain(asked.get(name))
    const answer = await comeBack(await provider.signInAs('asha', url), cookie)
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/journal?page=1'])
    const account = await accountOf('asha')
    expect(account).toMatchObject({ passwordHash: null, roles: ['AUDITOR'], organizationId: 1 })
    expect(account.email).toMatch(/^asha@ziwa\.example:1:[0-9a-f]{12}$/)
    expect((await get('/audit', cookiesOf(answer))).statusCode).toBe(200)
    await signIn('asha')
    expect(await service.deps.db.prisma.account.count({ where: { subject: 'asha', issuer: provider.issuer } })).toBe(1)
  })

  it('has the roles that the claim names, at each sign-in, and a role of the organization, too', async () => {
    provider.groups.set('juma', ['tellers'])
    const first = await signIn('juma')
    expect((await accountOf('juma')).roles).toEqual(['teller'])
    expect((await get('/audit', first.session)).statusCode).toBe(403)
    provider.groups.set('juma', ['admins', 'tellers'])
    await signIn('juma')
    const account = await accountOf('juma')
    expect(account.roles).toEqual(['ADMIN', 'teller'])
    const trail = await service.deps.db.prisma.auditEntry.findMany({
      where: { entity: 'account', entityId: String(account.id) },
      orderBy: { id: 'asc' },
    })
    expect(trail.map(({ action }) => action)).toEqual(['create', 'set roles'])
    await expect(setRoles(service.deps, admin, account.email, ['USER'])).rejects.toThrow(
      'those that its provider tells',
    )
  })

  it('without a role is refused, and no account is made', async () => {
    provider.groups.set('nobody', ['strangers'])
    const { answer, session } = await signIn('nobody')
    expect([answer.statusCode, session]).toEqual([403, ''])
    expect(answer.body).toContain('your provider gives you no role in this organization')
    await expect(accountOf('nobody')).rejects.toThrow()
  })

  it('whose account is disabled is refused', async () => {
    provider.groups.set('gone', ['auditors'])
    await signIn('gone')
    await service.deps.db.prisma.account.updateMany({ where: { subject: 'gone' }, data: { disabledAt: new Date(0) } })
    const { answer } = await signIn('gone')
    expect(answer.statusCode).toBe(401)
    await service.deps.db.prisma.account.updateMany({ where: { subject: 'gone' }, data: { disabledAt: null } })
  })

  it('cannot be signed in by a password', async () => {
    provider.groups.set('pass', ['auditors'])
    await signIn('pass')
    const { email } = await accountOf('pass')
    await expect(service.deps.signIn.confirm(email, '', '127.0.0.1')).rejects.toThrow('wrong e-mail or password')
  })
})

describe('coming back from the provider', () => {
  const back = async (subject = 'asha') => {
    provider.groups.set(subject, ['auditors'])
    const { url, cookie } = await begin()
    return { address: new URL(await provider.signInAs(subject, url)), cookie }
  }
  const expectRefused = async (address: URL, cookie: string) => {
    const answer = await comeBack(address.href, cookie)
    expect([answer.statusCode, answer.cookies.some(({ name }) => name === 'mkopo_session')]).toEqual([401, false])
    return answer
  }

  it('with another state is refused', async () => {
    const { address, cookie } = await back()
    address.searchParams.set('state', 'another')
    await expectRefused(address, cookie)
  })

  it('without the cookie, with that of another sign-in, or with one that was changed is refused', async () => {
    const { address, cookie } = await back()
    await expectRefused(address, '')
    await expectRefused(address, (await begin()).cookie)
    await expectRefused(address, `${cookie.slice(0, -4)}AAAA`)
  })

  it('later than ten minutes is refused', async () => {
    const { address, cookie } = await back()
    later(600_000)
    await expectRefused(address, cookie)
  })

  it('with a code that was used is refused', async () => {
    const { address, cookie } = await back()
    expect((await comeBack(address.href, cookie)).statusCode).toBe(303)
    await expectRefused(address, cookie)
  })

  it('with the code of another sign-in, which has another PKCE verifier and nonce, is refused', async () => {
    const first = await back()
    const second = await back()
    second.address.searchParams.set('code', first.address.searchParams.get('code')!)
    await expectRefused(second.address, second.cookie)
  })

  it('with the issuer of another provider is refused', async () => {
    const { address, cookie } = await back()
    address.searchParams.set('iss', 'https://elsewhere.example')
    await expectRefused(address, cookie)
  })

  it('with a refusal of the provider is refused', async () => {
    const { address, cookie } = await back()
    address.searchParams.delete('code')
    address.searchParams.set('error', 'access_denied')
    await expectRefused(address, cookie)
  })

  it.each(['//evil.example/', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)'])(
    'to %s goes on to the first page instead',
    async (next) => {
      provider.groups.set('asha', ['auditors'])
      const { answer } = await signIn('asha', next)
      expect([answer.statusCode, answer.headers.location]).toEqual([303, '/'])
    },
  )
})

describe('an identity of the provider', () => {
  /** Lets the provider answer another identity: its own one with some claims changed, signed by a key that its key set has. */
  async function forge(claims: object, { subject = 'asha', ownKey = true } = {}) {
    const { exportJWK, generateKeyPair, SignJWT } = await import('jose')
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
    const published = ownKey ? publicKey : (await generateKeyPair('RS256', { extractable: true })).publicKey
    const keys = { keys: [{ ...(await exportJWK(published)), kid: 'forged', use: 'sig', alg: 'RS256' }] }
    provider.groups.set(subject, ['auditors'])
    const { url, cookie } = await begin()
    const address = await provider.signInAs(subject, url)
    const now = Math.floor(Date.now() / 1_000)
    const all = {
      ...{ iss: provider.issuer, sub: subject, aud: provider.clientId, iat: now, exp: now + 3_600 },
      ...{ nonce: new URL(url).searchParams.get('nonce'), ...claims },
    }
    const token = await new SignJWT(all).setProtectedHeader({ alg: 'RS256', kid: 'forged' }).sign(privateKey)
    provider.answer = (path) => {
      if (path.endsWith('/jwks')) return { status: 200, body: JSON.stringify(keys) }
      if (path.endsWith('/me')) return { status: 200, body: JSON.stringify({ sub: subject, groups: ['auditors'] }) }
      const body = { access_token: 'a', token_type: 'Bearer', id_token: token }
      return path.endsWith('/token') ? { status: 200, body: JSON.stringify(body) } : undefined
    }
    return (await comeBack(address, cookie)).statusCode
  }

  it('that is right is taken', async () => {
    expect(await forge({})).toBe(303)
  })

  it.each([
    ['of another issuer', { iss: 'https://elsewhere.example' }],
    ['that has expired', { iat: 1_000, exp: 2_000 }],
    ['with another nonce', { nonce: 'another' }],
    ['without a nonce', { nonce: undefined }],
    ['for another client', { aud: 'another' }],
    ['of another person than userinfo tells of', { sub: 'other' }],
  ])('%s is refused', async (_, claims) => {
    expect(await forge(claims)).toBe(401)
  })

  it('that was signed by a key which is not in the key set is refused', async () => {
    expect(await forge({}, { ownKey: false })).toBe(401)
  })

  it('that is signed by a rotated key is taken at once', async () => {
    provider.groups.set('asha', ['auditors'])
    expect((await signIn('asha')).answer.statusCode).toBe(303)
    await provider.rotateKeys()
    expect((await signIn('asha')).answer.statusCode).toBe(303)
  })
})

describe('a session of a person whom the provider knows', () => {
  it('is refused within 5 s once the provider gives no role any more', async () => {
    provider.groups.set('asha', ['auditors'])
    const { session } = await signIn('asha')
    expect((await get('/audit', session)).statusCode).toBe(200)
    provider.groups.set('asha', [])
    later(5_000)
    const answer = await get('/audit', session)
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/sign-in?next=%2Faudit'])
  })

  it('has another role within 5 s once the provider tells another', async () => {
    provider.groups.set('asha', ['auditors'])
    const { session } = await signIn('asha')
    expect((await get('/audit', session)).statusCode).toBe(200)
    provider.groups.set('asha', ['tellers'])
    later(5_000)
    expect((await get('/audit', session)).statusCode).toBe(403)
    expect((await accountOf('asha')).roles).toEqual(['teller'])
  })

  it('is refused within 5 s once the permission is taken away here: from the role, by the map, or with the provider', async () => {
    provider.groups.set('asha', ['tellers'])
    await putRole(service.deps, admin, 'teller', { permissions: ['reports.read'] })
    const { session } = await signIn('asha')
    expect((await get('/audit', session)).statusCode).toBe(200)
    await putRole(service.deps, admin, 'teller', { permissions: ['repayments.post'] })
    later(5_000)
    expect((await get('/audit', session)).statusCode).toBe(403)
    await updateSignIn(service.deps, admin, { provider: null })
    later(5_000)
    expect((await get('/products', session)).statusCode).toBe(303)
  })

  it('asks the provider once in 4 s at most, whatever the number of requests', async () => {
    provider.groups.set('asha', ['auditors'])
    const { session } = await signIn('asha')
    await get('/products', session)
    provider.asked.length = 0
    await Promise.all(Array.from({ length: 5 }, () => get('/products', session)))
    await get('/products', session)
    expect(provider.asked.filter((path) => path === '/me').length).toBeLessThanOrEqual(1)
    later(5_000)
    await Promise.all(Array.from({ length: 5 }, () => get('/products', session)))
    expect(provider.asked.filter((path) => path === '/me').length).toBeLessThanOrEqual(2)
  })

  it('goes on for a minute while the provider is away, and then is unavailable until it is back', async () => {
    provider.groups.set('asha', ['auditors'])
    const { session } = await signIn('asha')
    expect((await get('/audit', session)).statusCode).toBe(200)
    provider.answer = () => ({ status: 503, body: '{}' })
    later(5_000)
    expect((await get('/audit', session)).statusCode).toBe(200)
    provider.answer = () => 'none'
    later(5_000)
    expect((await get('/audit', session)).statusCode).toBe(200)
    later(GRACE_MS)
    const refused = await get('/audit', session)
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5'])
    provider.answer = undefined
    later(5_000)
    expect((await get('/audit', session)).statusCode).toBe(200)
  })

  it('refreshes tokens that have ended, and ends where the provider refuses that', async () => {
    provider.groups.set('asha', ['auditors'])
    const { session } = await signIn('asha')
    await get('/audit', session)
    const refusing = (path: string) => (path === '/me' ? { status: 401, body: '{}' } : undefined)
    let refusals = 1
    provider.answer = (path) => (path === '/me' && refusals-- > 0 ? refusing(path) : undefined)
    later(5_000)
    provider.asked.length = 0
    expect((await get('/audit', session)).statusCode).toBe(200)
    expect(provider.asked.filter((path) => path === '/token' || path === '/me')).toEqual(['/me', '/token', '/me'])
    provider.answer = undefined
    provider.revokeAll()
    later(5_000)
    expect((await get('/audit', session)).statusCode).toBe(303)
  })
})

describe('a provider', () => {
  it('that is away at the sign-in is unavailable, on the way there and on the way back', async () => {
    provider.groups.set('asha', ['auditors'])
    const { url, cookie } = await begin()
    const address = await provider.signInAs('asha', url)
    provider.answer = (path) => (path === '/token' ? 'none' : undefined)
    expect((await comeBack(address, cookie)).statusCode).toBe(503)
    const another = openOffice(service.deps)
    provider.answer = () => 'none'
    const answer = await another.monitor.inject({
      url: '/sign-in/provider/go?organization=1',
      headers: { host: HOST },
    })
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5'])
    await another.monitor.close()
  })

  it('that says that it is another one is refused', async () => {
    const body = JSON.stringify({
      issuer: 'https://elsewhere.example',
      authorization_endpoint: `${provider.issuer}/auth`,
    })
    provider.answer = (path) => (path.includes('.well-known') ? { status: 200, body } : undefined)
    expect((await begin()).answer.statusCode).toBe(409)
  })

  it('of no organization is not found', async () => {
    for (const number of ['2', '0', 'x', ''])
      expect((await get(`/sign-in/provider/go?organization=${number}`)).statusCode).toBe(404)
  })

  it('is on the page of the sign-in, whose form leads to it by a page of this port', async () => {
    later(5_000)
    expect((await get('/sign-in')).body).toContain('action="/sign-in/provider"')
    const answer = await get('/sign-in/provider?organization=1&next=%2Faudit')
    expect([answer.statusCode, answer.headers.refresh]).toEqual([
      200,
      '0;url=/sign-in/provider/go?organization=1&next=%2Faudit',
    ])
  })
})

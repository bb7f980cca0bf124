import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operator } from '../../src/services/access/caller.ts'
import { addAccount } from '../support/accounts.ts'
import { opsOn, RUN } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let other: TestService
let ops: ReturnType<typeof opsOn>
beforeAll(async () => {
  service = await startService()
  other = await service.another()
  ops = opsOn(service)
})
afterAll(() => service.close())
beforeEach(() => later(10_000))

const later = (ms: number) => service.clock.set(new Date(service.clock.now() + ms).toISOString())
const PASSWORD = 'twelve letters'
const signIn = async (email: string, password = PASSWORD) => {
  const { status, body } = await service.get('/v1/auth/token', {
    host: 'auth.localhost',
    headers: { authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}` },
  })
  return { status, token: String(body.token) }
}
const statuses = async (token: string) =>
  Promise.all([service, other].map(async (one) => (await one.get('/v1/loan-products', { token })).status))
const audited = async (action: string, entityId: number) =>
  (
    await service.deps.db.pool.query(
      `SELECT account_id, request_id, before, after FROM audit_entry
       WHERE entity = 'account' AND entity_id = $1::text AND action = $2`,
      [entityId, action],
    )
  ).rows

async function newAccount(email: string): Promise<number> {
  const { code, json } = await ops<{ id: number }>(`accounts create ${email} --json`, { stdin: `${PASSWORD}\n` })
  expect(code).toBe(0)
  return json.id
}

/** Adds an account for what comes after its creation: a password that the program hashes costs a third of a second of a core, and as much at each sign-in. */
const addedAccount = async (email: string): Promise<number> =>
  (await addAccount(service.deps, operator(1, 'test'), { email, password: PASSWORD, roles: ['USER'] })).id

describe('accounts create', () => {
  it('with the password of stdin; the account can sign in, and the trail names its author, without the password', async () => {
    const id = await newAccount('new@lender.example')
    expect((await signIn('new@lender.example')).status).toBe(200)
    const rows = await audited('create', id)
    expect(rows).toMatchObject([{ account_id: null, request_id: RUN, after: { roles: ['USER'] } }])
    expect(JSON.stringify(rows)).not.toContain(PASSWORD)
  })

  it('with a generated password, shown once and good for signing in', async () => {
    const { out, code } = await ops('accounts create generated@lender.example --role ADMIN,USER --generate')
    expect(code).toBe(0)
    const [, password = ''] = /shown only now: (\S+)/.exec(out) ?? []
    expect(password.length).toBeGreaterThanOrEqual(24)
    expect((await signIn('generated@lender.example', password)).status).toBe(200)
  })

  it('with twelve characters, whatever their size, and a colon in the password', async () => {
    const password = `${'🔑'.repeat(11)}:`
    expect((await ops('accounts create keys@lender.example', { stdin: password })).code).toBe(0)
    expect((await signIn('keys@lender.example', password)).status).toBe(200)
    // What is too long to sign in with is too long to have.
    const longest = '🔑'.repeat(500)
    expect((await ops('accounts create longest@lender.example', { stdin: longest })).code).toBe(0)
    expect((await signIn('longest@lender.example', longest)).status).toBe(200)
    expect(await ops('accounts create longer@lender.example', { stdin: `${longest}:` })).toMatchObject({
      code: 1,
      err: expect.stringContaining('password: must be 12 to 1000 characters long'),
    })
  })

  it('asks at a terminal, twice, and shows nothing', async () => {
    const differ = await ops('accounts create asked@lender.example', { passwords: [PASSWORD, 'another one of those'] })
    expect(differ).toMatchObject({ code: 2, err: 'mkopo: the two passwords differ\n' })
    const asked = await ops('accounts create asked@lender.example', { passwords: [PASSWORD, PASSWORD] })
    expect(asked.code).toBe(0)
    expect(asked.out + asked.err).not.toContain(PASSWORD)
  })

  it.each([
    ['accounts create partner@example.com', PASSWORD, 1, /exists already/],
    ['accounts create Partner@Example.com', PASSWORD, 1, /exists already/],
    ['accounts create nobody', PASSWORD, 1, /must be an e-mail address/],
    ['accounts create a:b@lender.example', PASSWORD, 1, /email: must have no colon and no control character/],
    ['accounts create a\u0007b@lender.example', PASSWORD, 1, /email: must have no colon and no control character/],
    ['accounts create short@lender.example', 'short', 1, /12 to 1000 characters/],
    ['accounts create short@lender.example', '🔑'.repeat(11), 1, /12 to 1000 characters/],
    ['accounts create tab@lender.example', 'twelve\tletters', 1, /password: must have no control character/],
    [
      'accounts reset-password partner@example.com -y',
      'twelve\tletters',
      1,
      /password: must have no control character/,
    ],
    ['accounts create none@lender.example', '', 2, /first line of stdin/],
    [
      'accounts create none@lender.example --role ROOT',
      PASSWORD,
      1,
      /USER, ADMIN, AUDITOR, PROPOSER and the roles of the organization/,
    ],
    [
      'accounts create none@lender.example --role not/one',
      PASSWORD,
      2,
      /USER, ADMIN, AUDITOR, PROPOSER, or the name of a role/,
    ],
    ['accounts create none@lender.example -o 77', PASSWORD, 1, /no organization 77/],
  ])('%s with "%s": exit code %i', async (command, stdin, code, message) => {
    const run = await ops(command, { stdin })
    expect(run.code).toBe(code)
    expect(run.err).toMatch(message)
    expect(run.out).toBe('')
  })
})

describe('accounts list', () => {
  it('of all organizations or of one, never with a hash', async () => {
    const { out, code } = await ops('accounts list')
    expect(code).toBe(0)
    expect(out).toContain('partner@example.com')
    expect(out).not.toContain('scrypt')
    const { json } = await ops('accounts list -o 1 --json')
    expect(json[0]).toEqual({
      organizationId: 1,
      id: expect.any(Number),
      email: 'partner@example.com',
      roles: ['USER'],
      disabled: false,
      disabledAt: null,
      tokensFrom: null,
      createdAt: expect.stringContaining('+03:00'),
    })
    expect((await ops('accounts list -o 77 --json')).json).toEqual([])
  })
})

describe('accounts disable and enable', () => {
  it('its token is refused within 5 s on both of two instances, and taken again when it is enabled', async () => {
    const id = await addedAccount('left@lender.example')
    const { token } = await signIn('left@lender.example')
    expect(await statuses(token)).toEqual([200, 200])
    expect((await ops('accounts disable left@lender.example')).code).toBe(0)
    later(4_999)
    expect(await statuses(token)).toEqual([401, 401])
    expect((await signIn('left@lender.example')).status).toBe(401)
    expect(await ops('accounts disable left@lender.example')).toMatchObject({
      code: 1,
      err: 'mkopo: the account is disabled already\n',
    })
    expect((await ops('accounts enable left@lender.example')).code).toBe(0)
    expect(await statuses(token)).toEqual([200, 200])
    expect(await audited('disable', id)).toMatchObject([{ before: { disabled: false }, after: { disabled: true } }])
    expect(await audited('enable', id)).toHaveLength(1)
  })

  it('exit code 1 for an e-mail that nobody has', async () => {
    expect(await ops('accounts disable who@lender.example --json')).toMatchObject({
      code: 1,
      out: '',
      err: '{"code":"not_found","message":"no account has that e-mail"}\n',
    })
  })
})

describe('accounts reset-password and revoke-tokens', () => {
  it('asks first; without a terminal it takes --yes', async () => {
    await addedAccount('careful@lender.example')
    const refused = await ops('accounts reset-password careful@lender.example', { stdin: 'another password' })
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('Say --yes')
    const declined = await ops('accounts reset-password careful@lender.example --generate', { says: false })
    expect(declined).toMatchObject({ code: 1, out: '' })
    expect((await signIn('careful@lender.example')).status).toBe(200)
  })

  it('the old password and the old tokens end within 5 s; the new ones are good in the same second', async () => {
    await addedAccount('leaked@lender.example')
    const before = await signIn('leaked@lender.example')
    expect(await statuses(before.token)).toEqual([200, 200])
    later(500)
    const { code } = await ops('accounts reset-password leaked@lender.example --yes', { stdin: 'another password' })
    expect(code).toBe(0)
    const after = await signIn('leaked@lender.example', 'another password')
    expect(after.status).toBe(200)
    expect((await signIn('leaked@lender.example')).status).toBe(401)
    later(4_999)
    expect(await statuses(before.token)).toEqual([401, 401])
    expect(await statuses(after.token)).toEqual([200, 200])
  })

  it('revoke-tokens ends every token issued so far, and nothing else', async () => {
    await addedAccount('phone@lender.example')
    const { token } = await signIn('phone@lender.example')
    expect((await ops('accounts revoke-tokens phone@lender.example', { says: true })).code).toBe(0)
    later(4_999)
    expect(await statuses(token)).toEqual([401, 401])
    expect(await statuses((await signIn('phone@lender.example')).token)).toEqual([200, 200])
  })
})

describe('accounts roles', () => {
  it('count within 5 s, for tokens issued before', async () => {
    await addedAccount('promoted@lender.example')
    const { token } = await signIn('promoted@lender.example')
    const asAdmin = async () =>
      (await other.post('/v1/auth/authorize', { host: 'auth.localhost', token, body: { rule: 'admin' } })).status
    expect(await asAdmin()).toBe(403)
    expect((await ops('accounts roles promoted@lender.example USER ADMIN')).out).toContain('USER and ADMIN')
    later(4_999)
    expect(await asAdmin()).toBe(204)
    expect((await ops('accounts roles promoted@lender.example')).code).toBe(2)
  })
})

import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { insertAccount } from '../../src/db/access/accounts.ts'
import { BUILT_IN_ROLES } from '../../src/domain/access/permissions.ts'
import { resetSecondFactor } from '../../src/services/access/accounts.ts'
import { operator } from '../../src/services/access/caller.ts'
import { hashPublishedPassword } from '../../src/services/access/passwords/passwords.ts'
import { MOST_SIGN_INS } from '../../src/services/access/signInLimits.ts'
import { updateSignIn } from '../../src/services/signIn/settings.ts'
import { type Office, openOffice } from '../support/office.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

const PASSWORD = 'a long enough secret'
const admin = operator(1, 'test')

let service: TestService
let office: Office
beforeAll(async () => {
  service = await startService()
  office = openOffice(service.deps)
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})

let serial = 0
let email = ''
let id = 0
beforeEach(async () => {
  email = `person-${++serial}@ziwa.example`
  const account = { email, passwordHash: hashPublishedPassword(PASSWORD), roles: ['USER'] }
  id = (await insertAccount(service.deps.db, admin, account, service.deps.machineNow()))!.id
  await updateSignIn(service.deps, admin, { secondFactorRequired: false })
})

const later = (seconds: number) =>
  service.clock.stand(new Date(service.clock.machineNow() + seconds * 1_000).toISOString(), 'machine')

/** Returns the code of a secret now, or some seconds away. */
const codeOf = (secret: string, seconds = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: service.clock.machineNow() + seconds * 1_000 })

async function signIn(code = '') {
  const answer = await office.monitor.inject({
    ...{ method: 'POST', url: '/sign-in' },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ email, password: PASSWORD, code }).toString(),
  })
  const cookie = answer.cookies.find(({ name }) => name === 'mkopo_session')
  return { status: answer.statusCode, text: answer.body, cookie: cookie ? `${cookie.name}=${cookie.value}` : '' }
}

const get = (url: string, cookie: string) => office.monitor.inject({ url, headers: { cookie } })

/** Sends the form of the second factor. */
async function post(fields: Record<string, string>, cookie: string) {
  const page = await get('/second-factor', cookie)
  const _token = String(/name="_token" value="([^"]+)"/.exec(page.body)?.[1])
  return office.post('/second-factor', { ...fields, _token }, cookie)
}

/** Sets a second factor up. @returns the secret, and the recovery codes */
async function setUp(cookie?: string) {
  service.clock.stand(new Date(service.clock.machineNow()).toISOString(), 'machine')
  const session = cookie ?? (await signIn()).cookie
  const offered = await post({}, session)
  const secret = /<code>([A-Z2-7]{32})<\/code>/.exec(offered.text)![1]!
  const proved = await post({ step: 'prove', code: codeOf(secret) }, session)
  const recovery = [...proved.text.matchAll(/<code>([A-Z2-7-]{19})<\/code>/g)].map(([, code]) => code!)
  return { secret, recovery, offered, proved, session }
}

describe('setting a second factor up', () => {
  it('shows the secret once, as text, as an address and as a picture, and ten recovery codes once it is proved', async () => {
    const { secret, recovery, offered, proved, session } = await setUp()
    expect(offered.status).toBe(200)
    expect(offered.text).toContain(`secret=${secret}`)
    expect(offered.text).toContain('otpauth://totp/Mkopo:')
    expect(offered.text).toMatch(/<svg [^>]*>/)
    expect(offered.text).not.toMatch(/style=/)
    expect(proved.status).toBe(200)
    expect(new Set(recovery).size).toBe(10)
    expect((await get('/second-factor', session)).body).not.toContain(secret)
    expect((await post({}, session)).status).toBe(409)
    const stored = await service.deps.db.prisma.secondFactor.findUniqueOrThrow({
      where: { organizationId_accountId: { organizationId: 1, accountId: id } },
    })
    expect(stored.secret).not.toContain(secret)
    for (const code of recovery) expect(stored.recovery.join()).not.toContain(code)
  })

  it('takes no wrong code, and then the right one', async () => {
    const { cookie } = await signIn()
    const offered = await post({}, cookie)
    const secret = /<code>([A-Z2-7]{32})<\/code>/.exec(offered.text)![1]!
    const wrong = await post({ step: 'prove', code: '000000' }, cookie)
    expect([wrong.status, wrong.text.includes(secret)]).toEqual([400, false])
    expect((await post({ step: 'prove', code: codeOf(secret) }, cookie)).status).toBe(200)
  })

  it('offers another secret until one is proved: that of before is none any more', async () => {
    const { cookie } = await signIn()
    const secretIn = (text: string) => /<code>([A-Z2-7]{32})<\/code>/.exec(text)![1]!
    const first = secretIn((await post({}, cookie)).text)
    const second = secretIn((await post({}, cookie)).text)
    expect((await post({ step: 'prove', code: codeOf(first) }, cookie)).status).toBe(400)
    expect((await post({ step: 'prove', code: codeOf(second) }, cookie)).status).toBe(200)
  })
})

describe('a sign-in with a second factor', () => {
  it('takes the right code once, and refuses without one and with a wrong one', async () => {
    const { secret } = await setUp()
    later(30)
    expect(await signIn()).toMatchObject({
      status: 401,
      text: expect.stringContaining('the account has a second factor'),
    })
    expect(await signIn('000000')).toMatchObject({ status: 401, text: expect.stringContaining('the code is wrong') })
    const code = codeOf(secret)
    expect((await signIn(code)).status).toBe(303)
    expect((await signIn(code)).status).toBe(401)
  })

  it('takes one code in two requests at once for one of them alone', async () => {
    const { secret } = await setUp()
    later(30)
    const code = codeOf(secret)
    const both = await Promise.all([signIn(code), signIn(code)])
    expect(both.map(({ status }) => status).sort()).toEqual([303, 401])
  })

  it.each([
    [-60, 401],
    [-30, 303],
    [30, 303],
    [60, 401],
  ])('whose phone is %i s off is answered %i', async (seconds, status) => {
    const { secret } = await setUp()
    later(120)
    expect((await signIn(codeOf(secret, seconds))).status).toBe(status)
  })

  it('takes no code of a step before the last one that was taken', async () => {
    const { secret } = await setUp()
    later(120)
    expect((await signIn(codeOf(secret, 30))).status).toBe(303)
    expect((await signIn(codeOf(secret))).status).toBe(401)
  })

  it('takes each recovery code once, however it is typed', async () => {
    const { recovery } = await setUp()
    const [first, second] = recovery
    expect((await signIn(first!.toLowerCase().replaceAll('-', ' '))).status).toBe(303)
    expect((await signIn(first)).status).toBe(401)
    expect((await signIn(second)).status).toBe(303)
  })

  it('counts wrong codes as failed sign-ins, and not those that were left out', async () => {
    const { secret } = await setUp()
    later(30)
    for (let round = 0; round < MOST_SIGN_INS.failures.email + 2; round++) expect((await signIn()).status).toBe(401)
    for (let round = 0; round < MOST_SIGN_INS.failures.email; round++) expect((await signIn('000000')).status).toBe(401)
    expect((await signIn(codeOf(secret))).status).toBe(429)
  })

  it('takes the code in a header where a token is asked for by the password', async () => {
    const { secret } = await setUp()
    later(30)
    const authorization = `Basic ${Buffer.from(`${email}:${PASSWORD}`).toString('base64')}`
    const ask = (headers: Record<string, string>) =>
      service.get('/v1/auth/token', { host: 'auth.localhost', headers: { authorization, ...headers } })
    expect(await ask({})).toMatchObject({ status: 401, body: { message: expect.stringContaining('x-mkopo-code') } })
    expect((await ask({ 'x-mkopo-code': '000000' })).status).toBe(401)
    expect((await ask({ 'x-mkopo-code': codeOf(secret) })).status).toBe(200)
  })
})

describe('an organization that requires a second factor', () => {
  it('lets accounts without one see nothing but the page to set it up, within 5 s', async () => {
    const { cookie } = await signIn()
    expect((await get('/products', cookie)).statusCode).toBe(200)
    await updateSignIn(service.deps, admin, { secondFactorRequired: true })
    later(5)
    for (const url of ['/products', '/', '/loans.csv']) {
      const answer = await get(url, cookie)
      expect([url, answer.statusCode, answer.headers.location]).toEqual([url, 303, '/second-factor'])
    }
    expect((await get('/second-factor', cookie)).body).toContain('Your organization asks for a second factor')
    await setUp(cookie)
    expect((await get('/products', cookie)).statusCode).toBe(200)
  })
})

describe('a reset of a second factor', () => {
  it('lets the password do alone again, and is in the trail: over HTTP and at the command line', async () => {
    await setUp()
    const path = `/v1/accounts/${id}/reset-second-factor`
    expect((await service.post(path, { token: service.tokens.operator })).status).toBe(204)
    expect((await signIn()).status).toBe(303)
    expect((await service.post(path, { token: service.tokens.operator })).status).toBe(409)
    await setUp()
    expect((await opsOn(service)(['accounts', 'reset-second-factor', email, '--yes'])).code).toBe(0)
    expect((await signIn()).status).toBe(303)
    const trail = await service.deps.db.prisma.auditEntry.findMany({
      where: { entity: 'account', entityId: String(id) },
      orderBy: { id: 'asc' },
    })
    expect(trail.map(({ action }) => action)).toEqual([
      'create',
      ...['enable second factor', 'reset second factor', 'enable second factor', 'reset second factor'],
    ])
  })

  it('is refused for an account that may do more, and for one of another organization', async () => {
    await setUp()
    const weak = { ...admin, permissions: BUILT_IN_ROLES.AUDITOR }
    await expect(resetSecondFactor(service.deps, weak, { id: BigInt(id) })).rejects.toThrow('organization.manage')
    const manager = { ...admin, permissions: BUILT_IN_ROLES.ADMIN & ~BUILT_IN_ROLES.USER }
    await expect(resetSecondFactor(service.deps, manager, { id: BigInt(id) })).rejects.toThrow(
      'you do not have the permission',
    )
    await expect(resetSecondFactor(service.deps, operator(2, 'test'), { id: BigInt(id) })).rejects.toThrow(
      'no account has that id',
    )
  })
})

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operator } from '../../src/services/access/caller.ts'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { addAccount } from '../support/accounts.ts'
import { keepJournal } from '../support/journal.ts'
import { type Office, openOffice, type Person } from '../support/office.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

// Signing in at the office pages: sessions, their end, and forms that nobody else can send.

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
beforeEach(() => service.clock.set('2026-04-01T12:00:00+03:00'))
afterEach(() => service.deps.db.pool.query('DELETE FROM page_session'))

const see = async (url: string, cookie = '', headers: Record<string, string> = {}) => {
  const {
    statusCode,
    headers: answered,
    body,
    cookies,
  } = await office.monitor.inject({ url, headers: { cookie, ...headers } })
  return { status: statusCode, location: answered.location, text: body, cookies }
}
const minutesLater = (minutes: number) =>
  service.clock.set(new Date(Date.parse('2026-04-01T12:00:00+03:00') + minutes * 60_000).toISOString())

describe('signing in', () => {
  it('sends a person without a session to the sign-in, and on to the page afterwards', async () => {
    const { status, location } = await see('/arrears?bucket=31-60')
    expect([status, location]).toEqual([303, `/sign-in?next=${encodeURIComponent('/arrears?bucket=31-60')}`])
    const { text } = await see(location!)
    expect(text).toContain('name="next" value="/arrears?bucket=31-60"')
    const sent = await office.monitor.inject({
      ...{ method: 'POST', url: '/sign-in' },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ ...DEMO_OPERATOR, next: '/arrears?bucket=31-60' }).toString(),
    })
    expect([sent.statusCode, sent.headers.location]).toEqual([303, '/arrears?bucket=31-60'])
    expect(sent.cookies).toMatchObject([{ name: 'mkopo_session', httpOnly: true, sameSite: 'Lax', path: '/' }])
  })

  it.each([
    ['/search?q=張三', '/search?q=%E5%BC%B5%E4%B8%89'],
    ['/search?q=é', '/search?q=%C3%A9'],
    ['/products\u0001', '/'],
    ['/a\u007f', '/'],
    ['/a\r\nSet-Cookie: b=c', '/'],
    ['/\t/evil.example', '/'],
    ['/\ud800', '/%EF%BF%BD'],
  ])('goes on to %j as a header can carry it', async (next, location) => {
    const sent = await office.post('/sign-in', { ...DEMO_OPERATOR, next }, '')
    expect([sent.status, sent.headers.location]).toEqual([303, location])
    const chosen = await see(`/language?${new URLSearchParams({ to: 'sw', next })}`)
    expect([chosen.status, chosen.location]).toEqual([303, location])
  })

  it('leaves a path out to which the sign-in would not go on, because a header could not carry it', async () => {
    const { status, location } = await see(`/search?q=${'%E6%97%A5'.repeat(900)}`)
    expect([status, location]).toEqual([303, '/sign-in'])
  })

  it('refuses an e-mail that no account can have as it refuses a wrong one', async () => {
    const { status, text } = await office.post('/sign-in', { email: 'a\u0000b', password: 'x' }, '')
    expect([status, text]).toEqual([401, expect.stringContaining('role="alert"')])
  })

  it.each(['//evil.example', 'https://evil.example/', '/\\evil.example', 'evil', '/a b', ''])(
    'goes on to no address of another site: "%s"',
    async (next) => {
      const sent = await office.post('/sign-in', { ...DEMO_OPERATOR, next }, '')
      expect(sent.headers.location).toBe('/')
    },
  )

  it('ends the session before in that browser, also of another person; another browser keeps its own', async () => {
    const [before, elsewhere] = [await office.signIn(DEMO_OPERATOR), await office.signIn(DEMO_OPERATOR)]
    expect((await see('/', before)).status).toBe(200)
    const again = await office.post('/sign-in', { ...DEMO_AUDITOR }, before)
    expect(again.status).toBe(303)
    expect((await see('/', before)).status).toBe(303)
    expect((await see('/', elsewhere)).status).toBe(200)
    const after = String(again.headers['set-cookie']).split(';')[0]!
    expect((await see('/', after)).status).toBe(200)
    // One that is refused ends none.
    expect((await office.post('/sign-in', { ...DEMO_AUDITOR, password: 'wrong' }, after)).status).toBe(401)
    expect((await see('/', after)).status).toBe(200)
  })

  it('refuses a wrong password and an unknown e-mail alike, and sets no cookie', async () => {
    for (const person of [
      { ...DEMO_OPERATOR, password: 'wrong' },
      { email: 'nobody@example.com', password: 'wrong' },
    ] satisfies Person[]) {
      const { status, text, headers } = await office.post('/sign-in', person, '')
      expect([status, headers['set-cookie']]).toEqual([401, undefined])
      expect(text).toContain('wrong e-mail or password, or the account is disabled')
    }
  })

  it('refuses further attempts after too many failures', async () => {
    const email = 'guessed@example.com'
    const account = { email, password: 'a long enough secret', roles: ['USER'] }
    await addAccount(service.deps, operator(1, 'test'), account)
    const person = { email, password: 'wrong' }
    let status = 0
    for (let attempt = 0; attempt < 30 && status !== 429; attempt++)
      status = (await office.post('/sign-in', person, '')).status
    expect(status).toBe(429)
  })

  it('takes a cookie of nobody, or a changed one, for none', async () => {
    const cookie = await office.signIn(DEMO_OPERATOR)
    for (const other of ['mkopo_session=x', `${cookie}x`, `${cookie.slice(0, -1)}`])
      expect((await see('/', other)).status).toBe(303)
  })

  it('keeps no cookie and no password where others can read them', async () => {
    const cookie = await office.signIn(DEMO_OPERATOR)
    const { rows } = await service.deps.db.pool.query('SELECT * FROM page_session')
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(cookie.split('=')[1])
  })
})

describe('a session ends', () => {
  it('after 15 minutes without a request, and not while there are some', async () => {
    const cookie = await office.signIn(DEMO_OPERATOR)
    for (const minutes of [10, 20, 30]) {
      minutesLater(minutes)
      expect([minutes, (await see('/', cookie)).status]).toEqual([minutes, 200])
    }
    minutesLater(46)
    expect((await see('/', cookie)).status).toBe(303)
  })

  it('after 12 hours in any case', async () => {
    const cookie = await office.signIn(DEMO_OPERATOR)
    for (let minutes = 10; minutes < 720; minutes += 10) {
      minutesLater(minutes)
      expect((await see('/products', cookie)).status).toBe(200)
    }
    minutesLater(721)
    expect((await see('/products', cookie)).status).toBe(303)
  })

  it('when its person signs out, on another instance within five seconds', async () => {
    const other = openOffice(service.deps)
    const cookie = await office.signIn(DEMO_OPERATOR)
    const elsewhere = () => other.monitor.inject({ url: '/', headers: { cookie } })
    expect((await elsewhere()).statusCode).toBe(200)
    const form = /name="_token" value="([^"]*)"/.exec((await see('/', cookie)).text)![1]!
    expect(await office.post('/sign-out', { _token: form }, cookie)).toMatchObject({
      status: 303,
      headers: { location: '/sign-in' },
    })
    expect((await see('/', cookie)).status).toBe(303)
    service.clock.set('2026-04-01T12:00:05+03:00')
    expect((await elsewhere()).statusCode).toBe(303)
    await other.monitor.close()
  })

  it('within five seconds after its account is disabled, or all tokens of it are revoked', async () => {
    const ops = opsOn(service)
    for (const command of ['disable', 'revoke-tokens']) {
      service.clock.set('2026-04-01T12:00:00+03:00')
      const cookie = await office.signIn(DEMO_PARTNER)
      service.clock.set('2026-04-01T12:00:01+03:00')
      expect((await see('/', cookie)).status).toBe(200)
      expect((await ops(`accounts ${command} ${DEMO_PARTNER.email} --yes`)).code).toBe(0)
      service.clock.set('2026-04-01T12:00:06+03:00')
      expect((await see('/', cookie)).status).toBe(303)
      if (command === 'disable') expect((await ops(`accounts enable ${DEMO_PARTNER.email}`)).code).toBe(0)
    }
    await service.deps.db.pool.query('UPDATE account SET tokens_from = NULL')
  })
})

describe('a form', () => {
  it('without a token, with one of another session, or from another site is refused, and changes nothing', async () => {
    const [cookie, others] = [await office.signIn(DEMO_OPERATOR), await office.signIn(DEMO_OPERATOR)]
    const tokenOf = async (of: string) => /name="_token" value="([^"]*)"/.exec((await see('/', of)).text)![1]!
    for (const fields of [{}, { _token: '' }, { _token: 'x' }, { _token: await tokenOf(others) }])
      expect((await office.post('/sign-out', fields as Record<string, string>, cookie)).status).toBe(403)
    const fromElsewhere = async (headers: Record<string, string>, url = '/sign-out') =>
      (
        await office.monitor.inject({
          ...{ method: 'POST', url },
          headers: { cookie, 'content-type': 'application/x-www-form-urlencoded', host: 'localhost:3001', ...headers },
          payload: new URLSearchParams({ ...DEMO_OPERATOR, _token: await tokenOf(cookie) }).toString(),
        })
      ).statusCode
    for (const url of ['/sign-out', '/sign-in']) {
      expect(await fromElsewhere({ origin: 'https://evil.example' }, url)).toBe(403)
      expect(await fromElsewhere({ origin: 'null' }, url)).toBe(403)
      expect(await fromElsewhere({ 'sec-fetch-site': 'cross-site' }, url)).toBe(403)
      expect(await fromElsewhere({ 'sec-fetch-site': 'same-site' }, url)).toBe(403)
    }
    expect((await see('/', cookie)).status).toBe(200)
    expect(await fromElsewhere({ origin: 'http://localhost:3001', 'sec-fetch-site': 'same-origin' })).toBe(303)
  })

  it('that is sent after the session has ended asks to sign in, and changes nothing', async () => {
    const { status, text } = await office.post('/products/1/do/retire', { step: 'confirm' }, '')
    expect(status).toBe(401)
    expect(text).toContain('You are signed out')
  })

  it('of more than 64 kB is refused', async () => {
    const cookie = await office.signIn(DEMO_OPERATOR)
    expect((await office.post('/sign-out', { _token: 'x'.repeat(70_000) }, cookie)).status).toBe(413)
  })
})

describe('roles', () => {
  beforeAll(() => keepJournal(service.deps))

  const READERS_ONLY = [
    '/portfolio-at-risk',
    '/pending',
    '/journal',
    '/trial-balance',
    '/month-end',
    '/webhooks',
    '/audit',
    '/exports',
    '/book',
  ]
  const READERS_FILES = ['/customers.csv', '/loans.csv', '/transactions.csv', '/audit.csv', '/portfolio-at-risk.csv']
  const JOURNAL_FILES = ['/journal.csv?period=2026-04', '/journal.hledger?period=2026-04']

  it('USER sees today, customers, loans, arrears with their file, and products, and no page of readers', async () => {
    const { text } = await office.look('/', DEMO_PARTNER)
    expect(text).toContain('href="/arrears"')
    const arrears = await office.look('/arrears', DEMO_PARTNER)
    expect(arrears.text).toContain('Loans by bucket')
    for (const path of READERS_ONLY)
      for (const page of [text, arrears.text]) expect(page).not.toContain(`href="${path}"`)
    for (const path of [
      '/',
      '/customers',
      '/products',
      '/search?q=asha',
      '/arrears',
      '/arrears?bucket=1-30',
      '/arrears.csv',
    ])
      expect([path, (await office.look(path, DEMO_PARTNER)).status]).toEqual([path, 200])
    for (const path of [...READERS_ONLY, ...READERS_FILES, ...JOURNAL_FILES])
      expect([path, (await office.look(path, DEMO_PARTNER)).status]).toEqual([path, 403])
  })

  it('AUDITOR sees every page, and may change nothing', async () => {
    for (const path of ['/', '/customers', '/products', '/arrears', '/arrears.csv', ...READERS_ONLY, ...READERS_FILES])
      expect([path, (await office.look(path, DEMO_AUDITOR)).status]).toEqual([path, 200])
    for (const path of ['/products/1/do/retire', '/loans/1/do/waive'])
      expect([403, 404]).toContain((await office.look(path, DEMO_AUDITOR)).status)
    expect((await office.look('/products', DEMO_AUDITOR)).text).not.toContain('/do/retire')
  })

  it('a role that was taken away counts within five seconds', async () => {
    const cookie = await office.signIn(DEMO_AUDITOR)
    expect((await see('/exports', cookie)).status).toBe(200)
    const set = (roles: string) =>
      service.deps.db.pool.query(`UPDATE account SET roles = $2 WHERE email = $1`, [DEMO_AUDITOR.email, [roles]])
    await set('USER')
    service.clock.set('2026-04-01T12:00:05+03:00')
    expect((await see('/exports', cookie)).status).toBe(403)
    await set('AUDITOR')
  })
})

describe('the language', () => {
  it('is that of the browser until one is chosen, on every page', async () => {
    const cookie = await office.signIn(DEMO_OPERATOR)
    expect((await see('/', cookie)).text).toContain('<html lang="en">')
    expect((await see('/', cookie, { 'accept-language': 'sw-TZ,sw;q=0.9' })).text).toContain('<h1>Leo, 2026-04-01</h1>')
    const chosen = await see('/language?to=sw&next=/products', cookie)
    expect([chosen.status, chosen.location]).toEqual([303, '/products'])
    const { name, value } = chosen.cookies[0]!
    const { text } = await see('/products', `${cookie}; ${name}=${value}`)
    expect(text).toContain('<html lang="sw">')
    expect(text).toContain('<h1>Bidhaa</h1>')
    expect((await see('/language?to=sw&next=//evil.example', cookie)).location).toBe('/')
  })
})

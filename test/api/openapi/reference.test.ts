import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { operator } from '../../../src/services/access/caller.ts'
import { DEMO_OPERATOR, DEMO_PARTNER } from '../../../src/services/organizations/seedDemo.ts'
import { addAccount } from '../../support/accounts.ts'
import { findChromium, startChromium } from '../../support/browser.ts'
import { startService, type TestService } from '../../support/service.ts'
import type { Document } from '../../support/wire.ts'
import { toyApp } from '../toy.ts'

let service: TestService
let hosts: string[]
beforeAll(async () => {
  service = await startService()
  const { authUrl, baseUrl, recordsUrl } = service.deps.config
  hosts = [authUrl, baseUrl, recordsUrl].map((url) => new URL(url).host)
})
afterAll(() => service.close())

const signIn = (body: object, { host = hosts[1]!, remoteAddress = '10.1.1.1' } = {}) =>
  service.app.inject({ method: 'POST', url: '/docs/sign-in', remoteAddress, headers: { host }, payload: body })

const askToken = ({ email, password }: { email: string; password: string }, remoteAddress: string) =>
  service.app.inject({
    url: '/v1/auth/token',
    remoteAddress,
    headers: {
      host: hosts[0]!,
      authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`,
    },
  })

describe('POST /docs/sign-in', () => {
  it('answers a token on every host, which no cache keeps', async () => {
    for (const host of [...hosts, '127.0.0.1:3000', 'localhost:3000']) {
      const answer = await signIn(DEMO_OPERATOR, { host })
      expect([host, answer.statusCode, answer.headers['cache-control']]).toEqual([host, 200, 'no-store'])
      const { token } = answer.json()
      expect((await service.get('/v1/audit-trail', { token })).status).toBe(200)
    }
  })

  it('refuses as the call for a token does, and is limited together with it', async () => {
    const wrong = { email: 'limited@example.com', password: 'wrong' }
    // A wrong password of an account is answered as an unknown e-mail is, and costs less here.
    await addAccount(service.deps, operator(1, 'test'), { ...wrong, password: 'right', roles: ['USER'] })
    const refused = await signIn(wrong, { remoteAddress: '10.7.7.1' })
    expect([refused.statusCode, refused.json()]).toEqual([401, (await askToken(wrong, '10.7.7.2')).json()])
    for (let n = 3; n <= 10; n++) await signIn(wrong, { remoteAddress: `10.7.${n}.1` })
    for (const answer of [await signIn(wrong, { remoteAddress: '10.8.1.1' }), await askToken(wrong, '10.8.2.1')])
      expect([answer.statusCode, answer.json().code]).toEqual([429, 'resource_exhausted'])
  })

  it('refuses what is no e-mail and password, and is in no document', async () => {
    for (const body of [{}, { email: 'a@b.example' }, { ...DEMO_PARTNER, role: 'ADMIN' }, { email: 1, password: 'x' }])
      expect((await signIn(body)).statusCode).toBe(400)
    expect((await service.get('/openapi.json')).text).not.toContain('/docs/sign-in')
  })
})

describe('the documents', () => {
  it('are the same as JSON and as YAML, and any site may read them, but nothing else', async () => {
    for (const host of hosts) {
      const json = await service.get('/openapi.json', { host })
      const yaml = await service.get('/openapi.yaml', { host })
      expect(parse(yaml.text)).toEqual(json.body)
      expect(yaml.headers['content-type']).toBe('application/yaml; charset=utf-8')
      for (const { headers } of [json, yaml]) expect(headers['access-control-allow-origin']).toBe('*')
      for (const path of ['/', '/docs', '/docs/json', '/health/live', '/v1/loans', '/v1/auth/authenticate', '/none'])
        expect([path, (await service.get(path, { host })).headers]).toEqual([
          path,
          expect.not.objectContaining({ 'access-control-allow-origin': expect.anything() }),
        ])
    }
  })

  it('name the public URL first; that of the reference names the host of the page first', async () => {
    for (const host of hosts) {
      const { servers } = (await service.get<Document>('/openapi.json', { host })).body
      expect(servers.map(({ url }) => url)).toEqual([`http://${host}`, '/'])
      const shown = (await service.get<Document>('/docs/json', { host })).body
      expect(shown.servers.map(({ url }) => url)).toEqual(['/', `http://${host}`])
    }
  })
})

const scriptOf = async (app: TestService['app']) =>
  (await app.inject({ url: '/docs/static/theme/sign-in.js', headers: { host: hosts[1]! } })).payload

/** An element of a page, as far as the script uses it. */
interface Fake {
  readonly [name: string]: unknown
  readonly children: Fake[]
  readonly listeners: Record<string, (event: object) => Promise<void>>
  value?: string
  textContent?: string
}

/** Runs the script of the page, without a browser. */
function page(script: string, fetch: (url: string, init: { body: string }) => Promise<object>) {
  const authorized: string[][] = []
  const createElement = (name: string): Fake => {
    const made = { name, children: [] as Fake[], listeners: {} as Fake['listeners'] }
    const append = (...more: Fake[]) => made.children.push(...more)
    const addEventListener = (event: string, listener: Fake['listeners'][string]) => {
      made.listeners[event] = listener
    }
    return { ...made, append, addEventListener }
  }
  const body: Fake[] = []
  const window = {
    SwaggerUIBundle: (_options: object) => ({ preauthorizeApiKey: (...given: string[]) => authorized.push(given) }),
  }
  const document = { createElement, body: { prepend: (form: Fake) => body.push(form) } }
  runInNewContext(script, { window, document, fetch })
  window.SwaggerUIBundle({})
  const [form] = body
  const all = (one: Fake): Fake[] => [one, ...one.children.flatMap((child) => (child.children ? all(child) : []))]
  const named = (name: string) => all(form!).filter((one) => one.name === name)
  return { submit: () => form!.listeners.submit!({ preventDefault: () => {} }), named, authorized }
}

describe('the script of the page', () => {
  const toService = async (url: string, { body }: { body: string }) => {
    const { statusCode, payload } = await service.app.inject({
      method: 'POST',
      url,
      headers: { host: hosts[1]!, 'content-type': 'application/json' },
      payload: body,
    })
    return { ok: statusCode < 300, json: async () => JSON.parse(payload) }
  }

  it('signs in with the demonstration account that it fills in, and hands the token to the reference', async () => {
    const { submit, named, authorized } = page(await scriptOf(service.app), toService)
    await submit()
    const [[scheme, token] = []] = authorized
    expect(scheme).toBe('bearer')
    expect((await service.get('/v1/loans', { token: token! })).status).toBe(200)
    expect(named('output')[0]!.textContent).toContain(`Signed in as ${DEMO_PARTNER.email}`)
  })

  it('says why a sign-in is refused', async () => {
    const { submit, named, authorized } = page(await scriptOf(service.app), toService)
    for (const input of named('input')) input.value = 'nobody@example.com'
    await submit()
    expect(authorized).toEqual([])
    expect(named('output')[0]!.textContent).toBe('wrong e-mail or password, or the account is disabled')
  })

  it('names the demonstration accounts only where their data is laid', async () => {
    expect(await scriptOf(service.app)).toContain(DEMO_OPERATOR.password)
    const app = await toyApp({ SEED_DEMO: 'false' })
    const plain = await scriptOf(app)
    await app.close()
    for (const { email, password } of [DEMO_PARTNER, DEMO_OPERATOR])
      expect([plain.includes(email), plain.includes(password)]).toEqual([false, false])
    expect(page(plain, async () => ({})).named('input')[0]!.value).toBe('')
  })
})

const installed = findChromium()

describe.skipIf(installed === undefined)('in a browser', () => {
  it('a person signs in on the page and tries an operation, on a host that no setting names', async () => {
    const address = await service.app.listen({ port: 0, host: '127.0.0.1' })
    const browser = await startChromium(installed!)
    try {
      const tab = await browser.newPage()
      const complaints: string[] = []
      tab.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      tab.on('pageerror', (error) => complaints.push(error.message))
      await tab.goto(`${address}/docs`)
      await tab.locator('#operations-customers-createCustomer').waitFor()
      await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
      await tab.getByText(`Signed in as ${DEMO_PARTNER.email}`).waitFor()
      const operation = tab.locator('#operations-customers-createCustomer')
      await operation.locator('.opblock-summary').click()
      await operation.getByRole('button', { name: 'Try it out' }).click()
      await operation.getByRole('button', { name: 'Execute' }).click()
      await operation.locator('.live-responses-table td.response-col_status', { hasText: '200' }).first().waitFor()
      expect(complaints).toEqual([])
    } finally {
      await browser.close()
    }
  })
})

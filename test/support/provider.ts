import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import Provider, { type Configuration } from 'oidc-provider'

/** What a test changes of a provider that runs. */
export interface TestProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The groups of each person by subject, as the provider tells them now. */
  readonly groups: Map<string, readonly string[]>
  /** Returns answers in place of the provider's own, for a path that ends so; undefined: its own. */
  answer: ((path: string) => { readonly status: number; readonly body: string } | 'none' | undefined) | undefined
  /** The paths that were asked for, in their order. */
  readonly asked: string[]
  /** Makes another key, with which everything is signed from now on; the earlier ones are not known any more. */
  rotateKeys(): Promise<void>
  /** Ends the access of everybody: their tokens are not taken any more. */
  revokeAll(): void
  /** Goes through the pages of the provider as a person does. @returns the address that it sends the browser back to */
  signInAs(subject: string, url: string): Promise<string>
  close(): Promise<void>
}

const keyOf = async (kid: string): Promise<JWK> => {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return { ...(await exportJWK(privateKey)), kid, use: 'sig', alg: 'RS256' }
}

/** Starts a provider of OpenID Connect on a free port, of the npm package oidc-provider, with its own pages of development. */
export async function startProvider({ accessTokenSeconds = 3_600 } = {}): Promise<TestProvider> {
  const server: Server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [clientId, clientSecret] = ['mkopo-office', 'a secret of the client']
  const groups = new Map<string, readonly string[]>()
  const asked: string[] = []
  let revoked = new Set<string>()
  const settings = async (kid: string): Promise<Configuration> => ({
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: ['http://localhost/sign-in/provider/back'],
      },
    ],
    jwks: { keys: [await keyOf(kid)] },
    cookies: { keys: ['a secret of the cookies'] },
    claims: { openid: ['sub'], email: ['email'], profile: ['groups'] },
    ttl: {
      Interaction: 3_600,
      AccessToken: accessTokenSeconds,
      IdToken: 3_600,
      Grant: 36_000,
      Session: 36_000,
      RefreshToken: 36_000,
    },
    issueRefreshToken: async () => true,
    conformIdTokenClaims: true,
    findAccount: (_context, subject) =>
      revoked.has(subject)
        ? undefined
        : {
            accountId: subject,
            claims: async () => ({
              sub: subject,
              email: `${subject}@ziwa.example`,
              groups: [...(groups.get(subject) ?? [])],
            }),
          },
  })
  let provider = quietly(issuer, await settings('first'))
  let serial = 1
  const provided: TestProvider = {
    ...{ issuer, clientId, clientSecret, groups, asked },
    answer: undefined,
    async rotateKeys() {
      provider = quietly(issuer, await settings(`key-${++serial}`))
    },
    revokeAll() {
      revoked = new Set(groups.keys())
    },
    async signInAs(subject, url) {
      const jar = new Map<string, string>()
      let next = url
      for (let step = 0; step < 12; step++) {
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
        const page = await fetch(next, { redirect: 'manual', headers: { cookie } })
        keep(jar, page)
        const location = page.headers.get('location')
        if (location !== null) {
          next = new URL(location, next).href
          if (!next.startsWith(issuer)) return next
          continue
        }
        const text = await page.text()
        const action = /action="([^"]+)"/.exec(text)?.[1]
        if (action === undefined) throw new Error(`the provider shows no form: ${page.status} ${text.slice(0, 500)}`)
        const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1] ?? 'login'
        const form = new URLSearchParams({ prompt, login: subject, password: 'x' })
        const sent = await fetch(new URL(action, next), {
          ...{ method: 'POST', redirect: 'manual', body: form },
          headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
        })
        keep(jar, sent)
        next = new URL(sent.headers.get('location')!, next).href
        await sent.arrayBuffer()
      }
      throw new Error('the provider goes round in circles')
    },
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
  server.on('request', (request, response) => {
    const path = new URL(request.url ?? '/', issuer).pathname
    asked.push(path)
    const own = provided.answer?.(path)
    if (own === 'none') return void request.socket.destroy()
    if (own) return void response.writeHead(own.status, { 'content-type': 'application/json' }).end(own.body)
    return void provider.callback()(request, response)
  })
  return provided
}

/** Makes a provider without the warnings that it writes about what is for tests alone. */
function quietly(issuer: string, settings: Configuration): Provider {
  const { warn, info } = console
  Object.assign(console, { warn: () => undefined, info: () => undefined })
  try {
    return new Provider(issuer, settings)
  } finally {
    Object.assign(console, { warn, info })
  }
}

function keep(jar: Map<string, string>, answer: Response): void {
  for (const line of answer.headers.getSetCookie()) {
    const [pair = ''] = line.split(';')
    const at = pair.indexOf('=')
    jar.set(pair.slice(0, at), pair.slice(at + 1))
  }
}

import manifest from '../../../package.json' with { type: 'json' }
import type { CallerConfig } from '../../app/config.ts'
import { API_KEY_PREFIX } from '../../services/access/accounts.ts'
import { createSingleFlight } from '../../toolbox/singleFlight.ts'
import type { HttpAnswer, Send } from './http.ts'
import { type Operation, operationsOf, type Style } from './operations.ts'

/** A request of an operation: its path with the query, and a body. */
export interface Sending {
  readonly method: string
  readonly path: string
  readonly body?: string | undefined
}

/** A running service, called with the credential of one caller. */
export interface Service {
  /** Returns the operations of a style, by their names. @throws UnreachableError, RefusedError */
  operations(style: Style): Promise<ReadonlyMap<string, Operation>>
  /** Reads the operations of a style again: the service may be of another version by now. */
  forget(style: Style): void
  /** Sends a request, and signs in before that where needed. @throws UnreachableError, RefusedError where the sign-in is refused */
  send(style: Style, request: Sending): Promise<HttpAnswer>
  /**
   * Returns whether the caller changes nothing alone (contract 19.4), as the account is now.
   * @throws UnreachableError, RefusedError
   */
  onlyProposes(): Promise<boolean>
}

/** The service has refused what the program needs before it can ask for an operation. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}

const UNAUTHENTICATED = 401

/** Returns the service at the hosts of these settings. */
export function serviceAt({ authUrl, baseUrl, recordsUrl, credential }: CallerConfig, send: Send): Service {
  const hosts = { partner: baseUrl, record: recordsUrl }
  const known = new Map<Style, ReadonlyMap<string, Operation>>()
  const signInOnce = createSingleFlight<string, string>()
  let token = typeof credential === 'string' ? credential : undefined

  const ask = (method: string, url: string, headers: Readonly<Record<string, string>> = {}, body?: string) =>
    send({
      method,
      url,
      body,
      headers: { accept: 'application/json', 'user-agent': `Mkopo/${manifest.version}`, ...headers },
    })

  async function signIn(email: string, password: string): Promise<string> {
    const basic = Buffer.from(`${email}:${password}`).toString('base64')
    const answer = await ask('GET', `${authUrl}/v1/auth/token`, { authorization: `Basic ${basic}` })
    const { token: issued } = jsonOf(answer, 'the sign-in is refused') as { token?: unknown }
    if (typeof issued !== 'string') throw new RefusedError('the sign-in has answered no token')
    return issued
  }

  /** Sends with the token; one that was got by a password and is refused is got again, once. */
  async function signed(method: string, url: string, body?: string): Promise<HttpAnswer> {
    const attempt = async () => {
      if (typeof credential !== 'string')
        token ??= await signInOnce('', () => signIn(credential.email, credential.password))
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      return ask(method, url, { ...type, authorization: `Bearer ${token}` }, body)
    }
    const answer = await attempt()
    if (answer.status !== UNAUTHENTICATED || typeof credential === 'string') return answer
    token = undefined
    return attempt()
  }

  return {
    async operations(style) {
      const had = known.get(style)
      if (had) return had
      const document = jsonOf(await ask('GET', `${hosts[style]}/openapi.json`), 'the OpenAPI document is refused')
      const operations = operationsOf(document, style)
      known.set(style, operations)
      return operations
    },
    forget: (style) => known.delete(style),
    send: (style, { method, path, body }) => signed(method, `${hosts[style]}${path}`, body),
    async onlyProposes() {
      // A key is good for the record style alone, in which nothing waits.
      if (typeof credential === 'string' && credential.startsWith(API_KEY_PREFIX)) return false
      const answer = await signed('GET', `${authUrl}/v1/auth/authenticate`)
      const { roles } = jsonOf(answer, 'the credential is refused') as { roles?: unknown }
      return Array.isArray(roles) && roles.includes('PROPOSER')
    },
  }
}

/** Returns what an answer says as JSON. @throws RefusedError for a refusal, and for what is no JSON */
function jsonOf({ status, text, isCut }: HttpAnswer, what: string): unknown {
  const json = isCut ? undefined : parsed(text)
  if (status === 200 && typeof json === 'object' && json !== null) return json
  const { code, message } = (json ?? {}) as { code?: unknown; message?: unknown }
  const why = typeof message === 'string' ? `${String(code)}: ${message}` : 'an answer that is not of the service'
  throw new RefusedError(`${what}: ${status} ${why}`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

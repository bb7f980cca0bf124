import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { refuseHanded } from '../api/http/handedOver.ts'
import type { Credential } from '../db/directory/places.ts'
import { LendingError } from '../domain/errors.ts'
import { API_KEY_PREFIX, apiKeyHash } from '../services/access/accounts.ts'
import { isBeingMoved, type Place, type Places } from '../services/directory/directory.ts'
import { secretHash } from '../services/payments/channels.ts'
import { LARGEST_INT32 } from '../toolbox/integers.ts'
import { createLru } from '../toolbox/lru.ts'

/** What a request names: its organization, or a credential that the directory knows the organization of. */
export type Named = { readonly organizationId: number } | Credential

/** The head of a request, before any route is looked for. */
export type RequestHead = Pick<IncomingMessage, 'url' | 'headers'>

/** The tokens whose organization is remembered. */
const MOST_TOKENS = 10_000
const LONGEST_TOKEN = 8_192
const LONGEST_BASIC = 4_000

/** Returns the number of an organization; undefined for what is none. */
function organizationIn(value: unknown): number | undefined {
  const id =
    typeof value === 'number' ? value : typeof value === 'string' && /^[1-9]\d{0,9}$/.test(value) ? Number(value) : 0
  return Number.isInteger(id) && id >= 1 && id <= LARGEST_INT32 ? id : undefined
}

/** Returns the organization that a token claims, unchecked: the app of its book checks the token. */
function claimedBy(token: string): number | undefined {
  try {
    const payload: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
    return organizationIn((payload as { readonly org?: unknown } | null)?.org)
  } catch {
    return undefined
  }
}

/** Returns what requests of clients name: by a token, an API key, an e-mail, or the address of a payment channel. */
export function namesOfClients(): (request: RequestHead) => Named | undefined {
  const claimed = createLru<string, { readonly organizationId: number }>(MOST_TOKENS)
  return ({ url = '', headers: { authorization } }) => {
    // Health is that of the process.
    if (url.startsWith('/health/')) return undefined
    const [, secret] = /\/in\/([^/?#]{1,200})/.exec(url) ?? []
    if (secret !== undefined && authorization === undefined) return { kind: 'channel', name: secretHash(secret) }
    if (authorization === undefined) return undefined
    const [, token] = /^Bearer +([^\s]+) *$/i.exec(authorization) ?? []
    if (token !== undefined && token.length <= LONGEST_TOKEN) {
      if (token.startsWith(API_KEY_PREFIX)) return { kind: 'key', name: apiKeyHash(token) }
      const before = claimed.get(token)
      if (before) return before
      const organizationId = claimedBy(token)
      if (organizationId === undefined) return undefined
      const named = { organizationId }
      claimed.set(token, named)
      return named
    }
    const [, basic] = /^Basic +([^\s]+) *$/i.exec(authorization) ?? []
    if (basic === undefined || basic.length > LONGEST_BASIC) return undefined
    const [email = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':')
    return email === '' ? undefined : { kind: 'account', name: email.toLowerCase() }
  }
}

/**
 * Returns what requests of the operators' port name: by the session of a person, or on the way to a provider of identities and
 * back by the organization. The sign-in itself is of no book.
 * @param cookieNames the cookies that begin with the number of an organization
 */
export const namesOfPeople =
  (cookieNames: { readonly session: string; readonly provider: string }) =>
  ({ url = '', headers: { cookie = '' } }: RequestHead): Named | undefined => {
    const [path = '', query = ''] = url.split('?')
    const isProvider = path.startsWith('/sign-in/provider')
    if (path.startsWith('/sign-in') && !isProvider) return undefined
    const asked = isProvider ? new URLSearchParams(query).get('organization') : null
    const name = isProvider ? cookieNames.provider : cookieNames.session
    const values = cookie.split(';').map((one) => one.trim())
    const value = values.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1)
    const organizationId = organizationIn(asked ?? value?.split('.')[0])
    return organizationId === undefined ? undefined : { organizationId }
  }

/** The apps of a port: that which listens, and that of each book. */
export interface Front {
  readonly names: (request: RequestHead) => Named | undefined
  readonly places: Places
  /** Returns the app of a book; undefined where the book was not reached since the start. */
  readonly appOf: (book: string) => FastifyInstance | undefined
}

/**
 * Hands each request that a port gets to the app of the book of its organization. A request that names no organization stays
 * with the app that listens, and so does one that is refused: its organization is being moved, its book was never reached, or the
 * directory does not answer.
 */
export function handOver(listening: FastifyInstance, { names, places, appOf }: Front): void {
  const { server } = listening
  const own = server.listeners('request')
  server.removeAllListeners('request')

  const placeOf = (organizationId: number | undefined) =>
    organizationId === undefined ? undefined : places.find(organizationId)

  /** Returns the place of the organization of a request; undefined where it names none. */
  function locate(request: IncomingMessage): Place | undefined | Promise<Place | undefined> {
    const named = names(request)
    if (named === undefined) return undefined
    const owner = 'organizationId' in named ? named.organizationId : places.owner(named)
    return owner instanceof Promise ? owner.then(placeOf) : placeOf(owner)
  }

  function stay(request: IncomingMessage, response: ServerResponse): void {
    for (const listener of own) listener.call(server, request, response)
  }

  function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const isRefusal = error instanceof LendingError
    refuseHanded(request, isRefusal ? error : again('the directory of the organizations does not answer; try again'))
    stay(request, response)
  }

  function go(request: IncomingMessage, response: ServerResponse, place: Place | undefined): void {
    const app = place ? appOf(place.book) : listening
    if (place?.stopped) refuse(request, response, isBeingMoved())
    else if (app === listening) stay(request, response)
    else if (app) app.routing(request, response)
    else refuse(request, response, again('the book of the organization cannot be reached; try again'))
  }

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    try {
      const place = locate(request)
      if (place instanceof Promise)
        place.then(
          (found) => go(request, response, found),
          (error: unknown) => refuse(request, response, error),
        )
      else go(request, response, place)
    } catch (error) {
      refuse(request, response, error)
    }
  })
}

const again = (message: string) => new LendingError('unavailable', message, [], 1)

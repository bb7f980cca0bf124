import type { FastifyRequest } from 'fastify'
import { permissionsNeeded } from '../../domain/access/permissions.ts'
import { LendingError } from '../../domain/errors.ts'
import { API_KEY_PREFIX } from '../../services/access/accounts.ts'
import { type Caller, type Identity, requireAlone, requireChanging } from '../../services/access/caller.ts'
import type { Deps } from '../../services/deps.ts'
import { enterOrganization } from '../../services/testClock/testClocks.ts'
import type { StyleApp } from '../style.ts'
import { keepOutOfCaches } from './failure.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The account or API key that calls; set on every route that is not public. */
    caller: Caller & Identity
  }
}

const LONGEST_TOKEN = 8_192

/** The header of every answer to a test organization (contract 12). */
const MODE_HEADER = 'x-mkopo-mode'

type BearerDeps = Pick<Deps, 'signIn' | 'organizations' | 'testClocks'>

/**
 * Requires a Bearer token, or an API key where the style takes those, on every route of the scope that is not public,
 * and sets `request.caller`. A caller who only reads is refused here by every route that may change something, and one who only
 * proposes by every one that cannot wait. An answer to a test organization says so, and is of the moment of its clock.
 */
export function requireBearer(app: StyleApp, deps: BearerDeps, { apiKeys = false } = {}): void {
  const { signIn } = deps
  app.decorateRequest('caller', null as unknown as Caller & Identity)
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.public) return
    keepOutOfCaches(reply)
    const given = tokenOf(request.headers.authorization)
    const isKey = apiKeys && given.startsWith(API_KEY_PREFIX)
    const identity = await (isKey ? signIn.identifyKey(given) : signIn.identify(given))
    if (isWrite(request)) {
      const { needs = 'signed in', canWait } = request.routeOptions.config
      requireChanging(identity, permissionsNeeded(needs)[0])
      if (!canWait) requireAlone(identity)
    }
    request.caller = { ...identity, requestId: request.id }
    const mode = await enterOrganization(deps, identity.organizationId)
    if (mode === 'test') reply.header(MODE_HEADER, mode)
  })
}

/** The methods of requests that change nothing. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Returns whether a request may change something: its method says so, unless the route says that it changes nothing. */
export const isWrite = ({ method, routeOptions }: Pick<FastifyRequest, 'method' | 'routeOptions'>): boolean =>
  !READS.has(method) && !routeOptions.config.changesNothing

function tokenOf(header: string | undefined): string {
  if (header === undefined) throw unauthenticated('the header Authorization: Bearer <token> is missing')
  const token = /^Bearer +([^\s]+) *$/i.exec(header)?.[1]
  if (token === undefined || token.length > LONGEST_TOKEN)
    throw unauthenticated('the Authorization header must read Bearer <token>')
  return token
}

const unauthenticated = (message: string) => new LendingError('unauthenticated', message)

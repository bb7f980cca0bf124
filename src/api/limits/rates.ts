import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LendingError } from '../../domain/errors.ts'
import { networkOf } from '../../services/access/network.ts'
import type { Limited, Limits, Remaining } from '../../services/access/rateLimits.ts'
import type { Listener } from '../../services/listener.ts'

/**
 * Limits requests a minute: by address at the start of the request, and by account once the caller is known. Every
 * answer carries what is left (RateLimit-Limit, -Remaining, -Reset, -Policy), and a refusal also when to come back.
 */
export function limitRates(app: FastifyInstance, limits: Limits, listener: Listener): void {
  const check = (by: Limited, key: string, request: FastifyRequest, reply: FastifyReply) => {
    if (request.routeOptions.config.vital) return
    const taken = limits.take(by, key)
    if (taken === undefined) return
    setHeaders(taken, reply)
    if (taken.allowed) return
    listener.limited(by)
    const { limit, reset } = taken
    const whose = by === 'account' ? 'this account' : 'this address'
    throw new LendingError(
      'resource_exhausted',
      `more than ${limit} requests a minute from ${whose}; try again in ${reset} s`,
      [],
      reset,
    )
  }

  app.addHook('onRequest', (request, reply, done) => {
    check('address', networkOf(request.ip), request, reply)
    done()
  })
  // After the hooks of the style, which identify the caller.
  app.addHook('preParsing', (request, reply, _, done) => {
    const caller = request.caller as FastifyRequest['caller'] | null | undefined
    if (caller) check('account', `${caller.organizationId}/${caller.accountId}`, request, reply)
    done()
  })
}

/** Sets the headers of the limit that has the least left. */
function setHeaders({ limit, remaining, reset, window }: Remaining, reply: FastifyReply): void {
  const shown = reply.getHeader('ratelimit-remaining')
  if (shown !== undefined && Number(shown) < remaining) return
  reply.header('ratelimit-limit', String(limit))
  reply.header('ratelimit-remaining', String(remaining))
  reply.header('ratelimit-reset', String(reset))
  reply.header('ratelimit-policy', `${limit};w=${window}`)
}

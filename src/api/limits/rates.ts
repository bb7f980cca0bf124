import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LendingError } from '../../domain/errors.ts'
import { networkOf } from '../../services/access/network.ts'
import type { Limited, Limits, Remaining } from '../../services/access/rateLimits.ts'
import type { Events } from '../../services/events.ts'

/**
 * Requests a minute by address, before anything is asked of them, and by account, once it is known. Every answer says
 * how much is left (RateLimit-Limit, -Remaining, -Reset, -Policy); a refused one, when to come back.
 */
export function limitRates(app: FastifyInstance, limits: Limits, events: Events): void {
  const check = (by: Limited, key: string, request: FastifyRequest, reply: FastifyReply) => {
    if (request.routeOptions.config.vital) return
    const taken = limits.take(by, key)
    if (taken === undefined) return
    say(taken, reply)
    if (taken.allowed) return
    events.limited(by)
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
  // After the style's own hooks have found out who calls.
  app.addHook('preParsing', (request, reply, _, done) => {
    const caller = request.caller as FastifyRequest['caller'] | null | undefined
    if (caller) check('account', `${caller.organizationId}/${caller.accountId}`, request, reply)
    done()
  })
}

/** The limit that is nearer to its end is the one that is told. */
function say({ limit, remaining, reset, window }: Remaining, reply: FastifyReply): void {
  const told = reply.getHeader('ratelimit-remaining')
  if (told !== undefined && Number(told) < remaining) return
  reply.header('ratelimit-limit', String(limit))
  reply.header('ratelimit-remaining', String(remaining))
  reply.header('ratelimit-reset', String(reset))
  reply.header('ratelimit-policy', `${limit};w=${window}`)
}

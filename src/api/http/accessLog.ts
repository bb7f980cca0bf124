import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { withoutPort } from '../../services/access/network.ts'
import type { Events } from '../../services/events.ts'
import type { Failure } from './failure.ts'
import { whenClosed } from './whenClosed.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Why it was refused, if it was. */
    failure: Failure | undefined
  }
}

/** A field as a log may name it: the caller's own inventions may be anything, a phone number too. */
const NAME = /^[A-Za-z_][\w.[\]-]{0,60}$/

/**
 * One line in the log for every request, and one event: its route by pattern, whose it was, what it was answered and how
 * long that took. Of what the caller sent nothing is in it but the address, and an id of the request.
 */
export function logAnswers(app: FastifyInstance, events: Events): void {
  app.decorateRequest('failure', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    logWhenAnswered(events, request, reply)
    done()
  })
}

/** For a request that came to no route, and so has no hooks. */
export const logUnrouted = logWhenAnswered

/** Fastify's own hook for it is not called where the caller hangs up before the answer. */
function logWhenAnswered(events: Events, request: FastifyRequest, reply: FastifyReply): void {
  events.requestBegun()
  let logged = false
  const log = (status?: number) => {
    if (!logged) logAnswer(events, request, reply, status ?? reply.statusCode)
    logged = true
  }
  reply.raw.once('finish', () => log())
  whenClosed(request, reply, () => log(HUNG_UP))
}

/** What proxies write of a caller who hung up. */
const HUNG_UP = 499

function logAnswer(events: Events, request: FastifyRequest, reply: FastifyReply, status: number): void {
  const { method, failure, id: requestId } = request
  const [style, route] = placeOf(request)
  const caller = request.caller as FastifyRequest['caller'] | null | undefined
  const { organizationId, accountId } = caller ?? {}
  const address = withoutPort(request.ip)
  const { elapsedTime } = reply
  events.answered({ style, route, method, status, seconds: elapsedTime / 1000 })
  const who = { organization: organizationId, account: accountId, address }
  const answer = { style, method, route, ...who, status, ms: Math.round(elapsedTime * 10) / 10 }
  if (failure === undefined) {
    request.log.info(answer, 'answered')
    return
  }
  const reason = reasonOf(failure)
  const { code } = failure
  events.refused({ style, route, requestId, organizationId, accountId, address, code, reason })
  request.log.info({ ...answer, code, reason }, 'refused')
}

/** `/~partner/v1/loans/:id` → `partner`, `/v1/loans/:id`; a path that is none of ours has no pattern. */
function placeOf(request: FastifyRequest): [style: string, route: string] {
  const pattern = request.is404 ? undefined : request.routeOptions?.url
  const [, style = 'none', route] = /^\/~(\w+)(\/.*)?$/.exec(pattern ?? request.url) ?? []
  return [style, pattern === undefined ? '(unknown)' : (route ?? '/')]
}

/** What the log may know of a refusal: our own words, and fields that have a name. */
function reasonOf({ code, message, details = [] }: Failure): string {
  if (details.length > 0)
    return details.map(({ field, message: why }) => `${NAME.test(field) ? field : '…'}: ${why}`).join('; ')
  // It quotes the path.
  return code === 'not_found' && message.startsWith('no such path') ? 'no such path' : message
}

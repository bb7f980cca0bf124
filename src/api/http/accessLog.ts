import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { withoutPort } from '../../services/access/caller.ts'
import type { Listener } from '../../services/listener.ts'
import type { Failure } from '../style.ts'
import { MISMATCH } from './idempotency.ts'
import { whenClosed } from './request.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The refusal of the request, if it was refused. */
    failure: Failure | undefined
    /** Milliseconds for which the request waited for an event, as the caller asked; undefined where it did not wait. */
    waitedMs: number | undefined
  }
}

/** The names of fields that a log may hold: a name that a client made up may be anything, even a phone number. */
const NAME = /^[A-Za-z_][\w.[\]-]{0,60}$/

/**
 * Logs one line and emits one event for every request: the pattern of its route, its caller, its answer and its time. Of
 * what the client sent, only the address and the id of the request are logged.
 * @param style that of all routes of the app; left out: each route has its style in its pattern
 */
export function logAnswers(app: FastifyInstance, listener: Listener, style?: string): void {
  app.decorateRequest('closing', undefined)
  app.decorateRequest('failure', undefined)
  app.decorateRequest('waitedMs', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    logWhenAnswered(listener, request, reply, style)
    done()
  })
}

/** Logs a request that reached no route, for which hooks do not run. */
export const logUnrouted = logWhenAnswered

/** Logs a request when it is answered or its client hangs up; Fastify's hook does not run when the client hangs up. */
function logWhenAnswered(listener: Listener, request: FastifyRequest, reply: FastifyReply, style?: string): void {
  listener.requestBegun()
  let logged = false
  const log = (status?: number) => {
    if (!logged) logAnswer(listener, request, reply, { status: status ?? reply.statusCode, of: style })
    logged = true
  }
  reply.raw.once('finish', () => log())
  whenClosed(request, reply, () => log(HUNG_UP))
}

/** The status that proxies log for a client that hung up. */
const HUNG_UP = 499

function logAnswer(
  listener: Listener,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, of }: { readonly status: number; readonly of: string | undefined },
): void {
  const { method, failure, id: requestId } = request
  const [style, route] = placeOf(request, of)
  const caller = request.caller as FastifyRequest['caller'] | null | undefined
  const { organizationId, accountId } = caller ?? {}
  const address = withoutPort(request.ip)
  // Waiting for an event is no time that the service takes.
  const elapsedTime = Math.max(0, reply.elapsedTime - (request.waitedMs ?? 0))
  listener.answered({ style, route, method, status, seconds: elapsedTime / 1000 })
  const who = { organization: organizationId, account: accountId, address }
  const answer = { style, method, route, ...who, status, ms: Math.round(elapsedTime * 10) / 10 }
  if (failure === undefined) {
    const mismatch = reply.getHeader(MISMATCH)
    if (mismatch === undefined) return void request.log.info(answer, 'answered')
    const at = { style, route, requestId, organizationId, accountId, address }
    listener.tokenMismatched({ ...at, members: String(mismatch) })
    return void request.log.warn({ ...answer, mismatch }, 'a token seen before came with another content')
  }
  const reason = reasonOf(failure)
  const { code } = failure
  listener.refused({ style, route, requestId, organizationId, accountId, address, code, reason })
  request.log.info({ ...answer, code, reason }, 'refused')
}

/** Splits a pattern: `/~partner/v1/loans/:id` → `partner`, `/v1/loans/:id`; an unknown path has no pattern. */
function placeOf(request: FastifyRequest, of: string | undefined): [style: string, route: string] {
  const pattern = request.is404 ? undefined : request.routeOptions?.url
  if (of !== undefined) return [of, pattern ?? '(unknown)']
  const [, style = 'none', route] = /^\/~(\w+)(\/.*)?$/.exec(pattern ?? request.url) ?? []
  return [style, pattern === undefined ? '(unknown)' : (route ?? '/')]
}

/** Returns the reason of a refusal for the log: the service's words, and fields that have a plain name. */
function reasonOf({ code, message, details = [] }: Failure): string {
  if (details.length > 0)
    return details.map(({ field, message: why }) => `${NAME.test(field) ? field : '…'}: ${why}`).join('; ')
  // It quotes the path.
  return code === 'not_found' && message.startsWith('no such path') ? 'no such path' : message
}

import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Precedes an id that a client chose; no client can send one that begins with it, since it has a colon. */
const CHOSEN = 'caller:'

/**
 * Returns the id of a request, for the log and the trails. An id that the client sent, fit for a header and a log line,
 * is used with a mark: without the mark a client could pass for another request, or for a run of the command line.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.-]{1,100}$/.test(given) ? `${CHOSEN}${given}` : randomUUID()
}

/** Returns the id as the client knows it: their own, or the one that the service made. */
export const toCaller = (requestId: string): string =>
  requestId.startsWith(CHOSEN) ? requestId.slice(CHOSEN.length) : requestId

/** Adds to every answer the id of its request. */
export function answerRequestIds(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', toCaller(request.id))
    done()
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Actions of `whenClosed`, in the order in which they were added. */
    closing: (() => void)[] | undefined
  }
}

/**
 * Calls an action once the answer of a request is written, or its client has hung up. The actions of a request share
 * one listener, because each listener costs every request a few microseconds.
 */
export function whenClosed(request: FastifyRequest, { raw }: FastifyReply, action: () => void): void {
  if (request.closing) {
    request.closing.push(action)
    return
  }
  const actions = [action]
  request.closing = actions
  raw.once('close', () => {
    for (const each of actions) each()
  })
}

import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../app/deps.ts'
import { invalidArgument, LendingError } from '../../domain/errors.ts'
import type { Caller } from '../../services/access/caller.ts'
import { createIdempotency, KEY_HEADER, type KeptRequest, type Turn } from '../../services/access/idempotency.ts'
import type { StyleApp } from '../style.ts'

const LONGEST_KEY = 255

declare module 'fastify' {
  interface FastifyRequest {
    /** There while a request under an Idempotency-Key is being run for the first time. */
    turn: Turn | undefined
  }
}

/** What a style says again of something that was changed, where a crash kept the answer from being stored. */
export type ReplayResponse = (caller: Caller, kept: KeptRequest) => Promise<unknown>

/**
 * Every POST of the scope takes an Idempotency-Key (contract 1.11): the same request again gets the stored answer, byte
 * for byte. A refused request stores nothing, and so does not burn its key.
 */
export function acceptIdempotencyKeys(app: StyleApp, deps: Deps, replayResponse: ReplayResponse): void {
  const keys = createIdempotency(deps)
  app.decorateRequest('turn', undefined)

  app.addHook('preHandler', async (request, reply) => {
    const given = request.headers[KEY_HEADER.toLowerCase()]
    if (request.method !== 'POST' || given === undefined) return
    const key = readKey(given, request.raw.rawHeaders)
    const requestHash = hashOf(request)
    const begun = await keys.begin(request.caller, key, requestHash)
    if ('turn' in begun) {
      request.turn = begun.turn
      request.caller = { ...request.caller, claim: { key, requestHash } }
      return
    }
    deps.events.duplicateAnswered('idempotency_key')
    markReplayed(reply)
    const { answer } = begun.kept
    if (answer === null) return reply.send(await replayResponse(request.caller, begun.kept))
    return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body)
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const { turn } = request
    if (!turn) return payload
    try {
      // The change stands whether or not its answer is kept: without it, the answer is made again.
      if (reply.statusCode < 400) await turn.keep({ status: reply.statusCode, body: String(payload) })
    } catch (error) {
      request.log.warn({ err: error }, 'an answer could not be kept for its key')
    } finally {
      // Here, and not when the answer has gone out: a caller that hung up never gets it, and comes again.
      turn.end()
    }
    return payload
  })

  // Another instance may have done under the same key what this one then found done: that is no conflict of the caller's.
  app.setErrorHandler(async (error, request) => {
    const taken = error instanceof LendingError && ['already_exists', 'failed_precondition'].includes(error.code)
    if (taken && request.turn && (await request.turn.isKept()))
      throw new LendingError(
        'aborted',
        `the first request with this ${KEY_HEADER} has just been answered; try again`,
        [],
        1,
      )
    throw error
  })
}

/** Says in the answer that nothing was made or posted: it was there already (contract 1.11). */
export function markReplayed(reply: FastifyReply): void {
  reply.header('idempotency-replayed', 'true')
}

function readKey(given: string | string[], rawHeaders: readonly string[]): string {
  const key = String(given)
  // Node joins two headers of a name into one text, which would be a key that nobody meant.
  const times = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === KEY_HEADER.toLowerCase()).length
  if (times > 1) throw invalidArgument('idempotencyKey', 'must be given only once')
  if (key.length > LONGEST_KEY || !/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(key))
    throw invalidArgument('idempotencyKey', `must be 1 to ${LONGEST_KEY} printable ASCII characters`)
  return key
}

/** Two requests are the same when method, path and content are; not when only white space or order differs. */
function hashOf(request: FastifyRequest): string {
  const content = JSON.stringify(sorted(JSON.parse(JSON.stringify(request.body ?? null, asText))))
  return createHash('sha256').update(`${request.method} ${request.originalUrl}\n${content}`).digest('base64url')
}

/** Bigints have no JSON of their own; here only sameness counts. */
const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, inner]) => [key, sorted(inner)]),
  )
}

/** Nothing is known of what the key changed, so nothing can be said again. */
export const cannotReplayResponse = (): never => {
  throw new LendingError('aborted', 'the answer to this request was lost; read the resource to see what came of it')
}

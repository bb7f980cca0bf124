import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidArgument, LendingError } from '../../domain/errors.ts'
import type { Caller } from '../../services/access/caller.ts'
import { createIdempotency, KEY_HEADER, type KeptRequest, type Turn } from '../../services/access/idempotency.ts'
import type { Core } from '../../services/deps.ts'
import type { StyleApp } from '../style.ts'

const LONGEST_KEY = 255

declare module 'fastify' {
  interface FastifyRequest {
    /** Set while a request under an Idempotency-Key is run for the first time. */
    turn: Turn | undefined
  }
}

/** Builds the answer of a request again from what it changed, when a crash kept the answer from being stored. */
export type ReplayResponse = (caller: Caller, kept: KeptRequest) => Promise<unknown>

/**
 * Accepts an Idempotency-Key on every POST of the scope (contract 1.11): the same request again gets the stored answer,
 * byte for byte. A refused request stores nothing, so its key can be used again.
 */
export function acceptIdempotencyKeys(app: StyleApp, deps: Core, replayResponse: ReplayResponse): void {
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
      request.caller = { ...request.caller, claim: begun.turn.claim }
      return
    }
    deps.listener.duplicateAnswered('idempotency_key')
    markReplayed(reply)
    const { answer } = begun.kept
    if (answer === null) {
      const { response = {} } = (request.routeOptions.schema ?? {}) as { response?: object }
      if (begun.kept.entity === 'pending action' && '202' in response) reply.code(202)
      return reply.send(await replayResponse(request.caller, begun.kept))
    }
    return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body)
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const { turn } = request
    if (!turn) return payload
    try {
      // The change is saved whether or not its answer is kept: without the kept answer, it is built again.
      // The header of a mismatch is not kept: the same request finds it again by its token.
      const isWhole = reply.getHeader(MISMATCH) === undefined
      const isKept = reply.statusCode < 400 && !request.routeOptions.config.answersSecret && isWhole
      if (isKept) await turn.keep({ status: reply.statusCode, body: String(payload) })
    } catch (error) {
      request.log.warn({ err: error }, 'an answer could not be kept for its key')
    } finally {
      // Here, and not after the answer is sent: a client that hung up never gets the answer, and asks again.
      turn.end()
    }
    return payload
  })

  // Another instance may have run the same request under the same key first: that is no conflict for the client.
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

/** Marks an answer to a request that changed nothing, because it repeats an earlier one (contract 1.11). */
export function markReplayed(reply: FastifyReply): void {
  reply.header('idempotency-replayed', 'true')
}

/** The header that names in what a request differs from the transaction that its dedupe token found. */
export const MISMATCH = 'idempotency-mismatch'

/** Marks an answer to a request that differs from the transaction that its dedupe token found (contract 4.4.2). */
export function markMismatched(reply: FastifyReply, members: readonly string[]): void {
  reply.header(MISMATCH, members.join(', '))
}

function readKey(given: string | string[], rawHeaders: readonly string[]): string {
  const key = String(given)
  // Node joins two headers of a name into one text, which would be a key that the client did not choose.
  const times = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === KEY_HEADER.toLowerCase()).length
  if (times > 1) throw invalidArgument('idempotencyKey', 'must be given only once')
  if (key.length > LONGEST_KEY || !/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(key))
    throw invalidArgument('idempotencyKey', `must be 1 to ${LONGEST_KEY} printable ASCII characters`)
  return key
}

/** Returns a hash of method, path and content; white space and the order of members do not change it. */
function hashOf(request: FastifyRequest): string {
  const content = JSON.stringify(sorted(JSON.parse(JSON.stringify(request.body ?? null, asText))))
  return createHash('sha256').update(`${request.method} ${request.originalUrl}\n${content}`).digest('base64url')
}

/** Writes a bigint as text, since JSON has none; the hash only needs equal texts for equal values. */
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

/** Refuses a repeated request when it is not known what the first one changed. */
export const cannotReplayResponse = (): never => {
  throw new LendingError('aborted', 'the answer to this request was lost; read the resource to see what came of it')
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LendingError } from '../../domain/errors.ts'
import { networkOf } from '../../services/access/network.ts'
import { Tally } from '../../services/tally.ts'
import { whenClosed } from '../http/whenClosed.ts'

const KIB = 1024
const MIB = 1024 * KIB

/**
 * Bytes of bodies that may be arriving at once: of one account, of an address without credentials, and of all clients.
 */
const MOST_BYTES = { caller: 32 * MIB, all: 128 * MIB } as const
/** Bytes that a body without a stated length counts as. */
const UNTOLD_BYTES = 256 * KIB
const AGAIN_SECONDS = 1

/**
 * Limits the memory for request bodies that have not wholly arrived. A client over its share gets `resource_exhausted`;
 * when all bodies together are over the total, every client gets `unavailable`. Uploads have limits of their own.
 */
export function boundBodies(app: FastifyInstance): void {
  const callers = new Tally<string>()
  let all = 0

  app.decorateRequest('arrived', undefined)
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const bytes = bytesOf(request)
    if (bytes === 0 || reply.raw.destroyed) return done()
    const key = keyOf(request)
    const arrived = () => {
      if (request.arrived === undefined) return
      request.arrived = undefined
      all -= bytes
      callers.add(key, -bytes)
    }
    request.arrived = arrived
    whenClosed(request, reply, arrived)
    all += bytes
    const held = callers.add(key, bytes)
    if (held > MOST_BYTES.caller)
      throw new LendingError('resource_exhausted', 'too many request bodies are on their way', [], AGAIN_SECONDS)
    if (all > MOST_BYTES.all) throw new LendingError('unavailable', 'the service is busy; try again', [], AGAIN_SECONDS)
    done()
  })
  app.addHook('preValidation', (request, _reply, done) => {
    request.arrived?.()
    done()
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Says that the body is there, while it is awaited. */
    arrived: (() => void) | undefined
  }
}

function bytesOf({ headers }: FastifyRequest): number {
  if (/^multipart\//i.test(headers['content-type'] ?? '')) return 0
  if (headers['transfer-encoding'] !== undefined) return UNTOLD_BYTES
  return Math.min(Number(headers['content-length'] ?? 0) || 0, MIB)
}

function keyOf(request: FastifyRequest): string {
  const caller = request.caller as FastifyRequest['caller'] | null | undefined
  return caller ? `account ${caller.accountId}` : `address ${networkOf(request.ip)}`
}

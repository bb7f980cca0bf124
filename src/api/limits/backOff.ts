import { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../domain/errors.ts'
import { Tally } from './tally.ts'

/** Refusals a second of an address that are for nothing but to come again; then its connections are read less often. */
const MOST_A_SECOND = 50
const SECOND_MS = 1_000

/** Refusals that a caller who repeats them at once gets again. */
const REPEATED: ReadonlySet<ErrorCode> = new Set(['resource_exhausted', 'unavailable', 'unauthenticated'])

/**
 * Reads the next request of a connection a second later when its address has been refused more than `MOST_A_SECOND` times
 * in this second. Every answer goes out at once; a client that heeds Retry-After notices nothing, and one that does not
 * cannot keep the process busy with refusals. Connections of a proxy carry many callers, and are read as always.
 */
export function slowRefused(app: FastifyInstance): void {
  let refused = new Tally<string>()
  const timer = setInterval(() => {
    refused = new Tally()
  }, SECOND_MS).unref()
  app.addHook('onClose', async () => clearInterval(timer))
  app.addHook('onResponse', (request, _reply, done) => {
    const { code } = request.failure ?? {}
    if (code !== undefined && REPEATED.has(code) && isItsOwn(request) && refused.add(request.ip, 1) > MOST_A_SECOND)
      pauseReading(request)
    done()
  })
}

/** Whether the connection is the caller's own: neither that of a proxy, nor of a request that came by none. */
const isItsOwn = ({ ip, raw: { socket } }: FastifyRequest): boolean =>
  socket instanceof Socket && socket.remoteAddress === ip

function pauseReading({ raw: { socket } }: FastifyRequest): void {
  socket.pause()
  setTimeout(() => socket.resume(), SECOND_MS).unref()
}

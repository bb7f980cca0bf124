import { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../domain/errors.ts'
import { Tally } from '../../services/tally.ts'

/**
 * Refusals a second of one address that only ask the client to come later; over this, its connections are read less
 * often.
 */
const MOST_A_SECOND = 50
const SECOND_MS = 1_000

/** Codes of refusals that a client gets again when it repeats the request at once. */
const REPEATED: ReadonlySet<ErrorCode> = new Set(['resource_exhausted', 'unavailable', 'unauthenticated'])

/**
 * Delays the next request of a connection by a second when its address was refused more than `MOST_A_SECOND` times in
 * this second. Every answer is sent at once, so a client that obeys Retry-After notices nothing, and one that does not
 * cannot keep the process busy with refusals. Connections of a proxy carry many clients, and are never delayed.
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

/** Returns whether the connection belongs to the client alone: it is not a proxy's. */
const isItsOwn = ({ ip, raw: { socket } }: FastifyRequest): boolean =>
  socket instanceof Socket && socket.remoteAddress === ip

function pauseReading({ raw: { socket } }: FastifyRequest): void {
  socket.pause()
  setTimeout(() => socket.resume(), SECOND_MS).unref()
}

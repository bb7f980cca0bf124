import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LendingError } from '../../domain/errors.ts'
import { Tally } from '../../toolbox/tally.ts'

const MIB = 1024 * 1024

/** Limits on the memory of unread answers, and on the time to read them. */
export interface UnreadBounds {
  /** Bytes of one organization, over which it gets no more answers until some are read. */
  readonly organization: number
  /** Bytes of all organizations, over which the answers that are read slowest are given up. */
  readonly all: number
  /** Milliseconds in which a client has to read `leastMoved` bytes of an answer, or the rest of it. */
  readonly withinMs: number
  readonly leastMoved: number
  readonly lookEveryMs: number
}

export const UNREAD_BOUNDS: UnreadBounds = {
  organization: 64 * MIB,
  all: 256 * MIB,
  withinMs: 30_000,
  leastMoved: 64 * 1024,
  lookEveryMs: 250,
}

const AGAIN_SECONDS = 5

/** Progress of reading a connection's answer, when progress was last seen. */
interface Reading {
  left: number
  at: number
}

/**
 * The handle of a socket has this member, which Node's own timeouts use too; without it an answer counts as unread
 * until all of it is written.
 */
interface Handle {
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

/**
 * Limits the answers that wait to be read: in bytes by organization and in total, and in time. A connection whose
 * answer is not read is closed; an organization with too many such answers is refused with `resource_exhausted`.
 */
export function boundUnread(app: FastifyInstance, bounds: UnreadBounds, now: () => number): void {
  const sockets = new Set<Socket>()
  const readings = new Map<Socket, Reading>()
  const organizations = new WeakMap<Socket, number>()
  let unread = new Tally<number>()

  const look = () => {
    const at = now()
    let all = 0
    unread = new Tally()
    for (const socket of sockets) {
      if (socket.writableLength === 0) {
        readings.delete(socket)
        continue
      }
      if (isGivenUp(readings, socket, at, bounds)) {
        socket.destroy()
        continue
      }
      all += socket.writableLength
      const organization = organizations.get(socket)
      if (organization !== undefined) unread.add(organization, socket.writableLength)
    }
    const longestFirst = [...readings].sort(([, one], [, other]) => one.at - other.at)
    for (const [socket] of longestFirst) {
      if (all <= bounds.all) break
      all -= socket.writableLength
      socket.destroy()
    }
  }

  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      readings.delete(socket)
    })
  })
  const timer = setInterval(look, bounds.lookEveryMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))

  // After the hooks of the style, which identify the caller.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const caller = request.caller as FastifyRequest['caller'] | null | undefined
    if (!caller) return done()
    organizations.set(request.raw.socket, caller.organizationId)
    if (unread.of(caller.organizationId) > bounds.organization)
      throw new LendingError(
        'resource_exhausted',
        'too many answers of this organization are not being read; read them, and try again',
        [],
        AGAIN_SECONDS,
      )
    done()
  })
}

/** Returns whether too little of a connection's answer was read since progress was last seen. */
function isGivenUp(readings: Map<Socket, Reading>, socket: Socket, at: number, bounds: UnreadBounds): boolean {
  const left = socket.writableLength + ((socket as Handle)._handle?.writeQueueSize ?? 0)
  const before = readings.get(socket)
  if (before && left > before.left - bounds.leastMoved) return at - before.at > bounds.withinMs
  readings.set(socket, { left, at })
  return false
}

import type { Server } from 'node:http'
import { Server as Listener, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'

/** A kept connection that is quiet for this long is closed: longer than a request takes to arrive. */
const QUIET_MS = 500

/** A server that can close all its connections without resetting one. */
export interface Drainable {
  /** Returns whether nothing new is accepted; every answer then closes its connection. */
  draining(): boolean
  /**
   * Accepts nothing new, answers the requests on open connections, and closes each after its answer, or once it has
   * been quiet for a while. Node's own `close` ends quiet connections at once, even when a request is on its way.
   */
  drain(): Promise<void>
}

/** Makes a server drainable; call this before the server listens, since it watches the connections from then on. */
export function makeDrainable(server: Server): Drainable {
  const sockets = new Set<Socket>()
  let draining = false
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  const closeQuiet = () => {
    server.closeIdleConnections()
    // Connections that never sent a byte: Node expects a request on them.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  return {
    draining: () => draining,
    async drain() {
      if (!server.listening) return
      // Right after a round of accepting, when the fewest connections wait to be accepted.
      await turn()
      draining = true
      const empty = new Promise((resolve) => Listener.prototype.close.call(server, resolve))
      const timer = setInterval(closeQuiet, QUIET_MS)
      await empty
      clearInterval(timer)
    },
  }
}

import type { Server } from 'node:http'
import { Server as Listener, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'

/** How long a kept connection may be quiet before it is closed: longer than a request takes to arrive. */
const QUIET_MS = 500

/** A server that can be emptied without a connection being reset. */
export interface Drainable {
  /** Whether nothing new is accepted any more; every answer then closes its connection. */
  draining(): boolean
  /**
   * Accepts nothing new, answers what comes on the connections that are there, and closes each after its answer, or once
   * it has been quiet for a while. Node's own `close` ends quiet connections at once, and so also those on which a request
   * is already on its way.
   */
  drain(): Promise<void>
}

/** Watches the server's connections from now on: to be called before it listens. */
export function makeDrainable(server: Server): Drainable {
  const sockets = new Set<Socket>()
  let draining = false
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  const closeQuiet = () => {
    server.closeIdleConnections()
    // On these nothing ever came; to Node they are about to bring a request.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  return {
    draining: () => draining,
    async drain() {
      if (!server.listening) return
      // Right after a round of accepting, when as few as can be wait to be accepted.
      await turn()
      draining = true
      const empty = new Promise((resolve) => Listener.prototype.close.call(server, resolve))
      const timer = setInterval(closeQuiet, QUIET_MS)
      await empty
      clearInterval(timer)
    },
  }
}

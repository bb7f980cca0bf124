import type { Worker } from 'node:cluster'
import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'

/** The port that the workers share; the primary listens on it for them. */
export interface SharedPort {
  /** Accepts nothing new; what was accepted is still handed to the workers. */
  close(): void
}

/** What Node listens with. */
interface Handle {
  close(): void
}

/**
 * Takes notice of what the primary listens with for its workers. Node itself lets go of it when the last worker does, and
 * then resets what it has accepted and not handed over: under load, several connections. The channel is not documented;
 * without it, a stop under load resets them again, and nothing else changes.
 */
export function watchSharedPort(): SharedPort {
  const handles = new Set<Handle>()
  subscribe('tracing:net.server.listen:asyncEnd', (message) => {
    const { _handle: handle } = (message as { server: Server }).server as { _handle?: Handle | null }
    if (handle) handles.add(handle)
  })
  return {
    close() {
      for (const handle of handles) handle.close()
    },
  }
}

/**
 * Node forgets a connection that it is handing to a worker which dies before it takes it: its caller would wait for ever.
 * A worker is handed the next when it has taken the last, so it can only be the last one; once taken, closing it here
 * does nothing.
 */
export function closeWhatItNeverTakes({ process: child }: Worker): void {
  const send = child.send.bind(child) as (...args: unknown[]) => boolean
  let last: Partial<Handle> | undefined
  child.send = (...args: unknown[]) => {
    const [, handle] = args
    if (typeof handle === 'object') last = handle as Partial<Handle>
    return send(...args)
  }
  child.once('exit', () => last?.close?.())
}

import type { Worker } from 'node:cluster'
import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'

/** The port that the workers share; the primary listens on it for them. */
export interface SharedPort {
  /** Accepts nothing new; connections that were accepted are still handed to the workers. */
  close(): void
}

/** The handle by which Node listens. */
interface Handle {
  close(): void
}

/**
 * Watches the handles by which the primary listens for its workers. Node closes a handle when the last worker closes
 * it, and then resets the connections that it has accepted and not handed over: several, under load. The channel is not
 * documented; without it, a stop under load resets them, and nothing else changes.
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
 * Closes the connection that Node was handing to a worker that died before it took it; its client would wait for ever.
 * A worker gets the next connection when it has taken the last, so this can only be the last one; if the worker took
 * it, closing it here does nothing.
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

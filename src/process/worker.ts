import cluster from 'node:cluster'
import type { Logger } from 'pino'
import type { Config } from '../app/config.ts'
import { explain } from '../app/explain.ts'
import { invariant } from '../domain/errors.ts'
import { endOnSignals } from './ending.ts'
import { type Origins, type Serving, startServing, stopServing } from './serving.ts'

/** A message from a worker to the primary. */
export type FromWorker =
  /** All parts are started, except the clients' port. */
  | { readonly is: 'ready' }
  | ({ readonly is: 'listening' } & Origins)
  /** The worker could not start, and ends. */
  | { readonly is: 'failed'; readonly why: string }

/**
 * A message from the primary to a worker: open the clients' port; the whole service stops, so serve on for a while; the
 * port is closed, so end.
 */
export interface ToWorker {
  readonly is: 'open' | 'stopping' | 'end'
}

/** The longest time from a signal to all processes until the primary's message about it arrives. */
const WORD_OF_PRIMARY_MS = 100

/**
 * Serves as one of several processes. The primary finds the database, migrates it and seeds the demonstration data; it
 * owns the clients' port and hands out the connections. A signal to one worker ends that worker alone.
 */
export async function serveAsWorker(config: Config, log: Logger): Promise<void> {
  const { worker } = cluster
  invariant(worker, 'a worker of the cluster')
  const send = (message: FromWorker) => new Promise<unknown>((resolve) => worker.send(message, resolve))
  const serving: Serving = {}
  const mayOpen = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  let allStop = false
  const ending = endOnSignals({
    ...config,
    log,
    leastGraceMs: WORD_OF_PRIMARY_MS,
    stop: async (graceMs) => {
      // When all processes stop, the primary closes the port, and first hands over the connections that it has
      // accepted.
      await stopServing(serving, graceMs, async () => {
        if (allStop) await mayEnd.promise
      })
      return 0
    },
  })
  const end = () => {
    allStop = true
    mayEnd.resolve()
    ending.begin(0)
  }

  worker.on('message', ({ is }: ToWorker) => {
    if (is === 'open') mayOpen.resolve()
    else if (is === 'end') end()
    else {
      allStop = true
      ending.announce()
    }
  })
  worker.once('disconnect', () => {
    // Otherwise Node would end the process at once, and requests that have begun would stay unanswered.
    worker.exitedAfterDisconnect = true
    log.warn('the primary is gone: this process ends, too')
    end()
  })

  try {
    const listening = await startServing(serving, {
      config,
      databaseUrl: config.databaseUrl,
      skipMigrations: true,
      stopping: () => allStop,
      log,
      mayOpen: async () => {
        void send({ is: 'ready' })
        await mayOpen.promise
      },
    })
    void send({ is: 'listening', ...listening })
  } catch (error) {
    log.debug({ err: error }, 'start failed')
    await send({ is: 'failed', why: explain(error) })
    ending.insist(1)
  }
}

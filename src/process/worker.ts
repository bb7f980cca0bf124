import cluster from 'node:cluster'
import type { Logger } from 'pino'
import type { Config } from '../app/config.ts'
import { invariant } from '../domain/errors.ts'
import { endOnSignals } from './ending.ts'
import { explain } from './explain.ts'
import { type Origins, type Serving, startServing, stopServing } from './serving.ts'

/** What a worker tells the primary. */
export type FromWorker =
  /** All is started but the port for callers. */
  | { readonly is: 'ready' }
  | ({ readonly is: 'listening' } & Origins)
  /** It could not start, and ends. */
  | { readonly is: 'failed'; readonly why: string }

/**
 * What the primary tells a worker: to open the port for callers; that the whole service stops, and goes on serving for a
 * while; that the port is closed, and it may end.
 */
export interface ToWorker {
  readonly is: 'open' | 'stopping' | 'end'
}

/** A signal that went to all processes has reached the primary, too, and its word come back, well within this time. */
const WORD_OF_PRIMARY_MS = 100

/**
 * One of several processes of the service. The primary has found the database, migrated it and laid the demonstration
 * data; it owns the port for callers and hands out the connections. A signal to this process alone ends it alone.
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
      // Where all stop, the primary closes the port, and hands over what it has accepted by then.
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
    // Else Node would end the process on the spot, and what has begun would stay unanswered.
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

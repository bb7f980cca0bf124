import cluster from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
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
  /** It stops, and accepts nothing new any more. */
  | { readonly is: 'closed' }

/** What the primary tells a worker. */
export type ToWorker =
  | { readonly is: 'open' }
  /** The whole service stops. */
  | { readonly is: 'stop'; readonly graceMs: number }
  /** No worker accepts anything new any more. */
  | { readonly is: 'allClosed' }

/** A signal that went to all processes has reached the primary, too, and its word come back, well within this time. */
const WORD_OF_PRIMARY_MS = 100
/** For neighbours that do not close their port, nobody waits longer. */
const ALL_CLOSED_WITHIN_MS = 1_000

/**
 * One of several processes of the service. The primary has found the database, migrated it and laid the demonstration
 * data; it owns the port for callers and hands out the connections. A signal to this process alone ends it alone.
 */
export async function serveAsWorker(config: Config, log: Logger): Promise<void> {
  const { worker } = cluster
  invariant(worker, 'a worker of the cluster')
  const tell = (message: FromWorker) => new Promise<unknown>((resolve) => worker.send(message, resolve))
  const serving: Serving = {}
  const mayOpen = Promise.withResolvers<void>()
  const allClosed = Promise.withResolvers<void>()
  let allStop = false
  const ending = endOnSignals({
    ...config,
    log,
    leastGraceMs: WORD_OF_PRIMARY_MS,
    stop: async (graceMs) => {
      await stopServing(serving, graceMs, async () => {
        void tell({ is: 'closed' })
        // Whoever is sent away while a neighbour still accepts would come back, just when that closes.
        if (allStop) await Promise.race([allClosed.promise, pause(ALL_CLOSED_WITHIN_MS)])
      })
      return 0
    },
  })

  worker.on('message', (message: ToWorker) => {
    if (message.is === 'open') mayOpen.resolve()
    else if (message.is === 'allClosed') allClosed.resolve()
    else {
      allStop = true
      ending.begin(0, message.graceMs)
    }
  })
  worker.once('disconnect', () => {
    // Else Node would end the process on the spot, and what has begun would stay unanswered.
    worker.exitedAfterDisconnect = true
    log.warn('the primary is gone: this process ends, too')
    allStop = true
    allClosed.resolve()
    ending.begin(0)
  })

  try {
    const listening = await startServing(serving, {
      config,
      databaseUrl: config.databaseUrl,
      asItIs: true,
      stopping: () => allStop,
      log,
      mayOpen: async () => {
        void tell({ is: 'ready' })
        await mayOpen.promise
      },
    })
    void tell({ is: 'listening', ...listening })
  } catch (error) {
    log.debug({ err: error }, 'start failed')
    await tell({ is: 'failed', why: explain(error) })
    ending.insist(1)
  }
}

import type { Worker } from 'node:cluster'
import cluster from 'node:cluster'
import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Origins } from './serving.ts'
import type { FromWorker, ToWorker } from './worker.ts'

/** A worker that listens. */
export interface Listening extends Origins {
  readonly pid: number | undefined
}

/** The worker processes of the service, for the primary process. */
export interface WorkerPool {
  /**
   * Starts the workers, and opens the clients' port when all are ready, so that connections are shared evenly from the
   * first one. After that, the pool replaces each worker that ends.
   * @throws WorkerStartError when a worker cannot start
   */
  start(): Promise<readonly Listening[]>
  /**
   * Serves on for `graceMs`, then closes the port and waits for all workers to end.
   * @returns whether every worker ended well
   */
  stop(graceMs: number): Promise<boolean>
  /** Kills all workers at once. */
  kill(): void
}

/** A worker could not start, for the reason in the message. */
class WorkerStartError extends Error {
  override readonly name = 'WorkerStartError'
}

export interface WorkerPoolOptions {
  readonly count: number
  /** The operators' port of the first worker; the others take the ports after it. 0: each takes a free port. */
  readonly opsPort: number
  /** Environment variables of a worker, besides those of the primary. */
  readonly env: Readonly<Record<string, string>>
  readonly log: Logger
}

/** One place in the pool: a worker, and later the workers that replace it. */
interface Slot {
  readonly number: number
  readonly firstOpsPort: number
  opsPort: number
  worker: Worker | undefined
  state: 'starting' | 'ready' | 'listening'
  listening: Listening | undefined
  startedAt: number
  /** Ends in a row, each soon after its start. */
  ends: number
  timer: NodeJS.Timeout | undefined
}

/** How a worker ended. */
interface WorkerEnd {
  readonly pid?: number | undefined
  readonly code?: number
  readonly signal?: string
  readonly err?: unknown
}

const LONGEST_PAUSE_MS = 30_000
/** A worker that served for this long is replaced without a pause. */
const STABLE_AFTER_MS = 60_000
/** Time for the primary to hand accepted connections to the workers, also to busy ones. */
const HAND_OVER_MS = 200

/** Returns the milliseconds before a worker is replaced: none at first, then twice as many each time, up to 30 s. */
export const pauseAfter = (ends: number): number =>
  ends === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** (ends - 1))

/** Creates a pool of workers by `node:cluster`, which gives each the connections in turn; `start` starts them. */
export const createWorkerPool = (options: WorkerPoolOptions): WorkerPool => new ClusterPool(options)

const createSlot = (number: number, firstOpsPort: number): Slot => ({
  number,
  firstOpsPort,
  opsPort: firstOpsPort,
  state: 'starting',
  startedAt: 0,
  ends: 0,
  worker: undefined,
  listening: undefined,
  timer: undefined,
})

/** The port that the workers share; the primary listens on it for them. */
interface SharedPort {
  /** Accepts nothing new; connections that were accepted are still handed to the workers. */
  close(): void
}

/** The handle by which Node listens. */
interface Handle {
  close(): void
}

class ClusterPool implements WorkerPool {
  readonly #slots: readonly Slot[]
  readonly #env: Readonly<Record<string, string>>
  readonly #log: Logger
  readonly #port = watchSharedPort()
  readonly #started = Promise.withResolvers<readonly Listening[]>()
  readonly #stopped = Promise.withResolvers<void>()
  /** Whether a worker has opened the clients' port. */
  #isOpen = false
  /** Whether all workers have listened. */
  #isUp = false
  #isStopping = false
  #endedWell = true

  constructor({ count, opsPort, env, log }: WorkerPoolOptions) {
    this.#env = env
    this.#log = log
    this.#slots = Array.from({ length: count }, (_, number) => createSlot(number, opsPort === 0 ? 0 : opsPort + number))
  }

  start(): Promise<readonly Listening[]> {
    cluster.schedulingPolicy = cluster.SCHED_RR
    for (const slot of this.#slots) this.#fork(slot)
    return this.#started.promise
  }

  async stop(graceMs: number): Promise<boolean> {
    this.#isStopping = true
    for (const { timer } of this.#slots) clearTimeout(timer)
    if (this.#isOpen) {
      this.#sendAll('stopping')
      await pause(graceMs)
      this.#port.close()
      await pause(HAND_OVER_MS)
    }
    this.#sendAll('end')
    if (this.#slots.some(({ worker }) => worker)) await this.#stopped.promise
    return this.#endedWell
  }

  kill(): void {
    for (const { worker } of this.#slots) worker?.process.kill('SIGKILL')
  }

  /** Sends a message to a worker. A failure is ignored: the worker is about to end, and its end is handled. */
  #send(slot: Slot, is: ToWorker['is']): void {
    slot.worker?.send({ is } satisfies ToWorker, () => undefined)
  }

  #sendAll(is: ToWorker['is']): void {
    for (const slot of this.#slots) this.#send(slot, is)
  }

  #areAll(wanted: Slot['state']): boolean {
    return this.#slots.every(({ state }) => state === wanted)
  }

  #fork(slot: Slot): void {
    slot.state = 'starting'
    slot.startedAt = performance.now()
    let worker: Worker
    try {
      worker = cluster.fork({ ...this.#env, OPS_PORT: String(slot.opsPort) })
    } catch (error) {
      this.#handleEnd(slot, { err: error })
      return
    }
    slot.worker = worker
    closeWhatItNeverTakes(worker)
    worker.on('message', (message: FromWorker) => this.#handleMessage(slot, worker, message))
    worker.once('exit', (code, signal) => this.#handleEnd(slot, { pid: worker.process.pid, code, signal }))
    worker.on('error', (error) => {
      // Where there is a process, the error is of a message, and the end of the process is handled as well.
      if (worker.process.pid === undefined) this.#handleEnd(slot, { err: error })
    })
  }

  #handleMessage(slot: Slot, { process: { pid } }: Worker, message: FromWorker): void {
    switch (message.is) {
      case 'ready':
        slot.state = 'ready'
        // An earlier message may have come before the worker listened for messages.
        if (this.#isStopping) this.#send(slot, 'end')
        else if (this.#isOpen) this.#send(slot, 'open')
        // One worker first: a port that is taken is then found out once.
        else if (this.#areAll('ready')) this.#send(this.#slots[0]!, 'open')
        break
      case 'listening':
        slot.state = 'listening'
        slot.listening = { origin: message.origin, opsOrigin: message.opsOrigin, pid }
        slot.opsPort = Number(new URL(message.opsOrigin).port)
        if (!this.#isOpen) for (const other of this.#slots.slice(1)) this.#send(other, 'open')
        this.#isOpen = true
        if (this.#isUp || !this.#areAll('listening')) break
        this.#isUp = true
        this.#started.resolve(this.#slots.flatMap(({ listening }) => listening ?? []))
        break
      case 'failed':
        // The free port that an earlier worker took may belong to another program by now.
        slot.opsPort = slot.firstOpsPort
        if (!this.#isUp) this.#started.reject(new WorkerStartError(message.why))
        else this.#log.error({ worker: slot.number }, `a worker could not start: ${message.why}`)
    }
  }

  #handleEnd(slot: Slot, end: WorkerEnd): void {
    slot.worker = undefined
    if (this.#isStopping) {
      // A worker that was still starting may be unable to end with 0, and had no request to answer.
      this.#endedWell &&= end.code === 0 || slot.state === 'starting'
      if (this.#slots.every(({ worker }) => !worker)) this.#stopped.resolve()
      return
    }
    if (!this.#isUp) {
      this.#started.reject(new WorkerStartError(`a process of it ended with ${end.signal ?? end.code ?? end.err}`))
      return
    }
    if (performance.now() - slot.startedAt > STABLE_AFTER_MS) slot.ends = 0
    const againInMs = pauseAfter(slot.ends++)
    const fields = { worker: slot.number, ended: end, againInMs }
    if (end.code === 0) this.#log.info(fields, 'a worker was stopped: another takes its place')
    else this.#log.error(fields, 'a worker ended: another takes its place')
    slot.timer = setTimeout(() => this.#fork(slot), againInMs)
  }
}

/**
 * Watches the handles by which the primary listens for its workers. Node closes a handle when the last worker closes
 * it, and then resets the connections that it has accepted and not handed over: several, under load. The channel is not
 * documented; without it, a stop under load resets them, and nothing else changes.
 */
function watchSharedPort(): SharedPort {
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
function closeWhatItNeverTakes({ process: child }: Worker): void {
  const send = child.send.bind(child) as (...args: unknown[]) => boolean
  let last: Partial<Handle> | undefined
  child.send = (...args: unknown[]) => {
    const [, handle] = args
    if (typeof handle === 'object') last = handle as Partial<Handle>
    return send(...args)
  }
  child.once('exit', () => last?.close?.())
}

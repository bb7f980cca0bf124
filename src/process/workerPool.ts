import cluster, { type Worker } from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { closeWhatItNeverTakes, watchSharedPort } from './port.ts'
import type { Origins } from './serving.ts'
import type { FromWorker, ToWorker } from './worker.ts'

/** A worker that listens. */
export interface Listening extends Origins {
  readonly pid: number | undefined
}

/** The workers of the service, as the primary has them. */
export interface Crew {
  /**
   * Starts them, and opens the port for callers once all are ready, so that connections are shared out evenly from the
   * first on. From then on, one that ends is replaced.
   * @throws CannotStart when one of them could not
   */
  start(): Promise<readonly Listening[]>
  /** Serves for a while as before, then closes the port, and waits for all to end. @returns whether all ended well */
  stop(graceMs: number): Promise<boolean>
  /** Ends all at once. */
  kill(): void
}

/** A worker could not start, for the reason in the message. */
class CannotStart extends Error {
  override readonly name = 'CannotStart'
}

export interface CrewOptions {
  readonly count: number
  /** The port of the first for operators; the others follow. 0: a free one each. */
  readonly opsPort: number
  /** What a worker finds in its environment beside what the primary has. */
  readonly env: Readonly<Record<string, string>>
  readonly log: Logger
}

/** The place of one worker, and of those that replace it. */
interface Post {
  readonly number: number
  readonly firstOpsPort: number
  opsPort: number
  worker: Worker | undefined
  state: 'starting' | 'ready' | 'listening'
  listening: Listening | undefined
  startedAt: number
  /** Ends in a row, none of which came after a good while. */
  ends: number
  timer: NodeJS.Timeout | undefined
}

const LONGEST_PAUSE_MS = 30_000
/** A worker that has served for so long is replaced without a pause. */
const GOOD_WHILE_MS = 60_000

/** What the primary has accepted is with a worker by then, also where those are busy. */
const HAND_OVER_MS = 200

/** Milliseconds before a worker is replaced: none at first, then longer each time, so that nobody is kept busy dying. */
export const pauseAfter = (ends: number): number =>
  ends === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** (ends - 1))

/** Workers by `node:cluster`, which hands each the connections in turn; none is started yet. */
export function gatherCrew({ count, opsPort, env, log }: CrewOptions): Crew {
  const posts = Array.from({ length: count }, (_, number): Post => {
    const firstOpsPort = opsPort === 0 ? 0 : opsPort + number
    const none = { worker: undefined, listening: undefined, timer: undefined }
    return { number, firstOpsPort, opsPort: firstOpsPort, state: 'starting', startedAt: 0, ends: 0, ...none }
  })
  const started = Promise.withResolvers<readonly Listening[]>()
  const stopped = Promise.withResolvers<void>()
  const port = watchSharedPort()
  let isOpen = false
  let up = false
  let stopping = false
  let allWell = true

  // What cannot be sent need not be: the worker is about to be told of by its end.
  const tell = (post: Post, is: ToWorker['is']) => post.worker?.send({ is } satisfies ToWorker, () => undefined)
  const tellAll = (is: ToWorker['is']) => {
    for (const post of posts) tell(post, is)
  }
  const allAre = (wanted: Post['state']) => posts.every(({ state }) => state === wanted)

  function fork(post: Post): void {
    post.state = 'starting'
    post.startedAt = performance.now()
    let worker: Worker
    try {
      worker = cluster.fork({ ...env, OPS_PORT: String(post.opsPort) })
    } catch (error) {
      left(post, { err: error })
      return
    }
    post.worker = worker
    closeWhatItNeverTakes(worker)
    worker.on('message', (message: FromWorker) => hear(post, worker, message))
    worker.once('exit', (code, signal) => left(post, { pid: worker.process.pid, code, signal }))
    worker.on('error', (error) => {
      // Where there is a process, it is about a message, and its end tells the rest.
      if (worker.process.pid === undefined) left(post, { err: error })
    })
  }

  function hear(post: Post, { process: { pid } }: Worker, message: FromWorker): void {
    switch (message.is) {
      case 'ready':
        post.state = 'ready'
        // What it was told before may have come when it did not listen yet.
        if (stopping) tell(post, 'end')
        else if (isOpen) tell(post, 'open')
        // One of them first: a port that is taken is then found out once.
        else if (allAre('ready')) tell(posts[0]!, 'open')
        break
      case 'listening':
        post.state = 'listening'
        post.listening = { origin: message.origin, opsOrigin: message.opsOrigin, pid }
        post.opsPort = Number(new URL(message.opsOrigin).port)
        if (!isOpen) for (const other of posts.slice(1)) tell(other, 'open')
        isOpen = true
        if (up || !allAre('listening')) break
        up = true
        started.resolve(posts.flatMap(({ listening }) => listening ?? []))
        break
      case 'failed':
        // The port that one before had by chance may be somebody else's by now.
        post.opsPort = post.firstOpsPort
        if (!up) started.reject(new CannotStart(message.why))
        else log.error({ worker: post.number }, `a worker could not start: ${message.why}`)
    }
  }

  function left(post: Post, how: { pid?: number | undefined; code?: number; signal?: string; err?: unknown }): void {
    post.worker = undefined
    if (stopping) {
      // One that was still starting may not have been able to do better, and had nothing to do well.
      allWell &&= how.code === 0 || post.state === 'starting'
      if (posts.every(({ worker }) => !worker)) stopped.resolve()
      return
    }
    if (!up) {
      started.reject(new CannotStart(`a process of it ended with ${how.signal ?? how.code ?? how.err}`))
      return
    }
    if (performance.now() - post.startedAt > GOOD_WHILE_MS) post.ends = 0
    const againInMs = pauseAfter(post.ends++)
    const told = { worker: post.number, ended: how, againInMs }
    if (how.code === 0) log.info(told, 'a worker was stopped: another takes its place')
    else log.error(told, 'a worker ended: another takes its place')
    post.timer = setTimeout(fork, againInMs, post)
  }

  return {
    start() {
      cluster.schedulingPolicy = cluster.SCHED_RR
      for (const post of posts) fork(post)
      return started.promise
    },
    async stop(graceMs) {
      stopping = true
      for (const { timer } of posts) clearTimeout(timer)
      if (isOpen) {
        tellAll('stopping')
        await pause(graceMs)
        port.close()
        await pause(HAND_OVER_MS)
      }
      tellAll('end')
      if (posts.some(({ worker }) => worker)) await stopped.promise
      return allWell
    },
    kill() {
      for (const { worker } of posts) worker?.process.kill('SIGKILL')
    },
  }
}

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What a process of the benchmark does when asked: a function a name, of one argument. */
type Duties = Record<string, (argument: never) => unknown>

interface Asked {
  readonly id: number
  readonly duty: string
  readonly argument: unknown
}

type Answered = { readonly id: number } & ({ readonly result: unknown } | { readonly failure: string })

/** Another process of the benchmark. */
export interface Peer<D extends Duties> {
  readonly pid: number
  ask<Name extends keyof D & string>(
    duty: Name,
    argument: Parameters<D[Name]>[0],
  ): Promise<Awaited<ReturnType<D[Name]>>>
  end(): Promise<void>
}

/**
 * Starts `file`, of this folder, as a process of its own; it ends when this one does.
 * @param detached whether in a session of its own, which Linux may schedule apart from this one
 */
export function startPeer<D extends Duties>(file: string, execArgv: string[] = [], detached = false): Peer<D> {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const child = fork(path, { serialization: 'advanced', execArgv, detached })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  let ended: Error | undefined
  child.on('message', (message: Answered) => {
    const asked = waiting.get(message.id)
    waiting.delete(message.id)
    if ('failure' in message) asked?.reject(new Error(`${file}: ${message.failure}`))
    else asked?.resolve(message.result)
  })
  const gone = Promise.withResolvers<void>()
  child.once('exit', (code, signal) => {
    gone.resolve()
    ended = new Error(`${file} ended (${signal ?? code})`)
    for (const asked of waiting.values()) asked.reject(ended)
  })
  return {
    pid: child.pid ?? 0,
    ask: (duty, argument) => {
      if (ended) return Promise.reject(ended)
      const asked = Promise.withResolvers<unknown>()
      waiting.set(++last, asked)
      child.send({ id: last, duty, argument } satisfies Asked)
      // What comes back is what the duty of that name gives: both sides are typed by the same table.
      return asked.promise as ReturnType<Peer<D>['ask']>
    },
    end: () => {
      if (child.connected) child.disconnect()
      return gone.promise
    },
  }
}

/** The other side: does what it is asked until the process that started it is gone. */
export function serve(duties: Duties): void {
  process.on('message', async ({ id, duty, argument }: Asked) => {
    const answer = await Promise.resolve()
      .then(() => duties[duty]!(argument as never))
      .then(
        (result): Answered => ({ id, result }),
        (error: unknown): Answered => ({ id, failure: error instanceof Error ? (error.stack ?? '') : String(error) }),
      )
    process.send?.(answer)
  })
  process.once('disconnect', () => process.exit(0))
  // Ctrl-C goes to the whole process group; the one that was asked ends the others in order.
  process.on('SIGINT', () => undefined)
}

import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { deserialize } from 'node:v8'
import { invariant } from '../../domain/errors.ts'
import type { Currency } from '../../domain/money.ts'
import type { StatementLimits, WorkerTask } from './limits.ts'
import type { Reading } from './worker.ts'

/** What came of the process: a reading, or why it was ended. */
export type Ending = Reading | { readonly is: 'tookTooLong' | 'usedTooMuchMemory' | 'wasNotReached' }

const HERE = import.meta.dirname
export const PROGRAM = join(HERE, 'worker.ts')
const SOURCES = join(HERE, '../..')
/** Where the library is installed, and what the sources import; twice, because a folder of packages may be a link. */
const LIBRARIES = [
  join(SOURCES, '../node_modules'),
  join(dirname(createRequire(import.meta.url).resolve('unpdf')), '../..'),
]
/** Node's own heap, in MiB: below the memory limit, so that a heap that fills up is seen to be one. */
const HEAP_SHARE = 0.6
/** Bytes: the figures of ten years take a tenth of it. */
const LONGEST_ANSWER = 256 * 1024
const LONGEST_COMPLAINT = 4096

/**
 * Reads a PDF in a process of its own, which is killed past the limits of time and memory. A process, because a heap
 * limit does not count the buffers that streams are inflated into, and because killing is the only way to stop a loop.
 * It starts with an empty environment, may read no file but the service's own code, and write none, and has no network
 * by the time that it loads the library.
 * @throws Error when the program itself failed: that is our bug, not the file's
 */
export function readInProcess(
  bytes: Uint8Array,
  currency: Currency,
  limits: StatementLimits,
  signal: AbortSignal,
): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const { pages, characters, milliseconds, patience, memory } = limits
    const task: WorkerTask = { limits: { pages, characters, milliseconds, patience, memory }, currency }
    const child = spawn(process.execPath, [...boundsOf(memory), PROGRAM, JSON.stringify(task)], {
      env: {},
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    })
    // First of all, because a process that cannot be started has no pipes either.
    child.on('error', reject)
    const { stdin, stderr } = child
    invariant(stdin && stderr, 'pipes, as asked for')
    let late = false
    const kill = () => child.kill('SIGKILL')
    const timer = setTimeout(() => {
      late = true
      kill()
    }, patience)
    signal.addEventListener('abort', kill)
    const answer = collect(child.stdio[3] as Readable, LONGEST_ANSWER, kill)
    const complaint = collect(stderr, LONGEST_COMPLAINT)

    // Killed before it had read everything: the ending says so.
    stdin.on('error', () => undefined)
    child.on('spawn', () => {
      yieldToService(child.pid)
      stdin.end(bytes)
    })
    child.on('close', (code, killedBy) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', kill)
      if (late) resolve({ is: 'wasNotReached' })
      else if (signal.aborted) reject(signal.reason)
      else if (killedBy === 'SIGXCPU') resolve({ is: 'tookTooLong' })
      // The watchdog or the system killed it; SIGABRT, SIGTRAP: its heap was full.
      else if (killedBy !== null || code === 134) resolve({ is: 'usedTooMuchMemory' })
      // Nothing left to do and no answer: a broken file sent the library waiting for something that never comes.
      else if (code === 13) resolve({ is: 'damaged' })
      else if (code === 0 && answer().length > 0) resolve(deserialize(answer()) as Reading)
      else reject(new Error(`the statement reader exited with ${code}: ${complaint().toString()}`))
    })
  })
}

/** The arguments by which Node bounds the process. @param memory bytes */
export const boundsOf = (memory: number): string[] => [
  '--no-warnings',
  '--permission',
  '--allow-worker',
  ...[SOURCES, ...LIBRARIES, join(SOURCES, '../package.json')].map((path) => `--allow-fs-read=${path}`),
  '--disallow-code-generation-from-strings',
  `--max-old-space-size=${Math.floor((memory * HEAP_SHARE) / 1024 / 1024)}`,
]

/** Collects what a stream says, up to a bound; past it the rest is dropped and `full` is called. */
function collect(stream: Readable, bound: number, full?: () => void): () => Buffer {
  const chunks: Buffer[] = []
  let length = 0
  stream.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= bound) chunks.push(chunk)
    else full?.()
  })
  return () => Buffer.concat(chunks)
}

/** The service answers first, whatever the reader is chewing on. */
function yieldToService(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Gone already, or a system that does not let us: it is a courtesy.
  }
}

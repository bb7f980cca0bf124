import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { deserialize } from 'node:v8'
import { invalidArgument, invariant, LendingError } from '../../domain/errors.ts'
import type { Currency } from '../../domain/money.ts'
import { STATEMENT_LIMITS, type StatementLimits, type WorkerTask } from './limits.ts'
import type { StatementFigures } from './parse.ts'
import type { Reading } from './worker.ts'

/** Reads statements, each in a process of its own: for one who has a place. */
export interface StatementReader {
  /**
   * Reads the figures of a statement in a currency. `checkStatement` checks whether they are the customer's.
   * @param signal ends the reading, when the caller disconnects
   * @throws LendingError `invalid_argument` on `statement`, saying what is wrong with the file; `unavailable` when there was
   *   no time to read it, or the service is stopping
   */
  read(bytes: Uint8Array, currency: Currency, signal?: AbortSignal): Promise<StatementFigures>
  /** Ends the readings under way and refuses those to come. */
  close(): void
}

/** Opens a reader, which starts no process before there is a statement to read. */
export function openStatementReader(changes: Partial<StatementLimits> = {}): StatementReader {
  const limits = { ...STATEMENT_LIMITS, ...changes }
  const closing = new AbortController()
  return {
    async read(bytes, currency, signal) {
      requirePdf(bytes, limits)
      const ended = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      ended.throwIfAborted()
      return requireFigures(await readInProcess(bytes, currency, limits, ended), limits)
    },
    close: () => closing.abort(new LendingError('unavailable', 'the service is stopping', [], 5)),
  }
}

/** Returns a hash by which the same file is recognised, without its content. */
export const statementHash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Requires a file that looks like a whole PDF of a permitted size. @throws LendingError `invalid_argument` */
function requirePdf(bytes: Uint8Array, limits: StatementLimits): void {
  if (bytes.length > limits.bytes)
    throw atFault(`is ${bytes.length} bytes: at most ${limits.bytes} (${limits.bytes / 1024 / 1024} MiB) are read`)
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // Readers look for the header in the first kilobyte, and for the end in the last: mail gateways add bytes.
  if (file.subarray(0, 1024).indexOf('%PDF-') === -1) throw atFault('is not a PDF')
  if (file.subarray(-2048).indexOf('startxref') === -1) throw atFault('is a PDF that was cut short: its end is missing')
}

/** The result of the process: a reading, or why the process was ended. */
type Ending = Reading | { readonly is: 'tookTooLong' | 'usedTooMuchMemory' | 'wasNotReached' }

const HERE = import.meta.dirname
export const PROGRAM = join(HERE, 'worker.ts')
const SOURCES = join(HERE, '../..')
/** The folders of packages that the sources import: two, because a folder of packages may be a link. */
const LIBRARIES = [
  join(SOURCES, '../node_modules'),
  join(dirname(createRequire(import.meta.url).resolve('unpdf')), '../..'),
]
/** The share of the memory limit for Node's heap: below 1, so that a full heap is distinguished from other memory. */
const HEAP_SHARE = 0.6
/** The longest answer, in bytes: the figures of ten years take a tenth of it. */
const LONGEST_ANSWER = 256 * 1024
const LONGEST_COMPLAINT = 4096

function requireFigures(ending: Ending, limits: StatementLimits): StatementFigures {
  switch (ending.is) {
    case 'damaged':
      throw atFault('is a damaged PDF: it cannot be opened')
    case 'encrypted':
      throw atFault('is encrypted: send it without a password')
    case 'tooManyPages':
      throw atFault(`has ${ending.pages} pages: at most ${limits.pages} are read`)
    case 'tooMuchText':
      throw atFault(`holds more than ${limits.characters} characters`)
    case 'tookTooLong':
      throw atFault(`took longer than ${limits.milliseconds / 1000} seconds to read`)
    case 'wasNotReached':
      throw new LendingError('unavailable', 'the service is too busy to read a statement: try again shortly', [], 5)
    case 'usedTooMuchMemory':
      throw atFault('needs too much memory to read')
    case 'noText':
      throw atFault('holds no text: a scan or a picture cannot be read; send the PDF as it was issued')
    case 'refused':
      throw atFault(ending.message)
    case 'statement':
      return ending.figures
  }
}

const atFault = (message: string) => invalidArgument('statement', message)

/**
 * Reads a PDF in its own process, which is killed beyond the limits of time and memory. A heap limit would not count
 * the buffers into which streams are inflated, and only a kill stops an endless loop. The process starts with an empty
 * environment, may read the service's own code and no other file, may write none, and has no network when it loads the
 * library.
 * @throws Error when the program itself failed: that is our bug, not the file's
 */
function readInProcess(
  bytes: Uint8Array,
  currency: Currency,
  limits: StatementLimits,
  signal: AbortSignal,
): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const { pages, characters, milliseconds, patience, memory, priority } = limits
    const task: WorkerTask = { limits: { pages, characters, milliseconds, patience, memory }, currency }
    const child = spawn(process.execPath, [...boundsOf(memory), PROGRAM, JSON.stringify(task)], {
      env: {},
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    })
    // Before the pipes are used: a process that cannot be started has none.
    child.on('error', reject)
    const { stdin, stderr } = child
    invariant(stdin && stderr, 'pipes of the process')
    let late = false
    const kill = () => child.kill('SIGKILL')
    const timer = setTimeout(() => {
      late = true
      kill()
    }, patience)
    signal.addEventListener('abort', kill)
    const answer = collect(child.stdio[3] as Readable, LONGEST_ANSWER, kill)
    const complaint = collect(stderr, LONGEST_COMPLAINT)

    // The process was killed before it had read everything; `close` reports that.
    stdin.on('error', () => undefined)
    child.on('spawn', () => {
      yieldToService(child.pid, priority)
      stdin.end(bytes)
    })
    child.on('close', (code, killedBy) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', kill)
      if (late) resolve({ is: 'wasNotReached' })
      else if (signal.aborted) reject(signal.reason)
      else if (killedBy === 'SIGXCPU') resolve({ is: 'tookTooLong' })
      // The watchdog or the system killed the process; with SIGABRT or SIGTRAP its heap was full.
      else if (killedBy !== null || code === 134) resolve({ is: 'usedTooMuchMemory' })
      // The process ended without an answer: the library waited for a part that the broken file does not have.
      else if (code === 13) resolve({ is: 'damaged' })
      else if (code === 0 && answer().length > 0) resolve(deserialize(answer()) as Reading)
      else reject(new Error(`the statement reader exited with ${code}: ${complaint().toString()}`))
    })
  })
}

/** Returns the arguments with which Node limits the process. @param memory in bytes */
export const boundsOf = (memory: number): string[] => [
  '--no-warnings',
  '--permission',
  '--allow-worker',
  ...[SOURCES, ...LIBRARIES, join(SOURCES, '../package.json')].map((path) => `--allow-fs-read=${path}`),
  '--disallow-code-generation-from-strings',
  `--max-old-space-size=${Math.floor((memory * HEAP_SHARE) / 1024 / 1024)}`,
]

/** Collects the data of a stream up to a bound; beyond it, drops the rest and calls `full`. */
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

/** Gives a process its priority: lower than that of the service. */
function yieldToService(pid: number | undefined, priority: number): void {
  try {
    if (pid !== undefined) setPriority(pid, priority)
  } catch {
    // The process has ended, or the system does not allow it: the priority is not essential.
  }
}

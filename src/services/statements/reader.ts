import { createHash } from 'node:crypto'
import { invalidArgument, LendingError } from '../../domain/errors.ts'
import type { Currency } from '../../domain/money.ts'
import { STATEMENT_LIMITS, type StatementLimits } from './limits.ts'
import type { StatementFigures } from './parse.ts'
import { type Ending, readInProcess } from './process.ts'

/** Reads statements, a few at a time; others wait for their turn. */
export interface StatementReader {
  /**
   * Reads the figures of a statement in a currency. `checkStatement` checks whether they are the customer's.
   * @param signal ends the reading, when the caller disconnects
   * @throws LendingError `invalid_argument` on `statement`, saying what is wrong with the file; `resource_exhausted`
   *   when too many wait, `unavailable` when there was no time to read it
   */
  read(bytes: Uint8Array, currency: Currency, signal?: AbortSignal): Promise<StatementFigures>
  /** Ends the readings under way and refuses those that wait. */
  close(): void
}

/** Opens a reader, which starts no process before there is a statement to read. */
export function openStatementReader(changes: Partial<StatementLimits> = {}): StatementReader {
  const limits = { ...STATEMENT_LIMITS, ...changes }
  const closing = new AbortController()
  const waiting: (() => void)[] = []
  let running = 0

  const turn = async (): Promise<void> => {
    if (running < limits.workers) {
      running += 1
      return
    }
    if (waiting.length >= limits.waiting)
      throw new LendingError('resource_exhausted', 'too many statements are being read: try again shortly', [], 5)
    // A reading that ends hands over its place, so that no other takes it first.
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  const leave = (): void => {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }

  return {
    async read(bytes, currency, signal) {
      requirePdf(bytes, limits)
      const ended = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      await turn()
      try {
        ended.throwIfAborted()
        return requireFigures(await readInProcess(bytes, currency, limits, ended), limits)
      } finally {
        leave()
      }
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

import { createHash } from 'node:crypto'
import { invalidArgument, LendingError } from '../../domain/errors.ts'
import type { Currency } from '../../domain/money.ts'
import { STATEMENT_LIMITS, type StatementLimits } from './limits.ts'
import type { StatementFigures } from './parse.ts'
import { type Ending, readInProcess } from './process.ts'

/** Reads statements, a few at a time; the rest wait their turn. */
export interface StatementReader {
  /**
   * The figures of a statement in that currency. `checkStatement` says whether they are the customer's.
   * @param signal the request's: when the caller goes, the reading ends
   * @throws LendingError `invalid_argument` on `statement`, saying what is wrong with the file; `resource_exhausted`
   * when too many are waiting, `unavailable` when there was no time for it
   */
  read(bytes: Uint8Array, currency: Currency, signal?: AbortSignal): Promise<StatementFigures>
  /** Ends what is being read and refuses what waits. */
  close(): void
}

/** Opens a reader. It starts no process before there is something to read. */
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
    // Whoever leaves hands the place over, so that nobody slips in between.
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

/** What is kept of a statement: enough to know the same file again, nothing of what it says. */
export const statementHash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** A file that nobody needs to open to know that it is no statement. */
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

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { LendingError } from '../../domain/errors.ts'
import { denyNetwork } from './isolation.ts'
import type { WorkerTask } from './limits.ts'
import type { StatementFigures } from './parse.ts'
import type { Unreadable } from './pdf.ts'
import type { Line } from './text.ts'

// The program that reads one statement, in its own process. It reads the file on standard input and writes the result
// on descriptor 3, because the library may write on standard output. The text is parsed here too, so that the service
// gets the figures of a hostile file, and never its lines.

/** The result of reading a PDF. */
export type Reading =
  | { readonly is: 'statement'; readonly figures: StatementFigures }
  | { readonly is: 'refused'; readonly message: string }
  | Unreadable

const { limits, currency } = JSON.parse(process.argv[2] ?? '') as WorkerTask

function parsed(pages: Line[][]): Reading {
  try {
    return { is: 'statement', figures: parseStatement(pages, currency) }
  } catch (error) {
    if (error instanceof LendingError) return { is: 'refused', message: error.message }
    throw error
  }
}

const watchdog = new Worker(new URL('./watchdog.ts', import.meta.url), { workerData: limits })
await once(watchdog, 'online')
watchdog.unref()
// From here on there is no network, neither for the code that reads the file nor for modules that it loads.
denyNetwork()
const [{ parseStatement }, { readPdf }] = await Promise.all([import('./parse.ts'), import('./pdf.ts')])
// The library does not await some promises of a broken file; `readPdf` returns what matters.
process.on('unhandledRejection', () => undefined)
const lines = await readPdf(new Uint8Array(await buffer(process.stdin)), limits)
createWriteStream('', { fd: 3 }).end(serialize(Array.isArray(lines) ? parsed(lines) : lines))

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

// The program that reads one statement, in a process of its own: the file comes in on standard input, what was made of
// it goes out on descriptor 3 (standard output is the library's to chat on). The text is taken apart here too, so that
// the service never has a hostile file's lines in its hands, only the figures.

/** What was made of a PDF. */
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
// From here on there is no network, for what reads the file and for what that loads.
denyNetwork()
const [{ parseStatement }, { readPdf }] = await Promise.all([import('./parse.ts'), import('./pdf.ts')])
// The library leaves some promises of a broken file to themselves; what matters comes back from `readPdf`.
process.on('unhandledRejection', () => undefined)
const lines = await readPdf(new Uint8Array(await buffer(process.stdin)), limits)
createWriteStream('', { fd: 3 }).end(serialize(Array.isArray(lines) ? parsed(lines) : lines))

import { chmod, mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/app/config.ts'
import { openService } from '../src/app/service.ts'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import type { Deps } from '../src/services/deps.ts'
import { sequencerJob } from '../src/services/events/sequencer.ts'
import { drain } from '../src/services/jobs/job.ts'
import { sweepJob } from '../src/services/loans/sweep.ts'
import { fillBook } from './fillBook.ts'

/** The organization whose book is filled. */
export const ORGANIZATION = 1

/** The size of a book, and where it is kept: in a directory that stays and is used again, or in one of its own. */
export interface LargeBook {
  readonly loans: number
  readonly transactions: number
  readonly directory: string | undefined
}

/** Writes a line. */
export const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** Opens a service on a large book, with nothing that waits for the sweep, lets it be measured, and closes it. */
export async function withLargeBook(book: LargeBook, measure: (deps: Deps) => Promise<void>): Promise<void> {
  const closing: (() => unknown)[] = []
  try {
    const directory = book.directory ?? join(tmpdir(), `mkopo-large-book-${process.pid}`)
    await mkdir(directory, { recursive: true })
    if (book.directory === undefined)
      closing.push(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
    await chmod(directory, 0o755)
    const quiet = { debug: () => undefined, info: () => undefined, warn: say }
    const server = await startEmbedded({ directory: join(directory, 'data'), durable: false, log: quiet })
    closing.push(() => server.stop())
    const config = readConfig({ KEY_ENCRYPTION_SECRET: 'a secret of the bench', SEED_DEMO: 'true' })
    const deps = await openService({ config, databaseUrl: server.url, now: Date.now })
    closing.push(() => deps.db.close())
    await lay(deps, book)
    await sweep(deps)
    await measure(deps)
  } finally {
    for (const close of closing.toReversed()) await close()
  }
}

/** Fills the book unless it is there. */
async function lay({ db, config }: Deps, { loans, transactions }: LargeBook): Promise<void> {
  const { rows } = await db.pool.query<{ n: bigint }>('SELECT count(*) AS n FROM (SELECT FROM loan LIMIT 1) AS one')
  if (rows[0]!.n > 0n) return
  const book = await fillBook(db.pool, { loans, transactions }, config.zone, ORGANIZATION)
  say(`${book.loans.toLocaleString('en')} open loans, ${transactions.toLocaleString('en')} transactions`)
}

/** Lets time do what it does, so that no loan waits for the sweep. */
async function sweep(deps: Deps): Promise<void> {
  await drain(sweepJob(deps))
  await drain(sequencerJob(deps))
}

import type { Logger } from 'pino'
import type { Config } from '../app/config.ts'
import { SECRET_SETTINGS } from '../app/config.ts'
import { explain, printStartFailure } from '../app/explain.ts'
import { openService } from '../app/service.ts'
import type { EmbeddedServer } from '../db/embedded/embedded.ts'
import { layDemoLoans } from '../services/organizations/demoLoans.ts'
import { banner, warnOfDemo } from './banner.ts'
import { bookOfDirectory, bringBooksUpToDate } from './books.ts'
import { type Database, findDatabase } from './database.ts'
import { endOnSignals } from './ending.ts'
import { createWorkerPool, type WorkerPool } from './workerPool.ts'

/**
 * Runs the service in several processes behind one port. The primary does once what is needed once, and serves no
 * client: it finds the database, migrates it, seeds the demonstration data, starts the workers and replaces those that
 * end.
 */
export async function lead(settings: Config, log: Logger): Promise<void> {
  let server: EmbeddedServer | undefined
  let workers: WorkerPool | undefined
  const ending = endOnSignals({
    ...settings,
    log,
    stop: async (graceMs) => {
      const allWell = await workers?.stop(graceMs)
      await server?.stop()
      return allWell === false ? 1 : 0
    },
    giveUp: () => workers?.kill(),
  })
  try {
    const database = await findDatabase(settings, log)
    server = database.server
    await bringUpToDate(database, log)
    if (ending.begun()) return
    workers = createWorkerPool({
      count: settings.webConcurrency,
      opsPort: settings.opsPort,
      env: environmentOf(database),
      log,
    })
    const listening = await workers.start()
    process.stdout.write(banner(database.config, listening[0]!.origin, listening))
  } catch (error) {
    printStartFailure(explain(error))
    log.debug({ err: error }, 'start failed')
    ending.insist(1)
  }
}

async function bringUpToDate({ config, url, ownerUrl, server }: Database, log: Logger): Promise<void> {
  const times = { now: Date.now, clock: Date.now }
  const seeds = config.books.length === 0 || bookOfDirectory(config.books, url) !== undefined
  const deps = await openService({ config, databaseUrl: url, ownerUrl, ...times, log, seeds })
  deps.statements.close()
  try {
    await bringBooksUpToDate(deps, url, log)
    if (server && config.seedDemo) await layDemoLoans(deps)
    await warnOfDemo(config, deps.db, log)
  } finally {
    await deps.db.close()
  }
}

/**
 * Returns the settings that make a worker a single process, on the migrated database. Secrets stay out of the
 * arguments, and the owner's URL stays here.
 */
function environmentOf({ config, url }: Database): Record<string, string> {
  return {
    WEB_CONCURRENCY: '1',
    DATABASE_URL: url,
    DATABASE_OWNER_URL: '',
    BOOKS: config.books.map(({ name, url: of }) => `${name}=${of}`).join(),
    BOOKS_OWNERS: '',
    KEY_ENCRYPTION_SECRET: config.keyEncryptionSecret ?? '',
    METRICS_TOKEN: config.metricsToken ?? '',
    // The primary has read these files: the values above are theirs.
    ...Object.fromEntries(SECRET_SETTINGS.map((name) => [`${name}_FILE`, ''])),
    // The primary has laid the demonstration data; a worker only says so in its documents.
    SEED_DEMO: String(config.seedDemo),
  }
}

import type { Logger } from 'pino'
import type { Config } from '../app/config.ts'
import { SECRET_SETTINGS } from '../app/secretFiles.ts'
import { openService } from '../app/service.ts'
import type { EmbeddedServer } from '../db/embedded/embedded.ts'
import { banner } from './banner.ts'
import { type Database, findDatabase } from './database.ts'
import { warnOfDemo } from './demoWarning.ts'
import { endOnSignals } from './ending.ts'
import { explain, printStartFailure } from './explain.ts'
import { createWorkerPool, type WorkerPool } from './workerPool.ts'

/**
 * The service in several processes behind one port. This one does what has to be done once, and serves nobody: it finds
 * the database, migrates it, lays the demonstration data, starts the workers and sees that they live.
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

async function bringUpToDate({ config, url, ownerUrl }: Database, log: Logger): Promise<void> {
  const times = { now: Date.now, clock: Date.now }
  const { db, statements } = await openService({ config, databaseUrl: url, ownerUrl, ...times, log })
  statements.close()
  await warnOfDemo(config, db, log).finally(() => db.close())
}

/** The settings by which a worker is one process, on the database as it is. Secrets stay out of the arguments, and the owner's URL here. */
function environmentOf({ config, url }: Database): Record<string, string> {
  return {
    WEB_CONCURRENCY: '1',
    DATABASE_URL: url,
    DATABASE_OWNER_URL: '',
    KEY_ENCRYPTION_SECRET: config.keyEncryptionSecret ?? '',
    METRICS_TOKEN: config.metricsToken ?? '',
    // They have been read, and are the values above.
    ...Object.fromEntries(SECRET_SETTINGS.map((name) => [`${name}_FILE`, ''])),
    SEED_DEMO: 'false',
  }
}

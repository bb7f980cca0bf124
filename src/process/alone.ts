import type { Logger } from 'pino'
import type { Config } from '../app/config.ts'
import { explain, printStartFailure } from '../app/explain.ts'
import type { EmbeddedServer } from '../db/embedded/embedded.ts'
import { layDemoLoans } from '../services/organizations/demoLoans.ts'
import { banner, warnOfDemo } from './banner.ts'
import { findDatabase } from './database.ts'
import { endOnSignals } from './ending.ts'
import { type Serving, startServing, stopServing } from './serving.ts'

/** Serves in this one process. */
export async function serveAlone(settings: Config, log: Logger): Promise<void> {
  const serving: Serving = {}
  let server: EmbeddedServer | undefined
  const ending = endOnSignals({
    ...settings,
    log,
    stop: async (graceMs) => {
      await stopServing(serving, graceMs)
      await server?.stop()
      return 0
    },
  })
  try {
    const database = await findDatabase(settings, log)
    server = database.server
    const { config, url: databaseUrl, ownerUrl } = database
    const listening = await startServing(serving, {
      config,
      databaseUrl,
      ownerUrl,
      skipMigrations: false,
      stopping: ending.begun,
      log,
    })
    if (serving.deps && server && config.seedDemo) await layDemoLoans(serving.deps)
    if (serving.deps) await warnOfDemo(config, serving.deps.db, log)
    process.stdout.write(banner(config, listening.origin, [listening]))
  } catch (error) {
    printStartFailure(explain(error))
    log.debug({ err: error }, 'start failed')
    ending.insist(1)
  }
}

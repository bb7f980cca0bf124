import { setTimeout as pause } from 'node:timers/promises'
import { type Config, readConfig } from '../config.ts'
import { DirectoryInUseError, type EmbeddedServer, findLeftUrl, startEmbedded } from '../db/embedded.ts'
import { withKeptSecret } from '../keptSecret.ts'
import { openService } from '../service.ts'
import type { Opened } from './world.ts'

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined }

/**
 * The book that the service has by the same settings: that of `DATABASE_URL`; or the embedded database, of the service
 * where it runs, else started for as long as the command takes.
 */
export async function openBook({ migrate } = { migrate: false }): Promise<Opened> {
  const settings = readConfig()
  if (settings.databaseUrl !== '') return openAt(settings, settings.databaseUrl, migrate)
  const config = await withKeptSecret(settings)
  const found = await findEmbedded(config.dataDir)
  if (typeof found === 'string') return openAt(config, found, migrate)
  const server = found
  try {
    // Nobody else keeps its schema up to date.
    const opened = await openAt(config, server.url, true)
    return {
      deps: opened.deps,
      close: async () => {
        await opened.close()
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** How long a service that starts, or another run of the command line, is waited for. */
const PATIENCE_MS = 20_000

/** The database of the service that runs, by its URL; where none does, one that is started. */
async function findEmbedded(directory: string): Promise<string | EmbeddedServer> {
  for (const end = performance.now() + PATIENCE_MS; ; await pause(200)) {
    try {
      return await startEmbedded({ directory, shared: false, log: silent })
    } catch (error) {
      if (!(error instanceof DirectoryInUseError)) throw error
      const url = await findLeftUrl(directory)
      if (url !== undefined) return url
      if (performance.now() > end) throw new Error(`${error.message}; try again when it is done`, { cause: error })
    }
  }
}

async function openAt(config: Config, databaseUrl: string, migrate: boolean): Promise<Opened> {
  const deps = await openService({ config, databaseUrl, now: Date.now, asItIs: !migrate })
  return {
    deps,
    close: async () => {
      deps.statements.close()
      await deps.db.close()
    },
  }
}

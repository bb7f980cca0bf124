import { type Config, readConfig } from '../config.ts'
import { DirectoryInUseError, findLeftUrl, startEmbedded } from '../db/embedded.ts'
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
  const server = await startEmbedded({ directory: config.dataDir, shared: false, log: silent }).catch(
    (error: unknown) => {
      if (error instanceof DirectoryInUseError) return undefined
      throw error
    },
  )
  if (!server) return openAt(config, await findLeftUrl(config.dataDir), migrate)
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

async function openAt(config: Config, databaseUrl: string, migrate: boolean): Promise<Opened> {
  const deps = await openService({ config, databaseUrl, now: Date.now, asItIs: !migrate })
  return { deps, close: () => deps.db.close() }
}

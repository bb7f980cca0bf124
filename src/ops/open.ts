import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Config, ConfigError, readConfig } from '../app/config.ts'
import { withKeptSecret } from '../app/keptSecret.ts'
import { openService } from '../app/service.ts'
import {
  DirectoryInUseError,
  type EmbeddedServer,
  type EmbeddedUrls,
  findLeftUrls,
  hasDatabase,
  startEmbedded,
} from '../db/embedded/embedded.ts'
import { openBooks } from './books.ts'
import type { Opened, Opening } from './terminal/terminalIo.ts'

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined }

/**
 * Opens the book that the service has with the same settings: that of `DATABASE_URL`, or the embedded database, of a
 * running service or else started for the time of the command.
 * @throws ConfigError when `DATA_DIR` has no database, and none is to be made
 */
export async function openBook({
  migrate = false,
  newDatabase = false,
  asOwner = false,
}: Opening = {}): Promise<Opened> {
  const settings = readConfig()
  const { databaseUrl, databaseOwnerUrl } = settings
  if (databaseUrl !== '')
    return openAt(
      settings,
      { url: databaseOwnerUrl, serviceUrl: databaseUrl },
      { migrate, asOwner: migrate || asOwner },
    )
  if (!newDatabase && !(await hasDatabase(settings.dataDir, silent)))
    throw new ConfigError(
      `DATA_DIR: there is no database in ${resolve(settings.dataDir)}; correct DATA_DIR, or make one there with mkopo migrate or a start of the service`,
    )
  const config = await withKeptSecret(settings)
  const found = await findEmbedded(config.dataDir)
  if (!('stop' in found)) return openAt(config, found, { migrate, asOwner })
  const server = found
  try {
    // No service keeps the schema of this database up to date.
    const opened = await openAt(config, server, { migrate: true, asOwner })
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

/** The longest wait for a service that starts, or for another run of the command line. */
const PATIENCE_MS = 20_000

/** Returns the URLs of the embedded database of a running service; else starts one. */
async function findEmbedded(directory: string): Promise<EmbeddedUrls | EmbeddedServer> {
  for (const end = performance.now() + PATIENCE_MS; ; await pause(200)) {
    try {
      return await startEmbedded({ directory, shared: false, log: silent })
    } catch (error) {
      if (!(error instanceof DirectoryInUseError)) throw error
      const urls = await findLeftUrls(directory)
      if (urls) return urls
      if (performance.now() > end) throw new Error(`${error.message}; try again when it is done`, { cause: error })
    }
  }
}

/**
 * Opens the service's parts on the database of these URLs.
 * @param how.asOwner works as the owner of the tables alone: the password of the service's role may then be unknown
 */
async function openAt(
  config: Config,
  { url: ownerUrl, serviceUrl: databaseUrl }: EmbeddedUrls,
  { migrate, asOwner = false }: { migrate: boolean; asOwner?: boolean },
): Promise<Opened> {
  const how = { config, asOwner, now: Date.now, skipMigrations: !migrate, patience: 'always' } as const
  const deps = await openService({ ...how, databaseUrl, ownerUrl })
  const books =
    config.books.length > 0 ? await openBooks(deps, { databaseUrl, ownerUrl }, { migrate, asOwner }) : undefined
  return {
    deps,
    ...(books && { books }),
    close: async () => {
      await books?.close()
      deps.statements.close()
      await deps.db.close()
    },
  }
}

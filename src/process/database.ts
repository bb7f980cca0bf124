import type { Logger } from 'pino'
import { type Config, ConfigError } from '../app/config.ts'
import { withKeptSecret } from '../app/keptSecret.ts'
import { EMBEDDED_CONNECTIONS, type EmbeddedServer, startEmbedded } from '../db/embedded/embedded.ts'

/** The database of the book. */
export interface Database {
  /** The settings, with the secret that is kept beside an embedded database. */
  readonly config: Config
  readonly url: string
  /** The URL of the role that owns the tables; empty where that is the role of `url`. */
  readonly ownerUrl: string
  /** The embedded server, which its starter has to stop. */
  readonly server?: EmbeddedServer
}

/** Connections of a process besides its pool: one, which watches the database. */
const WATCHING = 1
/** Connections of the embedded database that stay free for the command line. */
const KEPT_FREE = 10

/**
 * Returns the database that the settings name, or starts an embedded one.
 * @throws ConfigError when the embedded one cannot be made, or has fewer connections than the settings ask for
 */
export async function findDatabase(settings: Config, log: Logger): Promise<Database> {
  const { databaseUrl, databaseOwnerUrl } = settings
  if (databaseUrl !== '') return { config: settings, url: databaseUrl, ownerUrl: databaseOwnerUrl }
  requireRoom(settings)
  const config = await withKeptSecret(settings)
  const server = await startEmbedded({ directory: config.dataDir, log: log.child({ part: 'postgres' }) })
  return { config, url: server.serviceUrl, ownerUrl: server.url, server }
}

/** Checks the number of connections at the start, so that no request finds out that none is left. */
function requireRoom({ webConcurrency, databaseConnections }: Config): void {
  const wanted = webConcurrency * (databaseConnections + WATCHING)
  const room = EMBEDDED_CONNECTIONS - KEPT_FREE
  if (wanted > room)
    throw new ConfigError(
      `WEB_CONCURRENCY and DATABASE_CONNECTIONS: ${webConcurrency} × (${databaseConnections} connections and ${WATCHING} that watches) are ${wanted}, and the embedded database has ${room} for them; lower one, or set DATABASE_URL`,
    )
}

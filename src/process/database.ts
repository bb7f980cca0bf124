import type { Logger } from 'pino'
import { type Config, ConfigError } from '../app/config.ts'
import { withKeptSecret } from '../app/keptSecret.ts'
import { EMBEDDED_CONNECTIONS, type EmbeddedServer, startEmbedded } from '../db/embedded/embedded.ts'

/** Where the book is kept. */
export interface Database {
  /** With the secret that was kept beside an embedded database. */
  readonly config: Config
  readonly url: string
  /** By the role that owns the tables; empty where that of `url` does. */
  readonly ownerUrl: string
  /** The embedded server, for its starter to stop. */
  readonly server?: EmbeddedServer
}

/** Beside its pool, a process has a connection that watches the database. */
const WATCHING = 1
/** Connections of the embedded database that the command line finds free. */
const KEPT_FREE = 10

/**
 * The database that the settings name, or an embedded one, which is started.
 * @throws ConfigError where the embedded one cannot be made, or has fewer connections than the settings ask for
 */
export async function findDatabase(settings: Config, log: Logger): Promise<Database> {
  const { databaseUrl, databaseOwnerUrl } = settings
  if (databaseUrl !== '') return { config: settings, url: databaseUrl, ownerUrl: databaseOwnerUrl }
  requireRoom(settings)
  const config = await withKeptSecret(settings)
  const server = await startEmbedded({ directory: config.dataDir, log: log.child({ part: 'postgres' }) })
  return { config, url: server.serviceUrl, ownerUrl: server.url, server }
}

/** A request must not be what finds out that the embedded database has no connection left. */
function requireRoom({ webConcurrency, databaseConnections }: Config): void {
  const wanted = webConcurrency * (databaseConnections + WATCHING)
  const room = EMBEDDED_CONNECTIONS - KEPT_FREE
  if (wanted > room)
    throw new ConfigError(
      `WEB_CONCURRENCY and DATABASE_CONNECTIONS: ${webConcurrency} × (${databaseConnections} connections and ${WATCHING} that watches) are ${wanted}, and the embedded database has ${room} for them; lower one, or set DATABASE_URL`,
    )
}

import pino from 'pino'
import type { Config } from '../../src/app/config.ts'
import { CONNECT_PATIENTLY_MS } from '../../src/db/postgres/client.ts'
import { type Origins, type Serving, startServing, stopServing } from '../../src/process/serving.ts'
import { PATIENT_LAG_MS, PATIENT_WITH_JOURNALS } from './patience.ts'

/** A service that listens, in this process. */
export interface Served extends Origins {
  readonly serving: Serving
  /** Returns the lines of its log, from warnings on. */
  log(): string
  stop(): Promise<void>
}

/**
 * Starts a service in this process as `npm start` does, for tests of what listens: a process of its own takes two seconds of a core.
 * Its timers may be late: the work of the test is in this process, too.
 */
export async function serveHere(settings: Config): Promise<Served> {
  const config = { ...settings, maxLagMs: PATIENT_LAG_MS }
  const serving: Serving = {}
  let lines = ''
  const log = pino({ level: 'warn' }, { write: (line: string) => (lines += line) })
  const { databaseUrl, databaseOwnerUrl: ownerUrl } = config
  const options = { config, databaseUrl, ownerUrl, skipMigrations: false, stopping: () => false, log }
  const stop = () => stopServing(serving, 0)
  try {
    const origins = await startServing(serving, options)
    // A test about the two seconds of a request has several books, or a process of its own.
    if (config.books.length === 0) {
      serving.deps!.db.setConnectWithin(CONNECT_PATIENTLY_MS)
      Object.assign(serving.deps!, { journalPatience: PATIENT_WITH_JOURNALS })
    }
    return { ...origins, serving, log: () => lines, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

import type { Config } from '../app/config.ts'
import type { Db } from '../db/postgres/client.ts'
import type { Directory } from './directory/directory.ts'
import type { Listener } from './listener.ts'

/** The longest that answers wait for the journal, in milliseconds. */
export interface JournalPatience {
  /** An answer that needs the changes of before. */
  readonly readMs: number
  /** The answer to a change of the journal itself: a chart, a close, a booking. */
  readonly changeMs: number
}

/** The parts of the service that rest on no other: the settings, the clocks, the database, how long answers wait, and the listener that is told what happens. */
export interface Base {
  readonly config: Config
  /**
   * The moment of the business of an organization, in milliseconds since 1970: that of its test clock, or of this machine.
   * Every loan, customer and decision is of such a moment.
   */
  readonly now: (organizationId: number) => number
  /** The clock of this machine, in milliseconds since 1970: of tokens, keys, limits, leases and signatures. */
  readonly machineNow: () => number
  readonly db: Db
  /** Where accounts, API keys and payment channels are found, where there are several books. */
  readonly directory: Directory
  readonly journalPatience: JournalPatience
  /** Listens to what happens in the service, such as its metrics do. */
  readonly listener: Listener
}

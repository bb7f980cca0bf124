import { constants } from 'node:os'
import { STATEMENT_LIMITS, type StatementLimits } from '../../src/services/walletStatements/limits.ts'
import { openStatementReader, type StatementReader } from '../../src/services/walletStatements/reader.ts'
import { within } from './patience.ts'

/** How long a reading is waited for: other tests want the machine, too. */
export const READER_PATIENCE_MS = within(4 * STATEMENT_LIMITS.patience)

/**
 * Opens the service's reader of statements, but patient, and with the priority of the tests: that the machine is busy is not the file's
 * fault, and with a lower one its process gets a hundredth of a core where eight others want it.
 */
export const patientReader = (changes: Partial<StatementLimits> = {}): StatementReader =>
  openStatementReader({ patience: READER_PATIENCE_MS, priority: constants.priority.PRIORITY_NORMAL, ...changes })

import { STATEMENT_LIMITS, type StatementLimits } from '../../src/services/walletStatements/limits.ts'
import { openStatementReader, type StatementReader } from '../../src/services/walletStatements/reader.ts'
import { within } from './patience.ts'

/** How long a reading is waited for: its process has the lowest priority, and other tests want the machine, too. */
export const READER_PATIENCE_MS = within(2 * STATEMENT_LIMITS.patience)

/** Opens the service's reader of statements, as it is, but patient: that the machine is busy is not the file's fault. */
export const patientReader = (changes: Partial<StatementLimits> = {}): StatementReader =>
  openStatementReader({ patience: READER_PATIENCE_MS, ...changes })

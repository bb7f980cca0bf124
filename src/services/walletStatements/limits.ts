import type { Currency } from '../../domain/money.ts'

/** The limits of reading one statement. */
export interface StatementLimits {
  readonly bytes: number
  readonly pages: number
  /** Characters of the whole text. */
  readonly characters: number
  /** Time of computing, not of waiting for a busy machine. */
  readonly milliseconds: number
  /** Time by the clock, in milliseconds, after which the client has to try again. */
  readonly patience: number
  /**
   * Resident memory of the process that reads, in bytes: its heap, and the buffers that a heap limit does not count.
   */
  readonly memory: number
  /** Statements that are read at once, and others that may wait. */
  readonly workers: number
  readonly waiting: number
}

const MIB = 1024 * 1024

/**
 * The limits in use. The contract has 10 MiB and 200 pages; an honest statement of nearly 200 takes less than half of
 * the others (measured).
 */
export const STATEMENT_LIMITS: StatementLimits = {
  bytes: 10 * MIB,
  pages: 200,
  characters: 4_000_000,
  milliseconds: 10_000,
  patience: 20_000,
  memory: 512 * MIB,
  workers: 2,
  waiting: 8,
}

/** The task of the process that reads. */
export interface WorkerTask {
  readonly limits: Pick<StatementLimits, 'pages' | 'characters' | 'milliseconds' | 'patience' | 'memory'>
  readonly currency: Currency
}

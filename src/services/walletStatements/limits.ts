import { constants } from 'node:os'
import type { Currency } from '../../domain/money.ts'
import type { GateBounds } from '../../toolbox/gate.ts'
import { HALF_THE_CORES } from '../cores.ts'

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
  /** The priority of the process that reads, as `setPriority` of Node's `os` has it. */
  readonly priority: number
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
  priority: constants.priority.PRIORITY_BELOW_NORMAL,
}

/** Statements that are read at once at most: each has a process, and the memory of it. */
export const MOST_READERS = 2

/** The places of statements in a process: half of the cores is left to others, and so is a place for a while after each. */
export const STATEMENT_PLACES: GateBounds = {
  atOnce: Math.min(MOST_READERS, HALF_THE_CORES),
  waiting: { all: 16, ofGroup: 6, ofMember: 4 },
  waitMs: 30_000,
  restMs: (tookMs) => Math.min(1_000, 2 * tookMs),
  refusal: 'too many statements are being read: try again shortly',
  againSeconds: 5,
}

/** The task of the process that reads. */
export interface WorkerTask {
  readonly limits: Pick<StatementLimits, 'pages' | 'characters' | 'milliseconds' | 'patience' | 'memory'>
  readonly currency: Currency
}

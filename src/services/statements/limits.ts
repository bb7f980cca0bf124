import type { Currency } from '../../domain/money.ts'

/** What reading one statement may cost before it is given up. */
export interface StatementLimits {
  readonly bytes: number
  readonly pages: number
  /** Characters of text in all. */
  readonly characters: number
  /** Of computing: a machine that is busy with other things is not the file's fault. */
  readonly milliseconds: number
  /** By the clock, busy or not; then it is to be tried again. */
  readonly patience: number
  /** Resident memory of the process that reads, in bytes: its heap, and the buffers beside it that a heap limit misses. */
  readonly memory: number
  /** Statements being read at once, and others that may wait for their turn. */
  readonly workers: number
  readonly waiting: number
}

const MIB = 1024 * 1024

/** 10 MiB and 200 pages are the contract's; an honest statement of nearly 200 takes less than half of the rest (measured). */
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

/** What the process that reads is told. */
export interface WorkerTask {
  readonly limits: Pick<StatementLimits, 'pages' | 'characters' | 'milliseconds' | 'patience' | 'memory'>
  readonly currency: Currency
}

import { setTimeout as pause } from 'node:timers/promises'
import {
  finishImport,
  type ImportKey,
  type ImportKind,
  type ImportMark,
  openImport,
  saveBatch,
} from '../../db/book/bookImport.ts'
import { backoffMs } from '../../db/postgres/errors.ts'
import type { Queries } from '../../db/queries/statement.ts'
import { holdTestClock, type TestClock } from '../../db/testClock/testClocks.ts'
import { LendingError, notFound } from '../../domain/errors.ts'
import type { Deps } from '../deps.ts'
import { enterOrganization } from '../testClock/testClocks.ts'

export type { Author } from '../../db/audit/trail.ts'
export type { ImportKind, ImportMark } from '../../db/book/bookImport.ts'

/** A line of a file. */
export interface Line<T> {
  /** Its number in the file, from 1. */
  readonly number: number
  /** The line as it is in the file, for the report. */
  readonly raw: unknown
  /** Reads the line. @throws LendingError `invalid_argument` */
  read(): T
}

/** The result of a line: it was imported, was present already, or was refused. */
export type LineResult = 'imported' | 'present' | LendingError

/** Imports one kind of line: decides a batch on the book as it is, then saves it. */
export interface Importer<T> {
  /** Lines with the same key are decided one after the other. */
  keyOf(value: T): string
  decide(values: readonly (T | LendingError)[]): Promise<DecidedBatch>
}

export interface DecidedBatch {
  /**
   * Saves the batch.
   * @returns the result of each line; undefined where another change was saved first, and the batch has to be decided
   *   again
   */
  save(batch: Queries): Promise<readonly LineResult[] | undefined>
}

/** A line that was refused. */
export interface Refusal {
  readonly line: number
  readonly error: LendingError
  readonly record: unknown
}

/** The report of refused lines. */
export interface Report {
  /**
   * Writes refusals at an offset in bytes, and cuts off what an earlier run left after that.
   * @returns the length of the report in bytes, once it is safely on disk
   */
  write(from: number, refusals: readonly Refusal[]): Promise<number>
}

/** A file to be imported. */
export interface ImportFile<T> {
  readonly kind: ImportKind
  /** SHA-256 of its content. */
  readonly digest: string
  readonly lines: AsyncIterable<Line<T>>
  readonly report: Report
}

/** The run of an import: the owner of the book, and how the run is stopped and observed. */
export interface ImportRun {
  readonly organizationId: number
  readonly stopping: AbortSignal
  onProgress(mark: ImportMark): void
}

type ImportDeps = Pick<Deps, 'db' | 'machineNow' | 'organizations' | 'testClocks'>

/** The number of lines that are decided and saved together; more where the last ones have the same key. */
const BATCH: Readonly<Record<ImportKind, number>> = { customers: 2_000, loans: 1_000, transactions: 2_500 }
const MOST_OF_A_KEY = 1_000
/** The most tries of a batch when other changes of the same loans are saved first. */
const MOST_TRIES = 30

/** Lines with their values, or with the reasons why they cannot be read. */
interface Batch<T> {
  readonly lines: Line<T>[]
  readonly values: (T | LendingError)[]
  readonly keys: Set<string>
}

/**
 * Imports a file in batches, each in one transaction with the mark of the progress: after a crash at any point, an
 * import of the same file continues from the mark, and ends with the same book. A line whose customer, loan or
 * transaction is stored already changes nothing, so that a finished or a corrected file can be imported again. While a
 * batch is saved, the next one is decided, unless the two have keys in common.
 * @returns the last mark, and whether the whole file is imported
 * @throws LendingError `aborted` when other changes were saved first every time; ImportedElsewhereError
 */
export async function importFile<T>(
  deps: ImportDeps,
  { kind, digest, lines, report }: ImportFile<T>,
  importer: Importer<T>,
  { organizationId, stopping, onProgress }: ImportRun,
): Promise<{ readonly mark: ImportMark; readonly resumedAt: number; readonly finished: boolean }> {
  const { db, machineNow } = deps
  const key: ImportKey = { organizationId, kind, digest }
  let mark = await openImport(db, key, machineNow())
  const resumedAt = mark.linesDone
  await report.write(mark.reportBytes, [])

  let saving: Promise<void> = Promise.resolve()
  let busy: ReadonlySet<string> = new Set()
  try {
    for await (const batch of batchesOf(lines, resumedAt, BATCH[kind], importer)) {
      if (stopping.aborted) break
      if ([...batch.keys].some((one) => busy.has(one))) await saving
      const deciding = decideNow(deps, organizationId, importer, batch.values)
      deciding.catch(() => undefined)
      await saving
      busy = batch.keys
      saving = saveDecided({ ...deps, key, importer, report }, mark, batch, deciding).then((after) => {
        mark = after
        onProgress(mark)
      })
      saving.catch(() => undefined)
    }
  } finally {
    // Also where the file cannot be read to its end: the lines before are saved.
    await saving
  }
  if (stopping.aborted) return { mark, resumedAt, finished: false }
  if (!(await finishImport(db, key, machineNow()))) throw notFound('the import was forgotten meanwhile')
  return { mark, resumedAt, finished: true }
}

/**
 * Yields the lines after those that are done, in batches; lines with the same key share a batch, unless they are very
 * many.
 */
async function* batchesOf<T>(
  lines: AsyncIterable<Line<T>>,
  done: number,
  most: number,
  { keyOf }: Importer<T>,
): AsyncGenerator<Batch<T>> {
  const empty = (): Batch<T> => ({ lines: [], values: [], keys: new Set() })
  let skip = done
  let batch = empty()
  let last: string | undefined
  let ended: { readonly error: unknown } | undefined
  try {
    for await (const line of lines) {
      if (skip-- > 0) continue
      const value = readValue(line)
      const key = value instanceof LendingError ? undefined : keyOf(value)
      const full = batch.lines.length >= most && (key !== last || batch.lines.length >= most + MOST_OF_A_KEY)
      if (full) {
        yield batch
        batch = empty()
      }
      batch.lines.push(line)
      batch.values.push(value)
      if (key !== undefined) batch.keys.add(key)
      last = key
    }
  } catch (error) {
    ended = { error }
  }
  if (batch.lines.length > 0) yield batch
  if (ended) throw ended.error
}

/** A decided batch, and the test clock by which it was decided; none where the organization is a live one. */
interface Decided {
  readonly batch: DecidedBatch
  readonly clock: TestClock | undefined
}

/** Decides a batch by the clock of its organization as the database has it: another process may have moved it. */
async function decideNow<T>(
  deps: ImportDeps,
  organizationId: number,
  importer: Importer<T>,
  values: Batch<T>['values'],
): Promise<Decided> {
  await enterOrganization(deps, organizationId)
  const clock = deps.testClocks.find(organizationId)
  return { batch: await importer.decide(values), clock }
}

/** The dependencies of saving batches. */
interface Saving<T> extends ImportDeps {
  readonly key: ImportKey
  readonly importer: Importer<T>
  readonly report: Report
}

/**
 * Saves a decided batch with its mark, and decides it again where another change was saved first.
 * @returns the new mark
 */
async function saveDecided<T>(
  { key, importer, report, ...deps }: Saving<T>,
  before: ImportMark,
  { lines, values }: Batch<T>,
  deciding: Promise<Decided>,
): Promise<ImportMark> {
  const { db, machineNow } = deps
  let decided = await deciding
  for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
    const after = await saveBatch(db, key, before, machineNow(), async (batch) => {
      const { clock } = decided
      if (clock && !(await holdTestClock(batch, clock))) return undefined
      const results = await decided.batch.save(batch)
      if (!results) return undefined
      const refusals = results.flatMap((one, index) =>
        one instanceof LendingError ? [refusalOf(lines[index]!, one)] : [],
      )
      // Before the mark is saved: after a crash, the report is cut off at the mark.
      const reportBytes = await report.write(before.reportBytes, refusals)
      const count = (result: LineResult) => results.filter((one) => one === result).length
      return {
        linesDone: before.linesDone + lines.length,
        imported: before.imported + count('imported'),
        present: before.present + count('present'),
        refused: before.refused + refusals.length,
        reportBytes,
      }
    })
    if (after) return after
    // Another change was saved first, or has locked one of the loans, or the test clock was moved: 7 s over all tries.
    await pause(backoffMs(attempt * 3))
    decided = await decideNow(deps, key.organizationId, importer, values)
  }
  throw new LendingError('aborted', 'the same loans are being changed by many others; run the import again later')
}

function readValue<T>(line: Line<T>): T | LendingError {
  try {
    return line.read()
  } catch (error) {
    if (error instanceof LendingError) return error
    throw error
  }
}

const refusalOf = ({ number, raw }: Line<unknown>, error: LendingError): Refusal => ({
  line: number,
  error,
  record: raw,
})

/** Returns the result of deciding a line; a LendingError is the refusal of the line, any other error is thrown. */
export function lineResultOf(decide: () => LineResult): LineResult {
  try {
    return decide()
  } catch (error) {
    if (error instanceof LendingError) return error
    throw error
  }
}

/** Returns the refusal for a line whose id is stored with other content. */
export const otherThere = (what: string) =>
  new LendingError('already_exists', `${what} is there already, and says something else`)

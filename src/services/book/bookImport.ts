import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '../../app/deps.ts'
import {
  finishImport,
  type ImportKey,
  type ImportKind,
  type ImportMark,
  openImport,
  saveBatch,
} from '../../db/book/bookImport.ts'
import { backoffMs } from '../../db/postgres/backoffMs.ts'
import type { Queries } from '../../db/queries/queries.ts'
import { LendingError, notFound } from '../../domain/errors.ts'

export type { ImportKind, ImportMark } from '../../db/book/bookImport.ts'

/** A line of a file. */
export interface Line<T> {
  /** Its number in the file, from 1. */
  readonly number: number
  /** As it stands there, for the report. */
  readonly raw: unknown
  /** @throws LendingError `invalid_argument` when it does not say what it must */
  read(): T
}

/** What came of a line; a refusal says why. */
export type Said = 'imported' | 'present' | LendingError

/** What a kind of line becomes: decided a batch at a time on what the book is, then saved. */
export interface Importer<T> {
  /** Lines with the same key are decided one after the other. */
  keyOf(value: T): string
  decide(values: readonly (T | LendingError)[]): Promise<DecidedBatch>
}

export interface DecidedBatch {
  /** @returns what came of each line; undefined where someone was faster, and it is to be decided anew */
  save(batch: Queries): Promise<readonly Said[] | undefined>
}

/** A line that was refused. */
export interface Refusal {
  readonly line: number
  readonly error: LendingError
  readonly record: unknown
}

/** Where refused lines are told. */
export interface Report {
  /**
   * Writes refusals from this many bytes on, and cuts off what an earlier run left behind that point.
   * @returns how many bytes it has then, safely kept
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

export interface ImportRun {
  readonly stopping: AbortSignal
  onProgress(mark: ImportMark): void
}

/** Lines that are decided and saved together; more where the last ones have the same key. */
const BATCH: Readonly<Record<ImportKind, number>> = { customers: 2_000, loans: 1_000, transactions: 2_500 }
const MOST_OF_A_KEY = 1_000
/** How often a batch is decided anew when others change the same loans meanwhile. */
const MOST_TRIES = 30

/** Lines with what they say, or why they say nothing. */
interface Batch<T> {
  readonly lines: Line<T>[]
  readonly values: (T | LendingError)[]
  readonly keys: Set<string>
}

/**
 * Imports a file, a batch at a time, each in one transaction with the mark of how far it has come: after a crash at
 * whatever point, the same file goes on where it was, and ends with the same book. A line whose customer, loan or
 * transaction is there already changes nothing, so that a finished or a corrected file can be imported again.
 * While a batch is saved, the next one is decided, unless the two have keys in common.
 * @returns the mark it ended with, and whether that is the end of the file
 * @throws LendingError `aborted` when others were faster every time; ImportedElsewhereError
 */
export async function importFile<T>(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  organizationId: number,
  { kind, digest, lines, report }: ImportFile<T>,
  importer: Importer<T>,
  { stopping, onProgress }: ImportRun,
): Promise<{ readonly mark: ImportMark; readonly resumedAt: number; readonly finished: boolean }> {
  const key: ImportKey = { organizationId, kind, digest }
  let mark = await openImport(db, key, now())
  const resumedAt = mark.linesDone
  await report.write(mark.reportBytes, [])

  let saving: Promise<void> = Promise.resolve()
  let busy: ReadonlySet<string> = new Set()
  try {
    for await (const batch of batchesOf(lines, resumedAt, BATCH[kind], importer)) {
      if (stopping.aborted) break
      if ([...batch.keys].some((one) => busy.has(one))) await saving
      const deciding = importer.decide(batch.values)
      deciding.catch(() => undefined)
      await saving
      busy = batch.keys
      saving = saveDecided(db, key, mark, batch, deciding, { importer, report, now }).then((after) => {
        mark = after
        onProgress(mark)
      })
      saving.catch(() => undefined)
    }
  } finally {
    // Also where the file cannot be read any further: what came before is saved.
    await saving
  }
  if (stopping.aborted) return { mark, resumedAt, finished: false }
  if (!(await finishImport(db, key, now()))) throw notFound('the import was forgotten meanwhile')
  return { mark, resumedAt, finished: true }
}

/** The lines behind those done already, in batches that no key goes beyond, unless very many lines have it. */
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

async function saveDecided<T>(
  db: Deps['db'],
  key: ImportKey,
  before: ImportMark,
  { lines, values }: Batch<T>,
  deciding: Promise<DecidedBatch>,
  { importer, report, now }: { importer: Importer<T>; report: Report; now: () => number },
): Promise<ImportMark> {
  let decided = await deciding
  for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
    const after = await saveBatch(db, key, before, now(), async (batch) => {
      const said = await decided.save(batch)
      if (!said) return undefined
      const refusals = said.flatMap((one, index) =>
        one instanceof LendingError ? [refusalOf(lines[index]!, one)] : [],
      )
      // Before the mark: what the report has behind it is cut off when the import goes on.
      const reportBytes = await report.write(before.reportBytes, refusals)
      const count = (what: Said) => said.filter((one) => one === what).length
      return {
        linesDone: before.linesDone + lines.length,
        imported: before.imported + count('imported'),
        present: before.present + count('present'),
        refused: before.refused + refusals.length,
        reportBytes,
      }
    })
    if (after) return after
    // Somebody was faster, or has one of these loans in hand: 7 s over all tries.
    await pause(backoffMs(attempt * 3))
    decided = await importer.decide(values)
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

/** What `decide` may throw of a single line is that line's refusal; anything else is nobody's. */
export function saidOf(decide: () => Said): Said {
  try {
    return decide()
  } catch (error) {
    if (error instanceof LendingError) return error
    throw error
  }
}

/** A line says something else than what is there under its id. */
export const otherThere = (what: string) =>
  new LendingError('already_exists', `${what} is there already, and says something else`)

import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import type { Deps } from '../../app/deps.ts'
import { type Caller, requireReader } from '../access/caller.ts'
import { type Column, csvHead, csvRows, othersText } from '../csv.ts'
import type { PlaceBounds } from '../places.ts'
import { Amount, type ExportKind, type ExportRecord, exportBook } from './bookExport.ts'

/** The time for which a reader of a file may take nothing of it: until it ends, one view of the book is kept for it. */
const STALLED_MS = 30_000
/** The places of files in a process: each may read through the whole book, and an organization has one. */
export const FILE_PLACES: PlaceBounds = {
  atOnce: 2,
  ofGroup: 1,
  waiting: { all: 16, ofGroup: 4, ofMember: 2 },
  waitMs: 10_000,
  refusal: 'other files are being written; try again',
  againSeconds: 10,
}

/** Writes rows of an export as CSV for spreadsheets, with the names of the columns before the first rows. */
export function recordsCsv(records: readonly ExportRecord[], isFirst: boolean): string {
  const columns = Object.keys(records[0] ?? {}).map(
    (name): Column<ExportRecord> => [name, (row) => cellOf(row[name] ?? null)],
  )
  return (isFirst ? csvHead(columns) : '') + csvRows(columns, records)
}

function cellOf(value: ExportRecord[string]) {
  if (value instanceof Amount) return value.text
  return typeof value === 'string' ? othersText(value) : value
}

/**
 * Writes one table of the book of the caller's organization as CSV, as of one moment, as fast as it is read; for readers. The
 * file is cut off where its reader takes nothing of it for 30 seconds.
 * @throws LendingError `permission_denied`
 */
export function exportTable(deps: Deps, caller: Caller, kind: ExportKind): Readable {
  requireReader(caller)
  const file = new PassThrough()
  const stop = new AbortController()
  file.once('close', () => stop.abort())
  let isFirst = true
  const sink = {
    begin: async () => undefined,
    async write(_kind: ExportKind, records: readonly ExportRecord[]) {
      const isTaken = file.write(recordsCsv(records, isFirst))
      isFirst = false
      if (!isTaken)
        await once(file, 'drain', { signal: AbortSignal.any([stop.signal, AbortSignal.timeout(STALLED_MS)]) })
    },
    end: async () => undefined,
  }
  void exportBook(deps, caller, { sink, kinds: [kind], stopping: stop.signal }).then(
    () => file.end(),
    (error: Error) => file.destroy(error),
  )
  return file
}

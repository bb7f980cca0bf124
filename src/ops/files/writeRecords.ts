import { join } from 'node:path'
import { makeDirectory } from '../../db/embedded/dataDirectory.ts'
import {
  Amount,
  type ExportKind,
  type ExportRecord,
  type ExportSink,
  recordsCsv,
} from '../../services/book/bookExport.ts'
import type { Io, Progress } from '../terminal/terminalIo.ts'
import { Declined } from '../terminal/terminalIo.ts'
import { beginFile, type PartFile } from './partFile.ts'
import type { Format } from './readLines.ts'

/** Makes the folder of an export, where it is not there; only its owner may read it, since files hold personal data. @throws Declined */
export async function makeFolder(folder: string): Promise<void> {
  await makeDirectory(folder, 0o700).catch((error: Error) => {
    throw new Declined(`${folder} cannot be made: ${error.message}; name another folder`)
  })
}

/** Returns what writes the files of an export into a folder. */
export function recordsSink(folder: string, format: Format, io: Io): ExportSink & { abandon(): Promise<void> } {
  const pathOf = (kind: ExportKind) => join(folder, `${kind}.${format}`)
  let writing: { file: PartFile; bar: Progress; rows: number } | undefined
  return {
    async begin(kind, total) {
      const file = await beginFile(pathOf(kind))
      writing = { file, bar: io.startProgress(kind, total), rows: 0 }
    },
    async write(_kind, records) {
      if (!writing) return
      await writing.file.append(format === 'csv' ? recordsCsv(records, writing.rows === 0) : toNdjson(records))
      writing.rows += records.length
      writing.bar.update(writing.rows)
    },
    async end() {
      if (!writing) return
      const { file, bar } = writing
      writing = undefined
      bar.stop()
      await file.finish()
    },
    async abandon() {
      if (!writing) return
      writing.bar.stop()
      await writing.file.abandon()
    },
  }
}

const toNdjson = (records: readonly ExportRecord[]): string =>
  records
    .map(
      (record) =>
        `${JSON.stringify(record, (_, value: unknown) => (value instanceof Amount ? JSON.rawJSON(value.text) : value))}\n`,
    )
    .join('')

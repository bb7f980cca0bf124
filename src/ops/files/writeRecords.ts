import { type FileHandle, open, rename, rm } from 'node:fs/promises'
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
import type { Format } from './readLines.ts'

/**
 * Writes the files of an export into a folder. Each gets its name when it is complete; only their owner may read them,
 * since they hold personal data.
 */
export async function openFolder(
  folder: string,
  format: Format,
  io: Io,
): Promise<ExportSink & { abandon(): Promise<void> }> {
  await makeDirectory(folder, 0o700).catch((error: Error) => {
    throw new Declined(`${folder} cannot be made: ${error.message}; name another folder`)
  })
  const pathOf = (kind: ExportKind) => join(folder, `${kind}.${format}`)
  let writing: { file: FileHandle; path: string; bar: Progress; rows: number } | undefined
  return {
    async begin(kind, total) {
      const path = pathOf(kind)
      const file = await open(`${path}.part`, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'EEXIST' ? new Declined(`${path}.part is there already: name another folder`) : error
      })
      writing = { file, path, bar: io.startProgress(kind, total), rows: 0 }
    },
    async write(_kind, records) {
      if (!writing) return
      await writing.file.appendFile(format === 'csv' ? recordsCsv(records, writing.rows === 0) : toNdjson(records))
      writing.rows += records.length
      writing.bar.update(writing.rows)
    },
    async end() {
      if (!writing) return
      const { file, path, bar } = writing
      writing = undefined
      bar.stop()
      await file.sync()
      await file.close()
      await rename(`${path}.part`, path)
    },
    async abandon() {
      if (!writing) return
      writing.bar.stop()
      await writing.file.close()
      await rm(`${writing.path}.part`, { force: true })
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

import { type FileHandle, open } from 'node:fs/promises'
import { type FaultNames, inNames, ledByField } from '../../domain/errors.ts'
import type { Refusal, Report } from '../../services/book/bookImport.ts'

/**
 * The report of a file's refused lines, as NDJSON. It holds the content of these lines, so only its owner may read it.
 */
export interface ReportFile extends Report {
  close(): Promise<void>
}

/** Opens the report and keeps its content: `write` cuts off what an earlier run wrote after the mark. */
export async function openReport(path: string): Promise<ReportFile> {
  const file: FileHandle = await open(path, 'a+', 0o600)
  return {
    async write(from, refusals) {
      const { size } = await file.stat()
      // An earlier report may be gone or shortened: the missing part is not invented.
      const start = Math.min(from, size)
      if (size > start) await file.truncate(start)
      if (refusals.length === 0) return start
      const text = refusals.map((refusal) => `${JSON.stringify(inReport(refusal))}\n`).join('')
      await file.appendFile(text)
      await file.datasync()
      return start + Buffer.byteLength(text)
    },
    close: () => file.close(),
  }
}

/** The names of fields in a file to import. */
const FIELDS: FaultNames = {
  amount: 'transactionAmount',
  valueDate: 'transactionDate',
  chargeAmount: 'transactionAmount',
  chargeDueOn: 'dueDate',
  name: 'note',
}

function inReport({ line, error, record }: Refusal) {
  const { message, details } = inNames(error, FIELDS)
  return { line, code: error.code, message: ledByField(message, details), record }
}

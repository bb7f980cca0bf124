import { createHash } from 'node:crypto'
import { createReadStream, type ReadStream } from 'node:fs'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import type { Line } from '../../services/book/bookImport.ts'
import { UsageError } from '../terminal/terminalIo.ts'
import { BYTES, decode, notUtf8 } from './bytes.ts'
import { csvLines } from './csvLines.ts'
import { recordOfJson } from './lines.ts'

/** The format of a file. */
export type Format = 'ndjson' | 'csv'

/**
 * Returns the format of a file, by the end of its name.
 * @throws UsageError
 */
export function formatOf(path: string): Format {
  const ending = extname(path).toLowerCase()
  if (ending === '.csv') return 'csv'
  if (ending === '.ndjson' || ending === '.jsonl') return 'ndjson'
  throw new UsageError(`${path}: a file to import ends in .ndjson, .jsonl or .csv`)
}

/** Returns the SHA-256 of a file's content. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** The lines of a file, one after the other, and the bytes that are read so far. */
export interface Reading<T> {
  readonly lines: AsyncIterable<Line<T>>
  bytesRead(): number
}

/**
 * Reads the lines of a file.
 * @param toValue returns the value of a record, or throws its refusal
 */
export function readLines<T>(path: string, toValue: (record: unknown) => T): Reading<T> {
  const stream = createReadStream(path, { highWaterMark: 256 * 1024 })
  const lines = formatOf(path) === 'csv' ? csvLines(path, stream, toValue) : jsonLines(stream, toValue)
  return { lines, bytesRead: () => stream.bytesRead }
}

async function* jsonLines<T>(stream: ReadStream, toValue: (record: unknown) => T): AsyncGenerator<Line<T>> {
  let number = 0
  stream.setEncoding(BYTES)
  for await (const bytes of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++
    const { text, valid } = decode(bytes)
    const raw = number === 1 ? text.replace(/^\uFEFF/, '') : text
    if (raw.trim() === '') continue
    const read = () => {
      if (!valid) throw notUtf8()
      return toValue(recordOfJson(raw))
    }
    yield { number, raw, read }
  }
}

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createReadStream, type ReadStream } from 'node:fs'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { CsvError, type Parser, parse } from 'csv-parse'
import { LendingError } from '../../domain/errors.ts'
import { unmarkText } from '../../domain/visibleText.ts'
import type { Line } from '../../services/book/bookImport.ts'
import { UsageError } from '../terminal/terminalIo.ts'
import { recordOfCsv, recordOfJson } from './lines.ts'

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

/** Files are split with one character for each byte, so that a byte that is no UTF-8 is the fault of its line alone. */
const BYTES = 'latin1'

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

/**
 * Bytes of a line; no real line is as long, and all text after a quote that is never closed would be held in memory.
 */
const LONGEST_RECORD = 1024 * 1024

/**
 * The fields of a line, one character for each byte; or why they cannot be read, or why the rest of the file cannot.
 */
interface Parsed {
  readonly record: readonly string[] | LendingError | CsvError
  readonly info: { readonly lines: number }
}

const MARK = Buffer.from('\uFEFF')

type Fields = readonly string[] | LendingError

/**
 * Reads the lines of a CSV file, with the names of its first line. A line that is wrong is refused alone.
 * @throws Error naming the line after which the file cannot be split into lines, once the lines before it were read
 */
async function* csvLines<T>(
  path: string,
  stream: ReadStream,
  toValue: (record: unknown) => T,
): AsyncGenerator<Line<T>> {
  const parser = startParser()
  // An error of the stream also ends the parser, and is thrown below.
  pipeline(stream, withoutMark, parser).catch(() => undefined)
  let names: readonly string[] | undefined
  let countedTwice = 0
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      if (Array.isArray(record)) countedTwice += breaksOfTwo(record)
      const number = info.lines - countedTwice
      if (record instanceof CsvError)
        throw new Error(`${path} is not CSV that can be read from line ${number} on: ${record.message}`, {
          cause: record,
        })
      if (names === undefined) names = namesIn(path, number, record)
      else yield toLine(names, number, record, toValue)
    }
  } finally {
    stream.destroy()
    parser.destroy()
  }
}

/** Counts line breaks of two characters within fields, which the parser counts twice. */
const breaksOfTwo = (fields: readonly string[]): number =>
  fields.reduce((count, field) => count + (field.includes('\r\n') ? field.split('\r\n').length - 1 : 0), 0)

function startParser(): Parser {
  let last = 0
  const push = (record: LendingError | CsvError, lines: number) =>
    parser.push({ record, info: { lines } } satisfies Parsed)
  const parser: Parser = parse({
    info: true,
    encoding: BYTES,
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: LONGEST_RECORD,
    on_record: (record, { lines }) => {
      last = lines
      return record
    },
    skip_records_with_error: true,
    on_skip: (error) => {
      if (error === undefined) return undefined
      const { lines } = parser.info
      // Any other fault may reach beyond its line and hide later lines, which would then be lost silently.
      if (error.code !== 'INVALID_OPENING_QUOTE') push(error, last + 1)
      else if (lines > last) push(strayQuote(), lines)
      last = lines
      return undefined
    },
  })
  return parser
}

const strayQuote = () =>
  unreadable('there is a quote within a field: put the field in quotes, and double the one within')

/** Removes the byte order mark, by which the parser would choose another encoding than the one it is given. */
async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let first = true
  for await (const chunk of chunks) {
    yield first && chunk.subarray(0, MARK.length).equals(MARK) ? chunk.subarray(MARK.length) : chunk
    first = false
  }
}

function namesIn(path: string, number: number, fields: Fields): readonly string[] {
  const wrong = (why: string) => new Error(`${path}: line ${number}, of the names: ${why}`)
  if (fields instanceof LendingError) throw wrong(fields.message)
  const decoded = fields.map(decode)
  if (!decoded.every(({ valid }) => valid)) throw wrong('is not valid UTF-8')
  const names = decoded.map(({ text }) => text)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw wrong(`${twice} is given twice`)
  return names
}

function toLine<T>(names: readonly string[], number: number, fields: Fields, toValue: (record: unknown) => T): Line<T> {
  if (fields instanceof LendingError) return refusedLine(number, null, fields)
  const decoded = fields.map(decode)
  const texts = decoded.map(({ text }) => text)
  if (texts.length !== names.length)
    return refusedLine(
      number,
      texts,
      unreadable(
        `the line has ${texts.length} ${texts.length === 1 ? 'field' : 'fields'}, where the first line names ${names.length}`,
      ),
    )
  const raw = Object.fromEntries(names.map((name, index) => [name, unmarkText(texts[index]!)]))
  if (!decoded.every(({ valid }) => valid)) return refusedLine(number, raw, notUtf8())
  return { number, raw, read: () => toValue(recordOfCsv(raw)) }
}

const refusedLine = (number: number, raw: unknown, why: LendingError): Line<never> => ({
  number,
  raw,
  read: () => {
    throw why
  },
})

/** Decodes bytes, and returns whether they are UTF-8; a sign replaces each byte that is not. */
function decode(bytes: string): { readonly text: string; readonly valid: boolean } {
  if (!/[\x80-\xff]/.test(bytes)) return { text: bytes, valid: true }
  const buffer = Buffer.from(bytes, BYTES)
  return { text: buffer.toString('utf8'), valid: isUtf8(buffer) }
}

/** Makes the refusal of a line that cannot be read at all. */
const unreadable = (message: string) => new LendingError('invalid_argument', message)

/** Makes the refusal of a line that is not UTF-8, in the words for a request's body. */
const notUtf8 = () => unreadable('the line is not valid UTF-8')

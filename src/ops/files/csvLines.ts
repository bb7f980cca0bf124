import type { ReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { CsvError, type Parser, parse } from 'csv-parse'
import { LendingError } from '../../domain/errors.ts'
import { unmarkText } from '../../domain/spreadsheetText.ts'
import type { Line } from '../../services/book/bookImport.ts'
import { BYTES, decode, notUtf8, unreadable } from './bytes.ts'
import { recordOfCsv } from './lines.ts'

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

/**
 * Reads the lines of a CSV file, with the names of its first line. A line that is wrong is refused alone.
 * @throws Error naming the line after which the file cannot be split into lines, once the lines before it were read
 */
export async function* csvLines<T>(
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

const MARK = Buffer.from('\uFEFF')

/** Removes the byte order mark, by which the parser would choose another encoding than the one it is given. */
async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let first = true
  for await (const chunk of chunks) {
    yield first && chunk.subarray(0, MARK.length).equals(MARK) ? chunk.subarray(MARK.length) : chunk
    first = false
  }
}

type Fields = readonly string[] | LendingError

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

import Table from 'cli-table3'
import { toRfc3339 } from '../../domain/dates.ts'
import { BYTE_ORDER_MARK } from '../../domain/visibleText.ts'
import type { Io } from './terminalIo.ts'

/** A column of a table for people: its head, and the text of a row. */
export type Column<T> = readonly [head: string, cell: (row: T) => string | number | null | undefined, align?: 'right']

/** Prints the result of a command: a table or a sentence for people, or the same as JSON for programs. */
export interface Printer {
  readonly json: boolean
  /**
   * Prints a list.
   * @param view a row as JSON; the row itself when left out
   */
  list<T>(rows: readonly T[], columns: readonly Column<T>[], view?: (row: T) => unknown): void
  /** Prints the outcome of a command. */
  done(view: object, sentence: string): void
  /** Prints a remark for people, beside the result. */
  note(text: string): void
}

/** Returns a printer that writes results to `io.out`, as JSON where asked for, and remarks for people to `io.err`. */
export function printerFor(io: Pick<Io, 'out' | 'err'>, json: boolean): Printer {
  return {
    json,
    list(rows, columns, view = (row) => row) {
      io.out(json ? toLine(rows.map(view)) : `${toTable(rows, columns)}\n`)
    },
    done(view, sentence) {
      io.out(json ? toLine(view) : `${visibleLines(sentence)}\n`)
    },
    note(text) {
      if (!json) io.err(`${visibleLines(text)}\n`)
    },
  }
}

/** Returns a printer that keeps the rows of lists until `flush` prints them as one list: those of several books. */
export function gatheringPrinter(printer: Printer): Printer & { flush(): void } {
  let print: (() => void) | undefined
  const kept: unknown[] = []
  return {
    ...printer,
    list<T>(rows: readonly T[], columns: readonly Column<T>[], view?: (row: T) => unknown) {
      kept.push(...rows)
      print = () => printer.list(kept as T[], columns, view)
    },
    flush() {
      print?.()
    },
  }
}

/** Writes a value as a line of JSON, an int64 as text, as in the partner style: a double would round it. */
const toLine = (value: unknown): string =>
  `${visibleJson(JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? one.toString() : one)))}\n`

const NO_LINES = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat(['left-mid', 'mid-mid', 'right-mid', 'middle'])
    .map((name) => [name, '']),
)

/** Builds a table without lines, its columns two spaces apart: fit for a terminal and for `grep`. */
export function toTable<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  if (rows.length === 0) return 'none'
  const table = new Table({
    head: columns.map(([head]) => head.toUpperCase()),
    colAligns: columns.map(([, , align]) => align ?? 'left'),
    chars: { ...NO_LINES, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  for (const row of rows) table.push(columns.map(([, cell]) => visible(String(cell(row) ?? ''))))
  return table.toString().replace(/ +$/gm, '')
}

/** Writes an instant for people, in the tenant's time, to the second. */
export const toSecond = (instant: number | null | undefined, zone: string): string =>
  instant === null || instant === undefined ? '' : toRfc3339(instant, zone).replace(/\.\d+/, '').replace('T', ' ')

/** Control characters, and characters that are invisible or reverse a text: a terminal acts on them. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const escaped = (character: string): string =>
  [...character].map((one) => `\\u{${one.codePointAt(0)!.toString(16)}}`).join('')

/** Escapes a text that somebody else chose, for a terminal: a control character becomes `\u{1b}`, for instance. */
export const visible = (text: string): string => text.replace(HIDDEN, escaped)

/** Escapes a finished output, except its line breaks. */
export const visibleLines = (text: string): string =>
  text.replace(HIDDEN, (character) => (character === '\n' ? character : escaped(character)))

/** Escapes JSON, by JSON's own escapes, except its line breaks. */
export const visibleJson = (json: string): string =>
  json.replace(HIDDEN, (character) =>
    character === '\n'
      ? character
      : Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
          .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
          .join(''),
  )

/** Escapes a CSV file that is written to a terminal or a file, except its line breaks and the mark of its encoding. */
export const visibleCsv = (text: string): string =>
  text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + visibleLines(text.slice(1)) : visibleLines(text)

import Table from 'cli-table3'
import { toRfc3339 } from '../../domain/dates.ts'
import type { Io } from './terminalIo.ts'
import { visible, visibleJson, visibleLines } from './visible.ts'

/** A column of a table for people: its head, and a row's text under it. */
export type Column<T> = readonly [head: string, cell: (row: T) => string | number | null | undefined, align?: 'right']

/** What a command tells: a table or a sentence to people, the same as JSON to programs. */
export interface Printer {
  readonly json: boolean
  /** @param view a row as JSON; the row itself when left out */
  list<T>(rows: readonly T[], columns: readonly Column<T>[], view?: (row: T) => unknown): void
  /** What was done. */
  done(view: object, sentence: string): void
  /** A remark for people, beside the result. */
  note(text: string): void
}

/** Tells what a command did on `io.out`, as JSON where asked for, and remarks to people on `io.err`. */
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

/** An int64 is written as text, as the partner style does: a double would round it. */
const toLine = (value: unknown): string =>
  `${visibleJson(JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? one.toString() : one)))}\n`

const NO_LINES = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat(['left-mid', 'mid-mid', 'right-mid', 'middle'])
    .map((name) => [name, '']),
)

/** Rows under heads, two spaces apart, without lines: fit for a terminal and for `grep`. */
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

/** An instant for people: the tenant's time, to the second. */
export const toSecond = (instant: number | null | undefined, zone: string): string =>
  instant === null || instant === undefined ? '' : toRfc3339(instant, zone).replace(/\.\d+/, '').replace('T', ' ')

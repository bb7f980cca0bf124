import { stringify } from 'csv-stringify/sync'
import { BYTE_ORDER_MARK, markText } from '../domain/visibleText.ts'

// The one writer of CSV files for spreadsheets: quotes, the mark of the encoding, and the apostrophe before what a
// spreadsheet would run or change.

/** What a cell holds; null and undefined are an empty cell. A text that others chose is written by `othersText`. */
type Cell = string | number | null | undefined

/** A column of a file: its name, and the cell of a row. */
export type Column<Row> = readonly [name: string, cell: (row: Row) => Cell]

/** Returns a text that others chose, or an id, as a cell that a spreadsheet shows unchanged; null as an empty one. */
export const othersText = (text: string | number | bigint | null): string =>
  text === null ? '' : markText(String(text))

/** Returns the columns of rows that have their cells by the names of the columns. */
export const columnsNamed = <Name extends string>(
  names: readonly Name[],
): readonly Column<Readonly<Partial<Record<Name, Cell>>>>[] => names.map((name) => [name, (row) => row[name]])

/** Writes the beginning of a file: the mark of its encoding, and the names of the columns. */
export const csvHead = (columns: readonly Pick<Column<never>, 0>[]): string =>
  `${BYTE_ORDER_MARK}${stringify([columns.map(({ 0: name }) => name)])}`

/** Writes rows, to be put after the head or after other rows of the same columns. */
export const csvRows = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string =>
  stringify(rows.map((row) => columns.map(([, cell]) => cell(row))))

/** Writes a whole file. */
export const csvFile = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string =>
  csvHead(columns) + csvRows(columns, rows)

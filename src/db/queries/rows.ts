import { invariant } from '../../domain/errors.ts'
import type { Parameter, Prepared } from './statement.ts'

/** An instant as a parameter. */
export const moment = (instant: number | null): string | null =>
  instant === null ? null : new Date(instant).toISOString()

/** Columns of a set of rows that travels as arrays: name → type. */
export type ColumnTypes = Readonly<Record<string, string>>

/**
 * A set of rows as a table expression over array parameters: `unnest((SELECT $3::int[]), $4::text[]) AS name (a, b)`.
 * @param first number of the first parameter
 */
export function rowsOf(name: string, columns: ColumnTypes, first: number): string {
  const [hidden, ...arrays] = Object.values(columns).map((type, index) => `$${first + index}::${type}[]`)
  return `unnest(${[unseen(hidden!), ...arrays].join(', ')}) AS ${name} (${Object.keys(columns).join(', ')})`
}

/**
 * An array parameter whose length the planner does not see. Seeing one row it would find every plan made for that one
 * cheaper than the plan for any number, and plan the statement again each time it is sent, which takes longer than to run it.
 */
const unseen = (parameter: string): string => `(SELECT ${parameter})`

/**
 * Rows → one array literal a column, as `rowsOf` takes them. The driver's own, which escapes every element by two
 * expressions and adds it to a rope, takes two to four times as long: a twelfth of what a new loan took of the service.
 */
export const columnsOf = (columns: ColumnTypes, rows: readonly (readonly unknown[])[]): string[] =>
  Object.keys(columns).map((_, index) => arrayOf(rows, (row) => row[index]))

/** An array literal, of a value of each. */
export const arrayOf = <Item>(items: readonly Item[], toValue: (item: Item) => unknown = (item) => item): string =>
  `{${items.map((item) => elementOf(toValue(item))).join(',')}}`

const SPECIAL = /["\\]/
/** What JSON writes with a backslash and a letter, and Postgres would read as that letter. */
const LETTERED = /\\[^"\\]/

/** An element of an array literal (PostgreSQL, 8.15.6): text in quotes, and what means something there behind a backslash. */
function elementOf(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  invariant(typeof value === 'string', 'a row of numbers and texts')
  // Few texts have any. JSON quotes them alike, but for some characters, in a quarter of the time.
  if (!SPECIAL.test(value)) return `"${value}"`
  const quoted = JSON.stringify(value)
  return LETTERED.test(quoted) ? `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"` : quoted
}

/**
 * The values of a set of rows in a `statement`: an array literal for each column, under the name of the column.
 * `tableOf` writes the table expression over them.
 */
export const columnValues = (
  columns: ColumnTypes,
  rows: readonly (readonly unknown[])[],
  prefix = '',
): Record<string, string> =>
  Object.fromEntries(Object.keys(columns).map((column, index) => [prefix + column, arrayOf(rows, (row) => row[index])]))

/** A set of rows as a table expression over the parameters of a `statement` that `columnValues` gives values to. */
export function tableOf(name: string, columns: ColumnTypes, p: Parameter<Record<string, unknown>>): string {
  const [hidden, ...arrays] = Object.entries(columns).map(([column, type]) => `${p(column)}::${type}[]`)
  return `unnest(${[unseen(hidden!), ...arrays].join(', ')}) AS ${name} (${Object.keys(columns).join(', ')})`
}

/** The number of columns of a set of rows. */
const widthOf = (columns: ColumnTypes): number => Object.keys(columns).length

/** Of one row, over plain parameters, one a column: `(SELECT $3::int AS a, $4::text AS b) AS name`. */
const rowOf: typeof rowsOf = (name, columns, first) =>
  `(SELECT ${Object.entries(columns).map(([column, type], index) => `$${first + index}::${type} AS ${column}`)}) AS ${name}`

/** A set of a statement as a table expression, under the alias that is asked for. */
export type Table = (alias: string) => string

/**
 * A statement over sets of rows, written once and prepared twice: for any number of rows, as arrays; and, under its name
 * and `-alone`, for one of the first set and one of each other at most, as plain parameters, for which Postgres computes
 * a third less. A set without a row is then one of nulls: all but the first have to be joined by a key.
 * @param write its text, given its sets as tables
 * @returns takes the rows of each set, in the order of its columns
 */
export function statementOver(
  name: string,
  sets: readonly ColumnTypes[],
  write: (...tables: Table[]) => string,
): (...rows: (readonly (readonly unknown[])[])[]) => Prepared {
  const prepare = (table: typeof rowsOf): string => {
    let next = 1
    const tables = sets.map((columns): Table => {
      const first = next
      next += widthOf(columns)
      return (alias) => table(alias, columns, first)
    })
    return write(...tables)
  }
  const [many, one] = [prepare(rowsOf), prepare(rowOf)]
  return (...rows) => {
    const alone = rows[0]?.length === 1 && rows.every((set) => set.length <= 1)
    const values = sets.flatMap((columns, index): readonly unknown[] => {
      const set = rows[index] ?? []
      return alone ? (set[0] ?? Array(widthOf(columns)).fill(null)) : columnsOf(columns, set)
    })
    return alone ? { name: `${name}-alone`, text: one, values } : { name, text: many, values }
  }
}

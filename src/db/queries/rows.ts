import { invariant } from '../../domain/errors.ts'
import type { Parameter, Prepared } from './statement.ts'

/** The instant that was written last, and its text: the rows of a statement have the same one many times. */
let written = { instant: 0, text: '1970-01-01T00:00:00.000Z' }

/** An instant as a parameter. */
export function moment(instant: number | null): string | null {
  if (instant === null) return null
  if (instant !== written.instant) written = { instant, text: new Date(instant).toISOString() }
  return written.text
}

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
  if (typeof value !== 'string') {
    invariant(typeof value !== 'object', 'a row of numbers, booleans and texts')
    return String(value)
  }
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

/** A member of an object: its name, and the name as JSON has it. */
interface Member {
  readonly name: string
  readonly quoted: string
}

/** The members of objects in their order, by their names: the trail has few kinds of objects, and very many of each. */
const orders = new Map<string, readonly Member[]>()
const MOST_ORDERS = 1_000

/**
 * Returns JSON as Postgres writes a `jsonb`: members in the order of the lengths of their names, then of their bytes, and
 * numbers without an exponent. A text that is sent in this form is read back the same.
 * @param value what JSON can say; a bigint is a number, digit by digit, and a Date a text as in `JSON.stringify`
 */
export function jsonbText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
      return Number.isSafeInteger(value) ? `${value}` : numberText(value)
    case 'bigint':
    case 'boolean':
      return `${value}`
    case 'object':
      return value === null ? 'null' : objectText(value)
    default:
      return 'null'
  }
}

function objectText(value: object): string {
  if (value instanceof Date) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(jsonbText).join(', ')}]`
  let text = ''
  for (const { name, quoted } of membersOf(Object.keys(value))) {
    const member = (value as Record<string, unknown>)[name]
    if (member !== undefined)
      text += text === '' ? `${quoted}: ${jsonbText(member)}` : `, ${quoted}: ${jsonbText(member)}`
  }
  return `{${text}}`
}

function membersOf(names: readonly string[]): readonly Member[] {
  const id = names.join('\0')
  const known = orders.get(id)
  if (known) return known
  const members = names.toSorted(compareNames).map((name) => ({ name, quoted: JSON.stringify(name) }))
  // Names that callers chose, as in a record, must not fill the memory.
  if (orders.size === MOST_ORDERS) orders.clear()
  orders.set(id, members)
  return members
}

/** Compares names of members by their length in UTF-8, and then by their bytes. */
function compareNames(one: string, other: string): number {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length - second.length || Buffer.compare(first, second)
}

/** Returns a number as `numeric` has it: JavaScript writes 1e-7 and 1e+21, Postgres all the digits. */
function numberText(value: number): string {
  const text = JSON.stringify(value)
  const [, sign, whole, fraction = '', exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  if (whole === undefined || exponent === undefined) return text
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return point >= digits.length
    ? `${sign}${digits}${'0'.repeat(point - digits.length)}`
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

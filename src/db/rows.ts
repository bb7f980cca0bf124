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
 * cheaper than the plan for any number, and plan the statement anew each time it is sent: longer than it runs.
 */
export const unseen = (parameter: string): string => `(SELECT ${parameter})`

/** Rows → one array literal a column, as `rowsOf` takes them. */
export const columnsOf = (columns: ColumnTypes, rows: readonly (readonly unknown[])[]): string[] =>
  Object.values(columns).map((type, index) => arrayOf(BARE.has(type) ? String : quoted, rows, index))

/** Types whose values are written without anything that means something in an array literal. */
const BARE: ReadonlySet<string> = new Set(['int', 'bigint', 'date', 'timestamptz'])

/** Written here and not by the driver, which escapes and quotes every number and date too: a tenth of all garbage. */
function arrayOf(write: (value: unknown) => string, rows: readonly (readonly unknown[])[], index: number): string {
  let literal = '{'
  for (const row of rows) {
    const value = row[index] ?? null
    if (literal.length > 1) literal += ','
    literal += value === null ? 'NULL' : write(value)
  }
  return `${literal}}`
}

const quoted = (value: unknown): string => `"${String(value).replace(/["\\]/g, '\\$&')}"`

/** How many columns a set of rows has. */
export const widthOf = (columns: ColumnTypes): number => Object.keys(columns).length

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
const unseen = (parameter: string): string => `(SELECT ${parameter})`

/**
 * A set of one row as a table expression over scalar parameters, one a column: for one row Postgres and the driver take
 * half as long over them as over arrays. A row of nulls stands for none, where what joins it asks for a key.
 * @param first number of the first parameter
 */
export const rowOf = (name: string, columns: ColumnTypes, first: number): string =>
  `(SELECT ${Object.entries(columns).map(([column, type], index) => `$${first + index}::${type} AS ${column}`)}) AS ${name}`

/** Rows → one array a column, as `rowsOf` takes them. */
export const columnsOf = (columns: ColumnTypes, rows: readonly (readonly unknown[])[]): unknown[][] =>
  Object.values(columns).map((_, index) => rows.map((row) => row[index]))

/** How many columns a set of rows has. */
export const widthOf = (columns: ColumnTypes): number => Object.keys(columns).length

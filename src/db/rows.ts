/** An instant as a parameter. */
export const moment = (instant: number | null): string | null =>
  instant === null ? null : new Date(instant).toISOString()

/** Columns of a set of rows that travels as arrays: name → type. */
export type ColumnTypes = Readonly<Record<string, string>>

/**
 * A set of rows as a table expression over array parameters: `unnest($3::int[], $4::text[]) AS name (a, b)`.
 * @param first number of the first parameter
 */
export function rowsOf(name: string, columns: ColumnTypes, first: number): string {
  const arrays = Object.values(columns).map((type, index) => `$${first + index}::${type}[]`)
  return `unnest(${arrays.join(', ')}) AS ${name} (${Object.keys(columns).join(', ')})`
}

/** Rows → one array a column, as `rowsOf` takes them. */
export const columnsOf = (width: number, rows: readonly (readonly unknown[])[]): unknown[][] =>
  Array.from({ length: width }, (_, index) => rows.map((row) => row[index]))

/** How many columns a set of rows has. */
export const widthOf = (columns: ColumnTypes): number => Object.keys(columns).length

import { type Author, type Trace, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { type Parameter, type Prepared, statement } from '../queries/statement.ts'

/** A table of rows that belong to a customer or a loan, each with a number of its own. */
export interface Traced {
  readonly table: 'contact' | 'promise' | 'loan_hold' | 'loan_assignment'
  /** The columns that are written when a row is made, besides `organization_id` and `id`. */
  readonly columns: readonly string[]
}

/** Returns the name of the rows of a table in the audit trail. */
export const entityOf = ({ table }: Pick<Traced, 'table'>): string => table.replace('_', ' ')

/** The values of columns, by their names. */
type ColumnValues = Readonly<Record<string, unknown>>

const COLUMN = 'column.'
type Values = TrailValues & { id: bigint } & ColumnValues

/** How a row is made: who makes it and when, its number, its values, and what the trail keeps of it. */
export interface Made {
  readonly author: Author
  readonly now: number
  readonly id: bigint
  readonly values: ColumnValues
  readonly trace: Trace
}

const valuesOf = (transaction: Transaction, traced: Traced, { author, now, id, values, trace }: Made): Values => ({
  ...trailValues(transaction, author, now, { entity: entityOf(traced), id }, trace),
  ...Object.fromEntries(Object.entries(values).map(([name, value]) => [COLUMN + name, value])),
  id,
})

/** Makes the function that inserts a row of a table together with its row of the audit trail. */
export function insertionInto(traced: Traced) {
  const { table, columns } = traced
  const insert = statement<Values>(`insert-${table}`, (p) => {
    const values = columns.map((column) => p(COLUMN + column))
    return `
  WITH made AS (
    INSERT INTO ${table} (organization_id, id, ${columns.join(', ')})
    VALUES (${p('organizationId')}, ${p('id')}, ${values.join(', ')})
    RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'made', entityOf(traced))}
  SELECT id FROM made`
  })
  return async (transaction: Transaction, made: Made): Promise<void> => {
    await transaction.query(insert(valuesOf(transaction, traced, made)))
  }
}

/**
 * Makes the function that changes columns of a row of a table together with its row of the audit trail.
 * @param changed the columns that change
 */
export function changeIn(traced: Traced, changed: readonly string[]) {
  const { table } = traced
  const update = statement<Values>(
    `change-${table}-${changed.join('-')}`,
    (p) => `
  WITH changed AS (
    UPDATE ${table} SET ${changed.map((column) => `${column} = ${p(COLUMN + column)}`).join(', ')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'changed', entityOf(traced))}
  SELECT id FROM changed`,
  )
  return async (transaction: Transaction, made: Made): Promise<void> => {
    await transaction.query(update(valuesOf(transaction, traced, made)))
  }
}

/** Draws the next number of a table. The caller holds the lock of the owner, so that the numbers of one owner are committed in their order. */
export async function nextId(transaction: Transaction, { table }: Pick<Traced, 'table'>): Promise<bigint> {
  const draw: Prepared = { name: `next-${table}`, text: `SELECT nextval('${table}_id_seq') AS id`, values: [] }
  return (await transaction.query<{ id: bigint }>(draw)).rows[0]!.id
}

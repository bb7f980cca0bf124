import type pg from 'pg'
import { type Book, customerName, LANES, laneOf } from './scenarios.ts'
import { hotShape, longShape, type Shape, shapesOf } from './shapes.ts'

/** Loans with 2,000 transactions, and loans for `hot`: enough that no two slots share one. Multiples of `LANES`. */
const LONG = 12 * LANES
const HOT = 100 * LANES
/** What the service's sequences begin with. */
const FIRST = 4_000_000_000_000_001

export interface Size {
  readonly loans: number
  readonly transactions: number
}

/**
 * Fills an empty, migrated book, set by set: copies of some hundred loans that the domain has made. The transactions of
 * a loan lie scattered over their table, as they do when they come in over months.
 */
export async function fillBook(pool: pg.Pool, size: Size, zone: string, organizationId: number): Promise<Book> {
  const now = Date.now()
  const loans = Math.ceil(size.loans / LANES) * LANES
  const customers = Math.ceil(loans / 2)
  const kinds = shapesOf(now, zone, Math.max(0, size.transactions - LONG * 2_000) / loans)
  const shapes = [longShape(now, zone), hotShape(now, zone), ...kinds]
  const client = await pool.connect()
  const run = (text: string, values: unknown[] = []) =>
    client.query({ text, values, query_timeout: 3_600_000 } as pg.QueryConfig)
  /** The columns that a table of this book has: another version of the service may have others. */
  const columnsOf = async (table: string) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
      [table],
    )
    return new Set(rows.map(({ name }) => name))
  }
  try {
    // Foreign keys hold by construction; checking each row would take most of the time.
    await run(`SET statement_timeout = 0`)
    await run(`SET session_replication_role = replica`)
    await run(`SET synchronous_commit = off`)
    await run(`SET work_mem = '256MB'`)
    for (const table of ['loan', 'loan_period', 'loan_entry'] as const) {
      await run(`CREATE TEMP TABLE shape_${table} AS SELECT 0 AS shape, t.* FROM ${table} t WITH NO DATA`)
      const rows = shapes.flatMap((shape, index) => rowsOf(shape, table).map((row) => ({ shape: index, ...row })))
      const json = JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
      await run(`INSERT INTO shape_${table} SELECT * FROM json_populate_recordset(null::shape_${table}, $1)`, [json])
      await run(`ANALYZE shape_${table}`)
    }
    const customer = await columnsOf('customer')
    const numbered = customer.has('account_no')
    await run(
      `INSERT INTO customer (organization_id, id, external_id, status, activation_date, created_at, updated_at
         ${numbered ? ', account_no' : ''})
       SELECT $1, $2::bigint + n, '${customerName(0).slice(0, -1)}' || n, 'Active', current_date, now(), now()
         ${numbered ? ', n + 1' : ''}
       FROM generate_series(0, $3::int - 1) n`,
      [organizationId, FIRST, customers],
    )
    const shapeOf = `CASE WHEN n < ${LONG} THEN 0 WHEN n < ${LONG + HOT} THEN 1
                          ELSE 2 + (n / ${LANES}) % ${kinds.length} END`
    /** Copies the rows of a table for all loans, or those of one ordinal. */
    const copy = async (table: Table, own: Record<string, string>, only = 'true') => {
      const there = await columnsOf(table)
      const made = Object.keys(shapes.map((shape) => rowsOf(shape, table)[0]).find(Boolean) ?? {})
      const columns = made.filter((column) => !(column in own) && there.has(column))
      const given = Object.entries(own).filter(([column]) => there.has(column))
      const names = [...given.map(([column]) => column), ...columns]
      const values = [...given.map(([, value]) => value), ...columns.map((column) => `s.${column}`)]
      await run(
        `INSERT INTO ${table} (organization_id, ${names.join(', ')})
         SELECT ${organizationId}, ${values.join(', ')}
         FROM generate_series(0, ${loans} - 1) n JOIN shape_${table} s ON s.shape = ${shapeOf} WHERE ${only}`,
      )
    }
    const loanId = `${FIRST} + n`
    // What the service carries forward is nothing that the others know of, or are to pay for.
    const carried = `CASE WHEN n % ${LANES} IN (${laneOf('floor')}, ${laneOf('driver')}) THEN NULL ELSE s.carried_forward END`
    const own = {
      id: loanId,
      customer_id: `${FIRST} + n % ${customers}`,
      external_id: `'book-' || n`,
      account_no: 'n + 1',
    }
    await copy('loan', { ...own, carried_forward: carried })
    await copy('loan_period', { loan_id: loanId })
    const most = Math.max(...shapes.slice(1).map((shape) => shape.entries.length))
    const token = `'book-' || n || '-' || s.ordinal`
    for (let ordinal = 1; ordinal <= most; ordinal++)
      await copy('loan_entry', { loan_id: loanId, token }, `s.ordinal = ${ordinal} AND n >= ${LONG}`)
    await copy('loan_entry', { loan_id: loanId, token }, `n < ${LONG}`)
    if (numbered)
      await run(`INSERT INTO account_number VALUES ($1, 'customer', $2), ($1, 'loan', $3)`, [
        ...[organizationId, customers, loans],
      ])
    await run(`SELECT setval('loan_id_seq', $1), setval('customer_id_seq', $2)`, [FIRST + loans, FIRST + customers])
    await run('VACUUM (ANALYZE) customer, loan, loan_period, loan_entry')
    await run('CHECKPOINT')
  } finally {
    // The settings above are this connection's: it is not to be used again.
    client.release(true)
  }
  const instalments = kinds.map(({ instalment }) => instalment)
  return { organizationId, zone, firstLoan: FIRST, long: LONG, hot: HOT, loans, customers, instalments }
}

type Table = 'loan' | 'loan_period' | 'loan_entry'

const rowsOf = (shape: Shape, table: Table): readonly Readonly<Record<string, unknown>>[] =>
  table === 'loan' ? [shape.loan] : table === 'loan_period' ? shape.periods : shape.entries

import { SEALED, SEALED_TRAIL, type SealedName } from '../../src/db/events/sealedColumns.ts'

/**
 * What is planted, by SQL, and what `book check` says of it. In the SQL `{table.column}` is another value for the column; in
 * what is said `:row` is the name of the row.
 */
export interface SealFault {
  readonly name: string
  readonly spoil: string
  readonly said: RegExp
  /** The table whose first row is spoilt, and named. */
  readonly table?: SealedName
  /** Faults of one place take turns; those of several places may be planted together. The table, where it is left out. */
  readonly place?: string
}

const TABLES = Object.keys(SEALED) as SealedName[]

/** A value of another kind for each type of column. */
const OTHER: Readonly<Record<string, (column: string) => string>> = {
  text: (column) => `coalesce(${column}, '') || 'x'`,
  bigint: (column) => `coalesce(${column}, 0) + 1000`,
  integer: (column) => `coalesce(${column}, 0) + 1000`,
  date: (column) => `coalesce(${column}, '2026-01-31') + 1`,
  'timestamp with time zone': (column) => `coalesce(${column}, '2026-01-31Z') + interval '1 s'`,
  json: (column) => `(coalesce(${column}::jsonb, '{}') || '{"changed": true}')::json`,
  jsonb: (column) => `coalesce(${column}, '{}') || '{"changed": true}'`,
  boolean: (column) => `NOT coalesce(${column}, false)`,
  bytea: (column) => `set_byte(${column}, 3, 255 - get_byte(${column}, 3))`,
  ARRAY: (column) => `array_append(${column}, 'X')`,
}

/** The types of columns, as a test reads them: `table.column` → type. */
export type Types = ReadonlyMap<string, string>

/** Puts another value of the column's type in the place of each `{table.column}`. */
export const withValues = (types: Types, spoil: string): string =>
  spoil.replace(/\{(\w+\.(\w+))\}/g, (_, name, column) => OTHER[types.get(name)!]!(column))

const FIRST: Readonly<Partial<Record<SealedName, string>>> = {
  credit_standing: 'WHERE boosts > 0',
  // Of a loan that is changed later, by a hold.
  loan_entry: "WHERE loan_id IN (SELECT loan_id FROM loan_hold WHERE what = 'penalties')",
  // Of the first increase: the next one of the customer changed the standing that was sealed with the statement, and not the statement.
  credit_statement: 'WHERE decision_id = (SELECT min(decision_id) FROM credit_statement)',
}

/** SQL for the first row of a table, by its key. */
export const firstRow = (table: SealedName): string =>
  `SELECT ctid FROM ${table} ${FIRST[table] ?? ''} ORDER BY ${SEALED[table].key.join(', ')} LIMIT 1`

/** Each covered column of each table with another value. */
export const COLUMNS: readonly SealFault[] = TABLES.flatMap((table) =>
  SEALED[table].columns.map((column) => ({
    name: `another ${table}.${column}`,
    spoil: `UPDATE ${table} SET ${column} = {${table}.${column}} WHERE ctid = (${firstRow(table)})`,
    said: new RegExp(`^:row: ${column} is not what change \\d+ sealed$`, 'm'),
    table,
  })),
)

/** Each column of the trail with another value. */
export const TRAIL: readonly SealFault[] = SEALED_TRAIL.map((column) => ({
  place: column,
  name: `another audit_entry.${column}`,
  spoil: `UPDATE audit_entry SET ${column} = {audit_entry.${column}} WHERE id = :change`,
  said: new RegExp(`^audit_entry :change: ${column} is not what was sealed$`, 'm'),
}))

const GONE = /^:row: is not there, and change \d+ sealed it$/m

/** A key of each table with another value. */
export const KEYS: readonly SealFault[] = TABLES.flatMap((table) =>
  SEALED[table].key.map((column) => ({
    name: `another ${table}.${column}`,
    spoil: `UPDATE ${table} SET ${column} = {${table}.${column}} WHERE ctid = (${firstRow(table)})`,
    said: table === 'credit_decision' ? /^credit_decision 1001: id is not what change \d+ sealed$/m : GONE,
    table,
  })),
)

export const REMOVED: readonly SealFault[] = TABLES.map((table) => ({
  name: `a row of ${table} removed`,
  spoil: `DELETE FROM ${table} WHERE ctid = (${firstRow(table)})`,
  said: table === 'credit_decision' ? /^credit_decision of customer \d+: is not there, and change/m : GONE,
  table,
}))

/** The columns that have to differ between two rows. */
const UNIQUE = [
  'email',
  'hash',
  'external_id',
  'fingerprint',
  'ordinal',
  'arrival',
  'token',
  'account_no',
  'secret_hash',
  'receipt',
  'digest',
  'name',
]

/** The columns that have to differ between two rows of one table alone: a loan has one officer. */
const UNIQUE_IN: Partial<Readonly<Record<SealedName, readonly string[]>>> = { loan_assignment: ['loan_id'] }

const MADE = /is not in the trail: nothing says that it was/
const ADDED: Readonly<Record<SealedName, RegExp>> = {
  organization: /^organization 1001: is not in the trail/m,
  account: new RegExp(`^account \\d+: ${MADE.source}`, 'm'),
  api_key: new RegExp(`^api_key \\d+: ${MADE.source}`, 'm'),
  signing_key: new RegExp(`^signing_key \\S+x: ${MADE.source}`, 'm'),
  loan_product: /^loan_product 1001: is not in the trail/m,
  customer: /^customer \d+: is not in the trail/m,
  loan: /^loan 1001: the trail says 0 times that it was made/m,
  loan_period: /^loan_period 1\/1001: is not among the rows that change \d+ sealed/m,
  loan_entry: /^loan :held: entry \d*1\d{3} is not in the trail/m,
  credit_policy: /^credit_policy 2026-07x: is not in the trail/m,
  delinquency_policy: /^delinquency_policy 1001: is not in the trail/m,
  pending_action: /^pending action 1001: is not in the trail/m,
  data_request: /^data request \d+: is not in the trail/m,
  payment_channel: /^payment_channel 1001: is not in the trail/m,
  payment: /^payment \d+: is not in the trail/m,
  listing_notice: /^listing_notice \d+: is not in the trail/m,
  dispute: /^dispute \d+: is not in the trail/m,
  export_format: /^export_format \d+: is not in the trail/m,
  export_file: /^export_file \d+: is not in the trail/m,
  consent: /^consent \d+: is not in the trail/m,
  guarantor: /^guarantor \d+: is not in the trail/m,
  collateral: /^collateral \d+: is not in the trail/m,
  contact: /^contact \d+: is not in the trail/m,
  promise: /^promise \d+: is not in the trail/m,
  loan_hold: /^loan_hold \d+: is not in the trail/m,
  loan_assignment: /^loan_assignment \d+: is not in the trail/m,
  reconciliation: /^reconciliation \d+: is not in the trail/m,
  payment_reversal: /^payment_reversal \d+: is not in the trail/m,
  credit_decision: /^credit_decision \d+: is not in the trail/m,
  credit_standing: /^credit_standing \d+: boosts is 2, and the trail has 0 raises/m,
  credit_statement: /^credit_statement \S+x: is not in the trail/m,
}

/** The schedule of the loan that is added. */
const LINES = `INSERT INTO loan_period SELECT organization_id, 1001, period, from_date, due_date, principal, interest, fees
  FROM loan_period WHERE loan_id = 1`

/** A row of each table added: the first once more, under another key. */
export const ADDED_ROWS: readonly SealFault[] = TABLES.map((table) => {
  const owner = table === 'organization' || table === 'signing_key' ? [] : ['organization_id']
  const { key, columns, leftOut } = SEALED[table]
  const changed = new Set([...key.slice(-1), ...UNIQUE, ...(UNIQUE_IN[table] ?? [])])
  const names = [...owner, ...key, ...columns, ...Object.keys(leftOut)]
  const values = names.map((name) => (changed.has(name) ? `{${table}.${name}}` : name))
  return {
    name: `a row of ${table} added`,
    spoil: `INSERT INTO ${table} (${names.join(', ')}) OVERRIDING SYSTEM VALUE
      SELECT ${values.join(', ')} FROM ${table} WHERE ctid = (${firstRow(table)});
      ${table === 'loan' ? LINES : ''}`,
    said: ADDED[table],
    table,
  }
})

/** What a text that is carried forward is of: where another of them is changed, it is not compared. */
const OF_CARRIED = ['version', 'entry_count', 'updated_at', 'carried_forward']

const figure = (column: string, said = new RegExp(`^loan :plain: ${column} is `, 'm'), value?: string): SealFault => ({
  place: OF_CARRIED.includes(column) ? 'carried' : column,
  name: `another cached loan.${column}`,
  spoil: `UPDATE loan SET ${column} = ${value ?? `coalesce(${column}, 0) + 1`} WHERE id = :plain`,
  said,
})

/** Columns that no seal covers, because another check does. */
export const CACHED_COLUMNS: readonly SealFault[] = [
  ...['principal_outstanding', 'interest_outstanding', 'fees_outstanding', 'penalty_outstanding', 'total_paid'].map(
    (column) => figure(column),
  ),
  ...['total_overpaid', 'total_overdue', 'total_written_off', 'total_recovered'].map((column) => figure(column)),
  ...['next_due_on', 'overdue_since', 'charged_off_on', 'closed_on'].map((column) =>
    figure(column, undefined, `'2027-01-01'`),
  ),
  figure('next_change_at', undefined, `'2030-01-01Z'`),
  figure('status', undefined, `'Overpaid'`),
  figure('version'),
  figure('entry_count'),
  figure('updated_at', undefined, `updated_at + interval '1 s'`),
  figure('carried_forward', undefined, `overlay(carried_forward PLACING '2026-01-30' FROM 3)`),
  {
    place: 'carried',
    name: 'a reversal taken off',
    spoil: 'UPDATE loan_entry SET reversed_at = NULL WHERE id = :reversed',
    said: /^loan :plain: the trail says that entry :reversed was reversed/m,
  },
]

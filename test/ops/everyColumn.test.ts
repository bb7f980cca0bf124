import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Coverage, coverageOf, coverageOfRows, listNotFound, UNSEALED } from '../../src/db/book/coverage.ts'
import { makeFullBook } from '../support/fullBook.ts'
import { opsOn } from '../support/ops.ts'
import { within } from '../support/patience.ts'
import { startService, type TestService } from '../support/service.ts'

// Whatever a column holds, book check names it and checks the rest; or the list of what the check does not prove names it.

/** True in a campaign: each value in each column. In the suite each column has one value, another one from column to column. */
const ALL_VALUES = process.env.MKOPO_EACH_ALONE === '1'

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
}

let service: TestService
let client: pg.PoolClient
let columns: Column[] = []
/** The columns of each table's primary key, in SQL. */
let keys: ReadonlyMap<string, string>
let untouched: Found

interface Found {
  readonly code: number
  readonly lines: readonly string[]
  readonly loans: number
  readonly seals: number
}

async function check(): Promise<Found> {
  const { code, json, err } = await opsOn(service)<{
    differences: { of: string; message: string }[]
    loans: number
    sealed: number
  }>('book check --json')
  expect(json, err).not.toBeNull()
  const lines = json.differences.map((one) => `${one.of}: ${one.message}`)
  return { code, lines, loans: json.loans, seals: json.sealed }
}

beforeAll(async () => {
  service = await startService({ WEBHOOKS_TO_PRIVATE: 'true' })
  service.damages('every value of every column is changed')
  await makeFullBook(service)
  client = await service.owner.pool.connect()
  await client.query('SET session_replication_role = replica; CREATE SCHEMA whole')
  const { rows } = await client.query<Column>(
    `SELECT c.table_name AS table, c.column_name AS column, c.data_type AS type FROM information_schema.columns c
     JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.table_name <> '_prisma_migrations'
     ORDER BY c.table_name, c.ordinal_position`,
  )
  columns = rows
  const primary = await client.query<{ table: string; key: string }>(
    `SELECT i.indrelid::regclass::text AS table, string_agg(quote_ident(a.attname), ', ' ORDER BY k.place) AS key
     FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
     JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum WHERE i.indisprimary GROUP BY 1`,
  )
  keys = new Map(primary.rows.map(({ table, key }) => [table, key]))
  for (const table of new Set(rows.map((row) => row.table)))
    await client.query(`CREATE TABLE whole.${table} AS TABLE ${table}`)
  untouched = await check()
})
afterAll(async () => {
  client.release(true)
  await service.close()
})

async function mend(table: string): Promise<void> {
  await client.query(`DELETE FROM ${table}; INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM whole.${table}`)
}

/** Another value, nothing, a value that means nothing, the largest, another organization's: by the type of the column. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  integer: ['$c + 1', 'NULL', '-1', '2147483647', '100'],
  bigint: ['$c + 1', 'NULL', '-1', '9223372036854775807', '(SELECT max(id) FROM loan WHERE organization_id <> 1)'],
  text: [`$c || 'x'`, 'NULL', `'%s garbage \\'`, `repeat('z', 5000)`, `'100'`],
  'character varying': [`$c || 'x'`, 'NULL', `'garbage'`, `repeat('z', 200)`, `'100'`],
  date: ['$c + 40', 'NULL', `'0001-01-01'`, `'infinity'`, `'-infinity'`],
  'timestamp with time zone': [`$c + interval '40 days'`, 'NULL', `'0001-01-01Z'`, `'infinity'`, `'-infinity'`],
  jsonb: [
    `CASE jsonb_typeof($c) WHEN 'object' THEN $c || '{"x": 1}' ELSE '{"x": 1}' END`,
    'NULL',
    `'"garbage"'`,
    `'{}'`,
    `'[]'`,
  ],
  json: [`jsonb_set($c::jsonb, '{version}', '99')::json`, 'NULL', `'"garbage"'`, `'{}'`, `'[]'`],
  boolean: ['NOT $c', 'NULL', 'true', 'false', 'true'],
  bytea: [`$c || '\\x00'`, 'NULL', `''`, `decode(repeat('ff', 4000), 'hex')`, `'\\x00'`],
  ARRAY: [`array_append($c, 'X')`, 'NULL', `'{}'`, `array_fill('z'::text, ARRAY[500])`, `'{NULL}'`],
}

/** The rows with most to say come first: those of the lender with the book, and a standing with a raise. */
const FIRST: Readonly<Record<string, string>> = {
  credit_standing: 'boosts DESC,',
  organization: '',
  signing_key: '',
  rate_limit: '',
  root_secret: '',
  directory: '',
  book_slot: '',
}
/** The order of a table's rows: that of its key in the end, for where Postgres puts a row depends on when it removes dead ones. */
const orderOf = (table: string) => `${FIRST[table] ?? 'organization_id <> 1,'} ${keys.get(table)}`

/** The row that is spoilt: one in which the column is not empty, where there is one. */
const rowOf = ({ table, column }: Column) =>
  `(SELECT ctid FROM ${table} ORDER BY ${column} IS NULL, ${orderOf(table)} LIMIT 1)`

/** Puts a value in a column of a row. @returns false where the database refuses it, or it is the value that was there */
async function plant(one: Column, value: string): Promise<boolean> {
  const { table, column } = one
  const text = value.replaceAll('$c', column)
  try {
    const { rowCount } = await client.query(
      `UPDATE ${table} SET ${column} = ${text} WHERE ctid = ${rowOf(one)} AND ${column}::text IS DISTINCT FROM (${text})::text`,
    )
    return rowCount === 1
  } catch (error) {
    if (error instanceof pg.DatabaseError) return false
    throw error
  }
}

const isFound = (coverage: Coverage | undefined) => coverage !== undefined && 'found' in coverage
const isNotFound = (coverage: Coverage | undefined) => coverage !== undefined && 'notFound' in coverage

it('the book has rows in every table, and nothing differs', async () => {
  expect(untouched).toMatchObject({ code: 0, lines: [] })
  const empty: string[] = []
  for (const table of new Set(columns.map((one) => one.table)))
    if ((await client.query(`SELECT FROM ${table} LIMIT 1`)).rowCount === 0) empty.push(table)
  expect(empty).toEqual([])
})

it('every column of every table is sealed, or in the list of what covers it', () => {
  expect(columns.filter(({ table, column }) => coverageOf(table, column) === undefined)).toEqual([])
  const types = new Set(columns.map(({ type }) => type))
  expect([...types].filter((type) => !(type in VALUES))).toEqual([])
})

it('what is not found is named with its reason', () => {
  const named = listNotFound()
  expect(named.flatMap(({ of }) => of)).toContain('idempotency_key.request_hash')
  const manual = readFileSync(new URL('../../docs/operating/book.md', import.meta.url), 'utf8')
  for (const { why, of } of named) {
    expect(manual).toContain(`| ${why} |`)
    for (const one of of) expect(manual).toContain(`\`${one.replace('rows of ', '')}\``)
  }
})

const OF_CHAIN = /^(audit_entry|event|event_chain)\b/
const OF_POSTINGS =
  /posting|^the (sum|journal)|: cannot be replayed: Invalid time|^transfers between accounts: are from version 2 to/

/** The words that tell of a table, where they are not its name. Of tables with the same words, one is changed at a time. */
const WORDS: Readonly<Record<string, RegExp>> = {
  accounting_chart: /^(accounting_chart|version) (?!.* before the journal came to it)/,
  accounting_period: /^(accounting_period|month) \S+: was (not asked for|closed (at|by|with the hash 100))/,
  ...{ audit_entry: OF_CHAIN, event: OF_CHAIN, event_chain: OF_CHAIN },
  idempotency_key: /Idempotency-Key/,
  ...{ journal: OF_POSTINGS, posting: OF_POSTINGS, posting_day: OF_POSTINGS },
  portfolio_day: /^portfolio of /,
}
const wordsOf = (table: string) => WORDS[table] ?? new RegExp(`^${table} `)

/** Tables of which a value may keep loans or seals from being checked. In the suite, few of its values do. */
const OF_WHOLE = ['loan', 'customer', 'event_chain', ...(ALL_VALUES ? ['audit_entry', 'event', 'organization'] : [])]

/** Returns whether a value may keep loans or seals from being checked: it is planted alone, or with the rest of its table. */
const isOfWhole = ({ table, column }: { readonly table: string; readonly column?: string }) =>
  OF_WHOLE.includes(table) || (table === 'audit_entry' && column === 'organization_id')

/** Returns things of tables by what is planted together: one at a time of those that are told of in the same words. */
function roundsOf<Of extends { readonly table: string }>(all: readonly Of[]): Of[][] {
  const alone = all.filter(isOfWhole)
  const byWords = Map.groupBy(
    all.filter((one) => !isOfWhole(one)),
    ({ table }) => wordsOf(table).source,
  )
  const most = Math.max(0, ...[...byWords.values()].map(({ length }) => length))
  const rounds = Array.from({ length: most }, (_, place) => [...byWords.values()].flatMap((own) => own[place] ?? []))
  return [...rounds, ...alone.map((one) => [one])]
}

/**
 * Returns the columns by what is planted together. In a campaign each stands alone. In the suite, those of sealed tables are
 * planted together, for `sealFaults.test.ts` has each of them by its own words; so are all on the list, of which none may be
 * found; and of the others, those that are told of in other words.
 */
function groupsOf(all: readonly Column[]): Column[][] {
  if (ALL_VALUES) return all.map((one) => [one])
  const nameOf = (one: Column) => {
    if (isNotFound(coverageOf(one.table, one.column))) return 'on the list'
    if (one.table in UNSEALED) return 'unsealed'
    return isOfWhole(one) ? one.table : 'sealed'
  }
  const { unsealed = [], ...others } = Object.fromEntries(Map.groupBy(all, nameOf))
  return [...Object.values(others), ...roundsOf(unsealed)]
}

interface Planted extends Column {
  readonly value: string
}

/** Plants a value in each column. @returns where, and what */
async function plantAll(group: readonly Column[], valuesOf: (one: Column) => readonly string[]): Promise<Planted[]> {
  const planted: Planted[] = []
  for (const one of group)
    for (const value of valuesOf(one))
      if (await plant(one, value)) {
        planted.push({ ...one, value })
        break
      }
  return planted
}

/** Returns whether lines tell of a table; in a campaign, where nothing else is changed, any of them does. */
const tells = (lines: readonly string[], table: string) =>
  ALL_VALUES ? lines.length > 0 : lines.some((line) => wordsOf(table).test(line))

/** Returns what is wrong with the check of a book in which values were planted. */
async function wrongWith(planted: readonly Planted[]): Promise<string | undefined> {
  try {
    const { lines, loans, seals } = await check()
    const isMissed = ({ table, column }: Planted) => isFound(coverageOf(table, column)) && !tells(lines, table)
    const missed = planted.filter(isMissed)
    if (missed.length > 0) return `not found: ${missed.map(({ table, column }) => `${table}.${column}`).join(', ')}`
    if (lines.length > 0 && planted.every(({ table, column }) => isNotFound(coverageOf(table, column))))
      return `on the list, and found: ${lines[0]}`
    // Loans of a customer who is not there are named, and not replayed.
    if (!planted.some(isOfWhole) && (loans !== untouched.loans || seals !== untouched.seals))
      return `${loans} loans and ${seals} seals were checked`
    return undefined
  } catch (error) {
    return `the check ended with ${error instanceof Error ? error.message.slice(0, 200) : error}`
  }
}

it(
  `a value that was changed is found or on the list, and the rest of the book is checked: ${ALL_VALUES ? 'each' : 'one'} value in each column`,
  async () => {
    const wrong: string[] = []
    let count = 0
    const places = new Map(columns.map((one, index) => [one, index]))
    const rounds = ALL_VALUES ? [0, 1, 2, 3, 4] : [undefined]
    for (const group of groupsOf(columns))
      for (const round of rounds) {
        const planted = await plantAll(group, (one) => {
          const values = VALUES[one.type]!
          // Another value comes first from column to column.
          const first = round ?? places.get(one)! % values.length
          return round === undefined
            ? [...values.slice(first), ...values.slice(0, first)]
            : values.slice(first, first + 1)
        })
        if (planted.length === 0) continue
        count += planted.length
        const fault = await wrongWith(planted)
        const where = planted.map(({ table, column, value }) => `${table}.${column} = ${value}`)
        if (fault !== undefined) wrong.push(`${where.join(', ')}: ${fault}`)
        for (const table of new Set(group.map((one) => one.table))) await mend(table)
      }
    expect(wrong).toEqual([])
    expect(count).toBeGreaterThan(columns.length * (ALL_VALUES ? 2 : 0.8))
  },
  within(1_800_000),
)

it(
  `a row that is gone from any ${ALL_VALUES ? '' : 'unsealed '}table is found or on the list`,
  async () => {
    const wrong: string[] = []
    // `sealFaults.test.ts` removes a row of each sealed table.
    const tried = [...new Set(columns.map((one) => one.table))].filter((table) => ALL_VALUES || table in UNSEALED)
    const isListed = (table: string) => isNotFound(coverageOfRows(table))
    const found = tried.filter((table) => !isListed(table)).map((table) => ({ table }))
    const listed = tried.filter(isListed).map((table) => ({ table }))
    for (const group of ALL_VALUES ? [...found, ...listed].map((one) => [one]) : [listed, ...roundsOf(found)]) {
      for (const { table } of group)
        await client.query(
          `DELETE FROM ${table} WHERE ctid = (SELECT ctid FROM ${table} ORDER BY ${orderOf(table)} LIMIT 1)`,
        )
      const { lines } = await check()
      for (const { table } of group) {
        if (isFound(coverageOfRows(table)) && !tells(lines, table)) wrong.push(`${table}: not found`)
        if (isListed(table) && lines.length > 0) wrong.push(`${table}: ${lines[0]}`)
        await mend(table)
      }
    }
    expect(wrong).toEqual([])
  },
  within(300_000),
)

it('a counter that was set back is found', async () => {
  const { rows } = await client.query<{ name: string; last: string }>(
    `SELECT sequencename AS name, last_value::text AS last FROM pg_sequences WHERE schemaname = 'public' AND last_value > min_value`,
  )
  for (const { name } of rows)
    await client.query(`SELECT setval('${name}', min_value) FROM pg_sequences WHERE sequencename = '${name}'`)
  const { lines } = await check()
  for (const { name, last } of rows) await client.query(`SELECT setval('${name}', ${last})`)
  const notFound = rows.filter(({ name }) => !lines.some((line) => line.startsWith(`${name}: was set back`)))
  // Ids that clients may choose: one that is given twice is refused by an index, and another is drawn.
  const chosen = ['customer_id_seq', 'loan_entry_id_seq', 'loan_id_seq', 'payment_id_seq']
  expect(notFound.map(({ name }) => name).toSorted()).toEqual(chosen)
})

it('and nothing is left of it', async () => {
  expect(await check()).toEqual(untouched)
})

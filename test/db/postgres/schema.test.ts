import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'

/** The tables as prisma/schema.prisma has them: column → `type` or `type?`. */
function modelsOf(schema: string): Map<string, Map<string, string>> {
  const tables = new Map<string, Map<string, string>>()
  const models = [...schema.matchAll(/^model \w+ \{\n([\s\S]*?)^\}/gm)].map(([, body = '']) => body)
  const names = new Set([...schema.matchAll(/^model (\w+)/gm)].map(([, name]) => name))
  for (const body of models) {
    const columns = new Map<string, string>()
    for (const line of body.split('\n')) {
      const [, field, type, list, optional, rest = ''] = /^ {2}(\w+) +(\w+)(\[\])?(\?)? ?(.*)$/.exec(line) ?? []
      if (field === undefined || type === undefined || names.has(type)) continue
      const column = /@map\("(\w+)"\)/.exec(rest)?.[1] ?? field
      columns.set(column, `${sqlType(type, rest)}${list ?? ''}${optional ?? ''}`)
    }
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1]
    if (table !== undefined) tables.set(table, columns)
  }
  return tables
}

function sqlType(type: string, attributes: string): string {
  if (type === 'DateTime') return attributes.includes('@db.Date') ? 'date' : 'timestamp with time zone'
  if (attributes.includes('@db.VarChar')) return 'character varying'
  if (attributes.includes('@db.Json')) return 'json'
  const types: Record<string, string> = {
    Int: 'integer',
    BigInt: 'bigint',
    String: 'text',
    Boolean: 'boolean',
    Json: 'jsonb',
    Bytes: 'bytea',
  }
  return types[type] ?? type
}

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

describe('prisma/schema.prisma and the migrations', () => {
  it('describe the same tables, columns, types and nulls', async () => {
    const { rows } = await database.db.pool.query<Record<'table' | 'column' | 'type' | 'element' | 'nullable', string>>(
      `SELECT c.table_name AS table, c.column_name AS column, c.data_type AS type, c.udt_name AS element,
              c.is_nullable AS nullable
       FROM information_schema.columns c
       WHERE c.table_schema = 'public' AND c.table_name <> '_prisma_migrations' ORDER BY 1, c.ordinal_position`,
    )
    const stored: Record<string, Record<string, string>> = {}
    for (const { table, column, type, element, nullable } of rows) {
      const name = type === 'ARRAY' ? `${element === '_int8' ? 'bigint' : element.slice(1)}[]` : type
      stored[table] = { ...stored[table], [column]: `${name}${nullable === 'YES' ? '?' : ''}` }
    }
    const schema = readFileSync(new URL('../../../prisma/schema.prisma', import.meta.url), 'utf8')
    const declared = Object.fromEntries(
      [...modelsOf(schema)].map(([table, columns]) => [table, Object.fromEntries(columns)]),
    )
    expect(declared).toEqual(stored)
  })

  it('every primary key, unique index and foreign key of the book begins with the organization', async () => {
    const { rows } = await database.db.pool.query<{ name: string; first: string }>(
      `SELECT i.indexrelid::regclass::text AS name, a.attname AS first
       FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
       JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
       WHERE n.nspname = 'public' AND i.indisunique AND t.relname NOT IN ('_prisma_migrations', 'organization')
       UNION ALL
       SELECT c.conname, a.attname FROM pg_constraint c
       JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] WHERE c.contype = 'f'`,
    )
    // Sign-in, the cookie of a session and the message of a provider name no organization, and keys, limits and the directory are the service's own.
    const exceptions = [
      'account_email_key',
      'signing_key_pkey',
      'root_secret_pkey',
      'rate_limit_pkey',
      'directory_pkey',
      'book_slot_pkey',
      'credential_place_pkey',
      'api_key_hash_key',
      'page_session_hash_key',
      'payment_channel_secret',
    ]
    const others = rows.filter(({ name, first }) => first !== 'organization_id' && !exceptions.includes(name))
    expect(others).toEqual([])
    expect(rows.length).toBeGreaterThan(10)
  })
})

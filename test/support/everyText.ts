import type { TestService } from './service.ts'

/** Bytes as Postgres writes them in the text of a row. */
const BYTES = /\\x((?:[0-9a-f]{2})+)/g

/** Returns all rows of all tables of a book as one text, with what their bytes say: what a dump of the database has. */
export async function everyText({ owner }: Pick<TestService, 'owner'>): Promise<string> {
  const { rows: tables } = await owner.pool.query<{ name: string }>(
    `SELECT format('%I', relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`,
  )
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await owner.pool.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`)
    for (const { text } of rows)
      texts.push(text, ...[...text.matchAll(BYTES)].map(([, bytes = '']) => Buffer.from(bytes, 'hex').toString()))
  }
  return texts.join('\n')
}

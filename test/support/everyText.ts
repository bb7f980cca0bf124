import type { TestService } from './service.ts'

/** Returns all rows of all tables of a book as one text: what a dump of the database has. */
export async function everyText({ owner }: Pick<TestService, 'owner'>): Promise<string> {
  const { rows: tables } = await owner.pool.query<{ name: string }>(
    `SELECT format('%I', relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`,
  )
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await owner.pool.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`)
    texts.push(...rows.map(({ text }) => text))
  }
  return texts.join('\n')
}

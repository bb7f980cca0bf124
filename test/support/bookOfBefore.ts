import { readFileSync } from 'node:fs'
import type { TestService } from './service.ts'

const MIGRATION = new URL('../../prisma/migrations/20261123130000_journal/migration.sql', import.meta.url)

/**
 * Makes of a book what it would be had a program without the journal kept it until now: its changes have no balances, and
 * the migration of the journal comes right after them.
 */
export async function asBookOfBefore({ owner }: Pick<TestService, 'owner'>): Promise<void> {
  const sql = readFileSync(MIGRATION, 'utf8')
  await owner.pool.query('TRUNCATE posting, posting_day, journal, accounting_chart, accounting_period')
  await owner.pool.query('UPDATE audit_entry SET balances = NULL, consequences = NULL')
  await owner.pool.query(sql.slice(sql.indexOf('INSERT INTO journal')))
}

import type { Db } from '../../src/db/postgres/client.ts'

/** Runs SQL as the owner of the server, past every trigger and foreign key: what a test plants may be what these refuse. */
export const pastTriggers = async ({ pool }: Pick<Db, 'pool'>, text: string): Promise<void> => {
  await pool.query(`BEGIN; SET LOCAL session_replication_role = replica; ${text}; COMMIT`)
}

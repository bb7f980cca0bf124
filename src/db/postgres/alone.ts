import { createHash } from 'node:crypto'
import type { Db } from './client.ts'
import { inTransaction, type Transaction } from './transaction.ts'

/** Returns the first number of a lock by its name; the second is the organization. */
const numberOf = (name: string): number => createHash('sha256').update(`mkopo ${name}`).digest().readInt32BE()

/**
 * Returns whether nobody else, on any instance, does the named work for an organization, until the end of the transaction.
 */
export async function isAlone(transaction: Transaction, name: string, organizationId: number): Promise<boolean> {
  const { rows } = await transaction.query<{ alone: boolean }>('SELECT pg_try_advisory_xact_lock($1, $2) AS alone', [
    numberOf(name),
    organizationId,
  ])
  return rows[0]!.alone
}

/**
 * Runs work of an organization while nobody else, on any instance, does the work of the same name.
 * @returns undefined where somebody else does it
 */
export const aloneFor = <T extends NonNullable<unknown>>(
  db: Pick<Db, 'pool'>,
  { name, organizationId }: { readonly name: string; readonly organizationId: number },
  work: () => Promise<T>,
): Promise<T | undefined> =>
  inTransaction(db, async (transaction) => {
    // The transaction stands idle while the work has connections of its own.
    await transaction.query('SET LOCAL idle_in_transaction_session_timeout = 0')
    return (await isAlone(transaction, name, organizationId)) ? work() : undefined
  })

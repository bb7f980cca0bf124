import type { Deps } from '../../app/deps.ts'
import { fillAccountNumbers, type Numbered } from '../../db/lenders/accountNumbers.ts'

/**
 * Reads customers or loans that all have an account number. While the version before this one still runs, it inserts
 * rows without numbers: such rows get their numbers here, and are read again.
 * @param rowsOf returns the rows of the result
 */
export async function withAccountNumbers<T>(
  { db }: Pick<Deps, 'db'>,
  { organizationId, table }: { readonly organizationId: number; readonly table: Numbered },
  read: () => Promise<T>,
  rowsOf: (found: T) => readonly { readonly accountNo: bigint | null }[],
): Promise<T> {
  const found = await read()
  if (rowsOf(found).every(({ accountNo }) => accountNo !== null)) return found
  await fillAccountNumbers(db, organizationId, table)
  return read()
}

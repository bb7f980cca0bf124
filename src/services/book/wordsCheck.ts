import { type CheckedWords, differingWords, NO_WORDS, openWords, readCheckedWords } from '../../db/customers/words.ts'
import type { Snapshot } from '../../db/postgres/transaction.ts'
import { pseudonymOf } from '../../domain/customer/customer.ts'
import type { Deps } from '../deps.ts'
import type { Add } from './checkParts.ts'

/** Customers that are read at once. */
const BATCH = 2_000

/**
 * Compares the words of each customer, as the seal covers them, with the columns that can be searched, and the hashes of its identity
 * with the identity. A customer who was erased has a pseudonym, and nothing else.
 */
export async function checkWords(
  deps: Pick<Deps, 'people'>,
  snapshot: Snapshot,
  organizationId: number | undefined,
  add: Add,
): Promise<void> {
  let rows: readonly CheckedWords[]
  let after = { organizationId: organizationId ?? 0, id: 0n }
  do {
    rows = await readCheckedWords(snapshot, { after, organizationId, most: BATCH })
    for (const row of rows)
      for (const message of faultsOf(deps, row))
        add({ organizationId: row.organizationId, of: `customer ${row.id}`, message })
    after = rows.at(-1) ?? after
  } while (rows.length === BATCH)
}

/** Writes hashes, also one that is nothing: `String([null])` would be the text of no hash. */
const textOf = (hashes: readonly (bigint | null)[]): string => hashes.map(String).join()

function faultsOf({ people }: Pick<Deps, 'people'>, row: CheckedWords): string[] {
  const { organizationId, id, personKey, identity, identityHashes } = row
  const whose = { organizationId, id }
  if (personKey === null) {
    const left = differingWords(row, { ...NO_WORDS, externalId: pseudonymOf(id) })
    return left.map((member) => `was erased, and has ${member} still`)
  }
  try {
    const differs = differingWords(row, openWords(people, whose, row))
    const known = people.open(whose, { personKey, identity }) ?? null
    const hashes = people.hashesOf(organizationId, known)
    return [
      ...differs.map((member) => `has another ${member} than its words, which are sealed`),
      ...(textOf(hashes) === textOf(identityHashes) ? [] : ['has other hashes than its identity']),
    ]
  } catch (error) {
    return [`has words that cannot be decrypted: ${error instanceof Error ? error.message : error}`]
  }
}

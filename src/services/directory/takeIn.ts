import { listAbsent } from '../../db/directory/absent.ts'
import {
  findCredential,
  insertCredentials,
  insertPlace,
  listCredentialsOfBook,
  readPlace,
} from '../../db/directory/places.ts'
import { listOrganizations } from '../../db/organizations/organizations.ts'
import type { Db } from '../../db/postgres/client.ts'

/** The most faults of a book that are told. */
const MOST_TOLD = 10

/**
 * Takes the organizations of a book into the directory that it does not have yet, with their accounts, API keys and payment channels:
 * those of a book that was served alone before.
 * @returns what an operator has to know: organizations and credentials that another book has, too
 */
export async function takeIn(directory: Db, book: { readonly name: string; readonly db: Db }): Promise<string[]> {
  const absent = new Set(await listAbsent(book.db))
  const faults: string[] = []
  const taken: number[] = []
  for (const { id } of await listOrganizations(book.db)) {
    if (absent.has(id)) continue
    const before = await readPlace(directory, id)
    const place = before ?? (await insertPlace(directory, id, book.name)).place
    if (place.book !== book.name)
      faults.push(
        `organization ${id} is in the book ${place.book}, and the book ${book.name} has one of the same number, which is not served`,
      )
    else if (!before) taken.push(id)
  }
  if (taken.length > 0) {
    const found = await listCredentialsOfBook(book.db, taken)
    for (const [organizationId, credentials] of Map.groupBy(found, (one) => one.organizationId)) {
      await insertCredentials(directory, organizationId, credentials)
      for (const credential of credentials)
        if ((await findCredential(directory, credential)) !== organizationId)
          faults.push(
            `organization ${organizationId}: another organization has the same ${credential.kind === 'account' ? 'e-mail of an account' : 'secret'}, and this one cannot be used`,
          )
    }
  }
  return faults.slice(0, MOST_TOLD)
}

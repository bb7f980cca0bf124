import type { Deps } from '../../app/deps.ts'
import { readDocuments } from '../../db/documents/documents.ts'
import type { Snapshot } from '../../db/postgres/transaction.ts'
import { codeOf } from '../documents/code.ts'
import type { Add } from './checkParts.ts'

/** The documents that are read at once. */
const BATCH = 1_000

/**
 * Makes the code of each document again: a keyed hash over its row. Documents of an organization whose chain began again with
 * another secret are left out, because their codes were made with the secret of before.
 */
export async function checkDocuments(
  { documentKey, chainSecret }: Pick<Deps, 'documentKey' | 'chainSecret'>,
  snapshot: Snapshot,
  organizationId: number | undefined,
  add: Add,
): Promise<void> {
  let after = { organizationId: -(2 ** 31), code: '' }
  for (;;) {
    const documents = await readDocuments(snapshot, { after, organizationId, keyId: chainSecret.keyId, most: BATCH })
    for (const { code, madeAt: _, ...facts } of documents)
      if (codeOf(documentKey, facts) !== code)
        add({
          organizationId: facts.organizationId,
          of: `document ${code}`,
          message: 'is not what the code was made of',
        })
    const last = documents.at(-1)
    if (!last || documents.length < BATCH) return
    after = last
  }
}

import type { Deps } from '../../app/deps.ts'
import {
  endSigningKey,
  insertSigningKey,
  type KeyRecord,
  listKeyRecords,
  WHOLE_SERVICE,
} from '../../db/access/signingKeys.ts'
import type { Author } from '../../db/audit/trail.ts'
import { failedPrecondition, invariant, notFound } from '../../domain/errors.ts'
import { makeSigningKey } from './keyRing.ts'

export { type KeyRecord, WHOLE_SERVICE } from '../../db/access/signingKeys.ts'

/** Every signing key there ever was, newest first. */
export const listSigningKeys = ({ db }: Pick<Deps, 'db'>): Promise<KeyRecord[]> => listKeyRecords(db)

/**
 * A new key, which signs from now on; those before it go on verifying (contract 3.4). An instance that meets a token of
 * it before it has read the keys again reads them then, so that no token is refused.
 * @returns its id
 */
export async function rotateSigningKey({ db, now, config }: Deps, author: Author): Promise<string> {
  const secret = config.keyEncryptionSecret
  invariant(secret !== undefined, 'a secret to encrypt the signing keys with')
  const key = await makeSigningKey(secret)
  await insertSigningKey(db, { ...author, organizationId: WHOLE_SERVICE }, key, now())
  return key.kid
}

/**
 * The key no longer signs, and goes on verifying. Where it was the newest, the one before it signs again: that is how a
 * rotation is taken back.
 * @throws LendingError `not_found`; `failed_precondition` when it is so already, or the only one that can sign
 */
export const retireSigningKey = ({ db, now }: Pick<Deps, 'db' | 'now'>, author: Author, kid: string): Promise<void> =>
  endKey(db, author, { kid, end: 'retired' }, now())

/**
 * Within 5 s the key verifies nothing on any instance (contract 3.6): whoever has a token of it signs in again.
 * @throws LendingError as `retireSigningKey` does
 */
export const revokeSigningKey = ({ db, now }: Pick<Deps, 'db' | 'now'>, author: Author, kid: string): Promise<void> =>
  endKey(db, author, { kid, end: 'revoked' }, now())

async function endKey(
  db: Deps['db'],
  author: Author,
  key: { readonly kid: string; readonly end: 'retired' | 'revoked' },
  now: number,
): Promise<void> {
  const ended = await endSigningKey(db, { ...author, organizationId: WHOLE_SERVICE }, key, now)
  if (ended === 'done') return
  if (ended === 'missing') throw notFound('no signing key has that id')
  if (ended === 'isLast')
    throw failedPrecondition('it is the only key that can sign; make a new one first, with keys rotate')
  throw failedPrecondition(`the key is ${ended.isAlready} already`)
}

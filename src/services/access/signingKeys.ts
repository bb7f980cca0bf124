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

/** Returns every signing key, retired and revoked ones included, newest first. */
export const listSigningKeys = ({ db }: Pick<Deps, 'db'>): Promise<KeyRecord[]> => listKeyRecords(db)

/**
 * Makes a key that signs from now on; earlier keys still verify (contract 3.4). An instance that receives a token of
 * the new key before it has read the keys again reads them then, so that no token is refused.
 * @returns the id of the key
 */
export async function rotateSigningKey({ db, machineNow, config }: Deps, author: Author): Promise<string> {
  const secret = config.keyEncryptionSecret
  invariant(secret !== undefined, 'a secret to encrypt the signing keys with')
  const key = await makeSigningKey(secret)
  await insertSigningKey(db, { ...author, organizationId: WHOLE_SERVICE }, key, machineNow())
  return key.kid
}

/**
 * Retires a key: it no longer signs, but still verifies. Where it was the newest, the key before it signs again, which
 * undoes a rotation.
 * @throws LendingError `not_found`; `failed_precondition` when the key is retired already, or is the only one that can
 *   sign
 */
export const retireSigningKey = (
  { db, machineNow }: Pick<Deps, 'db' | 'machineNow'>,
  author: Author,
  kid: string,
): Promise<void> => endKey(db, author, { kid, end: 'retired' }, machineNow())

/**
 * Revokes a key: within 5 s it verifies nothing on any instance (contract 3.6), and a client with a token of it has to
 * sign in again.
 * @throws LendingError as `retireSigningKey` does
 */
export const revokeSigningKey = (
  { db, machineNow }: Pick<Deps, 'db' | 'machineNow'>,
  author: Author,
  kid: string,
): Promise<void> => endKey(db, author, { kid, end: 'revoked' }, machineNow())

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

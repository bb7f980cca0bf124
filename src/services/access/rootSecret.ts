import { findRootSecret, keepRootSecret } from '../../db/access/rootSecret.ts'
import type { Author } from '../../db/audit/trail.ts'
import type { Db } from '../../db/postgres/client.ts'
import { invariant } from '../../domain/errors.ts'
import type { Base } from '../base.ts'
import { openSecretBox } from '../secretBox.ts'

const THINGS = 'keys of the service'

/**
 * Returns the secret from which all keys of the service derive. At first it is KEY_ENCRYPTION_SECRET itself; once that was replaced, the
 * root secret is kept, encrypted with a key derived from KEY_ENCRYPTION_SECRET: nothing that was encrypted, hashed or sealed changes.
 * @throws WrongSecretError
 */
export async function openRootSecret(db: Pick<Db, 'prisma'>, secret: string): Promise<string> {
  const encrypted = await findRootSecret(db)
  return encrypted === undefined ? secret : openSecretBox(secret, THINGS).decrypt(encrypted)
}

/**
 * Replaces KEY_ENCRYPTION_SECRET: the root secret is encrypted with the new one, which every start of the service needs from then on.
 * Instances that run go on. The same again changes nothing but the row.
 */
export async function rotateRootSecret(
  { db, machineNow, config }: Base,
  author: Author,
  secret: string,
): Promise<void> {
  const root = config.keyEncryptionSecret
  invariant(root !== undefined, 'a root secret')
  await keepRootSecret(db, author, openSecretBox(secret, THINGS).encrypt(root), machineNow())
}

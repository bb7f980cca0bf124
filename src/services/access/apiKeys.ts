import { createHash, randomBytes } from 'node:crypto'
import type { Deps } from '../../app/deps.ts'
import type { Role } from '../../db/access/accounts.ts'
import {
  type ApiKey,
  findApiKeyByHash,
  insertApiKey,
  listApiKeys as listKeys,
  markApiKeyRevoked,
} from '../../db/access/apiKeys.ts'
import type { Author } from '../../db/audit/trail.ts'
import { findOrganization } from '../../db/lenders/organizations.ts'
import type { Db } from '../../db/postgres/client.ts'
import { invalidArgument, LendingError, notFound } from '../../domain/errors.ts'
import type { Identity } from './caller.ts'

export type { ApiKey } from '../../db/access/apiKeys.ts'

/** The prefix of every API key: it tells a key from a token, and lets scanners find leaked keys. */
export const API_KEY_PREFIX = 'mk_'

const KEY_BYTES = 32
const SHOWN = API_KEY_PREFIX.length + 6
const LONGEST_NAME = 100

type KeyDeps = Pick<Deps, 'db' | 'machineNow'>

/** Returns the hash of a key. 256 random bits cannot be guessed and need no slow hash. */
const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/**
 * Creates an API key of the author's organization (contract 3.5). The key itself is returned here and never again.
 * @throws LendingError `invalid_argument` for the name, `not_found` for the organization
 */
export async function createApiKey(
  { db, machineNow }: KeyDeps,
  author: Author,
  { name, roles }: { readonly name: string; readonly roles: readonly Role[] },
): Promise<{ readonly key: string; readonly apiKey: ApiKey }> {
  if (name.trim() === '' || name.length > LONGEST_NAME)
    throw invalidArgument('name', `must be 1 to ${LONGEST_NAME} characters long`)
  if (!(await findOrganization(db, author.organizationId))) throw notFound('no organization has that id')
  const key = API_KEY_PREFIX + randomBytes(KEY_BYTES).toString('base64url')
  const stored = { name, roles, hash: hashOf(key), prefix: key.slice(0, SHOWN) }
  return { key, apiKey: await insertApiKey(db, author, stored, machineNow()) }
}

/** Returns the organization's keys, revoked ones included, oldest first. */
export const listApiKeys = ({ db }: Pick<Deps, 'db'>, organizationId: number): Promise<ApiKey[]> =>
  listKeys(db, organizationId)

/**
 * Revokes a key: within 5 seconds no instance accepts it (contract 3.6). A key that is revoked already stays revoked.
 * @throws LendingError `not_found`
 */
export async function revokeApiKey({ db, machineNow }: KeyDeps, author: Author, id: number): Promise<ApiKey> {
  const apiKey = await markApiKeyRevoked(db, author, id, machineNow())
  if (!apiKey) throw notFound('no API key has that id')
  return apiKey
}

/**
 * Finds the identity of an API key in the database.
 * @throws LendingError `unauthenticated` for a key that is unknown or revoked
 */
export async function identifyApiKey(db: Db, key: string): Promise<Identity> {
  const found = await findApiKeyByHash(db, hashOf(key))
  if (!found || found.revokedAt !== null)
    throw new LendingError('unauthenticated', 'the API key is unknown or was revoked')
  const { organizationId, id, name, roles } = found
  return { accountId: id, organizationId, email: name, roles, expiresAt: Number.POSITIVE_INFINITY }
}

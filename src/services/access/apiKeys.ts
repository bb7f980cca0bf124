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

/** What every API key begins with: how it is told from a token, and found by those who look for leaked ones. */
export const API_KEY_PREFIX = 'mk_'

const KEY_BYTES = 32
const SHOWN = API_KEY_PREFIX.length + 6
const LONGEST_NAME = 100

type KeyDeps = Pick<Deps, 'db' | 'now'>

/** 256 random bits need no slow hash: nobody can guess his way to them. */
const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/**
 * A new API key of the author's organization (contract 3.5). The key itself is answered here and never again.
 * @throws LendingError `invalid_argument` for the name, `not_found` for the organization
 */
export async function createApiKey(
  { db, now }: KeyDeps,
  author: Author,
  { name, roles }: { readonly name: string; readonly roles: readonly Role[] },
): Promise<{ readonly key: string; readonly apiKey: ApiKey }> {
  if (name.trim() === '' || name.length > LONGEST_NAME)
    throw invalidArgument('name', `must be 1 to ${LONGEST_NAME} characters long`)
  if (!(await findOrganization(db, author.organizationId))) throw notFound('no organization has that id')
  const key = API_KEY_PREFIX + randomBytes(KEY_BYTES).toString('base64url')
  const stored = { name, roles, hash: hashOf(key), prefix: key.slice(0, SHOWN) }
  return { key, apiKey: await insertApiKey(db, author, stored, now()) }
}

/** The organization's keys, revoked ones included, oldest first. */
export const listApiKeys = ({ db }: Pick<Deps, 'db'>, organizationId: number): Promise<ApiKey[]> =>
  listKeys(db, organizationId)

/**
 * Revokes a key: within 5 seconds no instance takes it (contract 3.6). One that is revoked already stays so.
 * @throws LendingError `not_found`
 */
export async function revokeApiKey({ db, now }: KeyDeps, author: Author, id: number): Promise<ApiKey> {
  const apiKey = await markApiKeyRevoked(db, author, id, now())
  if (!apiKey) throw notFound('no API key has that id')
  return apiKey
}

/**
 * Who an API key belongs to, asked of the book.
 * @throws LendingError `unauthenticated` for a key that is unknown or revoked
 */
export async function identifyApiKey(db: Db, key: string): Promise<Identity> {
  const found = await findApiKeyByHash(db, hashOf(key))
  if (!found || found.revokedAt !== null)
    throw new LendingError('unauthenticated', 'the API key is unknown or was revoked')
  const { organizationId, id, name, roles } = found
  return { accountId: id, organizationId, email: name, roles, expiresAt: Number.POSITIVE_INFINITY }
}

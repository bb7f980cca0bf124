import { createHash, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import {
  type Account,
  type AccountChange,
  type AccountRecord,
  type ApiKey,
  changeAccount,
  findAccount,
  findAccountByEmail,
  findApiKeyByHash,
  insertAccount,
  insertApiKey,
  listAccounts as list,
  listApiKeys as listKeys,
  markApiKeyRevoked,
} from '../../db/access/accounts.ts'
import { deleteFactor, findFactor } from '../../db/access/secondFactors.ts'
import type { Author } from '../../db/audit/trail.ts'
import { findOrganization } from '../../db/organizations/organizations.ts'
import type { Db } from '../../db/postgres/client.ts'
import { isUniqueViolation } from '../../db/postgres/errors.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { failedPrecondition, invalidArgument, LendingError, notFound } from '../../domain/errors.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import type { Base } from '../base.ts'
import { type Caller, type Identity, networkOf } from './caller.ts'
import { hashPassword } from './passwords/passwords.ts'
import { permissionsOf, requireGivable, requireRoles } from './roles.ts'
import { createSignInLimits } from './signInLimits.ts'

export type { AccountRecord, ApiKey } from '../../db/access/accounts.ts'

type AccountDeps = Pick<Base, 'db' | 'machineNow'>

const EMAIL = /^[^\s@]+@[^\s@]+$/
const LONGEST_EMAIL = 254
/** HTTP Basic takes no control characters, and ends the e-mail at its first colon (RFC 7617 2). */
const CONTROL = /\p{Cc}/u
/**
 * The length of passwords, in place of rules of complexity (NIST SP 800-63B 3.1.1): accounts belong to programs and
 * operators.
 */
const PASSWORD = { min: 12, max: 1_000 }

/**
 * Creates an account in the author's organization.
 * @throws LendingError `invalid_argument`, `not_found` for the organization, `already_exists` for the e-mail
 */
export async function createAccount(
  { db, machineNow, directory }: AccountDeps & Pick<Base, 'directory'>,
  author: Author,
  { email, password, roles }: { email: string; password: string; roles: readonly string[] },
): Promise<Account> {
  if (email.includes(':') || CONTROL.test(email))
    throw invalidArgument('email', 'must have no colon and no control character: nobody could sign in with it')
  if (!EMAIL.test(email) || email.length > LONGEST_EMAIL) throw invalidArgument('email', 'must be an e-mail address')
  requirePassword(password)
  if (!(await findOrganization(db, author.organizationId))) throw notFound('no organization has that id')
  const ownRoles = await requireRoles(db, author, author.organizationId, roles)
  const passwordHash = await hashPassword(password)
  await directory.enter({ kind: 'account', name: email.toLowerCase() }, author.organizationId)
  const inserting = insertAccount(db, author, { email, passwordHash, roles, ownRoles }, machineNow())
  const made = await inserting.catch((error: unknown) => {
    if (isUniqueViolation(error)) throw new LendingError('already_exists', 'an account with that e-mail exists already')
    throw error
  })
  return stillThere(made)
}

/** Returns what was stored. @throws LendingError `aborted` where a role that it was to have was deleted meanwhile */
function stillThere<T>(stored: T | undefined): T {
  if (stored === undefined) throw new LendingError('aborted', 'a role was deleted meanwhile; try again')
  return stored
}

/** Returns the accounts of an organization, or of all organizations. */
export const listAccounts = ({ db }: Pick<Base, 'db'>, organizationId?: number): Promise<AccountRecord[]> =>
  list(db, organizationId)

/**
 * Disables an account: within 5 s no instance accepts its tokens (contract 3.6).
 * @throws LendingError `not_found`; `failed_precondition` when it is disabled already
 */
export const disableAccount = (deps: AccountDeps, author: Author, email: string) =>
  change(deps, author, { email, action: 'disable' }, (account, now) => {
    if (account.disabled) throw failedPrecondition('the account is disabled already')
    return { disabledAt: now }
  })

/**
 * Enables a disabled account; its tokens are valid again too, unless they were revoked.
 * @throws LendingError `not_found`; `failed_precondition` when it is not disabled
 */
export const enableAccount = (deps: AccountDeps, author: Author, email: string) =>
  change(deps, author, { email, action: 'enable' }, (account) => {
    if (!account.disabled) throw failedPrecondition('the account is not disabled')
    return { disabledAt: null }
  })

/**
 * Sets another password and revokes the tokens issued so far, because another person may have used the old password.
 * @throws LendingError `not_found`, `invalid_argument`
 */
export async function resetPassword(deps: AccountDeps, author: Author, email: string, password: string) {
  requirePassword(password)
  const passwordHash = await hashPassword(password)
  return change(deps, author, { email, action: 'reset password' }, (account, now) => {
    requirePasswordOf(account)
    return { passwordHash, tokensFrom: now }
  })
}

/**
 * Revokes every token issued to the account so far: within 5 s no instance accepts them (contract 3.6).
 * @throws LendingError `not_found`
 */
export const revokeTokens = (deps: AccountDeps, author: Author, email: string) =>
  change(deps, author, { email, action: 'revoke tokens' }, (_, now) => ({ tokensFrom: now }))

/**
 * Lifts the lock that failed sign-ins put on an account, which may then sign in at once, on every instance.
 * @throws LendingError `not_found`; `failed_precondition` when there were no attempts
 */
export async function unlockAccount(
  deps: AccountDeps & Pick<Base, 'directory'>,
  author: Author,
  email: string,
): Promise<Account> {
  const account = await accountOf(deps, email)
  if (!(await createSignInLimits(deps.directory.db ?? deps.db).lift({ email })))
    throw failedPrecondition('there were no attempts to sign in as of late')
  return stillThere(await changeAccount(deps.db, author, account, 'unlock', {}, deps.machineNow()))
}

/**
 * Lifts the lock that failed sign-ins put on an address; with IPv6, on its network of 64 bits.
 * @throws LendingError `invalid_argument`, `failed_precondition` when there were no attempts
 */
export async function unlockAddress({ db, directory }: Pick<Base, 'db' | 'directory'>, address: string): Promise<void> {
  if (isIP(address) === 0) throw invalidArgument('address', 'must be an IP address')
  if (!(await createSignInLimits(directory.db ?? db).lift({ address: networkOf(address) })))
    throw failedPrecondition('there were no attempts to sign in from this address of late')
}

/**
 * Gives an account these roles and no others, which counts within 5 s (contract 19.2).
 * @throws LendingError `not_found`, `invalid_argument`, `permission_denied` for a permission that the author does not have
 */
export const setRoles = (deps: AccountDeps, author: Author, email: string, roles: readonly string[]) =>
  change(deps, author, { email, action: 'set roles' }, async (account) => {
    const { organizationId } = account
    if (account.known) throw failedPrecondition('the roles of the account are those that its provider tells')
    return { roles, ownRoles: await requireRoles(deps.db, author, organizationId, roles) }
  })

/** Requires an account with a password. @throws LendingError `failed_precondition` for one that a provider knows */
function requirePasswordOf({ known }: Account): void {
  if (known) throw failedPrecondition('the account has no password: its provider signs it in')
}

/**
 * Takes the second factor of an account away: it signs in by its password alone, until it sets up another.
 * @param whose the e-mail of the account, or its number in the author's organization
 * @throws LendingError `permission_denied` also for an account that may do more than the author, `not_found`, `failed_precondition` where it
 *   has none
 */
export async function resetSecondFactor(
  { db, machineNow }: AccountDeps,
  caller: Caller,
  whose: { readonly email: string } | { readonly id: bigint },
): Promise<Account> {
  requirePermission(caller, 'organization.manage')
  const account = await ('email' in whose
    ? findAccountByEmail(db, whose.email)
    : whose.id > LARGEST_INT32
      ? undefined
      : findAccount(db, caller.organizationId, Number(whose.id)))
  if (!account) throw notFound('no account has that id', 'account')
  const { organizationId, id: accountId, roles } = account
  const none = () => failedPrecondition('the account has no second factor')
  if (!(await findFactor(db, { organizationId, accountId }))) throw none()
  requireGivable(caller.permissions, await permissionsOf(db, organizationId, roles))
  if (!(await deleteFactor(db, caller, { organizationId, accountId }, machineNow()))) throw none()
  return account
}

async function change(
  { db, machineNow }: AccountDeps,
  author: Author,
  { email, action }: { readonly email: string; readonly action: string },
  decide: (account: Account, now: number) => AccountChange | Promise<AccountChange>,
): Promise<Account> {
  const account = await accountOf({ db }, email)
  const at = machineNow()
  return stillThere(await changeAccount(db, author, account, action, await decide(account, at), at))
}

async function accountOf({ db }: Pick<Base, 'db'>, email: string): Promise<Account> {
  const account = await findAccountByEmail(db, email)
  if (!account) throw notFound('no account has that e-mail')
  return account
}

function requirePassword(password: string): void {
  if (CONTROL.test(password))
    throw invalidArgument('password', 'must have no control character: nobody could sign in with it')
  // The minimum counts characters; the maximum counts `length`, as sign-in does.
  if ([...password].length < PASSWORD.min || password.length > PASSWORD.max)
    throw invalidArgument('password', `must be ${PASSWORD.min} to ${PASSWORD.max} characters long`)
}

/** The prefix of every API key: it tells a key from a token, and lets scanners find leaked keys. */
export const API_KEY_PREFIX = 'mk_'

const KEY_BYTES = 32
const SHOWN = API_KEY_PREFIX.length + 6
const LONGEST_NAME = 100

type KeyDeps = Pick<Base, 'db' | 'machineNow'>

/** Returns the hash of a key. 256 random bits cannot be guessed and need no slow hash. */
export const apiKeyHash = (key: string): string => createHash('sha256').update(key).digest('hex')

/**
 * Creates an API key of the author's organization (contract 3.5). The key itself is returned here and never again.
 * @throws LendingError `invalid_argument` for the name, `not_found` for the organization
 */
export async function createApiKey(
  { db, machineNow, directory }: KeyDeps & Pick<Base, 'directory'>,
  author: Author,
  { name, roles }: { readonly name: string; readonly roles: readonly string[] },
): Promise<{ readonly key: string; readonly apiKey: ApiKey }> {
  if (name.trim() === '' || name.length > LONGEST_NAME)
    throw invalidArgument('name', `must be 1 to ${LONGEST_NAME} characters long`)
  if (!(await findOrganization(db, author.organizationId))) throw notFound('no organization has that id')
  const ownRoles = await requireRoles(db, author, author.organizationId, roles)
  const key = API_KEY_PREFIX + randomBytes(KEY_BYTES).toString('base64url')
  const stored = { name, roles, ownRoles, hash: apiKeyHash(key), prefix: key.slice(0, SHOWN) }
  await directory.enter({ kind: 'key', name: stored.hash }, author.organizationId)
  return { key, apiKey: stillThere(await insertApiKey(db, author, stored, machineNow())) }
}

/** Returns the organization's keys, revoked ones included, oldest first. */
export const listApiKeys = ({ db }: Pick<Base, 'db'>, organizationId: number): Promise<ApiKey[]> =>
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
  const found = await findApiKeyByHash(db, apiKeyHash(key))
  if (!found || found.revokedAt !== null)
    throw new LendingError('unauthenticated', 'the API key is unknown or was revoked')
  const { organizationId, id, name, roles } = found
  const permissions = await permissionsOf(db, organizationId, roles)
  return { accountId: id, organizationId, email: name, roles, permissions, expiresAt: Number.POSITIVE_INFINITY }
}

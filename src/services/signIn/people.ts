import { createHash } from 'node:crypto'
import { type Account, changeAccount, findKnownAccount, insertAccount } from '../../db/access/accounts.ts'
import type { StoredProvider } from '../../db/access/officeSignIn.ts'
import { findRoles } from '../../db/access/roles.ts'
import { isUniqueViolation } from '../../db/postgres/errors.ts'
import { isBuiltIn } from '../../domain/access/permissions.ts'
import { LendingError } from '../../domain/errors.ts'
import { MOST_ROLES_OF_ONE } from '../access/roles.ts'
import type { Base } from '../base.ts'
import type { Told } from './provider.ts'

type PeopleDeps = Pick<Base, 'db' | 'directory' | 'machineNow'>

const MOST_VALUES = 1_000
const LONGEST_SUBJECT = 255
const LONGEST_SHOWN = 100

/** Returns what a claim is, by its name or by a path such as `realm_access.roles`. */
function claimOf(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  return path.split('.').reduce<unknown>((one, name) => {
    if (typeof one !== 'object' || one === null || !Object.hasOwn(one, name)) return undefined
    return (one as Readonly<Record<string, unknown>>)[name]
  }, claims)
}

/** The roles of a person, and those of them that the organization has made. */
export interface ToldRoles {
  readonly roles: readonly string[]
  readonly ownRoles: readonly string[]
}

/** Returns the roles that the claims of a person give, of those that are there. */
export async function rolesTold(
  { db }: Pick<PeopleDeps, 'db'>,
  organizationId: number,
  { roleClaim, roles: map }: Pick<StoredProvider, 'roleClaim' | 'roles'>,
  { claims }: Pick<Told, 'claims'>,
): Promise<ToldRoles> {
  const values = [claimOf(claims, roleClaim)].flat().slice(0, MOST_VALUES)
  const given = values.flatMap((value) => (typeof value === 'string' && Object.hasOwn(map, value) ? [map[value]!] : []))
  const named = [...new Set(given)].sort()
  const asked = named.filter((role) => !isBuiltIn(role))
  const there = asked.length === 0 ? [] : (await findRoles(db, organizationId, asked)).map(({ name }) => name)
  const roles = named.filter((role) => isBuiltIn(role) || there.includes(role)).slice(0, MOST_ROLES_OF_ONE)
  return { roles, ownRoles: roles.filter((role) => !isBuiltIn(role)) }
}

/**
 * Returns what stands in place of an e-mail for a person whom a provider knows: no provider can take the e-mail of an account with a
 * password, or of another organization, because those have no colon.
 */
function nameOf(organizationId: number, issuer: string, { subject, claims }: Told): string {
  const { email } = claims
  const shown = (typeof email === 'string' && email !== '' ? email : subject).replace(/[\p{Cc}\s:]/gu, '_')
  const digest = createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('hex')
    .slice(0, 12)
  return `${shown.slice(0, LONGEST_SHOWN)}:${organizationId}:${digest}`
}

const denied = (message: string) => new LendingError('permission_denied', message)

/**
 * Returns the account of a person whom the provider of an organization knows, with the roles that it tells; the account is made at the first
 * sign-in.
 * @throws LendingError `permission_denied` where the provider gives no role; `unauthenticated` for a disabled account; `aborted`
 */
export async function accountOfPerson(
  deps: PeopleDeps,
  provider: StoredProvider & { readonly organizationId: number },
  told: Told,
  requestId: string,
): Promise<Account> {
  const { organizationId, issuer } = provider
  if (told.subject === '' || told.subject.length > LONGEST_SUBJECT) throw denied('the provider names no person')
  const known = { issuer, subject: told.subject }
  const given = await rolesTold(deps, organizationId, provider, told)
  if (given.roles.length === 0)
    throw denied('your provider gives you no role in this organization: ask who manages it to give you one')
  const author = { organizationId, accountId: null, requestId }
  const there = await findKnownAccount(deps.db, organizationId, known)
  if (there?.disabled) throw new LendingError('unauthenticated', 'the account is disabled')
  if (there) return followRoles(deps, there, given, requestId)
  const account = { email: nameOf(organizationId, issuer, told), passwordHash: null, known, ...given }
  await deps.directory.enter({ kind: 'account', name: account.email.toLowerCase() }, organizationId)
  const made = await insertAccount(deps.db, author, account, deps.machineNow()).catch((error: unknown) => {
    if (isUniqueViolation(error)) return undefined
    throw error
  })
  if (!made) throw new LendingError('aborted', 'the account was made by another request; sign in again')
  return made
}

/** Gives an account the roles that its provider tells, with a row in the trail where they are others. */
export async function followRoles(
  { db, machineNow }: Pick<PeopleDeps, 'db' | 'machineNow'>,
  account: Account,
  { roles, ownRoles }: ToldRoles,
  requestId: string,
): Promise<Account> {
  if ([...account.roles].sort().join() === roles.join()) return account
  const author = { organizationId: account.organizationId, accountId: null, requestId }
  return (await changeAccount(db, author, account, 'set roles', { roles, ownRoles }, machineNow())) ?? account
}

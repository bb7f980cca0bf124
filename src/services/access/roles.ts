import { findOfficeSignIn } from '../../db/access/officeSignIn.ts'
import type { RoleContent, RoleHolders, StoredRole } from '../../db/access/roles.ts'
import { deleteRole as deleteRow, findRoles, saveRole } from '../../db/access/roles.ts'
import type { Author } from '../../db/audit/trail.ts'
import type { Db } from '../../db/postgres/client.ts'
import {
  ALL_PERMISSIONS,
  BUILT_IN_ROLES,
  isBuiltIn,
  isPermission,
  namesOf,
  PERMISSION_NAMES,
  type PermissionSet,
  permissionSet,
  ROLES,
  requirePermission,
} from '../../domain/access/permissions.ts'
import { failedPrecondition, invalidArgument, LendingError, notFound } from '../../domain/errors.ts'
import type { Base } from '../base.ts'
import type { Caller, Identity } from './caller.ts'

/** The most roles that an organization makes. */
export const MOST_ROLES = 50
/** The most characters of what a role is for. */
export const LONGEST_DESCRIPTION = 200
/** The name of a role: letters, digits, `_`, `.` and `-`, from a letter or digit on. */
export const ROLE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/
/** What a name of a role must be. */
export const ROLE_NAME_RULE = 'must be 1 to 40 letters, digits, _, . or -, and begin with a letter or digit'
/** The most roles of an account or a key. */
export const MOST_ROLES_OF_ONE = 10

/** A role: one that the organization made, or one that each organization has. */
export interface RoleView {
  readonly name: string
  readonly permissions: readonly string[]
  readonly description: string
  readonly builtIn: boolean
  /** Null for a built-in role. */
  readonly updatedAt: number | null
}

type RoleDeps = Pick<Base, 'db' | 'machineNow'>

/** What the built-in roles are for. */
const DESCRIPTIONS: Readonly<Record<keyof typeof BUILT_IN_ROLES, string>> = {
  USER: 'the systems of an integrator, and people who lend and take repayments',
  ADMIN: 'may do everything',
  PROPOSER: 'asks for what a second person decides, and changes nothing alone',
  AUDITOR: 'reads everything but who customers are, and changes nothing',
}

/** Returns the roles that every organization has. */
export const builtInRoles = (): RoleView[] =>
  ROLES.map((name) => ({
    name,
    permissions: namesOf(BUILT_IN_ROLES[name]),
    description: DESCRIPTIONS[name],
    builtIn: true,
    updatedAt: null,
  }))

const viewOf = ({ name, permissions, description, updatedAt }: StoredRole): RoleView => ({
  name,
  permissions: namesOf(permissionSet(permissions)),
  description,
  builtIn: false,
  updatedAt,
})

const noSuchRole = () => notFound('no role has that name', 'role')

/** Returns the roles that an organization may give: the built-in ones, and its own by name. @throws LendingError `permission_denied` */
export async function listRoles({ db }: Pick<Base, 'db'>, caller: Caller): Promise<RoleView[]> {
  requirePermission(caller, 'organization.manage')
  return [...builtInRoles(), ...(await findRoles(db, caller.organizationId)).map(viewOf)]
}

/** Returns a role by its name. @throws LendingError `permission_denied`, `not_found` */
export async function getRole({ db }: Pick<Base, 'db'>, caller: Caller, name: string): Promise<RoleView> {
  requirePermission(caller, 'organization.manage')
  const [stored] = isBuiltIn(name) ? [] : await findRoles(db, caller.organizationId, [name])
  const found = stored ? viewOf(stored) : builtInRoles().find((one) => one.name === name)
  if (!found) throw noSuchRole()
  return found
}

/** What a role is asked to be. */
export interface RoleRequest {
  readonly permissions: readonly string[]
  readonly description?: string | undefined
}

/**
 * Makes a role, or gives one of that name other permissions, which counts within 5 s (contract 19.2).
 * @throws LendingError `permission_denied` also for a permission that the caller does not have, `invalid_argument`,
 *   `failed_precondition` where there are too many
 */
export async function putRole(
  { db, machineNow }: RoleDeps,
  caller: Caller,
  name: string,
  { permissions: asked, description = '' }: RoleRequest,
): Promise<RoleView> {
  requirePermission(caller, 'organization.manage')
  if (ROLES.some((one) => one === name.toUpperCase()))
    throw invalidArgument('name', `must be another one than ${ROLES.join(', ')}, which every organization has`)
  if (!ROLE_NAME.test(name)) throw invalidArgument('name', ROLE_NAME_RULE)
  if (asked.length === 0 || asked.some((one) => !isPermission(one)) || new Set(asked).size < asked.length)
    throw invalidArgument('permissions', `must be one or more of ${PERMISSION_NAMES.join(', ')}, each once`)
  if (description.length > LONGEST_DESCRIPTION)
    throw invalidArgument('description', `must have at most ${LONGEST_DESCRIPTION} characters`)
  const set = permissionSet(asked)
  requireGivable(caller.permissions, set)
  const content: RoleContent = { name, permissions: namesOf(set), description }
  const saved = await saveRole(db, caller, content, { most: MOST_ROLES, now: machineNow() })
  if (!saved) throw failedPrecondition(`the organization has ${MOST_ROLES} roles, the most that there may be`)
  return viewOf(saved)
}

/**
 * Deletes a role that no account and no API key has.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument` for a built-in role; `failed_precondition` while somebody has it
 */
export async function deleteRole({ db, machineNow }: RoleDeps, caller: Caller, name: string): Promise<void> {
  requirePermission(caller, 'organization.manage')
  if (isBuiltIn(name)) throw invalidArgument('name', 'must be a role that the organization has made')
  const { provider } = await findOfficeSignIn(db, caller.organizationId)
  if (provider && Object.values(provider.roles).includes(name))
    throw failedPrecondition('the role cannot be deleted: the provider of the organization gives it')
  const result = await deleteRow(db, caller, name, machineNow())
  if (result === undefined) throw noSuchRole()
  if (result !== 'deleted') throw failedPrecondition(`the role cannot be deleted: ${holdersText(result)}`)
}

const holdersText = ({ accounts, apiKeys }: RoleHolders): string =>
  [
    ...accounts.map((email) => `the account ${email} has it`),
    ...apiKeys.map((key) => `the API key ${key} has it`),
  ].join(', ')

/** Requires that nobody gives a permission that he does not have. @throws LendingError `permission_denied` */
export function requireGivable(own: PermissionSet, given: PermissionSet): void {
  const [missing] = namesOf(given & ~own)
  if (missing !== undefined)
    throw new LendingError(
      'permission_denied',
      `you do not have the permission ${missing}, and cannot give it to others`,
    )
}

/** Returns the permissions of roles of an organization; a name that is none adds nothing. The built-in ones need no query. */
export async function permissionsOf(db: Db, organizationId: number, roles: readonly string[]): Promise<PermissionSet> {
  const own = roles.filter((role) => !isBuiltIn(role))
  const stored = own.length === 0 ? [] : await findRoles(db, organizationId, own)
  const builtIn = roles.reduce((set, role) => set | (isBuiltIn(role) ? BUILT_IN_ROLES[role] : 0), 0)
  return stored.reduce((set, { permissions }) => set | permissionSet(permissions), builtIn)
}

/**
 * Requires roles that an author can give to an account or an API key: one or more of the organization's, each once.
 * @returns those that the organization has made
 * @throws LendingError `invalid_argument`, `permission_denied`
 */
export async function requireRoles(
  db: Db,
  author: Author & Partial<Pick<Identity, 'permissions'>>,
  organizationId: number,
  roles: readonly string[],
): Promise<string[]> {
  if (roles.length === 0 || roles.length > MOST_ROLES_OF_ONE || new Set(roles).size < roles.length)
    throw invalidArgument('roles', `must be 1 to ${MOST_ROLES_OF_ONE}, each once`)
  const own = roles.filter((role) => !isBuiltIn(role))
  const stored = own.length === 0 ? [] : await findRoles(db, organizationId, own)
  const unknown = own.find((role) => !stored.some(({ name }) => name === role))
  if (unknown !== undefined)
    throw invalidArgument(
      'roles',
      `must be of ${ROLES.join(', ')} and the roles of the organization, each once: it has no ${unknown}`,
    )
  const { permissions = ALL_PERMISSIONS } = author
  requireGivable(permissions, await permissionsOf(db, organizationId, roles))
  return own
}

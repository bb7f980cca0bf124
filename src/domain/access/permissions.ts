import { LendingError } from '../errors.ts'

/** What may be done, by permission, for people. The order is that of the bits of a `PermissionSet`. */
export const PERMISSIONS = {
  'customers.write': 'make and keep customers and borrowers: who they are, consents, and what they ask of their data',
  'people.read': 'read who customers are, what they asked of their data, and files for credit bureaus',
  'people.decide': 'erase people, answer what they asked of their data, and tell credit bureaus of them',
  'loans.write': 'make loans and keep them: guarantors, collateral, limits, waivers of interest, and charge-offs',
  'loans.restructure': 'change the terms of a loan that runs: charges and restructures, and their reversal',
  'loans.write_off': 'write loans off',
  'repayments.post': 'post repayments, recoveries, refunds and payments, and allocate payments to loans',
  'repayments.reverse': 'reverse and adjust transactions of loans, and take allocations of payments back',
  'payments.manage': 'keep payment channels, compare statements, and note that a payment was returned',
  'products.manage': 'keep loan products and the policy of arrears',
  'accounting.manage': 'set the chart of accounts, close months, and book provisions',
  'reports.read': 'read what is of the whole lender: journal, portfolio, payments, audit trail, webhooks',
  'actions.approve': 'approve and reject the actions that wait for a second person',
  'collections.work': 'work on arrears: contacts, promises to pay, holds, and who looks after a loan',
  'organization.manage': 'keep the organization, its webhooks, its roles and how its people sign in',
} as const

export type Permission = keyof typeof PERMISSIONS

/** Permissions as bits of a number, in the order of `PERMISSIONS`. */
export type PermissionSet = number

export const PERMISSION_NAMES = Object.keys(PERMISSIONS) as readonly Permission[]

const BITS = Object.fromEntries(PERMISSION_NAMES.map((name, place) => [name, 1 << place])) as Readonly<
  Record<Permission, PermissionSet>
>

/** Returns the set of some permissions; a name that is none adds nothing. */
export const permissionSet = (names: readonly string[]): PermissionSet =>
  names.reduce((set, name) => set | (isPermission(name) ? BITS[name] : 0), 0)

/** Returns whether a text is the name of a permission. */
export const isPermission = (name: string): name is Permission => Object.hasOwn(BITS, name)

/** Returns the names of the permissions of a set, in the order of `PERMISSIONS`. */
export const namesOf = (set: PermissionSet): Permission[] => PERMISSION_NAMES.filter((name) => (set & BITS[name]) !== 0)

/** Every permission. */
export const ALL_PERMISSIONS = permissionSet(PERMISSION_NAMES)

/** The permissions with which a caller changes nothing. */
const READING = permissionSet(['reports.read', 'people.read'])

/** The roles that every organization has (contract 3.6). */
export const BUILT_IN_ROLES = {
  USER: permissionSet(['customers.write', 'loans.write', 'repayments.post', 'collections.work']),
  ADMIN: ALL_PERMISSIONS,
  AUDITOR: permissionSet(['reports.read']),
  /** Gives nothing, and takes from the others that the account changes anything alone: see `mayOnlyPropose`. */
  PROPOSER: 0,
} as const satisfies Readonly<Record<string, PermissionSet>>

export type BuiltInRole = keyof typeof BUILT_IN_ROLES

/** The names of the roles that every organization has. */
export const ROLES = Object.keys(BUILT_IN_ROLES) as readonly BuiltInRole[]

/** Returns whether a role is one that every organization has. */
export const isBuiltIn = (role: string): role is BuiltInRole => Object.hasOwn(BUILT_IN_ROLES, role)

/** Returns the built-in roles that have a permission, for messages: `USER and ADMIN`. */
export const rolesWith = (permission: Permission): string =>
  ROLES.filter((role) => (BUILT_IN_ROLES[role] & BITS[permission]) !== 0).join(' and ')

/** What an operation or a page asks of its caller: to be signed in, one permission, or each of several. */
export type Needs = 'signed in' | Permission | readonly Permission[]

/** Returns the permissions that a caller needs; none for `signed in`. */
export const permissionsNeeded = (needs: Needs): readonly Permission[] =>
  needs === 'signed in' ? [] : typeof needs === 'string' ? [needs] : needs

/** A caller, as the gate sees it. */
export interface Permitted {
  readonly permissions: PermissionSet
}

/** Returns whether a caller has a permission. */
export const hasPermission = ({ permissions }: Permitted, permission: Permission): boolean =>
  (permissions & BITS[permission]) !== 0

/** Returns whether a caller has all that an operation or a page needs. */
export const mayDo = (caller: Permitted, needs: Needs): boolean =>
  permissionsNeeded(needs).every((one) => hasPermission(caller, one))

/** Returns whether a caller only reads, whatever it is that is asked for. */
export const onlyReads = ({ permissions }: Permitted): boolean => (permissions & ~READING) === 0

/** Returns the message of the refusal of a caller without a permission. */
export const withoutPermission = (permission: Permission): string => {
  const roles = rolesWith(permission)
  return `this takes the permission ${permission}, which your account does not have; ${roles} ${roles.includes(' and ') ? 'have' : 'has'} it`
}

/**
 * Requires all that an operation or a page needs.
 * @throws LendingError `permission_denied`, naming the first permission that is missing
 */
export function requirePermission(caller: Permitted, needs: Needs): void {
  const missing = permissionsNeeded(needs).find((one) => !hasPermission(caller, one))
  if (missing !== undefined) throw new LendingError('permission_denied', withoutPermission(missing))
}

import { isIPv6 } from 'node:net'
import type { Author } from '../../db/audit/trail.ts'
import {
  ALL_PERMISSIONS,
  isPermission,
  onlyReads,
  PERMISSION_NAMES,
  type Permission,
  type PermissionSet,
  requirePermission,
} from '../../domain/access/permissions.ts'
import { LendingError } from '../../domain/errors.ts'

/** The identity of a token or an API key, confirmed by the database. */
export interface Identity {
  /** Of an API key: the key's own id, which no account has. */
  readonly accountId: number
  readonly organizationId: number
  /** Of an API key: its name. */
  readonly email: string
  /** The names of the roles, for people: what the caller may do is in `permissions`. */
  readonly roles: readonly string[]
  readonly permissions: PermissionSet
  /** When the token expires; an API key never does. */
  readonly expiresAt: number
}

/** The identity of a request, with the request's id and its Idempotency-Key if any. */
export interface Caller extends Omit<Identity, 'accountId'>, Author {}

/**
 * Returns the caller of the command line: no account, and every right.
 * @param run the name of the run, with the user who started it, in place of a request's id
 */
export const operator = (organizationId: number, run: string): Caller => ({
  organizationId,
  accountId: null,
  requestId: run,
  email: 'operator',
  roles: ['ADMIN'],
  permissions: ALL_PERMISSIONS,
  expiresAt: Number.POSITIVE_INFINITY,
})

/**
 * Returns whether a caller changes nothing alone, whatever other roles the account has: what it asks for always waits for a
 * second person, and what cannot wait is refused (contract 19.4).
 */
export const mayOnlyPropose = ({ roles }: Pick<Identity, 'roles'>): boolean => roles.includes('PROPOSER')

/** Requires a caller who changes something alone, without a second person. @throws LendingError `permission_denied` for a PROPOSER */
export function requireAlone(caller: Pick<Identity, 'roles'>): void {
  if (mayOnlyPropose(caller))
    throw new LendingError(
      'permission_denied',
      'the role PROPOSER only asks for what can wait for a second person, and this operation cannot wait',
    )
}

/** The rules that a gateway can check: that a token is valid, what a built-in role may do, or a permission (contract 3.3). */
export const RULES = ['any', 'user', 'admin', 'auditor', ...PERMISSION_NAMES] as const
export type Rule = (typeof RULES)[number]

/** The roles that a rule of that name lets pass. */
const PASSING: Readonly<Record<'user' | 'admin' | 'auditor', readonly string[]>> = {
  user: ['USER', 'ADMIN'],
  admin: ['ADMIN'],
  auditor: ['AUDITOR', 'ADMIN'],
}

/**
 * Requires that a rule lets the caller pass; an ADMIN may do all that a USER may, and all that an AUDITOR may.
 * @throws LendingError `permission_denied`
 */
export function requireRule(caller: Pick<Identity, 'roles' | 'permissions'>, rule: Rule): void {
  if (rule === 'any') return
  // Another system, which asks by this rule, has no second person for what it lets pass.
  if (rule !== 'auditor' && mayOnlyPropose(caller))
    throw new LendingError('permission_denied', 'the role PROPOSER only asks for what can wait for a second person')
  if (isPermission(rule)) {
    requirePermission(caller, rule)
    return
  }
  const passing = PASSING[rule]
  if (!caller.roles.some((role) => passing.includes(role)))
    throw new LendingError(
      'permission_denied',
      `this takes the role ${passing.join(' or ')}, which your account does not have`,
    )
}

/** The refusal of a caller who only reads, by what asks for no permission of its own. */
export const ONLY_READS = 'your roles only read, as AUDITOR does, and change nothing'

/**
 * Requires a caller who may change something.
 * @throws LendingError `permission_denied` for a caller whose permissions only read, naming the permission if the request needs one
 */
export function requireChanging(caller: Pick<Identity, 'permissions'>, needed?: Permission): void {
  if (!onlyReads(caller)) return
  if (needed !== undefined) requirePermission(caller, needed)
  throw new LendingError('permission_denied', ONLY_READS)
}

/** Returns an address without the port that some proxies append in `X-Forwarded-For`: `10.1.1.1:443`, `[::1]:443`. */
export function withoutPort(address: string): string {
  const [, bare = address] =
    /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(address) ?? /^\[([^\]]+)\](?::\d{1,5})?$/.exec(address) ?? []
  return bare
}

/** Returns an IPv4 address; for IPv6, the network of 64 bits, because one customer has all of it. */
export function networkOf(given: string): string {
  if (!given.includes(':')) return given
  const address = withoutPort(given)
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1] !== undefined) return mapped[1]
  const [head = '', tail] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const whole = tail === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill('0'), ...right]
  return `${whole
    .slice(0, 4)
    .map((part) => part.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}

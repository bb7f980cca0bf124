import { isIPv6 } from 'node:net'
import type { Role } from '../../db/access/accounts.ts'
import type { Author } from '../../db/audit/trail.ts'
import { LendingError } from '../../domain/errors.ts'

/** The identity of a token or an API key, confirmed by the database. */
export interface Identity {
  /** Of an API key: the key's own id, which no account has. */
  readonly accountId: number
  readonly organizationId: number
  /** Of an API key: its name. */
  readonly email: string
  readonly roles: readonly Role[]
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
  expiresAt: Number.POSITIVE_INFINITY,
})

/** Requires an operator. @throws LendingError `permission_denied` for any other caller (contract 3.6) */
export function requireAdmin(caller: Pick<Identity, 'roles'>): void {
  if (!caller.roles.includes('ADMIN'))
    throw new LendingError('permission_denied', 'this takes the role ADMIN, which your account does not have')
}

/** Returns whether a caller may read the whole book (contract 3.6). */
export const mayReadAll = ({ roles }: Pick<Identity, 'roles'>): boolean =>
  roles.includes('ADMIN') || roles.includes('AUDITOR')

/** Returns whether a caller may read who customers are. */
export const mayReadPeople = ({ roles }: Pick<Identity, 'roles'>): boolean => roles.includes('ADMIN')

/** Requires a reader of the whole book. @throws LendingError `permission_denied` for a USER (contract 3.6) */
export function requireReader(caller: Pick<Identity, 'roles'>): void {
  if (!mayReadAll(caller))
    throw new LendingError(
      'permission_denied',
      'this takes the role ADMIN or AUDITOR, which your account does not have',
    )
}

/**
 * Returns whether a caller changes nothing alone, whatever other roles the account has: what it asks for always waits for a
 * second person, and what cannot wait is refused (contract 19.4).
 */
export const mayOnlyPropose = ({ roles }: Pick<Identity, 'roles'>): boolean => roles.includes('PROPOSER')

/** Returns whether a caller may ask for a change, which may then have to wait for a second person. */
const mayAsk = ({ roles }: Pick<Identity, 'roles'>): boolean => roles.includes('USER') || roles.includes('ADMIN')

/**
 * Returns whether a caller may change anything: an account that has the role AUDITOR alone only reads (contract 3.6), and one
 * that has the role PROPOSER only asks.
 */
export const mayChange = (caller: Pick<Identity, 'roles'>): boolean => mayAsk(caller) && !mayOnlyPropose(caller)

/**
 * Requires a caller who may change something.
 * @throws LendingError `permission_denied` for an AUDITOR (contract 3.6), and for a PROPOSER (contract 19.4)
 */
export function requireWriter(caller: Pick<Identity, 'roles'>): void {
  requireAsker(caller)
  if (mayOnlyPropose(caller))
    throw new LendingError(
      'permission_denied',
      'the role PROPOSER only asks for what can wait for a second person, and this operation cannot wait',
    )
}

/** Requires a caller who may ask for a change that can wait for a second person. @throws LendingError `permission_denied` for an AUDITOR */
export function requireAsker(caller: Pick<Identity, 'roles'>): void {
  if (!mayAsk(caller))
    throw new LendingError('permission_denied', 'the role AUDITOR reads everything and changes nothing')
}

/** The rules that a gateway can check: that a token is valid, or that it has a role (contract 3.3). */
export const RULES = ['any', 'user', 'admin', 'auditor'] as const
export type Rule = (typeof RULES)[number]

/**
 * Requires that a rule lets the caller pass; an ADMIN may do all that a USER may, and all that an AUDITOR may.
 * @throws LendingError `permission_denied`
 */
export function requireRule(caller: Pick<Identity, 'roles'>, rule: Rule): void {
  // Another system, which asks by this rule, has no second person for what it lets pass.
  if ((rule === 'admin' || rule === 'user') && mayOnlyPropose(caller))
    throw new LendingError('permission_denied', 'the role PROPOSER only asks for what can wait for a second person')
  if (rule === 'admin') requireAdmin(caller)
  if (rule === 'auditor') requireReader(caller)
  if (rule === 'user' && !caller.roles.includes('USER') && !caller.roles.includes('ADMIN'))
    throw new LendingError('permission_denied', 'this takes the role USER or ADMIN, which your account does not have')
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

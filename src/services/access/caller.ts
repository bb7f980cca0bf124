import type { Role } from '../../db/access/accounts.ts'
import type { Author } from '../../db/audit/trail.ts'
import { LendingError } from '../../domain/errors.ts'

/** Who a token or an API key belongs to, as it says and the book confirms. */
export interface Identity {
  /** Of an API key: the key's own id, which no account has. */
  readonly accountId: number
  readonly organizationId: number
  /** Of an API key: its name. */
  readonly email: string
  readonly roles: readonly Role[]
  /** When the token ends; an API key never does. */
  readonly expiresAt: number
}

/** Who is asking, in which request, and under which Idempotency-Key if any. */
export interface Caller extends Omit<Identity, 'accountId'>, Author {}

/**
 * An operator at the command line: no account, and every right.
 * @param run names who ran it and which run it was, in place of a request's id
 */
export const operator = (organizationId: number, run: string): Caller => ({
  organizationId,
  accountId: null,
  requestId: run,
  email: 'operator',
  roles: ['ADMIN'],
  expiresAt: Number.POSITIVE_INFINITY,
})

/** @throws LendingError `permission_denied` unless the caller is an operator (contract 3.6) */
export function requireAdmin(caller: Pick<Identity, 'roles'>): void {
  if (!caller.roles.includes('ADMIN'))
    throw new LendingError('permission_denied', 'this takes the role ADMIN, which your account does not have')
}

/** What a gateway can ask of a token: that it is good at all, or that it has a role (contract 3.3). */
export const RULES = ['any', 'user', 'admin'] as const
export type Rule = (typeof RULES)[number]

/** @throws LendingError `permission_denied` unless the rule lets the caller pass; an ADMIN may do all a USER may */
export function requireRule(caller: Pick<Identity, 'roles'>, rule: Rule): void {
  if (rule === 'admin') requireAdmin(caller)
  if (rule === 'user' && !caller.roles.includes('USER') && !caller.roles.includes('ADMIN'))
    throw new LendingError('permission_denied', 'this takes the role USER or ADMIN, which your account does not have')
}

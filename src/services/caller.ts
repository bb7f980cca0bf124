import type { Role } from '../db/accounts.ts'
import { LendingError } from '../domain/errors.ts'

/** Who is asking: an account of an organization, as its token says and the book confirms. */
export interface Caller {
  readonly accountId: number
  readonly organizationId: number
  readonly email: string
  readonly roles: readonly Role[]
  /** When the token ends. */
  readonly expiresAt: number
}

/** @throws LendingError `permission_denied` unless the caller is an operator (contract 3.6) */
export function requireAdmin(caller: Caller): void {
  if (!caller.roles.includes('ADMIN'))
    throw new LendingError('permission_denied', 'this takes the role ADMIN, which your account does not have')
}

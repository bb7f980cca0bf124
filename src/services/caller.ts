import type { Role } from '../db/accounts.ts'
import type { Author } from '../db/trail.ts'
import { LendingError } from '../domain/errors.ts'

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
export interface Caller extends Identity, Author {
  readonly accountId: number
}

/** @throws LendingError `permission_denied` unless the caller is an operator (contract 3.6) */
export function requireAdmin(caller: Identity): void {
  if (!caller.roles.includes('ADMIN'))
    throw new LendingError('permission_denied', 'this takes the role ADMIN, which your account does not have')
}

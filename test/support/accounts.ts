import type { Account } from '../../src/db/access/accounts.ts'
import { insertAccount } from '../../src/db/access/accounts.ts'
import type { Author } from '../../src/db/audit/trail.ts'
import { isBuiltIn } from '../../src/domain/access/permissions.ts'
import { hashPublishedPassword } from '../../src/services/access/passwords/passwords.ts'
import type { TestService } from './service.ts'

interface NewAccount {
  readonly email: string
  readonly password: string
  readonly roles: readonly string[]
  readonly passwordHash?: string
}

/**
 * Makes an account as `createAccount` does, with a hash of its password that costs next to nothing: so does each sign-in by it.
 * @param of.passwordHash another hash
 */
export async function addAccount(
  { db, machineNow }: Pick<TestService['deps'], 'db' | 'machineNow'>,
  author: Author,
  { email, password, roles, passwordHash = hashPublishedPassword(password) }: NewAccount,
): Promise<Account> {
  const ownRoles = roles.filter((role) => !isBuiltIn(role))
  const account = { email, passwordHash, roles, ownRoles }
  const made = await insertAccount(db, author, account, machineNow())
  if (made === undefined) throw new Error(`a role of ${email} is not there`)
  return made
}

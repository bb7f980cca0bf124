import { insertAccount } from '../../src/db/access/accounts.ts'
import { PERMISSION_NAMES, type Permission } from '../../src/domain/access/permissions.ts'
import { operator } from '../../src/services/access/caller.ts'
import { hashPublishedPassword } from '../../src/services/access/passwords/passwords.ts'
import { putRole } from '../../src/services/access/roles.ts'
import type { Person } from './office.ts'
import type { TestService } from './service.ts'

const PASSWORD = 'a long enough secret'

/** Makes an account of the first organization that has exactly these permissions, by a role of its own. */
export async function personWith({ deps }: TestService, permissions: readonly Permission[]): Promise<Person> {
  const name =
    permissions.length === 0 ? 'none' : `role-${permissions.map((one) => PERMISSION_NAMES.indexOf(one)).join('-')}`
  const email = `${name}@permitted.example`
  if (permissions.length > 0) await putRole(deps, operator(1, 'test'), name, { permissions })
  const roles = permissions.length === 0 ? [] : [name]
  await insertAccount(
    deps.db,
    operator(1, 'test'),
    { email, passwordHash: hashPublishedPassword(PASSWORD), roles },
    deps.machineNow(),
  )
  return { email, password: PASSWORD }
}

/** Every permission but some. */
export const allBut = (...left: readonly Permission[]): Permission[] =>
  PERMISSION_NAMES.filter((one) => !left.includes(one))

/** Returns a function that makes the person with some permissions once, and returns the same one from then on. */
export function peopleOf(service: TestService): (permissions: readonly Permission[]) => Promise<Person> {
  const made = new Map<string, Promise<Person>>()
  return (permissions) => {
    const name = permissions.join()
    const person = made.get(name) ?? personWith(service, permissions)
    made.set(name, person)
    return person
  }
}

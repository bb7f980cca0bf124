import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { opsThrough } from './ops.ts'
import type { TestService } from './service.ts'

/** The password of the roles of tests. */
export const READER_PASSWORD = 'a long enough password'.replaceAll(' ', '-')

/** Returns a name that no other role of the server has: roles belong to all of its databases. */
export const aRoleName = (): string => `test_reader_${randomBytes(6).toString('hex')}`

/** Returns the command line of an operator who has the passwords of the service and of the owner. */
export function ownersOps({ deps, owner }: TestService) {
  owner.setKeys({ stampMac: deps.chainSecret.stampMac, people: deps.people })
  return opsThrough(async (how) => ({
    deps: how?.asOwner ? { ...deps, db: owner } : deps,
    close: async () => undefined,
  }))
}

/** Signs in to the database of a service as a role. */
export async function signInAs({ url }: Pick<TestService, 'url'>, user: string, password = READER_PASSWORD) {
  const { hostname, port, pathname } = new URL(url)
  const client = new pg.Client({ host: hostname, port: Number(port), database: pathname.slice(1), user, password })
  // A session that is ended on purpose says so here as well.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

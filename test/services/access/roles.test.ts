import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILT_IN_ROLES, namesOf, PERMISSION_NAMES } from '../../../src/domain/access/permissions.ts'
import { createAccount, createApiKey, revokeApiKey, setRoles } from '../../../src/services/access/accounts.ts'
import { type Caller, operator } from '../../../src/services/access/caller.ts'
import {
  deleteRole,
  getRole,
  listRoles,
  MOST_ROLES,
  MOST_ROLES_OF_ONE,
  putRole,
} from '../../../src/services/access/roles.ts'
import { createOrganization } from '../../../src/services/organizations/organizations.ts'
import { addAccount } from '../../support/accounts.ts'
import { personWith } from '../../support/permitted.ts'
import { startService, type TestService } from '../../support/service.ts'

const PASSWORD = 'a long enough secret'
const admin = operator(1, 'test')

let service: TestService
beforeAll(async () => {
  service = await startService()
  const other = { id: 2, name: 'Ziwa', currency: 'UGX' }
  await createOrganization(service.deps, operator(0, 'test'), other)
})
afterAll(() => service.close())

const fiveSecondsLater = () => service.clock.set(new Date(service.clock.machineNow() + 5_000).toISOString(), 'machine')

const tokenFor = (email: string) => service.deps.signIn.issueToken(email, PASSWORD, '127.0.0.1')
const post = (body: object, token: string) => service.post('/v1/customers', { body, token })
const trailOf = async (entity: string, id: string) =>
  (
    await service.deps.db.prisma.auditEntry.findMany({
      where: { organizationId: 1, entity, entityId: id },
      orderBy: { id: 'asc' },
    })
  ).map(({ action, before, after }) => ({ action, before, after }))

describe('the built-in roles', () => {
  it('are these sets of the fifteen permissions', () => {
    expect(PERMISSION_NAMES).toHaveLength(15)
    expect(namesOf(BUILT_IN_ROLES.USER)).toEqual([
      'customers.write',
      'loans.write',
      'repayments.post',
      'collections.work',
    ])
    expect(namesOf(BUILT_IN_ROLES.AUDITOR)).toEqual(['reports.read'])
    expect(namesOf(BUILT_IN_ROLES.ADMIN)).toEqual(PERMISSION_NAMES)
  })

  it.each(['USER', 'admin', 'Auditor'])('cannot be changed: %s', async (name) => {
    const putting = putRole(service.deps, admin, name, { permissions: ['reports.read'] })
    await expect(putting).rejects.toThrow('must be another one than USER, ADMIN, AUDITOR')
  })

  it('cannot be deleted, and are read like others', async () => {
    await expect(deleteRole(service.deps, admin, 'USER')).rejects.toThrow(
      'must be a role that the organization has made',
    )
    expect(await getRole(service.deps, admin, 'AUDITOR')).toMatchObject({
      permissions: ['reports.read'],
      builtIn: true,
    })
  })
})

describe('a role of an organization', () => {
  it('is made, changed and deleted, each in the trail; the same again changes nothing', async () => {
    const name = 'teller'
    await putRole(service.deps, admin, name, {
      permissions: ['reports.read', 'repayments.post'],
      description: 'pays in',
    })
    await putRole(service.deps, admin, name, {
      permissions: ['repayments.post', 'reports.read'],
      description: 'pays in',
    })
    await putRole(service.deps, admin, name, { permissions: ['repayments.post'] })
    expect(await getRole(service.deps, admin, name)).toMatchObject({
      permissions: ['repayments.post'],
      description: '',
    })
    expect((await listRoles(service.deps, admin)).map((one) => one.name)).toEqual([
      'USER',
      'ADMIN',
      'AUDITOR',
      'PROPOSER',
      name,
    ])
    await deleteRole(service.deps, admin, name)
    const first = { permissions: ['repayments.post', 'reports.read'], description: 'pays in' }
    const second = { permissions: ['repayments.post'], description: '' }
    expect(await trailOf('role', name)).toEqual([
      { action: 'create', before: null, after: first },
      { action: 'update', before: first, after: second },
      { action: 'delete', before: second, after: null },
    ])
    await expect(getRole(service.deps, admin, name)).rejects.toThrow('no role has that name')
    await expect(deleteRole(service.deps, admin, name)).rejects.toThrow('no role has that name')
  })

  it.each([
    ['', { permissions: ['reports.read'] }, /^must be 1 to 40 letters/],
    ['a b', { permissions: ['reports.read'] }, /^must be 1 to 40 letters/],
    ['x'.repeat(41), { permissions: ['reports.read'] }, /^must be 1 to 40 letters/],
    ['none', { permissions: [] }, /^must be one or more of customers\.write, /],
    ['other', { permissions: ['loans.burn'] }, /^must be one or more of /],
    ['twice', { permissions: ['reports.read', 'reports.read'] }, /each once/],
    ['long', { permissions: ['reports.read'], description: 'x'.repeat(201) }, /^must have at most 200/],
  ])('named %j, as %j, is refused', async (name, request, message) => {
    await expect(putRole(service.deps, admin, name, request)).rejects.toThrow(message)
  })

  it('belongs to its organization alone', async () => {
    await putRole(service.deps, admin, 'ours', { permissions: ['reports.read'] })
    await expect(getRole(service.deps, operator(2, 'test'), 'ours')).rejects.toThrow('no role has that name')
    const account = { email: 'elsewhere@ziwa.example', password: PASSWORD, roles: ['ours'] }
    await expect(createAccount(service.deps, operator(2, 'test'), account)).rejects.toThrow('it has no ours')
  })

  it('is given to accounts and API keys, whose roles are in the trail', async () => {
    await putRole(service.deps, admin, 'clerk', { permissions: ['customers.write'] })
    const account = { email: 'clerk@ziwa.example', password: PASSWORD, roles: ['USER'] }
    const { id } = await createAccount(service.deps, admin, account)
    await setRoles(service.deps, admin, account.email, ['clerk', 'AUDITOR'])
    expect((await trailOf('account', String(id))).at(-1)).toMatchObject({
      action: 'set roles',
      before: { roles: ['USER'] },
      after: { roles: ['clerk', 'AUDITOR'] },
    })
    const { body } = await service.get('/v1/auth/authenticate', {
      host: 'auth.localhost',
      token: await tokenFor(account.email),
    })
    expect(body).toMatchObject({ roles: ['clerk', 'AUDITOR'], permissions: ['customers.write', 'reports.read'] })
    const { key } = await createApiKey(service.deps, admin, { name: 'shop', roles: ['clerk'] })
    const listed = await service.get('/v1/borrowers', { host: 'records.localhost', token: key })
    expect(listed.status).toBe(200)
    const loan = await service.post('/v1/repayments', { host: 'records.localhost', token: key, body: {} })
    expect(loan.status).not.toBe(200)
  })

  it('cannot be deleted while an account or a key that counts has it', async () => {
    await putRole(service.deps, admin, 'held', { permissions: ['reports.read'] })
    const account = { email: 'held@ziwa.example', password: PASSWORD, roles: ['held'] }
    await addAccount(service.deps, admin, account)
    const { apiKey } = await createApiKey(service.deps, admin, { name: 'held key', roles: ['held'] })
    const deleting = () => deleteRole(service.deps, admin, 'held')
    await expect(deleting()).rejects.toThrow(
      'the role cannot be deleted: the account held@ziwa.example has it, the API key held key has it',
    )
    await setRoles(service.deps, admin, account.email, ['USER'])
    await expect(deleting()).rejects.toThrow('the role cannot be deleted: the API key held key has it')
    await revokeApiKey(service.deps, admin, apiKey.id)
    await deleting()
  })

  it('that is deleted while it is given is not given', async () => {
    for (let round = 0; round < 5; round++) {
      const name = `race-${round}`
      await putRole(service.deps, admin, name, { permissions: ['reports.read'] })
      const account = { email: `${name}@ziwa.example`, password: PASSWORD, roles: ['USER'] }
      await addAccount(service.deps, admin, account)
      const [given, deleted] = await Promise.allSettled([
        setRoles(service.deps, admin, account.email, [name]),
        deleteRole(service.deps, admin, name),
      ])
      const there = await getRole(service.deps, admin, name).catch(() => undefined)
      const { roles } = await service.deps.db.prisma.account.findUniqueOrThrow({ where: { email: account.email } })
      expect([given.status, deleted.status]).toContain('fulfilled')
      expect([there !== undefined, roles.includes(name)]).toEqual([
        given.status === 'fulfilled',
        given.status === 'fulfilled',
      ])
    }
  })

  it('is one of at most 50, of which an account has at most 10', async () => {
    const roles = Array.from({ length: MOST_ROLES }, (_, index) => `many-${index}`)
    const other = operator(2, 'test')
    for (const name of roles) await putRole(service.deps, other, name, { permissions: ['reports.read'] })
    await expect(putRole(service.deps, other, 'one-more', { permissions: ['reports.read'] })).rejects.toThrow(
      'the organization has 50 roles, the most that there may be',
    )
    await putRole(service.deps, other, 'many-0', { permissions: ['people.read'] })
    const account = { email: 'many@ziwa.example', password: PASSWORD, roles: roles.slice(0, MOST_ROLES_OF_ONE + 1) }
    await expect(createAccount(service.deps, other, account)).rejects.toThrow('must be 1 to 10, each once')
  })
})

describe('who gives permissions', () => {
  it('has them: nobody makes a role, or gives one, with more than that', async () => {
    const manager = await personWith(service, ['organization.manage', 'reports.read'])
    const token = await service.deps.signIn.issueToken(manager.email, manager.password, '127.0.0.1')
    const put = (permissions: string[]) => service.put('/v1/roles/mine', { body: { permissions }, token })
    expect(await put(['reports.read'])).toMatchObject({ status: 200 })
    expect(await put(['reports.read', 'loans.write_off'])).toMatchObject({
      status: 403,
      body: { message: 'you do not have the permission loans.write_off, and cannot give it to others' },
    })
    const caller: Caller = { ...admin, permissions: BUILT_IN_ROLES.AUDITOR }
    await expect(setRoles(service.deps, caller, manager.email, ['ADMIN'])).rejects.toThrow(
      'and cannot give it to others',
    )
    await expect(createApiKey(service.deps, caller, { name: 'k', roles: ['USER'] })).rejects.toThrow(
      'and cannot give it to others',
    )
  })
})

describe('a permission that is taken away', () => {
  it('is refused within 5 s, with the token of before: from the role, and from the account', async () => {
    await putRole(service.deps, admin, 'shrinking', { permissions: ['customers.write'] })
    const account = { email: 'shrinks@ziwa.example', password: PASSWORD, roles: ['shrinking'] }
    await addAccount(service.deps, admin, account)
    const token = await tokenFor(account.email)
    expect((await post({ externalId: 'first' }, token)).status).toBe(200)
    await putRole(service.deps, admin, 'shrinking', { permissions: ['collections.work'] })
    fiveSecondsLater()
    expect(await post({ externalId: 'second' }, token)).toMatchObject({
      status: 403,
      body: { code: 'permission_denied', message: expect.stringContaining('customers.write') },
    })
    await putRole(service.deps, admin, 'shrinking', { permissions: ['customers.write'] })
    fiveSecondsLater()
    expect((await post({ externalId: 'third' }, token)).status).toBe(200)
    await setRoles(service.deps, admin, account.email, ['AUDITOR'])
    fiveSecondsLater()
    expect((await post({ externalId: 'fourth' }, token)).status).toBe(403)
  })
})

describe('the identity of a caller', () => {
  it('has the permissions with it: a request takes no query for them', async () => {
    const person = await personWith(service, ['reports.read'])
    const token = await service.deps.signIn.issueToken(person.email, person.password, '127.0.0.1')
    await service.deps.signIn.identify(token)
    const { pool } = service.deps.db
    const asked: string[] = []
    const send = pool.query.bind(pool)
    // @ts-expect-error: one of the many signatures
    pool.query = (...query: Parameters<typeof pool.query>) => {
      asked.push(JSON.stringify(query[0]))
      return send(...query)
    }
    try {
      for (let request = 0; request < 3; request++)
        await service.get('/v1/auth/authenticate', { host: 'auth.localhost', token })
    } finally {
      pool.query = send as typeof pool.query
    }
    expect(asked.filter((query) => /role|account/.test(query))).toEqual([])
  })
})

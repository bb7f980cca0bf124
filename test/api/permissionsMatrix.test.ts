import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Permission, withoutPermission } from '../../src/domain/access/permissions.ts'
import { documentOf } from '../support/document.ts'
import { keptBeside, sweepAndSeal } from '../support/journal.ts'
import { allBut, peopleOf } from '../support/permitted.ts'
import { type Prefilled, prefilledOf, REFUSED, sendPrefilled, UNKNOWN } from '../support/prefilled.ts'
import { startService, type TestService } from '../support/service.ts'
import { fictionalStatement, statementPdf } from '../support/statementPdf.ts'

// The permission of each operation, as the document says it: without it the operation is refused, with it alone it does all that it does.
// Each is sent with what the reference fills in, in the order of the document.
// test/api/roles.test.ts has that the document says it of each route.

const permissionOf = ({ operation }: Prefilled) =>
  (operation as { readonly 'x-required-permission'?: Permission })['x-required-permission']

/** The permissions that the example of an operation gives to others, which its caller has to have. */
const GIVEN: Readonly<Record<string, readonly Permission[]>> = {
  updateRole: ['repayments.post', 'reports.read'],
  updateOfficeSignIn: ['reports.read'],
}

describe.each(['partner', 'record'] as const)('the permissions of the operations of the %s style', (style) => {
  let service: TestService
  let operations: Prefilled[]
  let host: string
  beforeAll(async () => {
    service = await startService()
    const { baseUrl, recordsUrl } = service.deps.config
    host = new URL({ partner: baseUrl, record: recordsUrl }[style]).host
    operations = prefilledOf(await documentOf(service, host))
    service.clock.set('2026-02-20')
  })
  afterAll(() => service.close())

  it('refuse who has all others, naming the one that is missing, and take who has that one alone', async () => {
    const person = peopleOf(service)
    const tokens = new Map<string, Promise<string>>()
    const tokenOf = (permissions: readonly Permission[]) => {
      const name = permissions.join()
      const token =
        tokens.get(name) ??
        person(permissions).then(({ email, password }) => service.deps.signIn.issueToken(email, password, '127.0.0.1'))
      tokens.set(name, token)
      return token
    }
    const statement = await statementPdf(fictionalStatement({ from: '2025-12-01', to: '2026-01-31' }))
    let isChanged = true
    for (const operation of operations.filter(({ name }) => name.includes(' /v1/'))) {
      const { operationId, responses } = operation.operation
      const permission = permissionOf(operation)
      const send = async (permissions: readonly Permission[]) =>
        sendPrefilled(service, operation, { host, statement, token: await tokenOf(permissions) })
      if (permission) {
        const { status, body } = await send(allBut(permission))
        expect([operationId, status, body.message]).toEqual([operationId, 403, withoutPermission(permission)])
      }
      if (isChanged) await sweepAndSeal(service.deps)
      isChanged = operation.method !== 'GET'
      // Who only reads changes nothing: a write that asks for no permission of its own takes any that changes something.
      const having = permission
        ? [permission, ...(GIVEN[operationId] ?? [])]
        : operation.method === 'GET'
          ? []
          : (['collections.work'] as const)
      const sent = send(having)
      const { status, body } = await keptBeside(service.deps, sent)
      const expected = operationId in REFUSED ? 409 : operationId in UNKNOWN ? 404 : 200
      const answered = [operationId, status === 204 ? 200 : status, status < 300 ? undefined : body.message]
      expect(answered).toEqual([operationId, expected, expected === 200 ? undefined : expect.any(String)])
      expect(Object.keys(responses)).toContain(String(status))
    }
  })

  it('need a permission that changes something for each request that does', async () => {
    const { email, password } = await peopleOf(service)(['reports.read', 'people.read'])
    const token = await service.deps.signIn.issueToken(email, password, '127.0.0.1')
    const writes = operations.filter(
      ({ name, method, operation }) =>
        name.includes(' /v1/') && method !== 'GET' && operation.operationId !== 'verifyDocument',
    )
    expect(writes.length).toBeGreaterThan(10)
    for (const operation of writes) {
      const { status, body } = await sendPrefilled(service, operation, { host, statement: Buffer.from(''), token })
      const permission = permissionOf(operation)
      expect([operation.name, status, body.message]).toEqual([
        operation.name,
        403,
        permission ? withoutPermission(permission) : expect.stringContaining('only read'),
      ])
    }
  })
})

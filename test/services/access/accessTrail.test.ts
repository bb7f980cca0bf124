import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../../src/app/app.ts'
import { openService } from '../../../src/app/service.ts'
import { insertAccessEntries, purgeAccessEntries } from '../../../src/db/access/accessEntries.ts'
import { rememberRecent } from '../../../src/office/recent.ts'
import { type AccessTrail, keepAccessTrail } from '../../../src/services/access/accessTrail.ts'
import type { Refusal } from '../../../src/services/listener.ts'
import { combineListeners, noListener } from '../../../src/services/listener.ts'
import { opsOn } from '../../support/ops.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let trail: AccessTrail
let app: Awaited<ReturnType<typeof buildApp>>
const warnings: object[] = []
/** A period that no test lasts. */
const NEVER_MS = 86_400_000
beforeAll(async () => {
  service = await startService()
  // Written by the test alone: on a busy machine a second passes anywhere among its calls.
  trail = keepAccessTrail(service.clock.now, { warn: (context) => warnings.push(context) }, NEVER_MS)
  const { config } = service.deps
  const listener = combineListeners(noListener, trail.listener)
  const deps = await openService({
    config,
    databaseUrl: service.url,
    now: service.clock.now,
    listener,
    skipMigrations: true,
    patience: 'always',
  })
  trail.open(deps.db)
  app = await buildApp(deps)
})
afterAll(async () => {
  await app.close()
  await trail.stop()
  await service.close()
})

const call = (
  url: string,
  headers: Record<string, string>,
  method: 'GET' | 'POST' = 'GET',
  remoteAddress = '10.7.7.7',
) => app.inject({ method, url, remoteAddress, headers: { host: 'api.localhost', ...headers } })
const basic = (password: string) => ({
  host: 'auth.localhost',
  authorization: `Basic ${Buffer.from(`partner@example.com:${password}`).toString('base64')}`,
})
const access = async (options = '') => {
  await trail.write()
  const { json } = await opsOn(service)(`access --json ${options}`.trim())
  return json as unknown as Record<string, unknown>[]
}

describe('the access trail', () => {
  it('has sign-ins and refusals of access: whose, from where, on which route, in which request', async () => {
    await call('/v1/auth/token', { ...basic('partner-secret'), 'x-request-id': 'first' })
    await call('/v1/auth/token', basic('wrong'))
    const bearer = { authorization: `Bearer ${service.tokens.partner}` }
    await call('/v1/audit-trail', bearer)
    await call('/v1/loans/77', bearer)
    const at = '2026-01-31 09:30:00+03:00'
    const one = { id: expect.any(String), at, organizationId: 1, accountId: expect.any(Number), address: '10.7.7.7' }
    expect(await access()).toEqual([
      { ...one, outcome: 'signed in', route: 'auth /v1/auth/token', requestId: 'caller:first' },
      { ...one, outcome: 'permission_denied', route: 'partner /v1/audit-trail', requestId: expect.any(String) },
      {
        ...one,
        ...{ organizationId: 0, accountId: null, outcome: 'unauthenticated', route: 'auth /v1/auth/token' },
        requestId: expect.any(String),
      },
    ])
  })

  it('is written without being asked, every now and then', async () => {
    const own = keepAccessTrail(service.clock.now, { warn: (context) => warnings.push(context) }, 10)
    own.open(service.deps.db)
    const route = 'partner /written'
    own.listener.signedIn?.({ organizationId: 1, accountId: 1, route, address: 'x', requestId: 'y' })
    const written = async () =>
      (await service.owner.pool.query('SELECT FROM access_entry WHERE route = $1', [route])).rowCount
    await expect.poll(written).toBe(1)
    await own.stop()
    await service.owner.pool.query('DELETE FROM access_entry WHERE route = $1', [route])
  })

  it('is filtered by organization, account, outcome and time', async () => {
    expect(await access('-o 0')).toHaveLength(1)
    expect(await access('-o 1')).toHaveLength(2)
    expect(await access('--outcome permission_denied')).toHaveLength(1)
    expect(await access('--account 999')).toHaveLength(0)
    expect(await access('--since 2026-01-31T09:30:01+03:00')).toHaveLength(0)
    expect(await access('-n 1')).toHaveLength(1)
    expect((await opsOn(service)('access -o 9')).code).toBe(1)
  })

  it('a flood of callers without a token neither fills it nor pushes out those with one', async () => {
    for (let count = 0; count < 300; count++) await call('/v1/loans', {})
    await call('/v1/audit-trail', { authorization: `Bearer ${service.tokens.partner}` })
    const entries = await access('-n 1000')
    expect(entries.filter(({ organizationId }) => organizationId === 0)).toHaveLength(101)
    expect(entries.filter(({ outcome }) => outcome === 'permission_denied')).toHaveLength(2)
    expect(warnings).toContainEqual({ dropped: 200 })
  })

  it('keeps so many entries of each organization, the latest', async () => {
    const entry = { at: 0, accountId: null, outcome: 'unauthenticated', route: 'x', address: 'y', requestId: 'z' }
    await insertAccessEntries(
      service.deps.db,
      Array.from({ length: 10_050 }, () => ({ ...entry, organizationId: 0 })),
    )
    await purgeAccessEntries(service.deps.db, 10_000)
    const kept = await service.owner.pool.query('SELECT FROM access_entry WHERE organization_id = 0')
    expect(kept.rowCount).toBe(10_000)
    expect(await access('-o 1 -n 1000')).toHaveLength(3)
  })
})

describe("the operators' list of refusals", () => {
  it('is not flushed by callers who were not identified, nor by other organizations', () => {
    let now = 0
    const recent = rememberRecent(() => ++now)
    const refuse = (organizationId: number | undefined) =>
      recent.listener.refused?.({ organizationId, code: 'unauthenticated' } as Refusal)
    refuse(1)
    for (let count = 0; count < 1_000; count++) refuse(undefined)
    for (let count = 0; count < 1_000; count++) refuse(2)
    const seen = recent.refusals(1)
    expect(seen.filter(({ organizationId }) => organizationId === 1)).toHaveLength(1)
    expect(seen).toHaveLength(101)
    expect(seen.map(({ at }) => at)).toEqual(seen.map(({ at }) => at).sort((a, b) => b - a))
  })
})

describe('a request id that a caller chose', () => {
  it('is answered as it was sent, and marked as theirs in the trail', async () => {
    const headers = { 'x-request-id': 'ops-root-1' }
    const made = await service.post('/v1/customers', { body: { externalId: 'marked' }, headers })
    expect(made.headers['x-request-id']).toBe('ops-root-1')
    const { items } = (await service.get('/v1/audit-trail?entity=customer', { token: service.tokens.operator })).body
    expect((items[0] as unknown as { requestId: string }).requestId).toBe('caller:ops-root-1')
  })

  it('cannot look like one of the command line: a colon is not taken', async () => {
    const headers = { 'x-request-id': 'ops:root:1' }
    const { headers: answered } = await service.get('/v1/customers', { headers })
    expect(answered['x-request-id']).toMatch(/^[\da-f-]{36}$/)
  })
})

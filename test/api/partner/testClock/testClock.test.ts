import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILT_IN_ROLES } from '../../../../src/domain/access/permissions.ts'
import { operator } from '../../../../src/services/access/caller.ts'
import { checkBook } from '../../../../src/services/book/bookCheck.ts'
import { sequencerJob } from '../../../../src/services/events/sequencer.ts'
import { drain } from '../../../../src/services/jobs/job.ts'
import { updateOrganization } from '../../../../src/services/organizations/organizations.ts'
import { keepJournal } from '../../../support/journal.ts'
import { SANDBOX, type Sandbox, sandboxOf, sandboxOperator } from '../../../support/sandbox.ts'
import { startService, type TestService } from '../../../support/service.ts'

// The clock of a test organization (contract 12), as its integrator calls it.

const START = '2026-01-31T09:30:00.000+03:00'

let service: TestService
let sandbox: Sandbox
let loan: string
beforeAll(async () => {
  service = await startService()
  // The answers of a clock are instants: those of the real time stand with it.
  service.clock.stand(START)
  sandbox = await sandboxOf(service)
  loan = await sandbox.lend('amina', 2)
})
afterAll(() => service.close())

describe('the test clock', () => {
  it('runs with the real time at first', async () => {
    expect((await sandbox.get('/v1/test-clock')).body).toEqual({ now: START, frozen: false })
    service.clock.stand('2026-01-31T10:00:00+03:00')
    expect((await sandbox.get('/v1/test-clock')).body).toEqual({ now: '2026-01-31T10:00:00.000+03:00', frozen: false })
    service.clock.stand(START)
  })

  it.each([
    [{}, 'to: must be given, or by.days instead: one of the two'],
    [{ to: '2026-02-01', by: { days: 1 } }, 'to: must be given, or by.days instead: one of the two'],
    [{ to: START }, `to: must be later than ${START}, where the clock is: it only goes forward`],
    [{ to: '2026-01-30' }, `to: must be later than ${START}, where the clock is: it only goes forward`],
    [{ to: '2036-02-01' }, 'to: must be at most ten years later: 2036-01-31T09:30:00.000+03:00 or before'],
    [{ to: 'tomorrow' }, 'to: must be an instant such as 2026-11-20T14:30:00+03:00, or a date such as 2026-11-20'],
    [{ by: { days: 0 } }, 'by.days: must be at least 1'],
    [{ by: { days: 3_653 } }, 'by.days: must be at most 3652'],
    [{ by: { days: 1.5 } }, 'by.days: must be a whole number, written in digits'],
    [{ by: { weeks: 1 } }, undefined],
  ])('400 invalid_argument, and stays where it is: %j', async (body, message) => {
    const answer = await sandbox.advance(body)
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_argument'])
    if (message !== undefined) expect(answer.body.message).toBe(message)
    expect((await sandbox.get('/v1/test-clock')).body).toEqual({ now: START, frozen: false })
  })

  it('advances by days, at the same time of the day, and says what time did', async () => {
    const before = (await sandbox.events()).length
    const answer = await sandbox.advance({ by: { days: 45 } })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        from: START,
        to: '2026-03-17T09:30:00.000+03:00',
        loansChanged: 1,
        events: { 'loan.overdue': 1, 'loan.penalty_raised': 1, 'delinquency.changed': 1 },
      },
    ])
    expect(answer.headers['x-mkopo-mode']).toBe('test')
    expect((await sandbox.get('/v1/test-clock')).body).toEqual({ now: '2026-03-17T09:30:00.000+03:00', frozen: true })
    const told = (await sandbox.events()).slice(before)
    expect(told.filter(({ data }) => data.loan?.id === loan).map(({ type, timestamp }) => [type, timestamp])).toEqual([
      ['loan.disbursed', START],
      ['loan.penalty_raised', '2026-03-01T00:00:00.000+03:00'],
      ['loan.overdue', '2026-03-01T00:00:00.000+03:00'],
      ['delinquency.changed', '2026-03-01T00:00:00.000+03:00'],
    ])
    expect(told.every(({ liveMode }) => !liveMode)).toBe(true)
  })

  it('is the time of what is posted', async () => {
    const body = { transactionAmount: 20_000 }
    const { body: posted } = await sandbox.post<Record<string, unknown>>(`/v1/loans/${loan}/repayments`, body)
    expect(posted).toMatchObject({ date: '2026-03-17', transactionAt: '2026-03-17T09:30:00.000+03:00' })
    const late = { transactionAmount: 1, transactionDate: '2026-03-18' }
    expect((await sandbox.post(`/v1/loans/${loan}/repayments`, late)).status).toBe(400)
  })

  it('goes to a moment, and a date stands for its first instant', async () => {
    expect((await sandbox.advance({ to: '2026-04-02' })).body).toMatchObject({ to: '2026-04-02T00:00:00.000+03:00' })
    expect((await sandbox.get(`/v1/loans/${loan}`)).body).toMatchObject({ daysOverdue: 33, overdueSince: '2026-03-01' })
  })

  it('answers a repeated request without going on', async () => {
    const headers = { 'idempotency-key': 'one-week' }
    const once = () =>
      service.post('/v1/test-clock/advance', { token: sandbox.token, headers, body: { by: { days: 7 } } })
    const [first, second] = [await once(), await once()]
    expect(second.text).toBe(first.text)
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect((await sandbox.get('/v1/test-clock')).body).toMatchObject({ now: '2026-04-09T00:00:00.000+03:00' })
  })

  it('leaves tokens, keys and signatures on the real time', async () => {
    expect(service.deps.machineNow()).toBe(service.clock.machineNow())
    expect((await sandbox.get('/v1/loans')).status).toBe(200)
    await sandbox.advance({ by: { days: 400 } })
    expect((await sandbox.get('/v1/loans')).status).toBe(200)
  })

  it('is on the record in the trail', async () => {
    const { body } = await sandbox.get<{ items: { action: string; after: object }[] }>(
      '/v1/audit-trail?entity=organization&action=advance%20clock',
    )
    expect(body.items.map(({ after }) => after)).toContainEqual({ now: '2026-03-17T09:30:00.000+03:00' })
  })
})

describe('a live organization', () => {
  it.each([
    ['GET', '/v1/test-clock', undefined],
    ['POST', '/v1/test-clock/advance', { by: { days: 1 } }],
    ['POST', '/v1/test-clock/reset', undefined],
  ])('has no test clock: %s %s', async (method, path, body) => {
    const call = { token: service.tokens.operator, body }
    const answer = method === 'GET' ? await service.get(path, call) : await service.post(path, call)
    expect([answer.status, answer.body.code]).toEqual([409, 'failed_precondition'])
    expect(answer.body.message).toBe('your organization is a live one, and only a test organization has a test clock')
    expect(answer.headers['x-mkopo-mode']).toBeUndefined()
  })

  it('is not touched by the clock of another', async () => {
    await service.post('/v1/customers', { body: { externalId: 'live' } })
    const { body } = await service.post('/v1/loans', { body: { customerId: 'live', productId: 2, principal: 1_000 } })
    await sandbox.advance({ by: { days: 60 } })
    expect((await service.get(`/v1/loans/${body.id}`)).body).toMatchObject({ daysOverdue: 0, updatedAt: START })
    await drain(sequencerJob(service.deps))
    const { body: feed } = await service.get<{ items: { type: string; liveMode: boolean }[] }>('/v1/events')
    expect(feed.items.map(({ type, liveMode }) => [type, liveMode])).toEqual([
      ['customer.created', true],
      ['loan.disbursed', true],
    ])
  })

  it.each([
    ['a clock', `INSERT INTO test_clock (organization_id) VALUES (1)`, 'test_clock_organization_id_mode_fkey'],
    ['another mode', `UPDATE organization SET mode = 'test' WHERE id = 1`, 'fixed when it is made'],
    ['being emptied', `SELECT empty_test_organization(1)`, 'organization 1 is not a test organization'],
  ])('is kept by the database from %s', async (_name, text, message) => {
    await expect(service.owner.pool.query(text)).rejects.toThrow(message)
  })
})

describe('what a reset leaves', () => {
  it('is for an ADMIN', async () => {
    const asUser = operator(SANDBOX, 'test')
    const { resetTestOrganization } = await import('../../../../src/services/testClock/advance.ts')
    await expect(resetTestOrganization(service.deps, { ...asUser, permissions: BUILT_IN_ROLES.USER })).rejects.toThrow(
      'takes the permission organization.manage',
    )
  })

  it('is accounts, keys, products and endpoints, and a clock that runs', async () => {
    const endpoint = { url: 'https://sandbox.example/hook', types: ['*'] }
    expect((await sandbox.post('/v1/webhook-endpoints', endpoint)).status).toBe(200)
    const loan = await sandbox.lend('waits', 1)
    const limit = (units: bigint | null) => ({ approvalAbove: units === null ? null : { units, scale: 0 } })
    await updateOrganization(service.deps, sandboxOperator, limit(0n))
    const waiting = await sandbox.post(`/v1/loans/${loan}/repayments/waive-interest`, { transactionAmount: 1 })
    expect(waiting.status).toBe(202)
    await updateOrganization(service.deps, sandboxOperator, limit(null))
    const consent = { purpose: 'bureau', channel: 'app', givenAt: START }
    expect((await sandbox.post('/v1/customers/external/waits/consents', consent)).status).toBe(200)
    const guarantor = { identity: { lastName: 'Juma' }, relationship: 'Brother' }
    expect((await sandbox.post(`/v1/loans/${loan}/guarantors`, guarantor)).status).toBe(200)
    const stock = { kind: 'stock', description: 'Rice', value: 1 }
    expect((await sandbox.post(`/v1/loans/${loan}/collateral`, stock)).status).toBe(200)
    const { code } = (await sandbox.get<{ code: string }>(`/v1/loans/${loan}/statement`)).body
    expect((await sandbox.post('/v1/documents/verify', { code })).status).toBe(200)
    await keepJournal(service.deps)
    const last = (await sandbox.events()).at(-1)!
    const answer = await sandbox.post('/v1/test-clock/reset')
    expect([answer.status, answer.body]).toEqual([200, { now: START, frozen: false }])
    for (const path of ['/v1/customers', '/v1/loans', '/v1/transactions', '/v1/pending-actions'])
      expect((await sandbox.get<{ items: unknown[] }>(path)).body.items).toEqual([])
    expect((await sandbox.get<{ items: unknown[] }>('/v1/loan-products')).body.items).toHaveLength(4)
    expect((await sandbox.get<{ items: unknown[] }>('/v1/webhook-endpoints')).body.items).toHaveLength(1)
    expect(await sandbox.events()).toEqual([])
    expect((await sandbox.post('/v1/documents/verify', { code })).status).toBe(404)

    await sandbox.lend('amina', 1)
    await keepJournal(service.deps)
    const numbers = (await sandbox.events()).map(({ data }) => Number(data.sequence))
    expect(numbers).toEqual([Number(last.data.sequence) + 1, Number(last.data.sequence) + 2])
  })

  it('is a book without a difference', async () => {
    await keepJournal(service.deps)
    const { differences, unsealed } = await checkBook(service.deps)
    expect([differences, unsealed]).toEqual([[], 0])
  })

  it('refuses a cursor of before', async () => {
    const { next } = (await sandbox.get<{ next: string }>('/v1/events')).body
    await sandbox.post('/v1/test-clock/reset')
    const answer = await sandbox.get<{ code: string; message: string }>(`/v1/events?after=${next}`)
    expect([answer.status, answer.body.code]).toEqual([409, 'failed_precondition'])
    expect(answer.body.message).toContain('its chain began again')
  })
})

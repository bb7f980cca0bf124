import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setRoles } from '../../../../src/services/access/accounts.ts'
import { operator } from '../../../../src/services/access/caller.ts'
import { approvePendingAction } from '../../../../src/services/approvals/approvals.ts'
import { postTransaction } from '../../../../src/services/loans/transactions.ts'
import { createPageSessions } from '../../../../src/services/office/pageSessions.ts'
import { anAccount, lend, letWaitAbove, PASSWORD } from '../../../support/approvals.ts'
import { startService, type TestService } from '../../../support/service.ts'

let service: TestService
let agent: string
let checker: string
beforeAll(async () => {
  service = await startService()
  agent = await anAccount(service, 'agent', ['ADMIN', 'PROPOSER'])
  checker = await anAccount(service, 'checker')
})
afterAll(() => service.close())

let names = 0
const aLoan = () => lend(service, `asha-${names++}`)
const repay = async (loan: string, transactionAmount: number) =>
  (await service.post(`${loan}/repayments`, { body: { transactionAmount } })).body.id as string
const DENIED = { status: 403, body: { code: 'permission_denied', message: expect.stringContaining('PROPOSER') } }

describe('an account that has the role PROPOSER', () => {
  it.each([null, 1_000_000])(
    '202: whatever it asks for waits, where the organization lets %s wait, and is posted when another ADMIN approves it',
    async (amount) => {
      await letWaitAbove(service, amount)
      const loan = await aLoan()
      const id = await repay(loan, 10)
      const before = (await service.get(loan)).body
      const asked = [
        await service.post(`${loan}/repayments/${id}/reverse`, { body: {}, token: agent }),
        await service.post(`${loan}/repayments/${id}/adjust`, { body: { transactionAmount: 9 }, token: agent }),
        await service.post(`${loan}/repayments/${id}/adjust`, { body: { transactionAmount: 0 }, token: agent }),
        await service.post(`${loan}/repayments/waive-interest`, { body: { transactionAmount: 1 }, token: agent }),
        await service.post(`${loan}/write-off`, { body: {}, token: agent }),
      ]
      expect(asked.map(({ status, body }) => [status, body.state])).toEqual(asked.map(() => [202, 'pending']))
      expect((await service.get(loan)).body).toEqual(before)
      await letWaitAbove(service, null)
      const decided = await service.post(`/v1/pending-actions/${asked[0]!.body.id}/approve`, { token: checker })
      expect(decided).toMatchObject({ status: 200, body: { state: 'approved' } })
      expect((await service.get(`${loan}/repayments/${id}`)).body.status).toBe('reversed')
    },
  )

  it('403: it neither posts, nor approves, rejects or withdraws, also what others asked for', async () => {
    const loan = await aLoan()
    expect(await service.post(`${loan}/repayments`, { body: { transactionAmount: 1 }, token: agent })).toMatchObject(
      DENIED,
    )
    await letWaitAbove(service, 0)
    const { body: action } = await service.post(`${loan}/write-off`, { body: {}, token: service.tokens.operator })
    await letWaitAbove(service, null)
    for (const [act, body] of [['approve'], ['reject', { reason: 'No' }], ['withdraw']] as const)
      expect(
        await service.post(`/v1/pending-actions/${action.id}/${act}`, { token: agent, ...(body && { body }) }),
      ).toMatchObject(DENIED)
    expect((await service.get(`/v1/pending-actions/${action.id}`, { token: agent })).body.state).toBe('pending')
  })

  it('403: an AUDITOR that proposes as well asks for nothing, and a USER for what takes an ADMIN', async () => {
    const loan = await aLoan()
    const [auditor, user] = [
      await anAccount(service, 'reads', ['AUDITOR', 'PROPOSER']),
      await anAccount(service, 'uses', ['USER', 'PROPOSER']),
    ]
    const waive = (token: string) =>
      service.post(`${loan}/repayments/waive-interest`, { body: { transactionAmount: 1 }, token })
    expect((await waive(auditor)).status).toBe(403)
    expect((await waive(user)).status).toBe(202)
    expect((await service.post(`${loan}/write-off`, { body: {}, token: user })).status).toBe(403)
    expect((await service.get('/v1/audit-trail', { token: user })).status).toBe(403)
    expect((await service.get('/v1/audit-trail', { token: auditor })).status).toBe(200)
  })

  it('403: another system that asks whether it may pass as an ADMIN or a USER is told no', async () => {
    const authorize = async (rule: string) =>
      (await service.post('/v1/auth/authorize', { host: 'auth.localhost', body: { rule }, token: agent })).status
    expect([await authorize('any'), await authorize('auditor')]).toEqual([204, 204])
    expect([await authorize('user'), await authorize('admin')]).toEqual([403, 403])
  })

  it('the services refuse it too, without the gate of the routes', async () => {
    const loan = await aLoan()
    const caller = { ...operator(1, 'test'), accountId: 77, roles: ['ADMIN', 'PROPOSER'] as const }
    const ref = { id: BigInt(loan.split('/').at(-1)!) }
    for (const type of ['Repayment', 'Charge-off'] as const)
      await expect(
        postTransaction(service.deps, caller, ref, { type, amount: null, token: null, note: null } as never),
      ).rejects.toMatchObject({ code: 'permission_denied' })
    await expect(approvePendingAction(service.deps, caller, 1n)).rejects.toMatchObject({ code: 'permission_denied' })
  })

  it('keeps no scorecard that it reads', async () => {
    await service.post('/v1/customers', { body: { externalId: 'scored' } })
    const kept = async () =>
      (await service.deps.db.pool.query('SELECT count(*)::int AS rows FROM credit_decision')).rows[0]
    const before = await kept()
    expect((await service.get('/v1/credit-scorecard/scored', { token: agent })).status).toBe(200)
    expect(await kept()).toEqual(before)
  })

  it('does not sign in at the office pages, and its session ends when an account becomes one', async () => {
    const sessions = createPageSessions(service.deps)
    const open = (email: string) => sessions.open({ email, password: PASSWORD, address: '127.0.0.1', requestId: 'a' })
    await expect(open('agent@lender.example')).rejects.toMatchObject({ code: 'permission_denied' })
    await anAccount(service, 'person')
    const cookie = await open('person@lender.example')
    expect(await sessions.find(cookie)).toBeDefined()
    await setRoles(service.deps, operator(1, 'test'), 'person@lender.example', ['ADMIN', 'PROPOSER'])
    service.clock.set(new Date(service.clock.now() + 10_000).toISOString())
    expect(await sessions.find(cookie)).toBeUndefined()
  })
})

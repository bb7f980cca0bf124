import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { latestTrail } from '../../../../src/db/audit/auditTail.ts'
import { checkBook } from '../../../../src/services/book/bookCheck.ts'
import { anAccount, lend, letWaitAbove } from '../../../support/approvals.ts'
import { formOf, openOffice } from '../../../support/office.ts'
import { opsOn } from '../../../support/ops.ts'
import { pastTriggers } from '../../../support/pastTriggers.ts'
import { startService, type TestService } from '../../../support/service.ts'

// The shares of those who ask, rejection of many, and waivers that count together.

const CHECKER = { email: 'checker@lender.example', password: 'a long enough secret' }

let service: TestService
let maker: string
let checker: string
let names = 0
beforeAll(async () => {
  service = await startService()
  maker = service.tokens.operator
  checker = await anAccount(service, 'checker')
  await letWaitAbove(service, 1_000)
})
afterAll(() => service.close())

const aLoan = () => lend(service, `shares-${names++}`)
const idOf = (loan: string) => loan.split('/').at(-1)!
const waive = (loan: string, transactionAmount: number, token = service.tokens.partner) =>
  service.post(`${loan}/repayments/waive-interest`, { body: { transactionAmount }, token })
const accountOf = async (token: string) => (await service.deps.signIn.identify(token)).accountId
const rejectAll = (body: object, token = checker, headers: Record<string, string> = {}) =>
  service.post('/v1/pending-actions/reject', { body, token, headers })
const waitingOn = async (loan: string) =>
  (await service.get(`/v1/pending-actions?state=pending&loanId=${idOf(loan)}&rows=100`, { token: checker })).body.items

/** Fills the share of an account with actions on a loan that is none of the tests'. */
async function fill(askedBy: number, count: number, loanId = '1'): Promise<void> {
  const text = `INSERT INTO pending_action
      (organization_id, state, kind, subject, request, loan_id, amount, currency, asked_at, asked_by)
    SELECT 1, 'pending', 'write-off', 'filler ' || n, '{}', $3, 1, 'TZS', now(), $1 FROM generate_series(1, $2::int) n`
  await service.owner.pool.query(text, [askedBy, count, loanId])
}
const empty = () => pastTriggers(service.owner, `DELETE FROM pending_action WHERE subject LIKE 'filler %'`)

describe('the share of what waits', () => {
  it('409 failed_precondition for one who asked for 200; the request of an ADMIN waits all the same', async () => {
    await fill(await accountOf(service.tokens.partner), 200)
    const loan = await aLoan()
    const refused = await waive(loan, 2_000)
    const byAdmin = await waive(loan, 2_000, maker)
    await empty()
    expect(refused).toMatchObject({ status: 409, body: { code: 'failed_precondition' } })
    expect(refused.body.message).toMatch(/^200 actions that you asked for wait for a second ADMIN, the most that may/)
    expect(byAdmin.status).toBe(202)
    expect((await waive(loan, 2_000)).status).toBe(202)
  })

  it('409 failed_precondition for a loan on which 50 wait; on another loan it waits', async () => {
    const loan = await aLoan()
    await fill(await accountOf(maker), 50, idOf(loan))
    const refused = await waive(loan, 2_000)
    const elsewhere = await waive(await aLoan(), 2_000)
    await empty()
    expect(refused.body.message).toMatch(/^50 actions on this loan wait for a second ADMIN, the most that may/)
    expect(elsewhere.status).toBe(202)
  })
})

describe('POST /v1/pending-actions/reject', () => {
  it('200: all that an account asked for, each with its row of the trail; again it rejects nothing', async () => {
    const user = await anAccount(service, 'flooding', ['USER'])
    const askedBy = await accountOf(user)
    const loans = [await aLoan(), await aLoan(), await aLoan()]
    const ids = []
    for (const loan of loans) ids.push((await waive(loan, 2_000, user)).body.id)
    const other = (await waive(loans[0]!, 3_000, maker)).body.id
    const listed = await service.get(`/v1/pending-actions?askedBy=${askedBy}`, { token: checker })
    expect(listed.body.items.map(({ id }: { id: string }) => id)).toEqual(ids)
    const headers = { 'idempotency-key': 'reject-all' }
    const rejected = await rejectAll({ askedBy, reason: 'A flood' }, checker, headers)
    expect([rejected.status, rejected.body]).toEqual([200, { rejected: ids }])
    expect((await rejectAll({ askedBy, reason: 'A flood' }, checker, headers)).text).toBe(rejected.text)
    expect((await rejectAll({ askedBy, reason: 'A flood' })).body).toEqual({ rejected: [] })
    const one = (await service.get(`/v1/pending-actions/${ids[1]}`, { token: checker })).body
    expect(one).toMatchObject({ state: 'rejected', reason: 'A flood', decidedBy: await accountOf(checker) })
    const trail = await latestTrail(service.deps.db, { entity: 'pending action', action: 'reject' }, 10)
    const after = { state: 'rejected', reason: 'A flood' }
    expect(trail.map(({ entityId, after: told }) => [entityId, told])).toEqual(ids.map((id) => [id, after]))
    expect((await waitingOn(loans[0]!)).map(({ id }: { id: string }) => id)).toEqual([other])
  })

  it('200: all on a loan, but for what the caller asked for', async () => {
    const loan = await aLoan()
    const others = [(await waive(loan, 2_000)).body.id, (await waive(loan, 3_000, maker)).body.id]
    const own = (await waive(loan, 4_000, checker)).body.id
    expect((await rejectAll({ loanId: idOf(loan), reason: 'No' })).body).toEqual({ rejected: others })
    expect((await waitingOn(loan)).map(({ id }: { id: string }) => id)).toEqual([own])
  })

  it('400 without an account and a loan, 403 for a USER and for what one asked for; nothing is rejected', async () => {
    const loan = await aLoan()
    await waive(loan, 2_000)
    expect(await rejectAll({ reason: 'No' })).toMatchObject({ status: 400, body: { code: 'invalid_argument' } })
    expect((await rejectAll({ loanId: idOf(loan) })).status).toBe(400)
    expect((await rejectAll({ loanId: idOf(loan), reason: 'No' }, service.tokens.partner)).status).toBe(403)
    expect((await rejectAll({ askedBy: await accountOf(checker), reason: 'No' })).status).toBe(403)
    expect(await waitingOn(loan)).toHaveLength(1)
  })

  it.each(['', 'abc', '-1', '9223372036854775808'])('400 for %j, which is the number of no loan', async (loanId) => {
    const { status, body } = await rejectAll({ askedBy: await accountOf(maker), loanId, reason: 'No' })
    const details = [{ field: 'loanId', message: 'must be the number of a loan' }]
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_argument', details } })
  })

  it('so do the command line and the office page', async () => {
    const ops = opsOn(service)
    const [first, second] = [await aLoan(), await aLoan()]
    for (const loan of [first, second]) for (const amount of [2_000, 3_000]) await waive(loan, amount)
    const { code, out } = await ops(`approvals reject-all --loan ${idOf(first)} --reason flood --yes`)
    expect([code, out]).toEqual([0, '2 pending actions are rejected.\n'])
    expect((await ops('approvals reject-all --reason flood --yes')).err).toContain('askedBy or loanId is required')
    const office = openOffice(service.deps)
    const path = `/pending/of-loan/${idOf(second)}/do/reject`
    expect((await office.look('/pending', CHECKER)).text).toContain(`href="${path}"`)
    const preview = await office.send(path, { reason: 'a flood' }, CHECKER)
    expect(preview.text).toContain('<dd>2</dd>')
    // Another one that is asked for meanwhile is shown first.
    await waive(second, 4_000)
    const { _token, ...form } = formOf(preview.text, path)
    const again = await office.send(path, form, CHECKER)
    expect(again.text).toContain('<dd>3</dd>')
    const { _token: _, ...confirmed } = formOf(again.text, path)
    expect((await office.send(path, confirmed, CHECKER)).headers.location).toBe('/pending?done=doneRejectAll')
    expect(await waitingOn(second)).toEqual([])
    await office.monitor.close()
  })
})

describe('waivers of a loan on a day', () => {
  it('count together: the one that takes their sum above the amount waits', async () => {
    const loan = await aLoan()
    expect((await waive(loan, 600)).status).toBe(200)
    expect((await waive(await aLoan(), 600)).status).toBe(200)
    const waits = await waive(loan, 400.01)
    expect([waits.status, waits.body.amount]).toEqual([202, 400.01])
    const within = await waive(loan, 400)
    expect(within.status).toBe(200)
    expect((await waive(loan, 0.01, maker)).status).toBe(202)
    // One that is reversed counts no more.
    const reversed = await service.post(`${loan}/repayments/${within.body.id}/reverse`, { token: maker })
    expect(reversed.status).toBe(200)
    expect((await waive(loan, 300)).status).toBe(200)
  })

  it('whose sum is of the day before wait no longer', async () => {
    const loan = await aLoan()
    expect((await waive(loan, 1_000)).status).toBe(200)
    expect((await waive(loan, 1)).status).toBe(202)
    service.clock.set(new Date(service.clock.now() + 86_400_000).toISOString())
    expect((await waive(loan, 1_000)).status).toBe(200)
  })
})

describe('the book', () => {
  it('is as the check wants it', async () => {
    expect((await checkBook(service.deps)).differences).toEqual([])
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBook } from '../../../../src/services/book/bookCheck.ts'
import { createProduct } from '../../../../src/services/organizations/products.ts'
import { anAccount, commandLine, lend, letWaitAbove } from '../../../support/approvals.ts'
import { anotherLender } from '../../../support/lenders.ts'
import { pastTriggers } from '../../../support/pastTriggers.ts'
import { startService, type TestService } from '../../../support/service.ts'

let service: TestService
let maker: string
let checker: string
beforeAll(async () => {
  service = await startService()
  maker = service.tokens.operator
  checker = await anAccount(service, 'checker')
  await letWaitAbove(service, 1_000)
})
afterAll(() => service.close())

let names = 0
const aLoan = () => lend(service, `asha-${names++}`)
const repay = async (loan: string, transactionAmount: number) =>
  (await service.post(`${loan}/repayments`, { body: { transactionAmount } })).body.id as string
const ask = (path: string, body: object = {}, token = maker) => service.post(path, { body, token })
const decide = (id: string, act: string, token: string, body?: object) =>
  service.post(`/v1/pending-actions/${id}/${act}`, { token, ...(body && { body }) })
const trailOf = async (id: string) =>
  (
    await service.deps.db.pool.query(
      `SELECT action, account_id FROM audit_entry WHERE entity = 'pending action' AND entity_id = $1 ORDER BY id`,
      [id],
    )
  ).rows
const accountOf = async (token: string) =>
  Number((await service.get('/v1/auth/authenticate', { host: 'auth.localhost', token })).body.accountId)

describe('above the amount of the organization', () => {
  it('202: a reversal waits, and changes nothing until another ADMIN approves it', async () => {
    const loan = await aLoan()
    const id = await repay(loan, 5_000)
    const before = (await service.get(loan)).body
    const waiting = await ask(`${loan}/repayments/${id}/reverse`, { note: 'Twice' })
    expect(waiting).toMatchObject({
      status: 202,
      body: { state: 'pending', kind: 'reverse', transactionId: id, amount: 5_000, currencyCode: 'TZS', note: 'Twice' },
    })
    expect((await service.get(loan)).body).toEqual(before)
    const approved = await decide(waiting.body.id, 'approve', checker)
    const by = { askedBy: await accountOf(maker), decidedBy: await accountOf(checker) }
    expect(approved).toMatchObject({ status: 200, body: { ...by, state: 'approved', postedTransactionId: id } })
    expect((await service.get(`${loan}/repayments/${id}`)).body.status).toBe('reversed')
    expect(await trailOf(waiting.body.id)).toEqual([
      { action: 'request', account_id: by.askedBy },
      { action: 'approve', account_id: by.decidedBy },
    ])
    const { rows } = await service.deps.db.pool.query(
      `SELECT account_id, request_id FROM audit_entry WHERE entity = 'loan' AND action = 'reverse' ORDER BY id DESC LIMIT 1`,
    )
    expect(rows).toEqual([{ account_id: by.decidedBy, request_id: `approval-${waiting.body.id}` }])
  })

  it('202: an adjustment by the larger of its amounts, a write-off, a waiver and the reversal of a charge', async () => {
    const loan = await aLoan()
    const id = await repay(loan, 1_000)
    const raised = await ask(`${loan}/repayments/${id}/adjust`, { transactionAmount: 1_000.01 })
    expect(raised).toMatchObject({
      status: 202,
      body: { kind: 'adjust', amount: 1_000.01, transactionAmount: 1_000.01 },
    })
    const adjusted = await decide(raised.body.id, 'approve', checker)
    const large = adjusted.body.postedTransactionId
    expect((await service.get(`${loan}/repayments/${large}`)).body).toMatchObject({
      amount: 1_000.01,
      status: 'posted',
    })
    expect((await ask(`${loan}/repayments/${large}/adjust`, { transactionAmount: 1 })).body).toMatchObject({
      state: 'pending',
      amount: 1_000.01,
    })
    expect((await ask(`${loan}/repayments/${large}/adjust`, { transactionAmount: 0 })).status).toBe(202)
    const waived = await ask(`${loan}/repayments/waive-interest`, { transactionAmount: 2_000 }, service.tokens.partner)
    expect(waived).toMatchObject({ status: 202, body: { kind: 'waive-interest', amount: 2_000 } })
    expect((await decide(waived.body.id, 'approve', maker)).body).toMatchObject({ state: 'approved' })
    const fee = await ask(`${loan}/charges`, { name: 'Letter', amount: 3_000, kind: 'fee' })
    const charge = await ask(`${loan}/charges/${fee.body.id}/reverse`)
    expect(charge).toMatchObject({ status: 202, body: { kind: 'reverse-charge', amount: 3_000 } })
    const off = await ask(`${loan}/write-off`)
    const owed = (await service.get(loan)).body.totalOutstanding
    expect(off).toMatchObject({ status: 202, body: { kind: 'write-off', amount: owed } })
    expect((await decide(off.body.id, 'approve', checker)).body.state).toBe('approved')
    expect((await service.get(loan)).body.status).toBe('Closed (written off)')
  })

  it('200: up to the amount, at once', async () => {
    const loan = await aLoan()
    const id = await repay(loan, 1_000)
    expect((await ask(`${loan}/repayments/${id}/adjust`, { transactionAmount: 900 })).status).toBe(200)
    expect((await ask(`${loan}/repayments/waive-interest`, { transactionAmount: 1_000 })).status).toBe(200)
  })

  it('202: whatever the amount is, on a loan in another currency', async () => {
    const product = { id: 77, name: 'In shillings of Kenya', currency: 'KES', numberOfRepayments: 1, repayEvery: 1 }
    const amounts = { principalMin: { units: 1n, scale: 0 }, principalMax: { units: 1_000_000n, scale: 0 } }
    const rate = { repayUnit: 'months', interestRate: { units: 10n, scale: 0 } } as const
    await createProduct(service.deps, commandLine, { ...product, ...amounts, ...rate })
    await service.post('/v1/customers', { body: { externalId: 'abroad' } })
    const { body: loan } = await service.post('/v1/loans', {
      body: { customerId: 'abroad', productId: 77, principal: 500 },
    })
    const waived = await ask(`/v1/loans/${loan.id}/repayments/waive-interest`, { transactionAmount: 1 })
    expect(waived).toMatchObject({ status: 202, body: { amount: 1, currencyCode: 'KES' } })
  })

  it('409 failed_precondition: as many wait as there may be', async () => {
    const loan = await aLoan()
    const fill = `INSERT INTO pending_action (organization_id, state, kind, subject, request, loan_id, amount, currency, asked_at)
      SELECT 1, 'pending', 'write-off', 'filler ' || n, '{}', 1, 1, 'TZS', now() FROM generate_series(1, 1000) n`
    await service.owner.pool.query(fill)
    const path = `${loan}/repayments/waive-interest`
    const refused = await ask(path, { transactionAmount: 2_000 })
    await pastTriggers(service.owner, `DELETE FROM pending_action WHERE subject LIKE 'filler %'`)
    expect(refused).toMatchObject({ status: 409, body: { code: 'failed_precondition' } })
    expect(refused.body.message).toMatch(/^1000 actions of the organization wait for a second ADMIN, the most that may/)
    expect((await ask(path, { transactionAmount: 2_000 })).status).toBe(202)
  })

  it('409 failed_precondition: what the loan refuses is refused to the maker at once, and nothing waits', async () => {
    const loan = await aLoan()
    const listed = async () => (await service.get('/v1/pending-actions?rows=1', { token: maker })).body.total
    const before = await listed()
    expect(await ask(`${loan}/repayments/waive-interest`, { transactionAmount: 90_000 })).toMatchObject({ status: 409 })
    expect(await ask(`${loan}/repayments/404/reverse`)).toMatchObject({ status: 404 })
    expect(await listed()).toBe(before)
  })

  it('202: the same request again is the same action; with the same Idempotency-Key the same answer', async () => {
    const loan = await aLoan()
    const id = await repay(loan, 5_000)
    const path = `${loan}/repayments/${id}/reverse`
    const headers = { 'idempotency-key': 'reverse-1' }
    const first = await service.post(path, { body: {}, token: maker, headers })
    const again = await service.post(path, { body: {}, token: maker, headers })
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([202, first.text, 'true'])
    const byAnother = await ask(path, { note: 'Another note' }, checker)
    expect(byAnother.body).toEqual(first.body)
    // The answer that was lost in a crash is made again.
    await service.deps.db.pool.query('UPDATE idempotency_key SET status = NULL, response = NULL')
    const lost = await service.post(path, { body: {}, token: maker, headers })
    expect([lost.status, lost.body]).toEqual([202, first.body])
    expect((await decide(first.body.id, 'withdraw', maker)).body.state).toBe('withdrawn')
    expect((await ask(path)).body.id).not.toBe(first.body.id)
  })
})

describe('a decision on a pending action', () => {
  const aReversal = async (token = maker) => {
    const loan = await aLoan()
    const id = await repay(loan, 5_000)
    const asked = await ask(`${loan}/repayments/${id}/reverse`, {}, token)
    expect(asked.status).toBe(202)
    return { loan, id, action: asked.body.id as string }
  }

  it('403 permission_denied: the one who asked, also by a second token; a USER; an AUDITOR; an API key has no such call', async () => {
    const { action, loan, id } = await aReversal()
    const second = await service.deps.signIn.issueToken('operator@example.com', 'operator-secret', '127.0.0.1')
    const auditor = await anAccount(service, 'auditor', ['AUDITOR'])
    for (const token of [maker, second, service.tokens.partner, auditor])
      for (const [act, body] of [['approve'], ['reject', { reason: 'No' }]] as const)
        expect(await decide(action, act, token, body)).toMatchObject({
          status: 403,
          body: { code: 'permission_denied' },
        })
    expect((await decide(action, 'approve', maker)).body.message).toMatch(/^the one who asked cannot approve/)
    for (const token of [checker, service.tokens.partner, auditor])
      expect((await decide(action, 'withdraw', token)).status).toBe(403)
    expect((await decide(action, 'approve', 'mk_anything')).status).toBe(401)
    expect((await service.get(`${loan}/repayments/${id}`)).body.status).toBe('posted')
    expect(await trailOf(action)).toHaveLength(1)
  })

  it('200: approved again with the same Idempotency-Key, it is the same answer, also where that was lost', async () => {
    const { action } = await aReversal()
    const headers = { 'idempotency-key': 'approve-1' }
    const approve = () => service.post(`/v1/pending-actions/${action}/approve`, { token: checker, headers })
    const first = await approve()
    expect((await approve()).text).toBe(first.text)
    await service.deps.db.pool.query('UPDATE idempotency_key SET status = NULL, response = NULL')
    const lost = await approve()
    expect([lost.status, lost.body]).toEqual([200, first.body])
  })

  it('409 failed_precondition: decided already, in whichever way', async () => {
    const { action } = await aReversal()
    const rejected = await decide(action, 'reject', checker, { reason: 'It was paid once' })
    expect(rejected.body).toMatchObject({ state: 'rejected', reason: 'It was paid once' })
    for (const [act, token] of [
      ['approve', checker],
      ['reject', checker],
      ['withdraw', maker],
    ] as const)
      expect(await decide(action, act, token, act === 'reject' ? { reason: 'x' } : undefined)).toMatchObject({
        status: 409,
        body: { code: 'failed_precondition', message: 'the action is rejected already' },
      })
  })

  it('409 failed_precondition: the loan refuses it by now, and it stays pending', async () => {
    const { action, loan } = await aReversal()
    const [, other] = [await service.get(loan), await ask(`${loan}/write-off`)]
    expect((await decide(other.body.id, 'approve', checker)).status).toBe(200)
    const waive = await aLoan()
    const all = await ask(`${waive}/repayments/waive-interest`, { transactionAmount: 10_000 })
    await repay(waive, 5_000)
    expect(await decide(all.body.id, 'approve', checker)).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/more than the interest outstanding/) },
    })
    expect((await service.get(`/v1/pending-actions/${all.body.id}`, { token: checker })).body.state).toBe('pending')
    expect((await service.get(`/v1/pending-actions/${action}`, { token: checker })).body.state).toBe('pending')
  })

  it('409 failed_precondition: the amount is larger than what was asked for', async () => {
    const loan = await aLoan()
    const off = await ask(`${loan}/write-off`)
    await ask(`${loan}/charges`, { name: 'Letter', amount: 500, kind: 'fee' })
    const refused = await decide(off.body.id, 'approve', checker)
    expect(refused).toMatchObject({ status: 409 })
    expect(refused.body.message).toBe(
      'the amount is 110500.00 TZS now, more than the 110000.00 TZS that was asked for: reject the action, and let it be asked for again',
    )
    expect((await service.get(loan)).body.status).toBe('Active')
  })

  it('200: with the value date of the day on which it was asked for, and whatever the amount is by then', async () => {
    const loan = await aLoan()
    const asked = await ask(`${loan}/repayments/waive-interest`, { transactionAmount: 2_000 })
    await letWaitAbove(service, null)
    service.clock.set('2026-02-03T09:30:00+03:00')
    expect((await decide(asked.body.id, 'approve', maker)).status).toBe(403)
    const { body } = await decide(asked.body.id, 'approve', checker)
    expect((await service.get(`${loan}/repayments/${body.postedTransactionId}`)).body).toMatchObject({
      date: '2026-01-31',
      type: 'Waive Interest',
      transactionAt: expect.stringMatching(/^2026-02-03/),
    })
    await letWaitAbove(service, 1_000)
  })

  it('404 not_found: of another organization', async () => {
    const { action } = await aReversal()
    const other = await anotherLender(service, 2, 'KES')
    expect((await service.get(`/v1/pending-actions/${action}`, { token: other })).status).toBeOneOf([403, 404])
    expect((await decide(action, 'approve', other)).status).toBeOneOf([403, 404])
  })

  it('list: by state, as a walk; and book check finds nothing', async () => {
    const walked: string[] = []
    for (let after = ''; ; ) {
      const path = `/v1/pending-actions?rows=2${after && `&after=${encodeURIComponent(after)}`}`
      const { body } = await service.get(path, { token: maker })
      walked.push(...body.items.map((one: { id: string }) => one.id))
      if (body.next === undefined) break
      after = body.next
    }
    const { rows } = await service.deps.db.pool.query('SELECT id::text FROM pending_action ORDER BY pending_action.id')
    expect(walked).toEqual(rows.map(({ id }) => id))
    const { items, total } = (await service.get('/v1/pending-actions?state=withdrawn', { token: maker })).body
    expect([items.length, total]).toEqual([1, 1])
    expect((await checkBook(service.deps)).differences).toEqual([])
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageDecisions, replayDecision } from '../../../src/services/credit/creditBoosts.ts'
import { readStatementsHere } from '../../support/readHere.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'
import { fictionalStatement, statementPdf } from '../../support/statementPdf.ts'
import { showing } from '../../support/upload.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
  readStatementsHere(service)
})
afterAll(() => service.close())

const cardOf = async (customer: string) => (await service.get(`/v1/credit-scorecard/${customer}`)).body
const ORGANIZATION = { organizationId: 1 }

/** Lends on one day, and has it paid back on another, if at all. */
async function lend(customerId: string, on: string, paidOn?: string, principal = 100_000): Promise<string> {
  service.clock.set(on)
  const { body: loan } = await service.post('/v1/loans', { body: { customerId, productId: 1, principal } })
  if (paidOn !== undefined) {
    service.clock.set(paidOn)
    await service.post(`/v1/loans/${loan.id}/repayments`, { body: { transactionAmount: loan.totalOutstanding } })
  }
  return loan.id
}

describe('a customer, over HTTP, day by day', () => {
  let id: string
  beforeAll(async () => {
    id = (await service.post('/v1/customers', { body: { externalId: 'asha' } })).body.id
  })

  it('is unscored at first, and is found by externalId and by number', async () => {
    service.clock.stand(FIRST_DAY)
    const card = await cardOf('asha')
    expect(card).toEqual({
      externalId: 'asha',
      customerId: id,
      grade: 'XX',
      creditScore: 0,
      creditLimit: 0,
      availableCreditLimit: 0,
      totalOutstanding: 0,
      totalPaid: 0,
      currencyCode: 'TZS',
      reasons: ['nothing to score yet: no loan was repaid and no instalment has fallen due'],
      scoredAt: '2026-01-31T09:30:00.000+03:00',
    })
    expect(await cardOf(id)).toEqual(card)
  })

  it('has a grade and a limit once loans were repaid in time', async () => {
    await lend('asha', '2026-02-01', '2026-02-20')
    const first = await cardOf('asha')
    expect(first).toMatchObject({ grade: 'C', creditLimit: 100_000, availableCreditLimit: 100_000, totalPaid: 110_000 })
    await lend('asha', '2026-03-01', '2026-03-25', 200_000)
    await lend('asha', '2026-04-01', '2026-04-25', 200_000)
    const third = await cardOf('asha')
    expect(third.creditScore).toBeGreaterThan(first.creditScore)
    expect(third).toMatchObject({ creditLimit: 200_000, availableCreditLimit: 200_000, totalOutstanding: 0 })
    expect(third.reasons[0]).toBe('raised by 180: 3 of 3 instalments paid by the due date')
  })

  it('has the limit, but nothing of it available, while anything is outstanding', async () => {
    service.clock.set('2026-05-01')
    const before = await cardOf('asha')
    const loan = await lend('asha', '2026-05-01')
    expect(await cardOf('asha')).toMatchObject({
      creditScore: before.creditScore,
      creditLimit: 200_000,
      availableCreditLimit: 0,
      totalOutstanding: 110_000,
    })
    service.clock.set('2026-06-01T23:59:59+03:00')
    const due = await cardOf('asha')
    // A month of history more.
    expect(due.creditScore).toBe(before.creditScore + 4)
    // Overdue from 00:00 of the day after, without anything having run meanwhile.
    service.clock.set('2026-06-02T00:00:00+03:00')
    const overdue = await cardOf('asha')
    expect(overdue.creditScore).toBeLessThan(due.creditScore)
    expect(overdue.reasons).toContain('lowered by 68: 1 day overdue now')
    service.clock.set('2026-07-02')
    const late = await cardOf('asha')
    expect(late).toMatchObject({ grade: 'D', creditLimit: 0, availableCreditLimit: 0 })
    await service.post(`/v1/loans/${loan}/repayments`, { body: { transactionAmount: 110_000 } })
    expect(await cardOf('asha')).toMatchObject({ grade: 'C', creditLimit: 200_000, availableCreditLimit: 200_000 })
  })

  it('is boosted by a statement; then is in cooldown; then the same statement raises nothing', async () => {
    const pdf = await statementPdf(fictionalStatement())
    const call = showing(pdf, { fullName: 'Asha Mwangi', mobileNumber: '0754 000 123' })
    const boost = () => service.post('/v1/credit-scorecard/asha/boost', call)
    const { status, body } = await boost()
    expect(status).toBe(200)
    expect(body).toMatchObject({
      externalId: 'asha',
      boostStatus: 'raised',
      originalCreditLimit: 200_000,
      grade: 'C',
      nextBoostOn: '2026-08-01',
      statement: { layout: 'mpesa', from: '2026-01-01', to: '2026-06-30', months: 6, nameChecked: true },
    })
    expect(body.statement).toMatchObject({ mobileNumberChecked: true, usedBefore: false })
    expect(body.statement.monthly).toHaveLength(6)
    expect(JSON.stringify(body)).not.toMatch(/MWANGI|754000123/i)
    // 30% of what comes in a month, to the step below.
    expect(body.creditLimit).toBe(Math.floor((body.statement.averageMonthlyInflow * 0.3) / 1_000) * 1_000)
    expect(body.statementCreditLimit).toBe(body.creditLimit)
    const raised = await cardOf('asha')
    expect(raised).toMatchObject({ creditLimit: body.creditLimit, availableCreditLimit: body.creditLimit })
    expect(raised.reasons.at(-1)).toBe(
      `limit raised to ${body.creditLimit.toLocaleString('en')} TZS by a statement on 2026-07-02`,
    )

    service.clock.set('2026-07-31')
    const other = await statementPdf(fictionalStatement({ layout: 'bank' }))
    expect((await service.post('/v1/credit-scorecard/asha/boost', showing(other))).body).toMatchObject({
      boostStatus: 'cooldown',
      creditLimit: body.creditLimit,
      nextBoostOn: '2026-08-01',
    })
    service.clock.set('2026-08-01')
    expect((await boost()).body).toMatchObject({
      boostStatus: 'unchanged',
      creditLimit: body.creditLimit,
      statement: { usedBefore: true },
    })
    expect(await cardOf('asha')).toMatchObject({ creditLimit: body.creditLimit })
  })

  it('loses the boosted limit at grade D, and has it again when up', async () => {
    const { creditLimit } = await cardOf('asha')
    const loan = await lend('asha', '2026-08-02')
    service.clock.set('2026-12-20')
    const down = await cardOf('asha')
    expect(down).toMatchObject({ grade: 'D', creditLimit: 0 })
    expect(down.reasons.at(-1)).toBe('the limit that a statement raised on 2026-07-02 does not count at grade D')
    await service.post(`/v1/loans/${loan}/repayments`, {
      body: { transactionAmount: 110_000, transactionDate: '2026-08-30' },
    })
    // Paid in time after all: the money had been there all along.
    expect(await cardOf('asha')).toMatchObject({ creditLimit, availableCreditLimit: creditLimit })
  })

  it('every decision is kept, once, and made again from what was kept', async () => {
    const decisions = await pageDecisions(
      service.deps,
      ORGANIZATION,
      { externalId: 'asha', id: null },
      { page: 1, rows: 100 },
    )
    const kinds = decisions.items.map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'boost')).toHaveLength(3)
    expect(kinds.filter((kind) => kind === 'score').length).toBeGreaterThan(8)
    for (const { id: decision } of decisions.items) {
      const { kept, again, same } = await replayDecision(service.deps, ORGANIZATION, decision)
      expect(again).toEqual(kept.result)
      expect(same).toBe(true)
    }
    // Facts that were tampered with do not make the same again.
    const { id: last } = decisions.items[0]!
    const tamper = (by: number) =>
      service.deps.db.pool.query(
        `UPDATE credit_decision SET inputs = jsonb_set(inputs, '{history,loansClosed}',
           to_jsonb((inputs #>> '{history,loansClosed}')::int + $2::int)) WHERE id = $1`,
        [last, by],
      )
    expect(decisions.items[0]).toMatchObject({ kind: 'score' })
    await tamper(1)
    expect(await replayDecision(service.deps, ORGANIZATION, last)).toMatchObject({ same: false })
    await tamper(-1)
    expect(await replayDecision(service.deps, ORGANIZATION, last)).toMatchObject({ same: true })
    const { total } = decisions
    await Promise.all(Array.from({ length: 20 }, () => cardOf('asha')))
    expect(
      (await pageDecisions(service.deps, ORGANIZATION, { externalId: 'asha', id: null }, { page: 1, rows: 1 })).total,
    ).toBe(total)
    // Only numbers and hashes of a statement are kept, not whose it is.
    expect(JSON.stringify(decisions.items.map(({ inputs }) => inputs))).not.toMatch(/MWANGI|754000123/i)
    const trail = await service.get(`/v1/audit-trail?entity=customer&entityId=${id}&rows=100`, {
      token: await service.deps.signIn.issueToken('operator@example.com', 'operator-secret', '127.0.0.1'),
    })
    const actions = trail.body.items.map(({ action }: { action: string }) => action)
    expect(actions.filter((action: string) => action === 'boost')).toHaveLength(3)
    expect(actions.filter((action: string) => action === 'score')).toHaveLength(total - 3)
  })
})

describe('a charge-off', () => {
  it('is in the very next scorecard, and so is what is recovered, and its reversal', async () => {
    await service.post('/v1/customers', { body: { externalId: 'lost' } })
    await lend('lost', '2026-02-01', '2026-02-20')
    const loan = await lend('lost', '2026-03-01')
    const good = await cardOf('lost')
    expect(good).toMatchObject({ grade: 'C', creditLimit: 100_000 })
    const { body: chargeOff } = await service.post(`/v1/loans/${loan}/repayments/charge-off`, { body: {} })
    const down = await cardOf('lost')
    expect(down).toMatchObject({ grade: 'D', creditScore: 250, creditLimit: 0, totalOutstanding: 110_000 })
    expect(down.reasons[0]).toBe('held at 250 at most: 1 loan charged off, 110,000 TZS still owed')
    await service.post(`/v1/loans/${loan}/repayments/recover`, { body: { transactionAmount: 60_000 } })
    expect((await cardOf('lost')).reasons[0]).toBe('held at 250 at most: 1 loan charged off, 50,000 TZS still owed')
    await service.post(`/v1/loans/${loan}/repayments/recover`, { body: { transactionAmount: 50_000 } })
    const recovered = await cardOf('lost')
    expect(recovered).toMatchObject({ grade: 'C', availableCreditLimit: recovered.creditLimit, totalOutstanding: 0 })
    expect(recovered.reasons[0]).toBe('held at 550 at most: 1 loan paid only after being charged off or written off')
    const token = service.tokens.operator
    await service.post(`/v1/loans/${loan}/repayments/${chargeOff.id}/reverse`, { token })
    expect((await cardOf('lost')).creditScore).toBeGreaterThanOrEqual(good.creditScore)
  })
})

describe('reads that arrive together', () => {
  it('keep one decision', async () => {
    service.clock.stand('2026-02-01')
    const { body } = await service.post('/v1/customers', { body: { externalId: 'together' } })
    const other = await service.another()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? service : other).get('/v1/credit-scorecard/together'),
      ),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(
      (await pageDecisions(service.deps, ORGANIZATION, { externalId: null, id: BigInt(body.id) }, { page: 1, rows: 1 }))
        .total,
    ).toBe(1)
  })
})

describe('who is asked for', () => {
  it('an externalId that is another customer’s number: the externalId wins', async () => {
    const { body: one } = await service.post('/v1/customers', { body: { externalId: 'numbered' } })
    const { body: two } = await service.post('/v1/customers', { body: { externalId: one.id } })
    expect(await cardOf(one.id)).toMatchObject({ customerId: two.id })
    expect(await cardOf('numbered')).toMatchObject({ customerId: one.id })
    expect(await cardOf(two.id)).toMatchObject({ customerId: two.id })
  })

  it('an externalId with a slash and a space, written as a path has it', async () => {
    await service.post('/v1/customers', { body: { externalId: 'shop 7/till 2' } })
    expect(await cardOf(encodeURIComponent('shop 7/till 2'))).toMatchObject({ externalId: 'shop 7/till 2' })
  })

  it.each(['nobody', '4000000000999999', '0', '-1', '99999999999999999999', 'x'.repeat(101)])(
    '404 not_found: %s',
    async (customer) => {
      expect(await service.get(`/v1/credit-scorecard/${customer}`)).toMatchObject({
        status: 404,
        body: { code: 'not_found', message: 'no customer has that externalId or id' },
      })
    },
  )

  it('401 unauthenticated without a token', async () => {
    expect(await service.get('/v1/credit-scorecard/asha', { token: 'none' })).toMatchObject({ status: 401 })
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operator as operatorOf } from '../../../../src/services/access/caller.ts'
import { checkBook } from '../../../../src/services/book/bookCheck.ts'
import { createProduct } from '../../../../src/services/organizations/products.ts'
import { keepJournal } from '../../../support/journal.ts'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'
import { differencesOf, type Lent, lendBy, repay } from './lent.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

let named = 0

/** Lends 90,000 by a product with terms under an externalId of its own. */
async function lend(terms: object = {}): Promise<Lent & { readonly externalId: string; readonly more: object }> {
  const lent = await lendBy(service, terms)
  const { customerExternalId: customerId, loanProductId: productId } = lent.loan
  const externalId = `first-${++named}`
  const { body } = await service.post('/v1/loans', { body: { customerId, productId, principal: 90_000, externalId } })
  return { loan: body, path: `/v1/loans/${body.id}`, externalId, more: { customerId, productId } }
}

const topUp = (body: object, headers: Record<string, string> = {}) => service.post('/v1/loans', { body, headers })
const read = async ({ path }: Lent) => (await service.get(path)).body
const movesOf = async ({ path }: Lent) =>
  (await service.get(`${path}/transactions`)).body.items.map(({ type, amount, note, paymentMethod }) => ({
    ...{ type, amount, note, paymentMethod },
  }))

describe('a loan with settles', () => {
  it('pays the other loan off out of its principal, and pays out the rest', async () => {
    const first = await lend({ interestRate: 3 })
    service.clock.set('2026-03-01')
    await repay(service, first, 32_700)
    const { status, body } = await topUp({ ...first.more, principal: 200_000, settles: [first.externalId] })
    expect([status, body]).toMatchObject([
      200,
      {
        ...{ status: 'Active', principal: 200_000, totalOutstanding: 218_000, netDisbursed: 134_600 },
        settled: [{ loanId: first.loan.id, externalId: first.externalId, amount: 65_400 }],
      },
    ])
    expect(body.feesDeducted).toBeUndefined()
    expect(await read(first)).toMatchObject({
      status: 'Closed (obligations met)',
      totalOutstanding: 0,
      totalPaid: 98_100,
    })
    const note = `Paid off by loan ${Number(body.accountNo)}`
    expect(await movesOf(first)).toContainEqual({ type: 'Repayment', amount: 65_400, note, paymentMethod: 'Top-up' })
    expect((await service.get(`/v1/loans/${body.id}`)).body).toMatchObject({
      netDisbursed: 134_600,
      settled: body.settled,
    })
    expect(await differencesOf(service, first)).toEqual([])
  })

  it('waives the interest that an early settlement forgives', async () => {
    const first = await lend({ interestRate: 3, earlySettlement: 'interest_to_period_end' })
    const { body } = await topUp({ ...first.more, principal: 100_000, settles: [first.externalId] })
    expect(body).toMatchObject({ netDisbursed: 7_300, settled: [{ amount: 92_700 }] })
    expect(await read(first)).toMatchObject({ status: 'Closed (obligations met)', interestWaived: 5_400 })
    expect(await differencesOf(service, first)).toEqual([])
  })

  it('pays several off, and keeps deducted fees back', async () => {
    const fees = [{ name: 'Handling', base: 'fixed', amount: 500, when: 'disbursement', treatment: 'deducted' }]
    const [first, second] = [await lend(), await lend({ fees })]
    const { body: moved } = await service.post('/v1/loans', {
      body: {
        customerId: first.loan.customerExternalId,
        productId: second.loan.loanProductId,
        principal: 50_000,
        externalId: `moved-${named}`,
      },
    })
    const settles = [first.externalId, moved.externalId]
    const { body } = await topUp({
      customerId: first.loan.customerExternalId,
      productId: second.loan.loanProductId,
      principal: 150_000,
      settles,
    })
    expect(body).toMatchObject({
      netDisbursed: 9_500,
      feesDeducted: 500,
      settled: [{ amount: 90_000 }, { amount: 50_000 }],
    })
    expect((await service.get(`/v1/loans/${moved.id}`)).body.status).toBe('Closed (obligations met)')
  })

  it('moves in cash only what is paid out, in the journal of the day', async () => {
    const first = await lend()
    const { body } = await topUp({ ...first.more, principal: 100_000, settles: [first.externalId] })
    await keepJournal(service.deps)
    const { rows } = await service.owner.pool.query(
      'SELECT sum(cash)::int AS cash FROM posting WHERE loan_id = ANY ($1)',
      [[first.loan.id, body.id]],
    )
    // 90,000 of the first loan were paid out, and 10,000 of the second one.
    expect(rows).toEqual([{ cash: -10_000_000 }])
  })

  it('is answered once for one Idempotency-Key', async () => {
    const first = await lend()
    const body = { ...first.more, principal: 100_000, settles: [first.externalId] }
    const answers = [await topUp(body, { 'idempotency-key': 'once' }), await topUp(body, { 'idempotency-key': 'once' })]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[1]!.body.id).toBe(answers[0]!.body.id)
  })

  it('is made once where a hundred are asked for at once, and pays the other loan off once', async () => {
    const first = await lend()
    const body = { ...first.more, principal: 100_000, settles: [first.externalId] }
    const answers = await Promise.all(Array.from({ length: 100 }, () => topUp(body)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['failed_precondition']))
    expect(await movesOf(first)).toHaveLength(1)
    expect(await differencesOf(service, first)).toEqual([])
  })

  it('takes what repayments at the same time have left to pay', async () => {
    const first = await lend()
    const body = { ...first.more, principal: 100_000, settles: [first.externalId] }
    const pay = () => service.post(`${first.path}/repayments`, { body: { transactionAmount: 10 } })
    const [made, ...paid] = await Promise.all([topUp(body), ...Array.from({ length: 50 }, pay)])
    expect(made.status).toBe(200)
    const before = paid.filter(({ status }) => status === 200).length
    const { totalOverpaid, totalOutstanding } = await read(first)
    const { amount } = (made.body.settled as { amount: number }[])[0]!
    expect(totalOutstanding).toBe(0)
    expect(amount + before * 10 - totalOverpaid).toBe(90_000)
    expect(await differencesOf(service, first)).toEqual([])
  })
})

describe('a loan with settles is refused, and nothing is changed,', () => {
  const refusal = async (first: Lent, body: object) => {
    const { status, body: answer } = await topUp(body)
    expect((await read(first)).totalPaid).toBe(0)
    return [status, answer.message ?? answer.details]
  }

  it('for a principal that does not pay for all of it', async () => {
    const first = await lend()
    expect(await refusal(first, { ...first.more, principal: 80_000, settles: [first.externalId] })).toEqual([
      409,
      'the loans in settles take 90000.00 TZS, and the principal is 80000.00 TZS',
    ])
  })

  it('for a loan that is not there, or is of another customer', async () => {
    const [first, other] = [await lend(), await lend()]
    for (const externalId of ['nowhere', other.externalId])
      expect(await refusal(first, { ...first.more, principal: 100_000, settles: [externalId] })).toEqual([
        404,
        `no loan of the customer has the externalId ${externalId}, given in settles`,
      ])
  })

  it('for a loan that is paid off, and for one named twice', async () => {
    const first = await lend()
    const settles = [first.externalId, first.externalId]
    expect((await topUp({ ...first.more, principal: 500_000, settles })).body.message).toBe(
      `settles: has the loan ${first.externalId} twice`,
    )
    await repay(service, first, 90_000)
    expect((await topUp({ ...first.more, principal: 100_000, settles: [first.externalId] })).body.message).toBe(
      `settles: the loan ${first.externalId} is Closed (obligations met), and only an Active loan is settled`,
    )
  })

  it('for a loan that is charged off, and for a currency other than that of the loan', async () => {
    const first = await lend()
    const whole = (units: bigint) => ({ units, scale: 0 })
    const terms = { principalMin: whole(1_000n), principalMax: whole(1_000_000n), interestRate: whole(0n) }
    const { id: productId } = await createProduct(service.deps, operatorOf(1, 'test'), {
      ...{
        ...terms,
        id: 90,
        name: 'In Kenya',
        currency: 'KES',
        numberOfRepayments: 1,
        repayEvery: 1,
        repayUnit: 'months',
      },
    })
    const body = { customerId: first.loan.customerExternalId, productId, principal: 900_000 }
    expect((await topUp({ ...body, settles: [first.externalId] })).body.message).toBe(
      `settles: the loan ${first.externalId} is in TZS, and the new loan is in KES`,
    )
    await service.post(`${first.path}/repayments/charge-off`, { body: {}, token: service.tokens.operator })
    expect((await topUp({ ...first.more, principal: 100_000, settles: [first.externalId] })).body.message).toBe(
      `settles: the loan ${first.externalId} is charged off, and such a loan is not settled by another`,
    )
  })

  it.each([[[]], [Array.from({ length: 11 }, (_, index) => `loan-${index}`)], ['first'], [[5]]])(
    'for %j',
    async (settles) => {
      const first = await lend()
      expect((await refusal(first, { ...first.more, principal: 100_000, settles }))[0]).toBe(400)
    },
  )
})

describe('book check', () => {
  it('finds a loan that says it paid off what no repayment says', async () => {
    const own = await startService()
    own.damages('the terms of a loan are changed past the service')
    const { loan } = await lendBy(own, {})
    const { customerExternalId: customerId, loanProductId: productId } = loan
    const first = { customerId, productId, principal: 90_000, externalId: 'first' }
    const { body: paidOff } = await own.post('/v1/loans', { body: first })
    const { body: made } = await own.post('/v1/loans', {
      body: { ...first, externalId: 'more', principal: 100_000, settles: ['first'] },
    })
    const says = async () => (await checkBook(own.deps)).differences.map(({ of, message }) => `${of} ${message}`)
    expect(await says()).toEqual([])
    await own.owner.pool.query(`UPDATE loan SET rules = jsonb_set(rules, '{settled,0,amount}', '"5"') WHERE id = $1`, [
      made.id,
    ])
    expect(await says()).toContain(`loan ${made.id} paid off 5 of loan ${paidOff.id}, which has no such repayment`)
    await own.close()
  })
})

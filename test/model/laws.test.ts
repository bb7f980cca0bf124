import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, startService, type TestService } from '../support/service.ts'
import { plusDays } from './calendar.ts'

// Laws of the book over HTTP, which need no model: they compare the service with itself.

let service: TestService
beforeAll(async () => {
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

const FIRST = '2026-01-31'
/** The last day on which money moves, and the day of the checks. */
const DAYS = 120

const RUNS = Number(process.env.MODEL_RUNS ?? 15)

interface Step {
  readonly what: string
  readonly amount: number | undefined
  readonly day: number
}

const MONEY = ['', '/waive-interest', '/refund', '/credit-balance-refund', '/recover']

const anyDay = fc.nat(DAYS)
const anyAmount = fc.integer({ min: 1, max: 9_000_00 }).map((cents) => cents / 100)
const anyRepayment = fc.record({ what: fc.constant(''), amount: anyAmount, day: anyDay })
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: anyRepayment },
  { weight: 3, arbitrary: fc.record({ what: fc.constantFrom(...MONEY), amount: anyAmount, day: anyDay }) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('/charge-off'), amount: fc.constant(undefined), day: anyDay }),
  },
)
const anyProduct = fc.constantFrom(1, 2, 3, 4)
/** Principals that the amounts above can pay off and overpay. */
const anyPrincipal = fc.integer({ min: 1_000_00, max: 9_000_00 }).map((cents) => cents / 100)

async function lend(productId: number, principal: number): Promise<string> {
  // Loans that are compared with each other are of one instant; what happens to them has instants of its own.
  service.clock.stand(`${FIRST}T09:30:00+03:00`)
  const { body } = await service.post('/v1/loans', { body: { customerId: 'asha', productId, principal } })
  service.clock.set(plusDays(FIRST, DAYS))
  return `/v1/loans/${body.id}`
}

const take = (loan: string, { what, amount, day }: Step): Promise<Answer> =>
  service.post(`${loan}/repayments${what}`, {
    body: { ...(amount === undefined ? {} : { transactionAmount: amount }), transactionDate: plusDays(FIRST, day) },
  })

const reverse = (loan: string, id: string): Promise<Answer> =>
  service.post(`${loan}/repayments/${id}/reverse`, { token: service.tokens.operator })

/** Returns the loan without its list of transactions. */
async function balances(loan: string): Promise<Record<string, unknown>> {
  const { repaymentHistory: _, updatedAt: __, ...rest } = (await service.get(loan)).body
  return rest
}

/** Returns a transaction without its moments. */
const timeless = ({ transactionAt: _, createdAt: __, updatedAt: ___, ...rest }: Record<string, unknown>) => rest

/** Returns the transactions without their ids and moments. */
async function portions(loan: string): Promise<Record<string, unknown>[]> {
  const { repaymentHistory } = (await service.get(loan)).body
  return repaymentHistory.map(({ id: _, ...rest }: Record<string, unknown>) => timeless(rest))
}

describe('laws of the book', () => {
  it('reversing what was just posted restores every balance; the transaction stays, reversed', async () => {
    const anyCase = fc.asyncProperty(
      anyProduct,
      anyPrincipal,
      fc.array(anyStep, { maxLength: 6 }),
      anyStep,
      async (productId, principal, steps, last) => {
        const loan = await lend(productId, principal)
        for (const step of steps) await take(loan, step)
        const before = await balances(loan)
        const posted = await take(loan, last)
        fc.pre(posted.status === 200)
        const reversed = await reverse(loan, posted.body.id)
        expect(reversed).toMatchObject({ status: 200, body: { id: posted.body.id, status: 'reversed' } })
        expect(await balances(loan)).toEqual(before)
        const { principal: _, interest: __, penalty: ___, overpayment: ____, ...kept } = posted.body
        const read = (await service.get(`${loan}/repayments/${posted.body.id}`)).body
        expect(Date.parse(String(read.updatedAt))).toBeGreaterThan(Date.parse(String(kept.updatedAt)))
        expect(read).toEqual({ ...kept, status: 'reversed', updatedAt: read.updatedAt })
      },
    )
    await fc.assert(anyCase, { numRuns: RUNS })
  })

  it('a write-off reversed restores every balance too', async () => {
    const anyCase = fc.asyncProperty(
      anyProduct,
      anyPrincipal,
      fc.array(anyStep, { maxLength: 4 }),
      fc.array(anyAmount, { maxLength: 2 }),
      async (productId, principal, steps, recoveries) => {
        const loan = await lend(productId, principal)
        for (const step of steps) await take(loan, step)
        const before = await balances(loan)
        const written = await service.post(`${loan}/write-off`, { token: service.tokens.operator })
        fc.pre(written.status === 200)
        const ids = []
        for (const amount of recoveries) {
          const recovered = await take(loan, { what: '/recover', amount, day: DAYS })
          if (recovered.status === 200) ids.push(recovered.body.id)
        }
        for (const id of [...ids, written.body.id]) expect(await reverse(loan, id)).toMatchObject({ status: 200 })
        expect(await balances(loan)).toEqual(before)
      },
    )
    await fc.assert(anyCase, { numRuns: RUNS })
  })

  it('adjusting to the same amount changes nothing but the id', async () => {
    const anyCase = fc.asyncProperty(
      anyProduct,
      anyPrincipal,
      fc.array(anyRepayment, { minLength: 1, maxLength: 6 }),
      fc.nat(),
      async (productId, principal, steps, index) => {
        const loan = await lend(productId, principal)
        const ids: string[] = []
        for (const step of steps) ids.push((await take(loan, step)).body.id)
        const before = await balances(loan)
        const id = ids[index % ids.length]!
        const [original, shares] = [(await service.get(`${loan}/repayments/${id}`)).body, await portions(loan)]
        const adjusted = await service.post(`${loan}/repayments/${id}/adjust`, {
          body: { transactionAmount: original.amount },
          token: service.tokens.operator,
        })
        expect(adjusted.status).toBe(200)
        expect(adjusted.body.id).not.toBe(id)
        expect(timeless(adjusted.body)).toEqual({ ...timeless(original), id: adjusted.body.id })
        expect(Date.parse(String(adjusted.body.createdAt))).toBeGreaterThan(Date.parse(String(original.createdAt)))
        expect(await balances(loan)).toEqual(before)
        const posted = (await portions(loan)).filter(({ status }) => status === 'posted')
        expect(inOrder(posted)).toEqual(inOrder(shares))
      },
    )
    await fc.assert(anyCase, { numRuns: RUNS })
  })

  it('repayments with the same value dates make the same loan, in any order of arrival', async () => {
    const anyCase = fc.asyncProperty(
      anyProduct,
      anyPrincipal,
      fc
        .array(anyRepayment, { minLength: 2, maxLength: 7 })
        .chain((steps) => fc.tuple(fc.constant(steps), fc.shuffledSubarray(steps, { minLength: steps.length }))),
      async (productId, principal, [steps, shuffled]) => {
        const [one, other] = [await lend(productId, principal), await lend(productId, principal)]
        for (const step of steps) expect((await take(one, step)).status).toBe(200)
        for (const step of shuffled) expect((await take(other, step)).status).toBe(200)
        const { id: _, accountNo: __, ...balance } = await balances(one)
        expect(await balances(other)).toMatchObject(balance)
        const days = new Set(steps.map(({ day }) => day))
        // On one day the order of arrival decides who pays what.
        const withoutLoan = async (loan: string) =>
          inOrder((await portions(loan)).map(({ loanId: _, ...rest }) => rest))
        if (days.size === steps.length) expect(await withoutLoan(other)).toEqual(await withoutLoan(one))
      },
    )
    await fc.assert(anyCase, { numRuns: RUNS })
  })
})

const inOrder = (all: Record<string, unknown>[]): string[] => all.map((one) => JSON.stringify(one)).sort()

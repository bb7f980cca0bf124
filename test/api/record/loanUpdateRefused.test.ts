import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { aBasicLoan, aBorrower, anExtendedLoan } from '../../support/recordBodies.ts'
import { openRecordBook } from '../../support/recordBook.ts'
import type { RecordId } from '../../support/recordIds.ts'
import { FIRST_DAY } from '../../support/service.ts'

const { service, records, nextId, lend, update, repay } = await openRecordBook()
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

/** The loan in both styles: what a refusal must leave alone. */
const both = async (id: RecordId) => [
  (await records.get(`/v1/loans/${id}`)).text,
  (await service.get(`/v1/loans/${id}`)).text,
]

describe('refusals leave everything as it was', () => {
  const refuse = async (id: RecordId, body: object, status: number, refusal: object) => {
    const before = await both(id)
    const answer = await update(id, body)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ success: false, ...refusal })
    expect(await both(id)).toEqual(before)
  }

  it('409 failed_precondition: a principal below what was repaid of it', async () => {
    const id = await lend()
    await repay(id, { amount: 400 })
    await refuse(id, { principal_amount: 399.99 }, 409, {
      code: 'failed_precondition',
      message: 'principal_amount: must not be less than what was repaid of it, 400.00 TZS',
      details: [{ field: 'principal_amount' }],
    })
  })

  it('409 failed_precondition: released after a repayment, reversed ones not counted', async () => {
    const id = await lend()
    const { body: repayment } = await repay(id)
    await refuse(id, { released_date: '2026-01-21' }, 409, {
      code: 'failed_precondition',
      message: 'released_date: must not be after 2026-01-20, the day of a transaction on this loan',
    })
    const path = `/v1/loans/${id}/repayments/${repayment.item.repayment_id}/reverse`
    expect((await service.post(path, { token: service.tokens.operator })).status).toBe(200)
    expect((await update(id, { released_date: '2026-01-21' })).status).toBe(200)
    const { differences } = await checkBook(service.deps)
    expect(differences).toEqual([])
  })

  describe('409 failed_precondition: a borrower who is Closed is lent no more', () => {
    const closed = async (template: object, amount: number) => {
      const borrower_id = nextId()
      await records.post('/v1/borrowers', { body: { ...aBorrower, id: borrower_id } })
      const id = await lend({ ...template, borrower_id })
      await repay(id, { amount, collection_date: '2026-01-31' })
      const close = () => service.post(`/v1/customers/${borrower_id}/close`)
      return { id, borrower_id, close }
    }
    const refusal = {
      code: 'failed_precondition',
      message: 'the borrower is Closed, and only an Active one can be lent more',
    }

    it('by a larger principal, or by terms that cost more; what lends nothing may change', async () => {
      const { id, close } = await closed(aBasicLoan, 1000.5)
      expect((await close()).status).toBe(200)
      await refuse(id, { principal_amount: 5_000_000 }, 409, refusal)
      await refuse(id, { principal_amount: 1000.51, description: 'x' }, 409, refusal)
      expect((await update(id, { due_date: '2026-05-01', description: 'x' })).body.item).toMatchObject({
        due_date: '2026-05-01',
        description: 'x',
      })
      const costly = await closed({ ...anExtendedLoan, loan_interest_method: 'flat_rate' }, 5_000)
      const { id: borrowed } = costly
      await service.post(`/v1/loans/${borrowed}/repayments/credit-balance-refund`, {
        body: { transactionAmount: (await service.get(`/v1/loans/${borrowed}`)).body.totalOverpaid },
      })
      expect((await costly.close()).status).toBe(200)
      await refuse(borrowed, { duration: 12 }, 409, refusal)
    })

    it('also when the borrower is closed at the same moment: one of the two is refused', async () => {
      for (let round = 0; round < 8; round++) {
        const { id, borrower_id, close } = await closed(aBasicLoan, 1000.5)
        const [updated, shut] = await Promise.all([update(id, { principal_amount: 2000 }), close()])
        expect([updated.status, shut.status].sort()).toEqual([200, 409])
        const { body: customer } = await service.get(`/v1/customers/${borrower_id}`)
        const { body: loan } = await service.get(`/v1/loans/${id}`)
        expect([customer.status, loan.status]).toEqual(
          shut.status === 200 ? ['Closed', 'Closed (obligations met)'] : ['Active', 'Active'],
        )
      }
    })
  })

  it('409 failed_precondition: another borrower, who is closed at the same moment', async () => {
    for (let round = 0; round < 8; round++) {
      const borrower_id = nextId()
      await records.post('/v1/borrowers', { body: { ...aBorrower, id: borrower_id } })
      const id = await lend()
      const [updated, shut] = await Promise.all([
        update(id, { borrower_id }),
        service.post(`/v1/customers/${borrower_id}/close`),
      ])
      expect([updated.status, shut.status].sort()).toEqual([200, 409])
      for (const { status, body } of [updated, shut]) if (status === 409) expect(body.code).toBe('failed_precondition')
    }
  })

  it.each([
    ['charged off', 'repayments/charge-off'],
    ['written off', 'write-off'],
  ])('409 failed_precondition: the terms of a loan that is %s; its remarks may change', async (_, path) => {
    const id = await lend()
    await service.post(`/v1/loans/${id}/${path}`, { token: service.tokens.operator })
    for (const terms of [
      { principal_amount: 2000 },
      { released_date: '2026-01-16' },
      { due_date: '2026-05-01' },
      { duration: 4 },
      { duration_period: 'weeks' },
      { borrower_id: 2 },
    ])
      await refuse(id, terms, 409, { code: 'failed_precondition' })
    expect((await update(id, { description: 'x', borrower_id: 1 })).body.item.description).toBe('x')
  })

  it('409 failed_precondition: the terms of a loan that came from a product; its remarks may change', async () => {
    service.clock.stand(FIRST_DAY)
    const loan = await service.post('/v1/loans', { body: { customerId: 'asha', productId: 3, principal: 6_000 } })
    const id = Number(loan.body.id)
    await refuse(id, { principal_amount: 7_000 }, 409, { code: 'failed_precondition' })
    await refuse(id, { duration: 7, description: 'x' }, 409, { code: 'failed_precondition' })
    const { body } = await update(id, { description: 'x', loan_type: 'Phone', products: [] })
    expect(body.item).toMatchObject({ description: 'x', loan_type: 'Phone', duration: 6, duration_period: 'Months' })
    expect((await update(id, { loan_type: '' })).body.item.loan_type).toBe('Flat 5% × 6 months')
    const { updated_at: _, delinquency: __, ...rest } = (await service.get(`/v1/loans/${id}`)).body
    expect(rest).toEqual({ ...loan.body, repaymentHistory: [] })
  })

  it.each([
    [
      'charged off',
      async () => {
        const id = await lend()
        await service.post(`/v1/loans/${id}/repayments/charge-off`)
        return id
      },
    ],
    [
      'written off, extended',
      async () => {
        const id = await lend(anExtendedLoan)
        await service.post(`/v1/loans/${id}/write-off`, { token: service.tokens.operator })
        return id
      },
    ],
    [
      'of a product',
      async () => {
        const body = { customerId: 'asha', productId: 3, principal: 6_000 }
        return Number((await service.post('/v1/loans', { body })).body.id)
      },
    ],
  ])(
    '200 for all that is known of it, with other remarks, though no term may change: a loan that is %s',
    async (_, make) => {
      const id = await make()
      const { item } = (await records.get(`/v1/loans/${id}`)).body
      const fields = [
        'borrower_id',
        'loan_id',
        'principal_amount',
        'released_date',
        'due_date',
        'duration',
        'duration_period',
      ]
      const known = Object.fromEntries(fields.map((field) => [field, item[field]]))
      const { status, body } = await update(id, { ...known, description: 'all of it' })
      const { updated_at } = body.item
      expect(Date.parse(String(updated_at))).toBeGreaterThan(Date.parse(String(item.updated_at)))
      expect({ status, item: body.item }).toEqual({
        status: 200,
        item: { ...item, description: 'all of it', updated_at },
      })
      // A unit is the same in any case, and no other term.
      const loud = { ...known, duration_period: String(item.duration_period).toUpperCase() }
      expect((await update(id, loud)).status).toBe(200)
      await refuse(id, { ...known, principal_amount: 12_345 }, 409, { code: 'failed_precondition' })
    },
  )

  it.each([
    [aBasicLoan, { loan_id: 7 }, 'loan_id'],
    [aBasicLoan, { principal_amount: 0 }, 'principal_amount'],
    [aBasicLoan, { principal_amount: 1.001 }, 'principal_amount'],
    [aBasicLoan, { due_date: '2026-01-14' }, 'due_date'],
    [aBasicLoan, { released_date: '2026-04-16' }, 'released_date'],
    [aBasicLoan, { released_date: '2026-04-16', due_date: '2026-04-15' }, 'due_date'],
    [anExtendedLoan, { principal_amount: 1.001 }, 'principal_amount'],
    [anExtendedLoan, { released_date: '2999-10-01' }, 'released_date'],
    [anExtendedLoan, { duration: 731 }, 'duration'],
    [anExtendedLoan, { due_date: '2026-06-01' }, 'due_date'],
  ])('400 invalid_argument: of %o, %j', async (template, body, field) => {
    await refuse(await lend(template), body, 400, { code: 'invalid_argument', details: [{ field }] })
  })

  it('the due date of an extended loan may be named where it is right', async () => {
    const id = await lend(anExtendedLoan)
    const { body } = await records.get(`/v1/loans/${id}`)
    expect((await update(id, { principal_amount: 900, due_date: body.item.due_date })).status).toBe(200)
  })
})

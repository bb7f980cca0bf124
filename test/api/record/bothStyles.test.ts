import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { aBasicLoan, aBorrower, anExtendedLoan, aRepayment } from '../../support/recordBodies.ts'
import { type RecordId, recordIdsFrom } from '../../support/recordIds.ts'
import { type Records, recordsOf } from '../../support/records.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

let service: TestService
let records: Records
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  await records.post('/v1/borrowers', { body: aBorrower })
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

const nextId = recordIdsFrom(11, [1, 2])
interface Listed {
  readonly repayment_id: RecordId
  readonly amount: number
}

describe('a customer and a borrower are one', () => {
  it('made by a record system: a null externalId, its business name, Active today', async () => {
    expect((await service.get('/v1/customers/1')).body).toEqual({
      id: '1',
      accountNo: '000000001',
      externalId: null,
      status: 'Active',
      active: true,
      officeId: '1',
      officeName: 'Head Office',
      firstname: 'Mama Asha Stores',
      lastname: '',
      displayName: 'Mama Asha Stores',
      activationDate: '2026-01-31',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
  })

  it('made by a partner: its number, its display name, and empty strings; it can be completed', async () => {
    const { body: customer } = await service.get('/v1/customers/external/asha')
    const { text, body } = await records.get(`/v1/borrowers/${customer.id}`)
    expect(text).toContain(`{"item":{"id":${customer.id},`)
    expect(body.item).toEqual({
      id: Number(customer.id),
      business_name: 'asha Customer',
      phone: '',
      address: '',
      type: '',
      region: '',
      credit_score: 0,
      created_at: customer.createdAt,
      updated_at: customer.updatedAt,
    })
    expect((await records.get('/v1/borrowers')).body.items).toContainEqual(body.item)
    const { id: _, created_at: __, updated_at: ___, ...told } = body.item
    service.clock.set('2026-02-01')
    const changed = await records.put(`/v1/borrowers/${customer.id}`, { body: { ...told, phone: '255711' } })
    expect(changed.body.item).toMatchObject({ business_name: 'asha Customer', phone: '255711' })
    const updatedAt = changed.body.item.updated_at
    expect(Date.parse(String(updatedAt))).toBeGreaterThan(Date.parse(String(customer.updatedAt)))
    expect((await service.get('/v1/customers/external/asha')).body).toEqual({ ...customer, updatedAt })
    expect(await records.post('/v1/borrowers', { body: { ...aBorrower, id: Number(customer.id) } })).toMatchObject({
      status: 409,
      body: { code: 'already_exists' },
    })
  })
})

describe('a loan made by a partner', () => {
  it.each([
    [1, 'Flat 10% monthly', 1, 'Months', '2026-02-28'],
    [3, 'Flat 5% × 6 months', 6, 'Months', '2026-07-31'],
    [4, 'Weekly flat 2% × 12', 12, 'Weeks', '2026-04-25'],
  ])('of product %i is shown as %s, %i %s', async (productId, name, duration, period, due) => {
    service.clock.stand(FIRST_DAY)
    const { body: loan } = await service.post('/v1/loans', {
      body: { customerId: 'asha', productId, principal: 6_000 },
    })
    const { body } = await records.get(`/v1/loans/${loan.id}`)
    expect(body.item).toEqual({
      borrower_id: Number(loan.customerId),
      loan_id: Number(loan.id),
      loan_type: name,
      principal_amount: 6_000,
      released_date: '2026-01-31',
      due_date: due,
      duration,
      duration_period: period,
      description: '',
      created_at: '2026-01-31T09:30:00.000+03:00',
      updated_at: '2026-01-31T09:30:00.000+03:00',
    })
    expect((await records.get('/v1/loans')).body.items).toContainEqual(body.item)
  })
})

/** Repayments through one style and the other in turns; by the record style alone; by the partner style alone. */
const ways = {
  'in turns': (index: number) => index % 2 === 0,
  'the record style': () => true,
  'the partner style': () => false,
}
const AMOUNTS = [100.25, 50, 300.75, 49, 0.01, 900]

describe.each([
  ['a record system', async () => records.post('/v1/loans', { body: { ...anExtendedLoan, loan_id: nextId() } })],
  [
    'a record system, for a customer of a partner',
    async () => {
      const { body } = await service.get('/v1/customers/external/asha')
      const loan = { ...aBasicLoan, released_date: '2026-01-31', loan_id: nextId(), borrower_id: Number(body.id) }
      return records.post('/v1/loans', { body: loan })
    },
  ],
  [
    'a partner',
    async () => {
      const { body } = await service.post('/v1/loans', {
        body: { customerId: 'asha', productId: 3, principal: 1_200 },
      })
      return records.get(`/v1/loans/${body.id}`)
    },
  ],
])('a loan made by %s', (_, lend) => {
  it('shows the same balances whichever style posted its repayments, and the same repayments in both', async () => {
    const told = []
    for (const throughRecords of Object.values(ways)) {
      service.clock.stand(FIRST_DAY)
      const { loan_id } = (await lend()).body.item
      for (const [index, amount] of AMOUNTS.entries()) {
        service.clock.stand(`2026-02-0${index + 1}`)
        const answer = throughRecords(index)
          ? await records.post('/v1/repayments', {
              body: {
                ...aRepayment,
                repayment_id: nextId(),
                loan_id,
                amount,
                collection_date: `2026-02-0${index + 1}`,
              },
            })
          : await service.post(`/v1/loans/${loan_id}/repayments`, { body: { transactionAmount: amount } })
        expect(answer.status).toBe(200)
      }
      const { body: loan } = await service.get(`/v1/loans/${loan_id}`)
      const { items } = (await records.get(`/v1/repayments?loan_id=${loan_id}`)).body
      expect(items.map(({ amount }: Listed) => amount)).toEqual(AMOUNTS)
      expect(items.map((item: Listed) => String(item.repayment_id))).toEqual(
        loan.repaymentHistory.map(({ id }: { id: string }) => id).toReversed(),
      )
      const sum = items.reduce((cents: number, { amount }: Listed) => cents + Math.round(amount * 100), 0)
      expect(Math.round((loan.totalPaid + loan.totalOverpaid) * 100)).toBe(sum)
      const { id: __, accountNo: ___, repaymentHistory, ...figures } = loan
      told.push({
        figures,
        portions: repaymentHistory.map(({ id, loanId, note, ...rest }: Record<string, unknown>) => rest),
      })
    }
    expect(told[1]).toEqual(told[0])
    expect(told[2]).toEqual(told[0])
  })
})

describe('a repayment posted in one style', () => {
  it('through the partner style is listed with the number that the service gave it', async () => {
    const loan_id = nextId()
    await records.post('/v1/loans', { body: { ...aBasicLoan, loan_id } })
    const { body } = await service.post(`/v1/loans/${loan_id}/repayments`, { body: { transactionAmount: 5 } })
    const { text } = await records.get(`/v1/repayments?loan_id=${loan_id}`)
    expect(text).toContain(`{"repayment_id":${body.id},"loan_id":${loan_id},"amount":5,"collection_date":"2026-01-31",`)
  })

  it('a recovery is listed too, other transactions are not', async () => {
    const loan_id = nextId()
    const token = service.tokens.operator
    await records.post('/v1/loans', { body: { ...anExtendedLoan, loan_id } })
    await service.post(`/v1/loans/${loan_id}/repayments/waive-interest`, { body: { transactionAmount: 1 } })
    await service.post(`/v1/loans/${loan_id}/write-off`, { token })
    const note = 'the agency'
    await service.post(`/v1/loans/${loan_id}/repayments/recover`, { body: { transactionAmount: 7, note } })
    const { items, total } = (await records.get(`/v1/repayments?loan_id=${loan_id}`)).body
    expect({ items, total }).toMatchObject({ items: [{ amount: 7, description: note }], total: 1 })
  })

  it('reversed it is listed no more, read as reversed, and its id stays taken', async () => {
    const loan_id = nextId()
    await records.post('/v1/loans', { body: { ...aBasicLoan, loan_id } })
    const body = { ...aRepayment, repayment_id: nextId(), loan_id }
    const { body: posted } = await records.post('/v1/repayments', { body })
    service.clock.stand('2026-02-02')
    const path = `/v1/loans/${loan_id}/repayments/${body.repayment_id}`
    await service.post(`${path}/reverse`, { token: service.tokens.operator })
    expect((await records.get(`/v1/repayments?loan_id=${loan_id}`)).body).toMatchObject({ items: [], total: 0 })
    const reversed = await records.get(`/v1/repayments/${body.repayment_id}`)
    expect(reversed.body.item).toEqual({
      ...posted.item,
      status: 'reversed',
      reversed: true,
      updated_at: '2026-02-02T12:00:00.000+03:00',
    })
    expect((await records.post('/v1/repayments', { body })).text).toBe(reversed.text)
    expect((await service.get(`/v1/loans/${loan_id}`)).body.totalPaid).toBe(0)
  })

  it('adjusted it is listed as the one that replaced it, with its record', async () => {
    const loan_id = nextId()
    await records.post('/v1/loans', { body: { ...aBasicLoan, loan_id } })
    const body = { ...aRepayment, repayment_id: nextId(), loan_id }
    await records.post('/v1/repayments', { body })
    const path = `/v1/loans/${loan_id}/repayments/${body.repayment_id}/adjust`
    const token = service.tokens.operator
    const { body: adjusted } = await service.post(path, { body: { transactionAmount: 90 }, token })
    const { items } = (await records.get(`/v1/repayments?loan_id=${loan_id}`)).body
    const { repayment_id: _, ...told } = body
    expect(items).toMatchObject([{ ...told, repayment_id: Number(adjusted.id), amount: 90 }])
  })
})

describe('ids that the service gives', () => {
  it('never meet those that clients chose: a number that is taken is passed over', async () => {
    const own = await startService()
    const lender = recordsOf(own)
    const first = 4_000_000_000_000_001
    for (const id of [first, first + 1, first + 3]) {
      await lender.post('/v1/borrowers', { body: { ...aBorrower, id } })
      await lender.post('/v1/loans', { body: { ...aBasicLoan, loan_id: id, borrower_id: first } })
      await lender.post('/v1/repayments', { body: { ...aRepayment, repayment_id: id, loan_id: first } })
    }
    const given = { customers: [] as number[], loans: [] as number[], repayments: [] as number[] }
    for (const name of ['a', 'b']) {
      const { body: customer } = await own.post('/v1/customers', { body: { externalId: name } })
      const { body: loan } = await own.post('/v1/loans', { body: { customerId: name, productId: 1, principal: 5_000 } })
      const { body: repayment } = await own.post(`/v1/loans/${first}/repayments`, { body: { transactionAmount: 1 } })
      given.customers.push(Number(customer.id))
      given.loans.push(Number(loan.id))
      given.repayments.push(Number(repayment.id))
    }
    for (const ids of Object.values(given)) {
      expect(ids).toHaveLength(2)
      for (const id of ids) expect([first, first + 1, first + 3]).not.toContain(id)
      expect(ids[1]).toBeGreaterThan(ids[0]!)
    }
    await own.close()
  })
})

describe('a host that no setting names', () => {
  it.each(['/v1/borrowers', '/v1/repayments', '/v1/borrowers/1'])('%s goes to the record style', async (path) => {
    expect((await service.get(path, { host: 'localhost:3000' })).body).toMatchObject({ success: true })
  })

  it('an Idempotency-Key is taken by every POST, and its answer is built again where it was lost', async () => {
    const body = { ...aBorrower, id: nextId() }
    const loan = { ...aBasicLoan, loan_id: nextId() }
    const repayment = { ...aRepayment, repayment_id: nextId(), loan_id: loan.loan_id }
    for (const [path, sent] of [
      ['/v1/borrowers', body],
      ['/v1/loans', loan],
      ['/v1/repayments', repayment],
    ] as const) {
      const call = { body: sent, headers: { 'idempotency-key': `key of ${path}` } }
      const first = await records.post(path, call)
      const again = await records.post(path, call)
      expect(again.text).toBe(first.text)
      expect(again.headers['idempotency-replayed']).toBe('true')
      await service.deps.db.pool.query('UPDATE idempotency_key SET status = NULL, response = NULL')
      expect((await records.post(path, call)).text).toBe(first.text)
    }
  })
})

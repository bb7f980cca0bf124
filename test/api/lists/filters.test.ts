import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aBasicLoan, aBorrower } from '../../support/recordBodies.ts'
import { type Records, recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

// A small book, and what each filter finds in it (contract 15).

let service: TestService
let records: Records

const lend = (externalId: string, customerId: string, productId: number, principal = 100_000) =>
  service.post('/v1/loans', { body: { customerId, productId, principal, externalId } })

const post = (loan: string, path: string, body: object) =>
  service.post(`/v1/loans/external/${loan}/${path}`, { body, token: service.tokens.operator })

beforeAll(async () => {
  service = await startService()
  service.damages('1,500 customers are inserted by SQL')
  records = recordsOf(service)
  service.clock.set('2026-01-10T09:30:00+03:00')
  for (const externalId of ['asha', 'juma', 'Neema 100%_\\'])
    await service.post('/v1/customers', { body: { externalId } })
  await service.post('/v1/customers/external/juma/close')
  await lend('a-1', 'asha', 1)
  await lend('a-2', 'asha', 3)
  service.clock.set('2026-02-01T00:00:00+03:00')
  await lend('n-1', 'Neema 100%_\\', 1, 50_000)
  await lend('n-2', 'Neema 100%_\\', 4, 60_000)
  // The bounds of the filters are these instants, and the milliseconds beside them.
  service.clock.stand('2026-02-20T08:00:00+03:00')
  await post('n-1', 'repayments', {
    transactionAmount: 55_000,
    transactionDate: '2026-02-15',
    idempotencyKey: 'n-paid',
  })
  await post('n-2', 'repayments', { transactionAmount: 500_000, idempotencyKey: 'n-over' })
  service.clock.stand('2026-02-20T23:59:59.999+03:00')
  await post('a-1', 'repayments', { transactionAmount: 7, idempotencyKey: 'twice' })
  service.clock.set('2026-02-21T00:00:00+03:00')
  const { body: mistake } = await post('a-2', 'repayments', { transactionAmount: 8, idempotencyKey: 'twice' })
  await post('a-2', `repayments/${mistake.id}/reverse`, {})
  await post('a-2', 'repayments/charge-off', {})
  await post('a-2', 'repayments/recover', { transactionAmount: 9 })
  await records.post('/v1/borrowers', { body: aBorrower })
  await records.post('/v1/loans', { body: aBasicLoan })
})
afterAll(() => service.close())

const loans = async (query: string) => {
  const { status, body } = await service.get(`/v1/loans?${query}`)
  return [status, body.total, body.items?.map(({ externalId }) => externalId)]
}

describe('GET /v1/loans', () => {
  // Product 1: one month; 3: six months; 4: twelve weeks. Today is 21 February: of a-1 (due 10 February) and a-2, the
  // first instalment is overdue; the loan of the record system (due 15 April) has no externalId.
  it.each([
    ['status=Active', ['a-1', 'a-2', null]],
    ['status=Overpaid', ['n-2']],
    ['status=Overpaid,Closed%20(obligations%20met)', ['n-1', 'n-2']],
    ['overdue=true', ['a-1', 'a-2']],
    ['overdue=false', ['n-1', 'n-2', null]],
    ['chargedOff=true', ['a-2']],
    ['chargedOff=false', ['a-1', 'n-1', 'n-2', null]],
    ['productId=1', ['a-1', 'n-1']],
    ['productId=99', []],
    ['externalId=n-2', ['n-2']],
    ['externalId=n', []],
    ['customerExternalId=asha', ['a-1', 'a-2']],
    ['customerExternalId=nobody', []],
    ['dueBefore=2026-02-10', []],
    ['dueBefore=2026-02-11', ['a-1']],
    ['dueAfter=2026-02-10&dueBefore=2026-04-15', ['n-1']],
    ['dueAfter=2026-03-01', ['a-2', 'n-2', null]],
    ['disbursedFrom=2026-01-11', ['n-1', 'n-2', null]],
    ['disbursedTo=2026-01-31', ['a-1', 'a-2', null]],
    ['disbursedFrom=2026-02-01&disbursedTo=2026-02-01', ['n-1', 'n-2']],
    ['status=Active&overdue=true&productId=1&disbursedTo=2026-01-10', ['a-1']],
    ['orderBy=principal&sortOrder=DESC&status=Active,Overpaid', ['a-2', 'a-1', 'n-2', null]],
    ['sortOrder=desc&productId=1', ['n-1', 'a-1']],
  ])('%s', async (query, expected) => {
    expect(await loans(query)).toEqual([200, expected.length, expected])
  })

  it('overdue follows the calendar, not the sweep', async () => {
    service.clock.set('2026-05-01')
    expect(await loans('overdue=true')).toEqual([200, 3, ['a-1', 'a-2', null]])
    service.clock.set('2026-02-21')
  })

  it('schedule=false leaves out the schedules alone', async () => {
    const [{ body: with_ }, { body: without }] = [
      await service.get('/v1/loans?externalId=a-1'),
      await service.get('/v1/loans?externalId=a-1&schedule=false'),
    ]
    const { repaymentSchedule, ...rest } = with_.items[0]!
    expect(repaymentSchedule).toHaveLength(1)
    expect(without.items[0]).toEqual(rest)
  })
})

describe('GET /v1/transactions', () => {
  const found = async (query: string) => {
    const { status, body } = await service.get(`/v1/transactions?${query}`)
    return [status, body.total, body.items?.map(({ amount }) => amount)]
  }

  it.each([
    ['', [55_000, 500_000, 7, 8, 129_991 + 9, 9]],
    ['type=Repayment', [55_000, 500_000, 7, 8, 9]],
    ['type=Charge-off', [130_000]],
    ['type=Charge-off,Refund', [130_000]],
    ['type=Refund', []],
    ['status=posted', [55_000, 500_000, 7, 130_000, 9]],
    ['status=reversed', [8]],
    ['type=Repayment&status=posted', [55_000, 500_000, 7, 9]],
    ['idempotencyKey=twice', [7, 8]],
    ['idempotencyKey=n-over', [500_000]],
    ['idempotencyKey=none', []],
    ['postedFrom=2026-02-20&postedTo=2026-02-20', [55_000, 500_000, 7]],
    ['postedFrom=2026-02-21', [8, 130_000, 9]],
    ['postedFrom=2026-02-20T08:00:00%2B03:00&postedTo=2026-02-20T23:59:59.999%2B03:00', [55_000, 500_000]],
    ['postedTo=2026-02-20T05:00:00.001Z', [55_000, 500_000]],
    ['postedTo=2026-02-20T08:00:00.001+03:00', [55_000, 500_000]],
    ['dateFrom=2026-02-15&dateTo=2026-02-15', [55_000]],
    ['dateTo=2026-02-20', [55_000, 500_000, 7]],
    ['dateFrom=2026-02-21&status=posted&type=Repayment', [9]],
  ])('%s', async (query, expected) => {
    expect(await found(query)).toEqual([200, expected.length, expected])
  })

  it('names the loan and the customer by both ids, and tells the portions', async () => {
    const { body } = await service.get('/v1/transactions?idempotencyKey=n-paid')
    const { body: loan } = await service.get('/v1/loans/external/n-1')
    expect(body.items[0]).toEqual({
      ...(await service.get(`/v1/loans/external/n-1/repayments/${body.items[0]!.id}`)).body,
      loanId: loan.id,
      loanExternalId: 'n-1',
      customerId: loan.customerId,
      customerExternalId: 'Neema 100%_\\',
      interest: 5_000,
      principal: 50_000,
    })
  })

  it('of one loan, with the same filters, by both addresses', async () => {
    const { body: loan } = await service.get('/v1/loans/external/a-2')
    for (const [query, amounts] of [
      ['', [8, 130_000, 9]],
      ['?type=Repayment&status=posted', [9]],
      ['?idempotencyKey=n-paid', []],
      ['?dateFrom=2026-02-21&postedTo=2026-02-20', []],
    ] as const)
      for (const path of [`/v1/loans/${loan.id}`, '/v1/loans/external/a-2']) {
        const { body } = await service.get(`${path}/transactions${query}`)
        expect([query, body.total, body.items.map(({ amount }) => amount)]).toEqual([query, amounts.length, amounts])
      }
  })
})

describe('GET /v1/customers and /v1/borrowers', () => {
  const names = async (query: string) => {
    const { status, body } = await service.get(`/v1/customers?${query}`)
    return [status, body.total, body.items?.map(({ displayName }) => displayName)]
  }

  it.each([
    ['status=Closed', ['juma Customer']],
    ['status=Active&name=A', ['asha Customer']],
    ['name=ASHA%20cust', ['asha Customer']],
    ['name=mama%20asha', ['Mama Asha Stores']],
    ['name=neema%20100%25_%5C', ['Neema 100%_\\ Customer']],
    ['name=neema%20100%25%25', []],
    ['name=sha', []],
    ['phone=255700000001', ['Mama Asha Stores']],
    ['phone=2557', []],
    ['externalId=asha&status=Closed', []],
  ])('%s', async (query, expected) => {
    expect(await names(query)).toEqual([200, expected.length, expected])
  })

  it('a phone number with a plus that the client has not escaped', async () => {
    await records.post('/v1/borrowers', { body: { ...aBorrower, id: 2, phone: '+255 712 000 002' } })
    const { body } = await records.get('/v1/borrowers?phone=+255%20712%20000%20002')
    expect(body.items.map(({ id }) => id)).toEqual([2])
  })

  it.each([
    ['business_name=MAMA', [1, 2]],
    ['business_name=asha', [expect.any(Number)]],
    ['business_name=Mama&phone=255700000001', [1]],
  ])('of borrowers: %s', async (query, expected) => {
    const { body } = await records.get(`/v1/borrowers?${query}`)
    expect(body.items.map(({ id }) => id)).toEqual(expected)
  })

  it('of a name that few have among many', async () => {
    await service.owner.pool.query(
      `INSERT INTO customer (organization_id, external_id, status, created_at, updated_at, account_no)
       SELECT 1, 'many-' || n, 'Active', now(), now(), 10000 + n FROM generate_series(1, 1500) n`,
    )
    expect(await names('name=many-1500')).toEqual([200, 1, ['many-1500 Customer']])
    const { body } = await service.get('/v1/customers?name=many-&rows=2')
    expect([body.total, body.items.map(({ externalId }) => externalId)]).toEqual([1500, ['many-1', 'many-2']])
  })
})

describe('the lists of the record style', () => {
  const ids = async (path: string, name: string) => {
    const { status, body } = await records.get(path)
    return [status, body.total, body.items?.map((item) => item[name])]
  }

  it('loans by borrower, status and day of release', async () => {
    expect(await ids('/v1/loans?borrower_id=1', 'loan_id')).toEqual([200, 1, [1]])
    expect(await ids('/v1/loans?borrower_id=99', 'loan_id')).toEqual([200, 0, []])
    expect((await ids('/v1/loans?status=Overpaid', 'loan_id'))[1]).toBe(1)
    expect(await ids('/v1/loans?released_from=2026-01-15&released_to=2026-01-15', 'loan_id')).toEqual([200, 1, [1]])
    expect((await ids('/v1/loans?released_to=2026-01-14', 'loan_id'))[1]).toBe(2)
  })

  it('repayments by the day of collection, reversed ones only when they are asked for', async () => {
    expect(await ids('/v1/repayments', 'amount')).toEqual([200, 4, [55_000, 500_000, 7, 9]])
    const all = await records.get('/v1/repayments?include_reversed=true')
    expect(all.body.items.map(({ amount, reversed }) => [amount, reversed])).toEqual([
      ...[
        [55_000, undefined],
        [500_000, undefined],
        [7, undefined],
        [8, true],
        [9, undefined],
      ],
    ])
    expect(await ids('/v1/repayments?collection_from=2026-02-21', 'amount')).toEqual([200, 1, [9]])
    const window = 'collection_from=2026-02-21&collection_to=2026-02-21&include_reversed=true'
    expect(await ids(`/v1/repayments?${window}`, 'amount')).toEqual([200, 2, [8, 9]])
    const loanId = all.body.items[3]!.loan_id
    expect(await ids(`/v1/repayments?loan_id=${loanId}&include_reversed=true`, 'amount')).toEqual([200, 2, [8, 9]])
    expect(await ids(`/v1/repayments?loan_id=${loanId}`, 'amount')).toEqual([200, 1, [9]])
  })
})

describe('GET /v1/audit-trail', () => {
  const actions = async (query: string) => {
    const { body } = await service.get(`/v1/audit-trail?${query}`, { token: service.tokens.operator })
    return body.items.map(({ action }) => action)
  }

  it('by action, time and account', async () => {
    expect(await actions('action=reverse')).toEqual(['reverse'])
    expect(await actions('from=2026-02-21&to=2026-02-21&entity=loan')).toEqual([
      // An instalment became overdue before the first of them.
      ...['create', 'Recovery Repayment', 'Charge-off', 'reverse', 'Repayment', 'time'],
    ])
    expect(await actions('to=2026-01-10T06:29:59Z&entity=loan')).toEqual([])
    expect(await actions('from=2026-02-20T20:00:00Z&to=2026-02-20T21:00:00Z')).toEqual(['Repayment', 'time'])
    expect((await actions('accountId=2&action=Repayment')).length).toBe(4)
  })
})

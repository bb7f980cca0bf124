import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anExtendedLoan } from '../support/recordBodies.ts'
import { type Records, recordsOf } from '../support/records.ts'
import { startService, type TestService } from '../support/service.ts'

// The contract's objects to the letter: each field that it names, its type, and whether it may be absent; nothing else.

let service: TestService
let records: Records
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
})
afterAll(() => service.close())

/** Types by name; a `?` marks a field that may be absent. */
type Fields = Readonly<Record<string, string>>

const IS: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  digits: (value) => typeof value === 'string' && /^\d+$/.test(value),
  nine: (value) => typeof value === 'string' && /^\d{9}$/.test(value),
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === 'number',
  flag: (value) => typeof value === 'boolean',
  true: (value) => value === true,
  date: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value),
  instant: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+03:00$/.test(value),
  list: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

/** Returns the faults of an object's fields: missing ones, others, and those of another type. */
function faultsOf(object: object, fields: Fields): string[] {
  const named = Object.entries(fields).map(([name, kind]) => [name, kind.replace('?', ''), kind.endsWith('?')] as const)
  const missing = named
    .filter(([name, , optional]) => !optional && !(name in object))
    .map(([name]) => `${name} missing`)
  const wrong = named
    .filter(([name, kind]) => name in object && !IS[kind]!(object[name as keyof typeof object]))
    .map(([name, kind]) => `${name} is no ${kind}`)
  const others = Object.keys(object).filter((name) => !(name in fields))
  return [...missing, ...wrong, ...others.map((name) => `${name} is not in the contract`)]
}

const CUSTOMER: Fields = {
  ...{ id: 'digits', accountNo: 'nine', externalId: 'text', status: 'text', active: 'flag', officeId: 'text' },
  ...{ officeName: 'text', firstname: 'text', lastname: 'text', displayName: 'text', activationDate: 'date' },
  ...{ createdAt: 'instant', updatedAt: 'instant' },
}

const SCHEDULE: Fields = {
  ...{ period: 'integer', fromDate: 'date', dueDate: 'date', principalDue: 'number', interestDue: 'number' },
  ...{ feesDue: 'number', penaltyDue: 'number', totalDue: 'number', principalPaid: 'number', interestPaid: 'number' },
  ...{ totalPaid: 'number', totalOutstanding: 'number', principalBalance: 'number', complete: 'flag' },
  completedOn: 'date?',
}

const DELINQUENCY: Fields = {
  ...{ daysPastDue: 'integer', bucket: 'text', since: 'date', stage: 'integer?', class: 'text?', provision: 'number?' },
}

const NEW_LOAN: Fields = {
  ...{ id: 'digits', accountNo: 'nine', externalId: 'text', customerId: 'digits', customerExternalId: 'text' },
  ...{ customerName: 'text', loanProductId: 'integer', loanProductName: 'text', status: 'text', principal: 'number' },
  ...{ currencyCode: 'text', numberOfRepayments: 'integer', interestRatePerPeriod: 'number' },
  ...{ principalOutstanding: 'number', interestCharged: 'number', totalOutstanding: 'number', principalPaid: 'number' },
  ...{ interestPaid: 'number', interestWaived: 'number', interestOutstanding: 'number', feesCharged: 'number' },
  ...{ feesPaid: 'number', feesOutstanding: 'number', penaltyCharged: 'number', penaltyPaid: 'number' },
  ...{ penaltyOutstanding: 'number', totalPaid: 'number', totalOverpaid: 'number', totalOverdue: 'number' },
  ...{ totalRecovered: 'number', totalWrittenOff: 'number', nextDueDate: 'date?', nextDueAmount: 'number?' },
  ...{ dueDate: 'date', dueDateTime: 'instant', disbursedAt: 'instant', overdue: 'flag', daysOverdue: 'integer' },
  ...{ overdueSince: 'date?', chargedOff: 'flag', chargedOffOn: 'date?', closedOn: 'date?', repaymentSchedule: 'list' },
  ...{ createdAt: 'instant', updatedAt: 'instant' },
}

const REPAYMENT: Fields = {
  ...{ id: 'digits', loanId: 'digits', type: 'text', date: 'date', transactionAt: 'instant', amount: 'number' },
  ...{ principal: 'number?', interest: 'number?', fees: 'number?', penalty: 'number?', overpayment: 'number?' },
  ...{ status: 'text', paymentMethod: 'text?', idempotencyKey: 'text?', recovery: 'true?', note: 'text?' },
  ...{ createdAt: 'instant', updatedAt: 'instant' },
}

const PAGE: Fields = { items: 'list', total: 'integer', page: 'integer', rowsPerPage: 'integer', next: 'text' }

const BORROWER: Fields = {
  ...{ id: 'integer', business_name: 'text', phone: 'text', address: 'text', type: 'text', region: 'text' },
  ...{ country: 'text?', email: 'text?', created_at: 'instant', updated_at: 'instant', credit_score: 'integer' },
}

const BASIC_LOAN: Fields = {
  ...{ borrower_id: 'integer', loan_id: 'integer', loan_type: 'text', principal_amount: 'number' },
  ...{ released_date: 'date', due_date: 'date', duration: 'integer', duration_period: 'text', description: 'text' },
  ...{ created_at: 'instant', updated_at: 'instant', products: 'list?' },
}

const EXTENDED_LOAN: Fields = {
  ...BASIC_LOAN,
  ...{ loan_application_id: 'text', loan_disbursed_by_id: 'integer', loan_principal_amount: 'number' },
  ...{ loan_released_date: 'date', loan_interest_method: 'text', loan_interest_type: 'text' },
  ...{ loan_interest_period: 'text', loan_interest: 'number', loan_duration_period: 'text', loan_duration: 'integer' },
  ...{ loan_payment_scheme_id: 'integer', loan_num_of_repayments: 'integer', loan_decimal_places: 'text' },
}

const RECORD_REPAYMENT: Fields = {
  ...{ repayment_id: 'integer', loan_id: 'integer', amount: 'number', collection_date: 'date', method: 'text' },
  ...{ collected_by: 'text', description: 'text', created_at: 'instant', updated_at: 'instant', status: 'text?' },
  reversed: 'true?',
}

const ITEM: Fields = { item: 'list', success: 'true' }

describe('the partner style, as the original describes it', () => {
  it('a customer, a loan, its repayments and their pages', async () => {
    const customer = await service.post('/v1/customers', { body: { externalId: 'CUST-0001' } })
    expect([customer.status, faultsOf(customer.body, CUSTOMER)]).toEqual([200, []])
    expect(customer.body).toMatchObject({ status: 'Active', active: true, firstname: 'CUST-0001' })
    const body = { customerId: 'CUST-0001', productId: 1, principal: 100_000 }
    const loan = await service.post('/v1/loans', { body: { ...body, externalId: 'LOAN-0001' } })
    expect([loan.status, faultsOf(loan.body, NEW_LOAN)]).toEqual([200, []])
    expect(faultsOf(loan.body.repaymentSchedule[0]!, SCHEDULE)).toEqual([])
    service.clock.set('2026-02-10')
    const path = '/v1/loans/external/LOAN-0001'
    const repaid = await service.post(`${path}/repayments`, {
      body: { transactionAmount: 10_500, transactionDate: '2026-02-10', idempotencyKey: 'tx-1' },
    })
    expect([repaid.status, faultsOf(repaid.body, REPAYMENT)]).toEqual([200, []])
    expect(repaid.body).toMatchObject({
      type: 'Repayment',
      interest: 10_000,
      principal: 500,
      paymentMethod: 'Mobile Money',
    })
    const read = await service.get(path)
    expect(faultsOf(read.body, { ...NEW_LOAN, delinquency: 'object', repaymentHistory: 'list' })).toEqual([])
    expect(faultsOf(read.body.delinquency as object, DELINQUENCY)).toEqual([])
    expect(faultsOf(read.body.repaymentHistory[0]!, REPAYMENT)).toEqual([])
    for (const [list, item] of [
      ['/v1/customers', CUSTOMER],
      ['/v1/customers?externalId=CUST-0001', CUSTOMER],
      ['/v1/loans?customerExternalId=CUST-0001&page=1&rows=100', NEW_LOAN],
      [`${path}/repayments`, REPAYMENT],
    ] as const) {
      const page = await service.get(list)
      expect([page.status, faultsOf(page.body, PAGE), page.body.total]).toEqual([200, [], 1])
      expect(page.body).toMatchObject({ page: 1, rowsPerPage: 100 })
      expect(faultsOf(page.body.items[0]!, item)).toEqual([])
    }
    expect((await service.get('/v1/customers/external/nobody')).status).toBe(404)
    expect((await service.get('/v1/customers?externalId=nobody')).body).toMatchObject({ items: [], total: 0 })
    expect((await service.post('/v1/customers', { body: { externalId: 'CUST-0001' } })).status).toBe(409)
  })

  it('authenticate: strings for the numbers, and authorize', async () => {
    const host = 'auth.localhost:3000'
    const { body } = await service.get('/v1/auth/authenticate', { host })
    const fields = { accountId: 'digits', organizationId: 'digits', email: 'text', roles: 'list', expiresAt: 'instant' }
    const { permissions, ...original } = body
    expect(permissions).toContain('repayments.post')
    expect(faultsOf(original, fields)).toEqual([])
    expect((await service.post('/v1/auth/authorize', { host, body: { rule: 'any' } })).status).toBe(204)
    expect((await service.post('/v1/auth/authorize', { host, body: { rule: 'admin' } })).status).toBe(403)
  })
})

describe('the record style, as the original describes it', () => {
  const borrower = {
    id: 7,
    business_name: 'Duka',
    phone: '255700',
    address: 'Moshi',
    type: 'Shop',
    region: 'Kilimanjaro',
  }
  const item = (answer: { body: object }) => (answer.body as { item: object }).item

  it('a borrower: with what is required alone, and with all', async () => {
    for (const body of [borrower, { ...borrower, id: 8, country: 'TZ', email: 'duka@example.com' }]) {
      const made = await records.post('/v1/borrowers', { body })
      expect([made.status, made.headers['x-api-version'], Object.keys(made.body)]).toEqual([
        200,
        '1.2',
        Object.keys(ITEM),
      ])
      expect([made.body.success, faultsOf(item(made), BORROWER)]).toEqual([true, []])
    }
    expect((await records.post('/v1/borrowers', { body: { ...borrower, id: 9, email: 'no e-mail' } })).status).toBe(400)
    const changed = await records.put('/v1/borrowers/8', { body: { phone: '255711', email: '' } })
    expect(faultsOf(item(changed), BORROWER)).toEqual([])
    expect(item(changed)).not.toHaveProperty('email')
  })

  it('loans of both bodies, a repayment, and their lists', async () => {
    const basic = {
      ...{ borrower_id: 7, loan_id: 1, principal_amount: 250_000, released_date: '2026-01-15' },
      ...{ due_date: '2026-04-15', duration: 3, duration_period: 'Months' },
    }
    const one = await records.post('/v1/loans', { body: basic })
    expect([one.status, faultsOf(item(one), BASIC_LOAN)]).toEqual([200, []])
    const extended = { ...anExtendedLoan, loan_id: 2, borrower_id: 7, loan_application_id: 'LA-2026-001' }
    const two = await records.post('/v1/loans', { body: extended, headers: { 'x-user-id': '1' } })
    expect([two.status, faultsOf(item(two), EXTENDED_LOAN)]).toEqual([200, []])
    expect(item(two)).toMatchObject(extended)
    const products = [{ stock_id: 1, quantity: 2, price: 3.5 }]
    const three = await records.put('/v1/loans/1', { body: { products, description: 'Maize' } })
    expect([faultsOf(item(three), BASIC_LOAN), item(three)]).toEqual([[], expect.objectContaining({ products })])
    const repayment = { repayment_id: 1, loan_id: 1, amount: 5_000, collection_date: '2026-01-20' }
    const paid = await records.post('/v1/repayments', { body: repayment })
    expect([paid.status, faultsOf(item(paid), RECORD_REPAYMENT)]).toEqual([200, []])
    for (const [path, fields, total] of [
      ['/v1/borrowers', BORROWER, 3],
      ['/v1/loans?page=1&rows=100', { ...EXTENDED_LOAN, ...optional(EXTENDED_LOAN) }, 3],
      ['/v1/repayments?loan_id=1', RECORD_REPAYMENT, 1],
    ] as const) {
      const list = await records.get(path)
      expect([path, faultsOf(list.body, { ...PAGE, success: 'true' }), list.body.total]).toEqual([path, [], total])
      for (const listed of list.body.items) expect(faultsOf(listed, fields)).toEqual([])
    }
  })
})

const optional = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, kind]) => [name, `${kind.replace('?', '')}?`]))

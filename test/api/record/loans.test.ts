import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/api/body/json.ts'
import { aBasicLoan, aBorrower, anExtendedLoan } from '../../support/recordBodies.ts'
import { type RecordId, recordIdsFrom, writeJson } from '../../support/recordIds.ts'
import { EXTREME_IDS, type Records, rawWith, recordsOf, without } from '../../support/records.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

let service: TestService
let records: Records
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  await records.post('/v1/borrowers', { body: aBorrower })
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

const nextId = recordIdsFrom(12, [1, 2, ...EXTREME_IDS.map(BigInt)])
const stamps = { created_at: '2026-01-31T09:30:00.000+03:00', updated_at: '2026-01-31T09:30:00.000+03:00' }
const scheduleOf = async (id: RecordId | string): Promise<readonly Record<string, unknown>[]> =>
  (await service.get(`/v1/loans/${id}`)).body.repaymentSchedule
const cellsOf = async (id: RecordId) =>
  (await scheduleOf(id)).map((line) => `${line.dueDate} ${line.principalDue} ${line.interestDue}`)

describe('a round trip', () => {
  it.each(EXTREME_IDS)('of a basic loan %s: exact in every answer, list and path', async (id) => {
    service.clock.stand(FIRST_DAY)
    await records.post('/v1/borrowers', { raw: rawWith(aBorrower, 'id', id) })
    const body = { ...aBasicLoan, loan_id: JSON.rawJSON(id), borrower_id: JSON.rawJSON(id) }
    const made = await records.post('/v1/loans', { body })
    expect(made.status).toBe(200)
    expect(made.text).toContain(`{"item":{"borrower_id":${id},"loan_id":${id},`)
    const { borrower_id: _, loan_id: __, ...told } = aBasicLoan
    expect(made.body.item).toMatchObject({ ...told, ...stamps })
    expect(made.body.item).not.toHaveProperty('products')
    expect(made.body.success).toBe(true)
    expect((await records.get(`/v1/loans/${id}`)).text).toBe(made.text)
    expect((await records.get('/v1/loans')).text).toContain(`{"borrower_id":${id},"loan_id":${id},`)
    const put = await records.put(`/v1/loans/${id}`, { body: { ...body, description: 'other' } })
    expect(put.text).toContain(`{"item":{"borrower_id":${id},"loan_id":${id},`)
    expect(put.body.item).toMatchObject({ ...told, description: 'other' })
  })

  it.each(EXTREME_IDS)('of an extended loan with %s everywhere, each number as it was written', async (id) => {
    const raw = writeJson({
      ...anExtendedLoan,
      loan_id: nextId(),
      loan_application_id: JSON.rawJSON(id),
      loan_disbursed_by_id: JSON.rawJSON(id),
      loan_payment_scheme_id: JSON.rawJSON(id === '1' ? '3' : id),
      loan_principal_amount: JSON.rawJSON('1200.50'),
      loan_interest: JSON.rawJSON('1.0E0'),
    })
    const { status, text } = await records.post('/v1/loans', { raw })
    expect(status).toBe(200)
    const { loan_id: _, borrower_id: __, ...sent } = parseJson(raw) as Record<string, unknown>
    expect(text).toContain(JSON.stringify(sent).slice(1, -1))
  })

  it('answers the loan item and the extended fields', async () => {
    service.clock.stand(FIRST_DAY)
    const body = { ...anExtendedLoan, loan_id: nextId() }
    const made = await records.post('/v1/loans', { body })
    expect(made.body.item).toEqual({
      ...body,
      loan_type: '',
      principal_amount: 1200,
      released_date: '2026-01-31',
      due_date: '2026-05-31',
      duration: 4,
      duration_period: 'Months',
      description: '',
      ...stamps,
    })
  })

  it.each([2, '2', 0, '0', '1', 'Round Up To Five', undefined])(
    'decimal places %j, given back as sent',
    async (places) => {
      const loan_id = nextId()
      const { body } = await records.post('/v1/loans', {
        body: { ...anExtendedLoan, loan_id, loan_decimal_places: places },
      })
      expect(body.item.loan_decimal_places).toBe(places)
    },
  )
})

describe('what the book makes of it', () => {
  it('basic: no interest, one instalment, due on due_date, in the currency of the organization', async () => {
    const loan_id = nextId()
    await records.post('/v1/loans', { body: { ...aBasicLoan, loan_id } })
    expect((await service.get(`/v1/loans/${loan_id}`)).body).toMatchObject({
      id: String(loan_id),
      externalId: null,
      customerId: '1',
      customerExternalId: null,
      customerName: 'Mama Asha Stores',
      loanProductId: null,
      loanProductName: null,
      status: 'Active',
      principal: 1000.5,
      currencyCode: 'TZS',
      numberOfRepayments: 1,
      interestRatePerPeriod: 0,
      interestCharged: 0,
      totalOutstanding: 1000.5,
      disbursedAt: '2026-01-15T00:00:00.000+03:00',
      dueDate: '2026-04-15',
      dueDateTime: '2026-04-15T00:00:00.000+03:00',
      repaymentHistory: [],
    })
    expect(await cellsOf(loan_id)).toEqual(['2026-04-15 1000.5 0'])
  })

  it('extended: the schedule of its terms; released today it is disbursed now', async () => {
    service.clock.stand(FIRST_DAY)
    const loan_id = nextId()
    await records.post('/v1/loans', { body: { ...anExtendedLoan, loan_id } })
    expect(await cellsOf(loan_id)).toEqual([
      '2026-02-28 295.54 12',
      '2026-03-31 298.5 9.04',
      '2026-04-30 301.48 6.06',
      '2026-05-31 304.48 3.04',
    ])
    expect((await service.get(`/v1/loans/${loan_id}`)).body).toMatchObject({
      numberOfRepayments: 4,
      interestRatePerPeriod: 1,
      disbursedAt: FIRST_DAY.replace('+03:00', '.000+03:00'),
      dueDateTime: '2026-05-31T09:30:00.000+03:00',
    })
  })

  it.each([
    ['flat_rate', 'percentage', 10, 30, 10],
    ['flat_rate', 'fixed', 10, 30, 1],
    ['interest_only', 'percentage', 10, 300, 10],
    ['compound_interest', 'percentage', 10, 331, 10],
    ['reducing_rate_equal_principal', 'percentage', 3, 60, 3],
  ])('%s, %s %s: interest of %s, shown as %s%% a period', async (method, type, interest, charged, rate) => {
    const loan_id = nextId()
    const body = {
      ...anExtendedLoan,
      loan_id,
      loan_principal_amount: 1000,
      loan_interest_method: method,
      loan_interest_type: type,
      loan_interest: interest,
      loan_duration: 3,
      loan_num_of_repayments: 3,
    }
    expect((await records.post('/v1/loans', { body })).status).toBe(200)
    const { body: loan } = await service.get(`/v1/loans/${loan_id}`)
    const factor = method === 'flat_rate' && type === 'percentage' ? 10 : 1
    expect(loan).toMatchObject({ interestCharged: charged * factor, interestRatePerPeriod: rate })
  })

  it('a loan may be released on a day to come', async () => {
    const loan_id = nextId()
    const body = { ...aBasicLoan, loan_id, released_date: '2026-02-10' }
    expect((await records.post('/v1/loans', { body })).body.item.released_date).toBe('2026-02-10')
    expect((await service.get(`/v1/loans/${loan_id}`)).body.disbursedAt).toBe('2026-02-10T00:00:00.000+03:00')
  })
})

describe('refusals', () => {
  it('404 not_found: no borrower has that id', async () => {
    expect(
      await records.post('/v1/loans', { body: { ...aBasicLoan, loan_id: nextId(), borrower_id: 99 } }),
    ).toMatchObject({
      status: 404,
      body: { success: false, code: 'not_found', message: 'no borrower has that id, given as borrower_id' },
    })
  })

  it('409 failed_precondition: the borrower is closed', async () => {
    const id = nextId()
    await records.post('/v1/borrowers', { body: { ...aBorrower, id } })
    await service.post(`/v1/customers/${id}/close`)
    const body = { ...aBasicLoan, loan_id: nextId(), borrower_id: id }
    expect(await records.post('/v1/loans', { body })).toMatchObject({
      status: 409,
      body: { code: 'failed_precondition' },
    })
  })

  it.each(['7', '0', 'abc', '9223372036854775808'])('404 not_found: no loan has the id %s', async (id) => {
    for (const answer of [
      await records.get(`/v1/loans/${id}`),
      await records.put(`/v1/loans/${id}`, { body: { description: 'x' } }),
    ])
      expect(answer).toMatchObject({ status: 404, body: { success: false, code: 'not_found' } })
  })
})

describe('in a currency without decimals', () => {
  it('cells are whole, and cents are refused', async () => {
    const own = await startService()
    await own.deps.db.pool.query("UPDATE organization SET currency = 'UGX'")
    const lender = recordsOf(own)
    await lender.post('/v1/borrowers', { body: aBorrower })
    expect((await lender.post('/v1/loans', { body: anExtendedLoan })).status).toBe(200)
    const { body } = await own.get('/v1/loans/2')
    expect(body.repaymentSchedule.map((line: { totalDue: number }) => line.totalDue)).toEqual([308, 308, 308, 306])
    const refused = await lender.post('/v1/loans', { body: { ...aBasicLoan, loan_id: 3 } })
    expect(refused.body.message).toBe('principal_amount: must be a whole number: UGX has no decimals')
    await own.close()
  })
})

it('fields of the answer keep their order, and stay out where nothing was sent', async () => {
  const { body } = await records.post('/v1/loans', {
    body: without({ ...anExtendedLoan, loan_id: nextId() }, 'loan_application_id'),
  })
  expect(Object.keys(body.item)).toEqual([
    ...['borrower_id', 'loan_id', 'loan_type', 'principal_amount', 'released_date', 'due_date', 'duration'],
    ...['duration_period', 'description', 'loan_disbursed_by_id', 'loan_principal_amount', 'loan_released_date'],
    ...['loan_interest_method', 'loan_interest_type', 'loan_interest_period', 'loan_interest', 'loan_duration_period'],
    ...['loan_duration', 'loan_payment_scheme_id', 'loan_num_of_repayments', 'loan_decimal_places'],
    ...['created_at', 'updated_at'],
  ])
})

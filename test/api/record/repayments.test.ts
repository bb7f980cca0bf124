import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { aBasicLoan, aBorrower, aRepayment } from '../../support/recordBodies.ts'
import { type RecordId, recordIdsFrom } from '../../support/recordIds.ts'
import { EXTREME_IDS, type Records, rawWith, recordsOf } from '../../support/records.ts'
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

const nextId = recordIdsFrom(15, [1, 2, ...EXTREME_IDS.map(BigInt)])

async function lend(): Promise<RecordId> {
  const loan_id = nextId()
  await records.post('/v1/loans', { body: { ...aBasicLoan, loan_id } })
  return loan_id
}
const repay = (loan_id: RecordId, body: object = {}) =>
  records.post('/v1/repayments', { body: { ...aRepayment, repayment_id: nextId(), loan_id, ...body } })
const paidOf = async (loan: RecordId) => (await service.get(`/v1/loans/${loan}`)).body.totalPaid

describe('a round trip', () => {
  it.each(EXTREME_IDS)('id %s, of a loan of that id: exact in every answer and list', async (id) => {
    service.clock.stand(FIRST_DAY)
    const loan = { ...aBasicLoan, loan_id: JSON.rawJSON(id) }
    await records.post('/v1/loans', { body: loan })
    const body = { ...aRepayment, repayment_id: JSON.rawJSON(id), loan_id: JSON.rawJSON(id) }
    const made = await records.post('/v1/repayments', { body })
    expect(made.status).toBe(200)
    expect(made.text).toBe(
      `{"item":{"repayment_id":${id},"loan_id":${id},"amount":100.25,"collection_date":"2026-01-20","method":"Mobile Money","collected_by":"Neema","description":"First of five","created_at":"2026-01-31T09:30:00.000+03:00","updated_at":"2026-01-31T09:30:00.000+03:00"},"success":true}`,
    )
    expect((await records.get(`/v1/repayments/${id}`)).text).toBe(made.text)
    for (const path of ['/v1/repayments', `/v1/repayments?loan_id=${id}`])
      expect((await records.get(path)).text).toContain(`{"repayment_id":${id},"loan_id":${id},`)
    expect((await service.get(`/v1/loans/${id}/repayments/${id}`)).body).toMatchObject({
      id,
      loanId: id,
      amount: 100.25,
    })
  })

  it('method, collected_by and description may be left out: the method is then the lender’s, the others are empty', async () => {
    const { method: _, collected_by: __, description: ___, ...required } = aRepayment
    const body = { ...required, repayment_id: nextId(), loan_id: await lend() }
    const made = await records.post('/v1/repayments', { body })
    expect(made.body.item).toMatchObject({ ...body, method: 'Mobile Money', collected_by: '', description: '' })
  })
})

describe('POST /v1/repayments again', () => {
  it('with the same content: the stored repayment, and nothing is posted twice', async () => {
    const loan_id = await lend()
    const body = { ...aRepayment, repayment_id: nextId(), loan_id }
    const first = await records.post('/v1/repayments', { body })
    service.clock.set('2026-02-03')
    const again = await records.post('/v1/repayments', { body })
    expect(again.status).toBe(200)
    expect(again.text).toBe(first.text)
    expect((await records.post('/v1/repayments', { raw: rawWith(body, 'amount', '100.250') })).text).toBe(first.text)
    expect(await paidOf(loan_id)).toBe(100.25)
  })

  it.each(
    Object.entries({
      amount: 100.26,
      collection_date: '2026-01-21',
      method: 'Cash',
      collected_by: 'Juma',
      description: 'Second',
    }),
  )('409 already_exists: with another %s', async (name, value) => {
    const loan_id = await lend()
    const body = { ...aRepayment, repayment_id: nextId(), loan_id }
    const first = await records.post('/v1/repayments', { body })
    const { status, body: refusal } = await records.post('/v1/repayments', { body: { ...body, [name]: value } })
    expect(status).toBe(409)
    expect(refusal).toMatchObject({ success: false, code: 'already_exists', details: [{ field: 'repayment_id' }] })
    expect((await records.get(`/v1/repayments/${body.repayment_id}`)).text).toBe(first.text)
    expect(await paidOf(loan_id)).toBe(100.25)
  })

  it('409 already_exists: on another loan, which keeps its balance', async () => {
    const [one, other] = [await lend(), await lend()]
    const body = { ...aRepayment, repayment_id: nextId(), loan_id: one }
    await records.post('/v1/repayments', { body })
    expect(await records.post('/v1/repayments', { body: { ...body, loan_id: other } })).toMatchObject({
      status: 409,
      body: { code: 'already_exists', details: [{ field: 'repayment_id' }] },
    })
    expect(await paidOf(other)).toBe(0)
  })

  it('100 at once over two instances: one posted; of two contents one wins; of two loans one has it', async () => {
    const instance = recordsOf(await service.another())
    const inTurns = (index: number) => (index % 2 === 0 ? records : instance)
    const race = async (bodyOf: (index: number) => object) => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          inTurns(index >> 1).post('/v1/repayments', { body: bodyOf(index % 2) }),
        ),
      )
      const won = answers.filter(({ status }) => status === 200)
      expect(new Set(won.map(({ text }) => text)).size).toBe(1)
      const lost = answers.filter(({ status, body }) => status === 409 && body.code === 'already_exists')
      expect(won.length + lost.length).toBe(100)
      return won.length
    }
    const [one, other] = [await lend(), await lend()]
    const body = { ...aRepayment, repayment_id: nextId(), loan_id: one }
    expect(await race(() => body)).toBe(100)
    expect(await paidOf(one)).toBe(100.25)
    const contested = { ...body, repayment_id: nextId() }
    expect(await race((side) => ({ ...contested, method: side === 0 ? 'Cash' : 'Cheque' }))).toBe(50)
    expect(await paidOf(one)).toBe(200.5)
    const shared = { ...body, repayment_id: nextId() }
    expect(await race((side) => ({ ...shared, loan_id: side === 0 ? one : other }))).toBe(50)
    expect((await paidOf(one)) + (await paidOf(other))).toBe(300.75)
  })

  it('100 different ones at once over two instances: all posted, the sum exact', async () => {
    const instance = recordsOf(await service.another())
    const loan_id = await lend()
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? records : instance).post('/v1/repayments', {
          body: { ...aRepayment, repayment_id: 50_000 + index, loan_id, amount: 0.01 },
        }),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await paidOf(loan_id)).toBe(1)
  })
})

describe('refusals', () => {
  it.each([
    [{ amount: 0 }, 'amount', 'must be greater than 0'],
    [{ amount: -1 }, 'amount', 'must be greater than 0'],
    [{ amount: 1.001 }, 'amount', 'must have at most 2 decimals in TZS'],
    [{ amount: 1e12 }, 'amount', 'must be at most 999999999999.99'],
    [{ collection_date: '2026-01-14' }, 'collection_date', 'must be on or after the day of disbursement, 2026-01-15'],
    [{ collection_date: '2026-02-01' }, 'collection_date', 'must not be in the future: today is 2026-01-31'],
  ])('400 invalid_argument: %j', async (change, field, message) => {
    const { status, body } = await repay(await lend(), change)
    expect(status).toBe(400)
    expect(body).toEqual({
      success: false,
      code: 'invalid_argument',
      message: `${field}: ${message}`,
      details: [{ field, message }],
    })
  })

  it('a refused repayment does not burn its id', async () => {
    const loan_id = await lend()
    const body = { ...aRepayment, repayment_id: nextId(), loan_id }
    expect((await records.post('/v1/repayments', { body: { ...body, amount: 0 } })).status).toBe(400)
    expect((await records.post('/v1/repayments', { body })).status).toBe(200)
  })

  it('404 not_found: no loan, no repayment has that id; a charge-off is no repayment', async () => {
    expect(await repay(99)).toMatchObject({
      status: 404,
      body: { success: false, code: 'not_found', message: 'no loan has that id, given as loan_id' },
    })
    const { body } = await service.post(`/v1/loans/${await lend()}/repayments/charge-off`)
    for (const id of ['7', 'abc', '0', '9223372036854775808', body.id])
      expect(await records.get(`/v1/repayments/${id}`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })

  it('409 failed_precondition: a written-off loan takes a recovery, which only the partner style has', async () => {
    const loan = await lend()
    await service.post(`/v1/loans/${loan}/write-off`, { token: service.tokens.operator })
    expect(await repay(loan)).toMatchObject({ status: 409, body: { success: false, code: 'failed_precondition' } })
  })
})

describe('GET /v1/repayments', () => {
  it('pages in the order of arrival, of all loans or one, with the true total past the end', async () => {
    const own = await startService()
    const lender = recordsOf(own)
    await lender.post('/v1/borrowers', { body: aBorrower })
    for (const loan_id of [1, 2]) await lender.post('/v1/loans', { body: { ...aBasicLoan, loan_id } })
    for (const [repayment_id, loan_id] of [
      [50, 1],
      [10, 2],
      [40, 1],
      [20, 2],
      [30, 1],
    ])
      await lender.post('/v1/repayments', { body: { ...aRepayment, repayment_id, loan_id } })
    const walk = async (query: string, rows: number) => {
      const ids = []
      for (let page = 1; ; page++) {
        const { body } = await lender.get(`/v1/repayments?${query}rows=${rows}&page=${page}`)
        if (body.items.length === 0) return { ids, total: body.total }
        ids.push(...body.items.map((item: { repayment_id: RecordId }) => item.repayment_id))
      }
    }
    for (const rows of [1, 2, 3, 100]) {
      expect(await walk('', rows)).toEqual({ ids: [50, 10, 40, 20, 30], total: 5 })
      expect(await walk('loan_id=1&', rows)).toEqual({ ids: [50, 40, 30], total: 3 })
    }
    expect(await walk('loan_id=99&', 10)).toEqual({ ids: [], total: 0 })
    await own.close()
  })

  it.each(['loan_id=abc', 'loan_id=0', 'loan_id=', 'loan_id=1.0', 'loan_id=9223372036854775808', 'loanid=1'])(
    '400 invalid_argument: %s',
    async (query) => {
      const { status, body } = await records.get(`/v1/repayments?${query}`)
      expect(status).toBe(400)
      expect(body).toMatchObject({
        success: false,
        code: 'invalid_argument',
        details: [{ field: query.split('=')[0] }],
      })
    },
  )
})

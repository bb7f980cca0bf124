import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { aBasicLoan, aBorrower, anExtendedLoan } from '../../support/recordBodies.ts'
import { recordIdsFrom } from '../../support/recordIds.ts'
import { type Records, rawWith, recordsOf } from '../../support/records.ts'
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

const nextId = recordIdsFrom(14, [1, 2])

describe('POST /v1/loans again', () => {
  const bodies = { basic: aBasicLoan, extended: anExtendedLoan }

  it.each(Object.entries(bodies))('%s, with the same content: the stored loan', async (_, template) => {
    const body = { ...template, loan_id: nextId() }
    const first = await records.post('/v1/loans', { body })
    service.clock.set('2026-02-03')
    const again = await records.post('/v1/loans', { body })
    expect(again.status).toBe(200)
    expect(again.text).toBe(first.text)
  })

  it('numbers count by their value: 1000.5 and 1000.50, 1 and 1.0', async () => {
    const basic = { ...aBasicLoan, loan_id: nextId() }
    const extended = { ...anExtendedLoan, loan_id: nextId() }
    for (const [body, name, json] of [
      [basic, 'principal_amount', '1000.50'],
      [extended, 'loan_interest', '1.0'],
    ] as const) {
      const { text } = await records.post('/v1/loans', { body })
      expect((await records.post('/v1/loans', { raw: rawWith(body, name, json) })).text).toBe(text)
    }
  })

  const others: [string, object, string, unknown][] = [
    ...Object.entries({
      loan_type: 'Tools',
      principal_amount: 1000.51,
      released_date: '2026-01-16',
      due_date: '2026-04-16',
      duration: 4,
      duration_period: 'Months',
      description: 'x',
    }).map(([name, value]): [string, object, string, unknown] => ['basic', aBasicLoan, name, value]),
    ...Object.entries({
      loan_application_id: 72,
      loan_disbursed_by_id: 1,
      loan_principal_amount: 1201,
      loan_released_date: '2026-01-30',
      loan_interest_method: 'flat_rate',
      loan_interest_type: 'percentage',
      loan_interest_period: 'Month',
      loan_interest: 1.0001,
      loan_duration_period: 'Weeks',
      loan_duration: 5,
      loan_payment_scheme_id: 4,
      loan_num_of_repayments: 5,
      loan_decimal_places: '2',
    }).map(([name, value]): [string, object, string, unknown] => ['extended', anExtendedLoan, name, value]),
  ]

  it.each(others)('409 already_exists: %s, %o with another %s', async (_, template, name, value) => {
    const body = { ...template, loan_id: nextId() }
    const first = await records.post('/v1/loans', { body })
    for (const other of [
      { ...body, [name]: value },
      { ...body, borrower_id: 2 },
    ]) {
      const { status, body: refusal } = await records.post('/v1/loans', { body: other })
      expect(status).toBe(409)
      expect(refusal).toMatchObject({ success: false, code: 'already_exists', details: [{ field: 'loan_id' }] })
    }
    expect((await records.get(`/v1/loans/${body.loan_id}`)).text).toBe(first.text)
  })

  it('100 at once over two instances: one loan; of two contents one wins', async () => {
    const other = recordsOf(await service.another())
    const inTurns = (index: number) => (index % 2 === 0 ? records : other)
    const body = { ...anExtendedLoan, loan_id: nextId() }
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => inTurns(index).post('/v1/loans', { body })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await service.get(`/v1/loans/${body.loan_id}`)).body.repaymentSchedule).toHaveLength(4)

    const contested = { ...body, loan_id: nextId() }
    const mixed = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        inTurns(index >> 1).post('/v1/loans', { body: { ...contested, loan_interest: 1 + (index % 2) } }),
      ),
    )
    const won = mixed.filter(({ status }) => status === 200)
    expect(won).toHaveLength(50)
    expect(new Set(won.map(({ text }) => text)).size).toBe(1)
    expect(mixed.filter(({ body: answer }) => answer.code === 'already_exists')).toHaveLength(50)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aBasicLoan, aBorrower, anExtendedLoan, aRepayment } from '../../support/recordBodies.ts'
import { type Records, recordsOf, without } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let records: Records
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  await records.post('/v1/borrowers', { body: aBorrower })
  await records.post('/v1/loans', { body: aBasicLoan })
})
afterAll(() => service.close())

/** JSON texts that a field of a kind refuses. */
const WRONG: Record<string, readonly string[]> = {
  id: ['"x"', '"1.0"', '1.5', '1e3', '0', '-1', '9223372036854775808', 'true', '[]', '{}', `1${'0'.repeat(400)}`],
  anyId: ['"x"', '1.5', '1e3', '9223372036854775808', '-9223372036854775809', 'true', '[1]', '{}'],
  whole: ['"1"', '1.5', '1e1', '0', '-1', '1000000', 'true', '[]', '{}'],
  amount: ['"1"', '0', '-1', '0.001', '1000000000000', '1e400', `1${'0'.repeat(70)}`, 'true', '[]', '{}'],
  decimal: ['"1"', '-1', '1e400', 'true', '[]', '{}'],
  date: ['"2026-02-30"', '"31/01/2026"', '"2026-1-1"', '"1899-12-31"', '"3000-01-01"', '20260131', 'true', '[]', '{}'],
  word: ['"fortnight"', '""', '" "', `"${'x'.repeat(300)}"`, 'true', '[]', '{}'],
  code: ['1.5', '1e3', 'true', '[]', '{}', '"\\u0000"', '"\\ud800"', `"${'x'.repeat(101)}"`],
  email: [
    '"asha"',
    '"asha@"',
    '"asha@example"',
    '"a b@example.com"',
    '1',
    'true',
    '[]',
    '{}',
    `"${'x'.repeat(254)}@example.com"`,
  ],
  text: ['1', 'true', '[]', '{}', '"\\u0000"', '"\\ud800"'],
}

type Field = readonly [kind: keyof typeof WRONG, required: boolean, longest?: number | undefined, mayBeEmpty?: boolean]

const borrower: Record<string, Field> = {
  id: ['id', true],
  business_name: ['text', true, 200],
  phone: ['text', true, 50],
  email: ['email', false],
  address: ['text', true, 500],
  type: ['text', true, 100],
  region: ['text', true, 100],
  country: ['text', false, 100, true],
}

const basicLoan: Record<string, Field> = {
  borrower_id: ['id', true],
  loan_id: ['id', true],
  loan_type: ['text', false, 100, true],
  principal_amount: ['amount', true],
  released_date: ['date', true],
  due_date: ['date', true],
  duration: ['whole', true],
  duration_period: ['word', true],
  description: ['text', false, 1000, true],
}

const extendedLoan: Record<string, Field> = {
  loan_id: ['id', true],
  borrower_id: ['id', true],
  loan_application_id: ['code', false],
  loan_disbursed_by_id: ['anyId', false],
  loan_principal_amount: ['amount', true],
  loan_released_date: ['date', true],
  loan_interest_method: ['word', true],
  loan_interest_type: ['word', true],
  loan_interest_period: ['word', true],
  loan_interest: ['decimal', true],
  loan_duration_period: ['word', true],
  loan_duration: ['whole', true],
  loan_payment_scheme_id: ['id', true],
  loan_num_of_repayments: ['whole', true],
  loan_decimal_places: ['word', false],
}

const repayment: Record<string, Field> = {
  repayment_id: ['id', true],
  loan_id: ['id', true],
  amount: ['amount', true],
  collection_date: ['date', true],
  method: ['text', false, 100, true],
  collected_by: ['text', false, 100, true],
  description: ['text', false, 1000, true],
}

/** The fields that `null` clears in an update; elsewhere in an update, `null` is refused. */
const CLEARABLE = ['id', 'loan_id', 'email', 'country', 'loan_type', 'description']

/** In an update nothing is required, and all texts but the name may be empty. */
const optional = (fields: Record<string, Field>): Record<string, Field> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, [kind, , longest]]): [string, Field] => [
      name,
      [kind, false, longest, name !== 'business_name'],
    ]),
  )

const bodies: [name: string, method: 'post' | 'put', path: string, accepted: object, fields: Record<string, Field>][] =
  [
    ['a new borrower', 'post', '/v1/borrowers', { ...aBorrower, id: 71 }, borrower],
    ['an update of a borrower', 'put', '/v1/borrowers/1', aBorrower, optional(borrower)],
    ['a new basic loan', 'post', '/v1/loans', { ...aBasicLoan, loan_id: 71 }, basicLoan],
    ['a new extended loan', 'post', '/v1/loans', { ...anExtendedLoan, loan_id: 72 }, extendedLoan],
    ['an update of a loan', 'put', '/v1/loans/1', aBasicLoan, optional(basicLoan)],
    ['a new repayment', 'post', '/v1/repayments', { ...aRepayment, repayment_id: 71 }, repayment],
  ]

const naming = (field: string) => ({
  status: 400,
  body: { success: false, code: 'invalid_argument', details: [{ field }] },
})

describe.each(bodies)('%s', (_, method, path, accepted, fields) => {
  const members = Object.keys(fields)
  const send = (raw: string) => records[method](path, { raw })
  const withMember = (name: string, json: string) =>
    send(JSON.stringify({ ...accepted, [name]: JSON.rawJSON('0') }).replace(`"${name}":0`, `"${name}":${json}`))

  it.each(members)('400 invalid_argument: %s missing, null or of a wrong kind', async (name) => {
    const [kind, required] = fields[name]!
    if (required) {
      const answer = await send(JSON.stringify(without(accepted, name)))
      expect(answer).toMatchObject(naming(name))
      expect(answer.body.message).toBe(`${name}: is required`)
    }
    const takesNull = method === 'put' ? CLEARABLE.includes(name) : !required
    for (const json of [...(takesNull ? [] : ['null']), ...WRONG[kind]!]) {
      const answer = await withMember(name, json)
      expect(answer, json).toMatchObject(naming(name))
      expect(answer.body.message).toMatch(new RegExp(`^${name}: (must|is)`))
    }
  })

  it.each(members.filter((name) => fields[name]![0] === 'text'))(
    '400 invalid_argument: %s too long, or empty where it may not be',
    async (name) => {
      const [, , longest = 0, mayBeEmpty = false] = fields[name]!
      expect(await withMember(name, JSON.stringify('é'.repeat(longest + 1)))).toMatchObject(naming(name))
      if (mayBeEmpty) return
      for (const empty of ['', ' \u00a0'])
        expect(await withMember(name, JSON.stringify(empty))).toMatchObject(naming(name))
    },
  )

  it('a whole number may be written 1.0, and an id as a string of digits', async () => {
    const ids = members.filter((name) => ['id', 'anyId'].includes(fields[name]![0]))
    const whole = members.filter((name) => ['id', 'anyId', 'whole'].includes(fields[name]![0]))
    const written = (names: readonly string[], write: (value: unknown) => string) =>
      send(
        names.reduce(
          (raw, name) => raw.replace(new RegExp(`"${name}":[^,}]+`), (_, __) => `"${name}":${write(member(name))}`),
          JSON.stringify(accepted),
        ),
      )
    const member = (name: string) => (accepted as Record<string, unknown>)[name]
    const plain = await send(JSON.stringify(accepted))
    expect(plain.status).toBe(200)
    expect((await written(whole, (value) => `${value}.0`)).text).toBe(plain.text)
    expect((await written(ids, (value) => `"${value}"`)).text).toBe(plain.text)
  })

  it.each(members)('400 invalid_argument: a slip in %s, with the name that was meant', async (name) => {
    const slip = `${name}s`
    const sent = { ...without(accepted, name), [slip]: 1 }
    const answer = await send(JSON.stringify(sent))
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_argument' } })
    expect(answer.body.details[0]?.field).toBe(slip)
    expect(answer.body.message).toContain(name.length > 2 ? `did you mean ${name}?` : 'is not a known field')
  })

  it('400 invalid_argument: an unknown field, one given twice, no object, no JSON', async () => {
    expect(await send(JSON.stringify({ ...accepted, colour: 'red' }))).toMatchObject(naming('colour'))
    const [first = ''] = members
    expect(await send(JSON.stringify(accepted).replace('{', `{"${first}":1,`))).toMatchObject(naming(first))
    for (const raw of ['[]', '1', '"x"', 'null', '{', '{"a":}'])
      expect(await send(raw)).toMatchObject({ status: 400, body: { success: false, code: 'invalid_argument' } })
  })

  it('is accepted as it is', async () => {
    expect(await send(JSON.stringify(accepted))).toMatchObject({ status: 200, body: { success: true } })
  })
})

describe('a body that mixes the shapes of a loan', () => {
  const { loan_id: _, borrower_id: __, ...basic } = { ...aBasicLoan }
  const { loan_id: ___, borrower_id: ____, ...extended } = { ...anExtendedLoan }

  it.each(Object.entries(basic))('400 invalid_argument: %s in an extended body', async (name, value) => {
    const answer = await records.post('/v1/loans', { body: { ...anExtendedLoan, loan_id: 90, [name]: value } })
    expect(answer).toMatchObject(naming(name))
    expect(answer.body.message).toContain('send one of the two')
  })

  it.each(Object.entries(extended))('400 invalid_argument: %s in a basic body', async (name, value) => {
    const answer = await records.post('/v1/loans', { body: { ...aBasicLoan, loan_id: 90, [name]: value } })
    expect(answer.status).toBe(400)
    expect(answer.body.details.map(({ field }: { field: string }) => field)).toEqual(Object.keys(basic))
    expect(answer.body.message).toContain(name)
  })

  it('none was booked', async () => expect((await records.get('/v1/loans/90')).status).toBe(404))
})

describe('products of a loan', () => {
  const aProduct = { stock_id: 1, quantity: 2, price: 3 }
  const put = (products: unknown) => records.put('/v1/loans/1', { body: { products } })

  it.each(['stock_id', 'quantity', 'price'])(
    '400 invalid_argument: %s missing, null or of a wrong kind',
    async (name) => {
      const wrong = [null, 'x', true, -1, [], {}, ...(name === 'stock_id' ? [1.5] : [])]
      expect(await put([aProduct, without(aProduct, name)])).toMatchObject(naming(`products[1].${name}`))
      for (const value of wrong)
        expect(await put([aProduct, { ...aProduct, [name]: value }])).toMatchObject(naming(`products[1].${name}`))
    },
  )

  it('400 invalid_argument: no list, no objects, unknown fields, too many', async () => {
    for (const products of [1, 'x', aProduct]) expect(await put(products)).toMatchObject(naming('products'))
    for (const product of [null, 1, 'x', []]) expect(await put([product])).toMatchObject(naming('products[0]'))
    expect(await put([{ ...aProduct, colour: 1 }])).toMatchObject(naming('products[0].colour'))
    expect(await put(Array(501).fill(aProduct))).toMatchObject(naming('products'))
    expect((await put(Array(500).fill(aProduct))).status).toBe(200)
  })
})

describe('terms that contradict each other', () => {
  it.each([
    [{ loan_interest_type: 'fixed' }, 'loan_interest_type'],
    [{ loan_payment_scheme_id: 10 }, 'loan_payment_scheme_id'],
    [{ loan_payment_scheme_id: 10, loan_interest_method: 'flat_rate' }, 'loan_num_of_repayments'],
    [{ loan_interest: 1.23456 }, 'loan_interest'],
    [{ loan_duration: 731 }, 'loan_duration'],
    [{ loan_num_of_repayments: 2001 }, 'loan_num_of_repayments'],
    [{ loan_payment_scheme_id: 11, loan_num_of_repayments: 974 }, 'loan_released_date'],
    [{ loan_payment_scheme_id: 77, loan_duration_period: 'Days', loan_duration: 3 }, 'loan_num_of_repayments'],
  ])('400 invalid_argument: %j', async (change, field) => {
    expect(await records.post('/v1/loans', { body: { ...anExtendedLoan, loan_id: 91, ...change } })).toMatchObject(
      naming(field),
    )
  })

  it('400 invalid_argument: due before released', async () => {
    const body = { ...aBasicLoan, loan_id: 91, due_date: '2026-01-14' }
    expect(await records.post('/v1/loans', { body })).toMatchObject(naming('due_date'))
    expect((await records.post('/v1/loans', { body: { ...body, due_date: '2026-01-15' } })).status).toBe(200)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { latestTrail } from '../../../src/db/audit/auditTail.ts'
import { type RecordId, recordIdsFrom } from '../../support/recordIds.ts'
import { EXTREME_IDS, type Records, rawWith, recordsOf, without } from '../../support/records.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'
import type { Wire } from '../../support/wire.ts'

let service: TestService
let records: Records
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

const asha = {
  business_name: 'Mama Asha Stores',
  phone: '255700000001',
  email: 'asha@example.com',
  address: 'Plot 12\nKariakoo',
  type: 'Retailer',
  region: 'Dar es Salaam',
  country: 'TZ',
}
const nextId = recordIdsFrom(13, [1, 2, ...EXTREME_IDS.map(BigInt)])

describe('a round trip', () => {
  it.each(EXTREME_IDS)('id %s: exact in every answer, in the list, and in the path of the update', async (id) => {
    service.clock.stand(FIRST_DAY)
    const raw = rawWith({ id: 0, ...asha }, 'id', id)
    const made = await records.post('/v1/borrowers', { raw })
    expect(made.status).toBe(200)
    expect(made.text).toContain(`{"item":{"id":${id},`)
    expect(made.headers['x-api-version']).toBe('1.2')
    expect(without(made.body.item, 'id')).toEqual({
      ...asha,
      credit_score: 0,
      created_at: '2026-01-31T09:30:00.000+03:00',
      updated_at: '2026-01-31T09:30:00.000+03:00',
    })
    expect(made.body.success).toBe(true)
    expect((await records.get(`/v1/borrowers/${id}`)).text).toBe(made.text)
    expect((await records.get('/v1/borrowers')).text).toContain(`{"id":${id},`)

    service.clock.stand('2026-02-01')
    const changed = await records.put(`/v1/borrowers/${id}`, { raw: rawWith({ id: 0, phone: '255711' }, 'id', id) })
    expect(changed.text).toContain(`{"item":{"id":${id},`)
    expect(without(changed.body.item, 'id')).toEqual({
      ...asha,
      credit_score: 0,
      phone: '255711',
      created_at: '2026-01-31T09:30:00.000+03:00',
      updated_at: '2026-02-01T12:00:00.000+03:00',
    })
    expect((await records.get(`/v1/borrowers/${id}`)).text).toBe(changed.text)
  })

  it('email and country may be left out, and are left out of answers then; the score is there', async () => {
    const { email: _, country: __, ...required } = asha
    const { body } = await records.post('/v1/borrowers', { body: { id: nextId(), ...required } })
    expect(body.item).toMatchObject({ ...required, credit_score: 0 })
    for (const unknown of ['email', 'country']) expect(body.item).not.toHaveProperty(unknown)
  })
})

describe('POST /v1/borrowers again', () => {
  it('with the same content: the stored borrower', async () => {
    const body = { id: nextId(), ...asha }
    const first = await records.post('/v1/borrowers', { body })
    service.clock.set('2026-02-01')
    const again = await records.post('/v1/borrowers', { body })
    expect(again.status).toBe(200)
    expect(again.text).toBe(first.text)
  })

  it.each(Object.keys(asha))('409 already_exists: with another %s', async (field) => {
    const body = { id: nextId(), ...asha }
    const first = await records.post('/v1/borrowers', { body })
    const { status, body: refusal } = await records.post('/v1/borrowers', {
      body: { ...body, [field]: field === 'email' ? 'other@example.com' : 'other' },
    })
    expect(status).toBe(409)
    expect(refusal).toMatchObject({ success: false, code: 'already_exists', details: [{ field: 'id' }] })
    expect((await records.get(`/v1/borrowers/${body.id}`)).text).toBe(first.text)
  })

  it('100 at once, over two instances: one borrower; two contents: one of them wins', async () => {
    const other = recordsOf(await service.another())
    const body = { id: nextId(), ...asha }
    const inTurns = (index: number) => (index % 2 === 0 ? records : other)
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => inTurns(index).post('/v1/borrowers', { body })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)

    const contested = { ...body, id: nextId() }
    const mixed = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        inTurns(index >> 1).post('/v1/borrowers', { body: { ...contested, phone: index % 2 === 0 ? '1' : '2' } }),
      ),
    )
    const won = mixed.filter(({ status }) => status === 200)
    expect(won).toHaveLength(50)
    expect(new Set(won.map(({ text }) => text)).size).toBe(1)
    expect(mixed.filter(({ body: answer }) => answer.code === 'already_exists')).toHaveLength(50)
  })
})

describe('PUT /v1/borrowers/{id}', () => {
  it('what is left out stays; nothing changed leaves no trace', async () => {
    const id = nextId()
    const { text } = await records.post('/v1/borrowers', { body: { id, ...asha } })
    service.clock.set('2026-02-01')
    expect((await records.put(`/v1/borrowers/${id}`, { body: {} })).text).toBe(text)
    expect((await records.put(`/v1/borrowers/${id}`, { body: asha })).text).toBe(text)
    const { body } = await records.put(`/v1/borrowers/${id}`, { body: { region: 'Arusha', email: '' } })
    expect(body.item).toMatchObject({ ...without(asha, 'email'), region: 'Arusha' })
    expect(body.item).not.toHaveProperty('email')
    const trail = await latestTrail(service.deps.db, { entity: 'customer', entityId: String(id) }, 10)
    expect(trail).toMatchObject([
      { action: 'create', before: null, after: { region: 'Dar es Salaam' } },
      { action: 'update', before: { region: 'Dar es Salaam' }, after: { region: 'Arusha' } },
    ])
  })

  it('two who change different details do not undo each other', async () => {
    const id = nextId()
    await records.post('/v1/borrowers', { body: { id, ...asha } })
    await Promise.all([
      records.put(`/v1/borrowers/${id}`, { body: { phone: '1' } }),
      records.put(`/v1/borrowers/${id}`, { body: { region: '2' } }),
      records.put(`/v1/borrowers/${id}`, { body: { type: '3' } }),
    ])
    const { body } = await records.get(`/v1/borrowers/${id}`)
    expect(body.item).toMatchObject({ phone: '1', region: '2', type: '3' })
  })

  it('400 invalid_argument: an id that is not that of the path', async () => {
    const id = nextId()
    await records.post('/v1/borrowers', { body: { id, ...asha } })
    const { status, body } = await records.put(`/v1/borrowers/${id}`, { body: { id: BigInt(id) - 1n, phone: '1' } })
    expect(status).toBe(400)
    expect(body.message).toBe(`id: must be that of the path, ${id}`)
  })
})

describe('404 not_found', () => {
  it.each(['7', '0', '-1', 'abc', '1.0', '9223372036854775808', '%20'])('no borrower has the id %s', async (id) => {
    for (const answer of [
      await records.get(`/v1/borrowers/${id}`),
      await records.put(`/v1/borrowers/${id}`, { body: { phone: '1' } }),
    ])
      expect(answer).toMatchObject({ status: 404, body: { success: false, code: 'not_found' } })
  })
})

describe('GET /v1/borrowers', () => {
  it('pages in the order of arrival, with the true total on every page and past the end', async () => {
    const own = await startService()
    const lender = recordsOf(own)
    for (const id of [30, 10, 20, 50, 40]) await lender.post('/v1/borrowers', { body: { id, ...asha } })
    const page = async (query: string) => (await lender.get(`/v1/borrowers?${query}`)).body
    const ids = (body: Wire<RecordId>) => body.items.map((item) => item.id)
    expect(await page('')).toMatchObject({ total: 5, page: 1, rowsPerPage: 100, success: true })
    expect(ids(await page(''))).toEqual([30, 10, 20, 50, 40])
    for (const rows of [1, 2, 3, 4, 5, 100]) {
      const walked = []
      for (let number = 1; number <= Math.ceil(5 / rows); number++)
        walked.push(...ids(await page(`page=${number}&rows=${rows}`)))
      expect(walked).toEqual([30, 10, 20, 50, 40])
    }
    for (const number of [2, 3, 1_000_000_000])
      expect(await page(`rows=5&page=${number}`)).toEqual({
        items: [],
        total: 5,
        page: number,
        rowsPerPage: 5,
        success: true,
      })
    await own.close()
  })

  it.each(['rows=0', 'rows=101', 'page=0', 'page=x', 'pages=1', 'page=1&page=2'])(
    '400 invalid_argument: %s',
    async (query) => {
      const { status, body } = await records.get(`/v1/borrowers?${query}`)
      expect(status).toBe(400)
      expect(body).toMatchObject({
        success: false,
        code: 'invalid_argument',
        details: [{ field: query.split('=')[0] }],
      })
    },
  )
})

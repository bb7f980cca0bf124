import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inPlace } from '../../../src/api/openapi/share.ts'
import { documentOf } from '../../support/document.ts'
import { readStatementsHere } from '../../support/readHere.ts'
import { startService, type TestService } from '../../support/service.ts'
import { fictionalStatement, smallStatement, statementPdf } from '../../support/statementPdf.ts'
import { showing } from '../../support/upload.ts'

const PATH = '/v1/credit-scorecard/asha/boost'

let service: TestService
beforeAll(async () => {
  service = await startService()
  readStatementsHere(service)
  for (const externalId of ['asha', 'neema']) await service.post('/v1/customers', { body: { externalId } })
})
afterAll(() => service.close())
beforeEach(() => service.clock.set('2026-07-02'))

describe('one statement at once', () => {
  it('by one customer and by two, on two instances: it raises one limit, once', async () => {
    const other = await service.another()
    readStatementsHere(service, other)
    const pdf = await smallStatement('2026-04-01', '2026-06-30')
    const send = (index: number) => {
      const path = `/v1/credit-scorecard/${index % 4 < 2 ? 'asha' : 'neema'}/boost`
      return (index % 2 === 0 ? service : other).post(path, showing(pdf))
    }
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => send(index)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const by = (status: string) => answers.filter(({ body }) => body.boostStatus === status)
    expect(by('raised')).toHaveLength(1)
    const raised = by('raised')[0]!.body
    for (const { body } of by('cooldown')) expect(body.externalId).toBe(raised.externalId)
    // The other customer's limit stays: the statement has been used.
    for (const { body } of by('unchanged'))
      expect(body).toMatchObject({ creditLimit: 0, statement: { usedBefore: true } })
    const { rows } = await service.deps.db.pool.query(
      `SELECT (SELECT count(*) FROM credit_statement s JOIN customer c ON c.id = s.customer_id
               WHERE c.external_id IN ('asha', 'neema'))::int AS statements,
              (SELECT count(*) FROM credit_decision d JOIN customer c ON c.id = d.customer_id
               WHERE d.kind = 'boost' AND c.external_id IN ('asha', 'neema'))::int AS decisions`,
    )
    expect(rows).toEqual([{ statements: 1, decisions: 8 }])
  })

  it('the same transactions saved as another file are the same statement', async () => {
    const sketch = fictionalStatement({ layout: 'yas', from: '2026-05-01' })
    const few = { ...sketch, movements: sketch.movements.slice(0, 9) }
    await service.post('/v1/customers', { body: { externalId: 'twice' } })
    const [one, two] = [await statementPdf(few), await statementPdf({ ...few, phone: '255754***123' })]
    const boost = (pdf: Buffer) => service.post('/v1/credit-scorecard/twice/boost', showing(pdf))
    expect((await boost(one)).body.boostStatus).toBe('raised')
    service.clock.set('2026-08-15')
    expect((await boost(two)).body).toMatchObject({ boostStatus: 'unchanged', statement: { usedBefore: true } })
  })
})

describe('Idempotency-Key', () => {
  const under = (key: string, call: ReturnType<typeof showing>) => ({
    ...call,
    headers: { ...call.headers, 'idempotency-key': key },
  })

  it('the same file and fields get the stored answer; another file or field is another request', async () => {
    await service.post('/v1/customers', { body: { externalId: 'keyed' } })
    const path = '/v1/credit-scorecard/keyed/boost'
    const pdf = await smallStatement('2026-03-01', '2026-06-30')
    const other = await smallStatement('2026-05-01', '2026-06-30')
    const named = { fullName: 'Asha Mwangi' }
    const first = await service.post(path, under('boost-1', showing(pdf, named)))
    expect(first.body).toMatchObject({ boostStatus: 'raised', statement: { nameChecked: true } })
    const again = await service.post(path, under('boost-1', showing(pdf, named)))
    expect(again.text).toBe(first.text)
    expect(again.headers['idempotency-replayed']).toBe('true')
    for (const call of [showing(pdf, { fullName: 'Asha Wanjiku' }), showing(other, named)])
      expect(await service.post(path, under('boost-1', call))).toMatchObject({
        status: 400,
        body: { details: [{ field: 'Idempotency-Key' }] },
      })

    // A crash kept the answer from being stored: it is made again from the decision.
    await service.deps.db.pool.query("UPDATE idempotency_key SET status = NULL, response = NULL WHERE key = 'boost-1'")
    expect(await service.post(path, under('boost-1', showing(pdf, named)))).toMatchObject({
      status: 200,
      body: first.body,
    })
  })

  it('a refused statement does not burn the key', async () => {
    const small = await smallStatement('2026-05-01', '2026-06-30')
    expect(await service.post(PATH, under('boost-2', showing(Buffer.from('x'))))).toMatchObject({ status: 400 })
    expect(await service.post(PATH, under('boost-2', showing(small)))).toMatchObject({ status: 200 })
  })
})

describe('the document', () => {
  it('describes the body, part by part', async () => {
    const { paths, components } = inPlace(await documentOf(service))
    const boost = paths['/v1/credit-scorecard/{customer}/boost']!.post!
    expect(Object.keys(boost.requestBody!.content)).toEqual(['multipart/form-data'])
    expect(boost.requestBody!.content['multipart/form-data']?.schema.$ref).toMatch(/BoostCreditLimitRequest$/)
    expect(components.schemas.BoostCreditLimitRequest).toMatchObject({
      required: ['statement'],
      additionalProperties: false,
      properties: {
        statement: { type: 'string', format: 'binary', contentMediaType: 'application/pdf' },
        fullName: { type: 'string', maxLength: 200 },
        mobileNumber: { type: 'string', maxLength: 30 },
      },
    })
    expect(Object.keys(boost.responses).sort()).toEqual(
      ['200', '400', '401', '403', '404', '409', '413', '415', '429', '500', '503'].sort(),
    )
    expect(
      paths['/v1/credit-scorecard/{customer}']?.get?.responses['200']?.content?.['application/json']?.schema.$ref,
    ).toBe('#/components/schemas/CreditScorecard')
  })
})

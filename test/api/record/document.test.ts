import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Records, recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'
import type { Document, Operation } from '../../support/wire.ts'

let service: TestService
let records: Records
let document: Document
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  document = (await service.get<Document>('/openapi.json', { host: new URL(service.deps.config.recordsUrl).host })).body
})
afterAll(() => service.close())

const example = (name: string) => (document.components.schemas[name]!.examples as object[])[0]!

describe('/openapi.json of the records host', () => {
  it('has every operation of the record style, and none of another', () => {
    expect(document.openapi).toBe('3.1.0')
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    )
    expect(operations.filter((operation) => operation.includes('/v1/')).sort()).toEqual(
      [
        ...['get /v1/borrowers', 'post /v1/borrowers', 'get /v1/borrowers/{id}', 'put /v1/borrowers/{id}'],
        ...['get /v1/loans', 'post /v1/loans', 'get /v1/loans/{id}', 'put /v1/loans/{id}'],
        ...['get /v1/repayments', 'post /v1/repayments', 'get /v1/repayments/{id}'],
      ].sort(),
    )
  })

  it('tells both bodies of a loan, each with an example', () => {
    const body = document.paths['/v1/loans']!.post!.requestBody!.content['application/json']!.schema
    expect(body).toEqual({
      anyOf: [{ $ref: '#/components/schemas/NewLoan' }, { $ref: '#/components/schemas/NewExtendedLoan' }],
    })
    expect(document.components.schemas.NewExtendedLoan).toMatchObject({
      additionalProperties: false,
      properties: {
        loan_id: { type: 'integer', format: 'int64', minimum: 1 },
        loan_interest: { type: 'number' },
        loan_released_date: { type: 'string', format: 'date' },
        loan_interest_method: { type: 'string', examples: ['flat_rate'] },
        loan_num_of_repayments: { type: 'integer', minimum: 1, maximum: 2000 },
        loan_decimal_places: { type: ['string', 'integer'] },
      },
    })
    const { required } = document.components.schemas.NewExtendedLoan!
    expect(required).toHaveLength(12)
  })

  it('every example is accepted', async () => {
    for (const [path, name] of [
      ['/v1/borrowers', 'NewBorrower'],
      ['/v1/loans', 'NewLoan'],
      ['/v1/loans', 'NewExtendedLoan'],
    ] as const)
      expect(await records.post(path, { body: example(name) })).toMatchObject({ status: 200 })
    service.clock.set('2026-02-10')
    expect(await records.post('/v1/repayments', { body: example('NewRepayment') })).toMatchObject({ status: 200 })
    expect(await records.put('/v1/borrowers/1', { body: example('BorrowerChanges') })).toMatchObject({ status: 200 })
    expect(await records.put('/v1/loans/1', { body: example('LoanChanges') })).toMatchObject({ status: 200 })
  })

  it('every answer has the members that its schema tells', async () => {
    for (const [path, name] of [
      ['/v1/borrowers/1', 'Borrower'],
      ['/v1/loans/1', 'Loan'],
      ['/v1/loans/2', 'Loan'],
      ['/v1/repayments/1', 'Repayment'],
    ] as const) {
      const { item } = (await records.get(path)).body
      const { properties, required } = document.components.schemas[name]!
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(item)))
      expect(Object.keys(item)).toEqual(expect.arrayContaining(required as string[]))
    }
  })

  it('tells the headers, the API key, and each refusal with an example in the words of the style', () => {
    expect(document.components.securitySchemes.bearer!.description).toContain('mk_')
    const names = ({ parameters = [] }: Operation) =>
      parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name.toLowerCase())
    expect(names(document.paths['/v1/loans']!.get!)).toEqual(['x-user-id'])
    expect(names(document.paths['/v1/loans']!.post!)).toEqual(['x-user-id', 'idempotency-key'])
    const codes = Object.values(document.paths['/v1/loans']!.post!.responses).flatMap(({ content }) =>
      Object.entries(content?.['application/json']?.examples ?? {}).map(([code, shown]) => {
        expect(shown).toMatchObject({ value: { success: false, code } })
        return code
      }),
    )
    expect(codes.sort()).toEqual(
      [
        ...['invalid_argument', 'unauthenticated', 'permission_denied', 'not_found', 'already_exists', 'aborted'],
        ...['failed_precondition', 'payload_too_large', 'unsupported_media_type', 'resource_exhausted', 'internal'],
        'unavailable',
      ].sort(),
    )
  })

  it('/docs is a page of it', async () => {
    expect((await records.get('/docs/json')).body).toEqual(document)
    expect((await records.get('/docs')).headers['content-type']).toMatch(/^text\/html/)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { inMode } from '../../support/ahead.ts'
import { anyCursor, anyMark } from '../../support/cursors.ts'
import { operationsOf, shownIn } from '../../support/document.ts'
import { type Records, recordsOf } from '../../support/records.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'
import type { Document, Media, Operation } from '../../support/wire.ts'

let service: TestService
let records: Records
let document: Document
let operations: (readonly [name: string, operation: Operation])[]
beforeAll(async () => {
  service = await startService()
  // Whole answers are compared with the examples, which have the instant of each step.
  service.clock.stand(FIRST_DAY)
  records = recordsOf(service)
  document = (await service.get<Document>('/openapi.json', { host: new URL(service.deps.config.recordsUrl).host })).body
  operations = operationsOf(document).filter(([name]) => name.includes('/v1/'))
})
afterAll(() => service.close())

interface Ask {
  readonly at?: string
  readonly query?: string
  /** Which of several bodies, and of their answers. */
  readonly nth?: number
}

/** The story of the examples: what is sent, and when. */
const STORY: readonly [name: string, ask: Ask][] = [
  ['POST /v1/borrowers', { at: '2026-01-31' }],
  ['GET /v1/borrowers', {}],
  ['GET /v1/borrowers/{id}', {}],
  ['POST /v1/borrowers/{id}/consents', {}],
  ['GET /v1/borrowers/{id}/consents', {}],
  ['POST /v1/borrowers/{id}/consents/{consentId}/withdraw', {}],
  ['POST /v1/loans', {}],
  ['GET /v1/loans', {}],
  ['GET /v1/loans/{id}', {}],
  ['POST /v1/loans/{id}/guarantors', {}],
  ['GET /v1/loans/{id}/guarantors', {}],
  ['POST /v1/loans/{id}/guarantors/{guarantorId}/release', {}],
  ['POST /v1/loans/{id}/collateral', {}],
  ['GET /v1/loans/{id}/collateral', {}],
  ['POST /v1/loans/{id}/collateral/{collateralId}/release', {}],
  ['POST /v1/loans', { nth: 1 }],
  ['POST /v1/repayments', { at: '2026-02-10' }],
  ['GET /v1/repayments', { query: '?loan_id=1' }],
  ['GET /v1/repayments/{id}', {}],
  ['GET /v1/loans/{id}/statement', {}],
  ['GET /v1/repayments/{id}/receipt', {}],
  ['GET /v1/events', { query: '?types=repayment.posted' }],
  ['GET /v1/events/{id}', {}],
  ['PUT /v1/borrowers/{id}', { at: '2026-02-20' }],
  ['PUT /v1/loans/{id}', {}],
]

/** The numbers of bodies that are bounded below, and whether 0 is refused. */
const BOUNDED: readonly [name: string, schema: string, path: string, atZero: 'refused' | 'taken'][] = [
  ['POST /v1/loans', 'CreateBasicLoanRequest', 'principal_amount', 'refused'],
  ['POST /v1/loans', 'CreateExtendedLoanRequest', 'loan_principal_amount', 'refused'],
  ['POST /v1/loans', 'CreateExtendedLoanRequest', 'loan_interest', 'taken'],
  ['PUT /v1/loans/{id}', 'UpdateLoanRequest', 'principal_amount', 'refused'],
  ['PUT /v1/loans/{id}', 'UpdateLoanRequest', 'products.quantity', 'taken'],
  ['PUT /v1/loans/{id}', 'UpdateLoanRequest', 'products.price', 'taken'],
  ['POST /v1/repayments', 'PostRepaymentRequest', 'amount', 'refused'],
]

const jsonOf = (media: Record<string, Media> | undefined) => {
  const json = media?.['application/json']
  return json ? shownIn(document, json) : []
}
const operationOf = (name: string) => operations.find(([one]) => one === name)![1]
const bodiesOf = (name: string) => jsonOf(operationOf(name).requestBody?.content)
const answersOf = (name: string) => jsonOf(operationOf(name).responses['200']!.content)
/** The schema of the items of a list, which the document names. */
const itemsOf = (array: unknown) =>
  document.components.schemas[(array as { items: { $ref: string } }).items.$ref.split('/').at(-1)!]!

function send(name: string, body: unknown, query = '') {
  const [method = '', path = ''] = name.split(' ')
  const call = body === undefined ? {} : { body }
  const id = path.startsWith('/v1/events') ? 'evt_1_1' : '1'
  return records[method.toLowerCase() as keyof Records](
    `${path.replace('{id}', id).replace(/\{\w+Id\}/, '1')}${query}`,
    call,
  )
}

describe('/openapi.json of the records host', () => {
  it('has every operation of the record style, and none of another', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(operations.map(([name]) => name).sort()).toEqual(
      [
        ...['GET /v1/borrowers', 'POST /v1/borrowers', 'GET /v1/borrowers/{id}', 'PUT /v1/borrowers/{id}'],
        ...['GET /v1/loans', 'POST /v1/loans', 'GET /v1/loans/{id}', 'PUT /v1/loans/{id}'],
        ...['GET /v1/repayments', 'POST /v1/repayments', 'POST /v1/repayments/batch', 'GET /v1/repayments/{id}'],
        ...['GET /v1/loans/{id}/statement', 'GET /v1/repayments/{id}/receipt', 'POST /v1/documents/verify'],
        ...['GET /v1/events', 'GET /v1/events/{id}'],
        ...['GET /v1/borrowers/{id}/consents', 'POST /v1/borrowers/{id}/consents'],
        'POST /v1/borrowers/{id}/consents/{consentId}/withdraw',
        ...['GET /v1/loans/{id}/guarantors', 'POST /v1/loans/{id}/guarantors'],
        'POST /v1/loans/{id}/guarantors/{guarantorId}/release',
        ...['GET /v1/loans/{id}/collateral', 'POST /v1/loans/{id}/collateral'],
        'POST /v1/loans/{id}/collateral/{collateralId}/release',
      ].sort(),
    )
  })

  it('describes both bodies of a loan, each with an example', () => {
    const body = document.paths['/v1/loans']!.post!.requestBody!.content['application/json']!.schema
    expect(body).toEqual({ $ref: '#/components/schemas/CreateLoanRequest' })
    expect(document.components.schemas.CreateLoanRequest).toMatchObject({
      oneOf: [
        { $ref: '#/components/schemas/CreateBasicLoanRequest' },
        { $ref: '#/components/schemas/CreateExtendedLoanRequest' },
      ],
    })
    expect(document.components.schemas.CreateExtendedLoanRequest).toMatchObject({
      additionalProperties: false,
      properties: {
        loan_id: { type: 'integer', format: 'int64', minimum: 1 },
        loan_interest: { type: 'number', format: 'double' },
        loan_released_date: { type: 'string', format: 'date' },
        loan_interest_method: { type: 'string', examples: ['flat_rate'] },
        loan_num_of_repayments: { type: 'integer', minimum: 1, maximum: 2000 },
        loan_application_id: { type: 'string' },
        loan_decimal_places: { type: 'string' },
      },
    })
    const { required } = document.components.schemas.CreateExtendedLoanRequest!
    expect(required).toHaveLength(12)
  })

  it.each(STORY)('%s is answered as it is shown', async (name, { at, query = '', nth = 0 }) => {
    if (at !== undefined) service.clock.stand(`${at}T09:30:00+03:00`)
    await drain(sequencerJob(service.deps))
    const { status, body } = await send(name, bodiesOf(name)[nth], query)
    expect([status, body.message]).toEqual([200, undefined])
    expect(anyMark(anyCursor(inMode(answersOf(name)[nth])))).toEqual(anyMark(anyCursor(body)))
  })

  it('leaves no operation out of the story', () => {
    // The example of a code is of another service: test/api/record/documents.test.ts checks one of this service.
    // A batch answers no JSON, but lines: test/api/repaymentBatches.test.ts.
    const played = [...STORY.map(([name]) => name), 'POST /v1/documents/verify', 'POST /v1/repayments/batch']
    expect(operations.map(([name]) => name).filter((name) => !played.includes(name))).toEqual([])
  })

  it.each(BOUNDED)('%s, %s: %s is refused outside of the documented bounds', async (name, schema, path, atZero) => {
    const [field = '', inner] = path.split('.')
    const { properties } = document.components.schemas[schema]!
    const told = inner === undefined ? properties[field] : itemsOf(properties[field]).properties[inner]
    expect(told).toMatchObject(atZero === 'refused' ? { exclusiveMinimum: 0 } : { minimum: 0 })
    const example = (document.components.schemas[schema]!.examples as { products?: object[] }[])[0]!
    const ask = async (number: number) => {
      const value = inner === undefined ? number : [{ ...example.products?.[0], [inner]: number }]
      const another = name === 'POST /v1/loans' ? { loan_id: 3 } : {}
      const { status, body } = await send(name, { ...example, ...another, [field]: value })
      return status === 400 ? body.details[0]!.field.replace('[0]', '') : status
    }
    expect([await ask(-1), await ask(0)]).toEqual([path, atZero === 'refused' ? path : 200])
    if (told?.maximum !== undefined) expect(await ask(Number(told.maximum) + 0.01)).toBe(path)
  })

  it('every answer has the members of its schema', async () => {
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

  it('describes the headers, the API key, and each refusal with an example in the words of the style', () => {
    expect(document.components.headers['X-Api-Version']!.description).toContain('`1.2`')
    expect(document.components.securitySchemes.bearer!.description).toContain('mk_')
    const names = ({ parameters = [] }: Operation) =>
      parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name.toLowerCase())
    expect(names(operationOf('GET /v1/loans'))).toEqual(['x-user-id'])
    expect(names(operationOf('POST /v1/loans'))).toEqual(['x-user-id', 'idempotency-key'])
    const { 200: _, ...refusals } = operationOf('POST /v1/loans').responses
    const codes = Object.values(refusals).flatMap(({ content }) =>
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
    expect((await records.get('/docs/json')).body).toEqual({ ...document, servers: document.servers.toReversed() })
    expect((await records.get('/docs')).headers['content-type']).toMatch(/^text\/html/)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationsOf, shownIn } from '../../support/document.ts'
import { type Answer, startService, type TestService } from '../../support/service.ts'
import { fictionalStatement, statementPdf } from '../../support/statementPdf.ts'
import { showing } from '../../support/upload.ts'
import type { Document, Operation } from '../../support/wire.ts'

let service: TestService
let document: Document
let operations: Map<string, Operation>
let statement: Buffer
beforeAll(async () => {
  service = await startService()
  document = (await service.get<Document>('/openapi.json')).body
  operations = new Map(operationsOf(document).filter(([name]) => name.includes('/v1/')))
  statement = await statementPdf(fictionalStatement({ from: '2025-12-01', to: '2026-01-31' }))
})
afterAll(() => service.close())

/** The input of an operation, besides what the document shows. */
interface Ask {
  readonly at?: string
  readonly query?: string
  /** In place of the example; the answer is then not one that is shown. */
  readonly body?: object
  readonly operator?: true
  readonly loan?: number
  readonly transaction?: number
}

const idOf = (number: number) => String(4_000_000_000_000_000 + number)

const pathOf = (path: string, { loan = 1, transaction = 2 }: Ask) =>
  path
    .replace('products/{id}', 'products/1')
    .replace('{id}', idOf(loan))
    .replace('customers/external/{externalId}', 'customers/external/wallet-255700000001')
    .replace('{externalId}', `order-2026-000${loan}`)
    .replace('{transactionId}', idOf(transaction))
    .replace('{customer}', 'wallet-255700000001')

function bodyFor({ requestBody }: Operation, { body }: Ask) {
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {})
  if (media === undefined) return {}
  const example = (body ?? shownIn(document, media)[0]) as Record<string, string>
  if (type === 'application/json') return { body: example }
  const { statement: _, ...fields } = example
  return showing(statement, fields)
}

async function play(name: string, ask: Ask): Promise<Answer> {
  if (ask.at !== undefined) service.clock.set(`${ask.at}T09:30:00+03:00`)
  const operation = operations.get(name)!
  const [method, path = ''] = name.split(' ')
  const call = { ...bodyFor(operation, ask), ...(ask.operator && { token: service.tokens.operator }) }
  const headers = { ...('headers' in call && call.headers), 'x-request-id': 'checkout-7781' }
  const url = `${pathOf(path, ask)}${ask.query ?? ''}`
  return (method === 'GET' ? service.get : service.post)(url, { ...call, headers })
}

/** Where the trail begins to count depends on what the demonstration data are. */
const numbered = ({ items, ...page }: Answer['body']) => ({
  ...page,
  items: items.map((item) => ({ ...item, id: '' })),
})

/** The story of the examples: what is sent, and when. */
const STORY: readonly [name: string, ask: Ask][] = [
  ['POST /v1/customers', { at: '2026-01-31' }],
  ['POST /v1/loans', {}],
  ['POST /v1/loans/{id}/repayments/waive-interest', { at: '2026-02-05' }],
  ['POST /v1/loans/{id}/repayments', { at: '2026-02-10' }],
  ['GET /v1/customers', { query: '?externalId=wallet-255700000001' }],
  ['GET /v1/customers/{id}', {}],
  ['GET /v1/loan-products', { query: '?rows=1' }],
  ['GET /v1/loan-products/{id}', {}],
  ['GET /v1/loans', { query: '?customerExternalId=wallet-255700000001' }],
  ['GET /v1/loans/{id}', {}],
  ['GET /v1/loans/{id}/repayments', {}],
  ['GET /v1/loans/{id}/repayments/{transactionId}', {}],
  ['GET /v1/audit-trail', { query: '?entity=loan&rows=1', operator: true }],
  ['POST /v1/loans/{id}/repayments/{transactionId}/adjust', { at: '2026-02-11', operator: true }],
  ['POST /v1/loans/{id}/repayments/refund', { at: '2026-02-12' }],
  ['POST /v1/loans/{id}/repayments', { at: '2026-02-20', body: { transactionAmount: 101_500 } }],
  ['POST /v1/loans/{id}/repayments/credit-balance-refund', {}],
  ['GET /v1/credit-scorecard/{customer}', {}],
  ['POST /v1/credit-scorecard/{customer}/boost', {}],
  ['POST /v1/customers/{id}/close', {}],
  ['POST /v1/customers', { body: { externalId: 'wallet-255700000002' } }],
  [
    'POST /v1/loans',
    {
      body: { customerId: 'wallet-255700000002', productId: 1, principal: 100_000, externalId: 'order-2026-0002' },
    },
  ],
  ['POST /v1/loans/{id}/repayments/charge-off', { at: '2026-06-01', loan: 2 }],
  ['POST /v1/loans/{id}/repayments/recover', { loan: 2 }],
  ['POST /v1/loans/{id}/write-off', { loan: 2, operator: true }],
  ['POST /v1/loans/{id}/repayments/{transactionId}/reverse', { loan: 2, transaction: 9, operator: true }],
]

describe('the examples, sent in their order', () => {
  it.each(STORY)('%s is answered as it is shown', async (name, ask) => {
    const { status, body } = await play(name, ask)
    expect([status, body.message]).toEqual([200, undefined])
    if (ask.body !== undefined) return
    const shown = shownIn(document, operations.get(name)!.responses['200']!.content!['application/json']!)
    if (name !== 'GET /v1/audit-trail') expect(shown).toContainEqual(body)
    else expect(shown.map((page) => numbered(page as Answer['body']))).toEqual([numbered(body)])
  })

  it('POST /v1/customers/{id}/activate, of a customer that is Pending, too', async () => {
    service.clock.set('2026-01-31')
    await service.deps.db.pool.query(`UPDATE customer SET status = 'Pending' WHERE id = $1`, [idOf(1)])
    const name = 'POST /v1/customers/{id}/activate'
    expect(shownIn(document, operations.get(name)!.responses['200']!.content!['application/json']!)).toContainEqual(
      (await play(name, {})).body,
    )
  })

  it('leave out no operation, and both addresses show the same', () => {
    const played = new Set([...STORY.map(([name]) => name), 'POST /v1/customers/{id}/activate'])
    const byNumber = (name: string) => name.replace('external/{externalId}', '{id}')
    expect([...operations.keys()].filter((name) => !played.has(byNumber(name)))).toEqual([])
    for (const [name, { requestBody, responses }] of operations)
      expect({ requestBody, 200: responses['200'] }).toEqual({
        requestBody: operations.get(byNumber(name))!.requestBody,
        200: operations.get(byNumber(name))!.responses['200'],
      })
  })
})

describe('a loan whose state takes no such transaction', () => {
  it('refuses it as it is shown', async () => {
    const third = { customerId: 'wallet-255700000002', productId: 1, principal: 100_000, externalId: 'order-2026-0003' }
    await play('POST /v1/loans', { at: '2026-01-31', body: third })
    const refused = async (what: string) => {
      const name = `POST /v1/loans/{id}/${what}`
      const { body } = await play(name, { at: '2026-06-01', loan: 3, operator: true })
      const media = operations.get(name)!.responses['409']!.content!['application/json']!
      expect(shownIn(document, media)).toContainEqual(body)
      expect(body.code).toBe('failed_precondition')
    }
    await refused('repayments/recover')
    await play('POST /v1/loans/{id}/write-off', { loan: 3, operator: true })
    const others = ['', '/waive-interest', '/refund', '/credit-balance-refund', '/charge-off']
    for (const what of [...others.map((path) => `repayments${path}`), 'write-off']) await refused(what)
  })
})

describe('an amount of a body', () => {
  /** Each with the operation and the field that it is. */
  const amounts = () =>
    [...operations]
      .filter(([name]) => !name.includes('external'))
      .flatMap(([name, { requestBody }]) => {
        const { $ref = '' } = (requestBody?.content['application/json']?.schema ?? {}) as { $ref?: string }
        const { properties = {} } = document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}
        return Object.entries(properties)
          .filter(([, { type }]) => type === 'number')
          .map(([field, bounds]) => ({ name, field, bounds }))
      })

  it('is refused outside of the bounds of the document, and 0 where they leave it out', async () => {
    expect(amounts()).toHaveLength(7)
    for (const { name, field, bounds } of amounts()) {
      const example = shownIn(document, operations.get(name)!.requestBody!.content['application/json']!)[0] as object
      const send = async (amount: number) => {
        const asked = {
          at: '2026-06-02',
          loan: 2,
          transaction: 8,
          body: { ...example, [field]: amount },
          operator: true as const,
        }
        const { status, body } = await play(name, asked)
        return status === 400 ? body.details[0]!.field : status
      }
      const zero = bounds.minimum === 0 && bounds.exclusiveMinimum === undefined
      if (!zero) expect(bounds).toMatchObject({ exclusiveMinimum: 0 })
      expect(bounds.maximum).toBe(999_999_999_999.99)
      expect([name, await send(-0.01), await send(1_000_000_000_000)]).toEqual([name, field, field])
      expect([name, await send(0)]).toEqual([name, zero ? 200 : field])
    }
  })
})

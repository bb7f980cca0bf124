import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ORDER } from '../../../src/api/partner/openapi/story.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { inMode } from '../../support/ahead.ts'
import { anyCursor, anyMark } from '../../support/cursors.ts'
import { operationsOf, shownIn } from '../../support/document.ts'
import { prefilledOf, sendPrefilled } from '../../support/prefilled.ts'
import { type Answer, FIRST_DAY, startService, type TestService } from '../../support/service.ts'
import { fictionalStatement, statementPdf } from '../../support/statementPdf.ts'
import { showing } from '../../support/upload.ts'
import type { Document, Operation } from '../../support/wire.ts'

let service: TestService
let document: Document
let operations: Map<string, Operation>
let statement: Buffer
beforeAll(async () => {
  service = await startService()
  service.damages('a customer is made Pending by SQL: no request leaves one so')
  // Whole answers are compared with the examples, which have the instant of each step.
  service.clock.stand(FIRST_DAY)
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
  if (ask.at !== undefined) service.clock.stand(`${ask.at}T09:30:00+03:00`)
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

/** The days on which the story of the examples goes on; each operation between them is of the same moment. */
const DAYS: Readonly<Record<string, string>> = {
  createCustomer: '2026-01-31',
  createContact: '2026-02-03',
  releaseHold: '2026-02-05',
  postRepayment: '2026-02-10',
  postRefund: '2026-02-12',
  adjustTransaction: '2026-02-14',
  refundCreditBalance: '2026-02-20',
  chargeOffLoan: '2026-06-01',
}

/** What is shown as it is once the repayment is posted, and with which query. */
const ONCE_REPAID: readonly [name: string, query: string][] = [
  ['GET /v1/loan-products', '?rows=1'],
  ['GET /v1/loans', ''],
  ['GET /v1/loans/{id}', ''],
  ['GET /v1/loans/{id}/repayments', ''],
  ['GET /v1/loans/{id}/repayments/{transactionId}', ''],
  ['GET /v1/transactions', ''],
  ['GET /v1/loans/{id}/transactions', ''],
  ['GET /v1/events', '?types=repayment.posted'],
  ['GET /v1/audit-trail', '?entity=loan&rows=1'],
]

/** What is shown of another customer, who repays the loan; and of a code, which is of another service. */
const ELSEWHERE = [
  'getCreditScorecard',
  'boostCreditLimit',
  'activateCustomer',
  'verifyDocument',
  'deleteRole',
  'resetSecondFactor',
]

/** What is shown with a secret, an attempt and a time of its own, and what answers no content. */
const OF_WEBHOOKS = /^(test|delete|rotate|create|list|get|update|recover)Webhook/

/** What is shown of payments on a channel: test/api/partner/payments. */
const OF_PAYMENTS = /Payments?(Channels?|ChannelSecret|ChannelPosition|Allocations|Messages?)?$|Reconciliation/

/** What the journal, the work list and the portfolio show after months of a book: test/api/partner/accounting and portfolio. */
const OF_BOOKS =
  /Worklist|Export|ExcludedLoans|ListingNotice|Dispute|Chart|TrialBalance|IncomeStatement|BalanceSheet|Posting|Period|Journal|Portfolio|RollRates|Provisions|TestClock|TestOrganization|PendingAction|DataRequest|Erasure|PaymentMessage|testPayments/

const shownBy = ({ responses }: Operation) =>
  shownIn(document, Object.values(responses['200']!.content!)[0]!).map(inMode)

describe('the operations of the story', () => {
  it('are in the document in the order of the story', () => {
    const ids = operationsOf(document).map(([, { operationId }]) => operationId)
    expect(ids.filter((id) => (ORDER as readonly string[]).includes(id))).toEqual(ORDER)
  })
})

describe('the examples, sent in the order of the document', () => {
  it('are answered as they are shown, by the number of a loan or a customer', async () => {
    const late = ONCE_REPAID.map(([name]) => name)
    const all = prefilledOf(document).filter(({ name }) => name.includes('/v1/'))
    const headers = { 'x-request-id': 'checkout-7781' }
    for (const one of all) {
      const { operationId } = one.operation
      // No keeper runs here, for which each of them would wait some seconds.
      if (OF_BOOKS.test(operationId)) continue
      if (DAYS[operationId] !== undefined) service.clock.stand(`${DAYS[operationId]}T09:30:00+03:00`)
      await drain(sequencerJob(service.deps))
      const { status, body } = await sendPrefilled(service, one, { headers, statement })
      const isShown =
        !one.name.includes('external') &&
        !late.includes(one.name) &&
        !ELSEWHERE.includes(operationId) &&
        !OF_WEBHOOKS.test(operationId) &&
        !OF_PAYMENTS.test(operationId)
      if (isShown)
        expect([one.name, status, shownBy(one.operation).map(anyCursor).map(anyMark)]).toEqual([
          one.name,
          200,
          expect.arrayContaining([anyMark(anyCursor(body))]),
        ])
      if (operationId !== 'postRepayment') continue
      await drain(sequencerJob(service.deps))
      for (const [name, query] of ONCE_REPAID) {
        const asked = all.find((other) => other.name === name)!
        const { body: read } = await sendPrefilled(service, { ...asked, path: `${asked.path}${query}` }, { headers })
        const isTrail = name === 'GET /v1/audit-trail'
        const unnumbered = isTrail ? numbered : (page: Answer['body']) => anyMark(page) as Answer['body']
        expect([name, shownBy(asked.operation).map((page) => anyCursor(unnumbered(page as Answer['body'])))]).toEqual([
          name,
          expect.arrayContaining([anyCursor(unnumbered(read))]),
        ])
      }
    }
  })

  it('POST /v1/customers/{id}/activate, of a customer that is Pending', async () => {
    service.clock.stand('2026-01-31T09:30:00+03:00')
    await service.deps.db.pool.query(`UPDATE customer SET status = 'Pending' WHERE id = $1`, [idOf(1)])
    const name = 'POST /v1/customers/{id}/activate'
    expect(shownBy(operations.get(name)!)).toContainEqual((await play(name, {})).body)
  })

  it('both addresses show the same', () => {
    const byNumber = (name: string) => name.replace('external/{externalId}', '{id}')
    const schemasOf = ({ requestBody, responses }: Operation) => ({
      body: Object.values(requestBody?.content ?? {}).map(({ schema }) => schema),
      200: responses['200'],
    })
    for (const [name, operation] of operations)
      expect(schemasOf(operation)).toEqual(schemasOf(operations.get(byNumber(name))!))
  })
})

describe('the examples of credit', () => {
  it('are answered as they are shown, of a customer who repays the loan', async () => {
    const other = await startService()
    other.clock.stand(FIRST_DAY)
    try {
      const paths = prefilledOf(document)
      const send = async (operationId: string, body?: object) => {
        const one = paths.find(({ operation }) => operation.operationId === operationId)!
        const answer = await sendPrefilled(other, body ? { ...one, body } : one, { statement })
        expect([operationId, answer.body.message]).toEqual([operationId, undefined])
        return [answer.body, shownBy(one.operation)] as const
      }
      await send('createCustomer')
      await send('createLoan')
      await send('waiveInterest')
      other.clock.stand('2026-02-20T09:30:00+03:00')
      await send('postRepayment', { transactionAmount: 109_500 })
      for (const operation of ['getCreditScorecard', 'boostCreditLimit']) {
        const [answered, shown] = await send(operation)
        expect(shown).toContainEqual(answered)
      }
    } finally {
      await other.close()
    }
  })
})

describe('a loan whose state takes no such transaction', () => {
  it('refuses it as it is shown', async () => {
    await play('POST /v1/customers', { at: '2026-01-31', body: { externalId: 'wallet-255700000002' } })
    for (const loan of [2, 3]) {
      const terms = { productId: 1, principal: 100_000, externalId: `order-2026-000${loan}` }
      await play('POST /v1/loans', { body: { customerId: 'wallet-255700000002', ...terms } })
    }
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
      // The amount of a payment is in the currency of its channel: test/api/partner/payments.
      .filter(([, { operationId }]) => !/^(post|return)Payment$|^createReconciliation$/.test(operationId))
      .flatMap(([name, { requestBody }]) => {
        const { $ref = '' } = (requestBody?.content['application/json']?.schema ?? {}) as { $ref?: string }
        const { properties = {} } = document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}
        return Object.entries(properties)
          .filter(([field, { type }]) => type === 'number' && !/rate|percent|cap/i.test(field))
          .map(([field, bounds]) => ({ name, field, bounds }))
      })

  it('is refused outside of the bounds of the document, and 0 where they leave it out', async () => {
    expect(amounts()).toHaveLength(15)
    for (const { name, field, bounds } of amounts()) {
      const example = shownIn(document, operations.get(name)!.requestBody!.content['application/json']!)[0] as object
      const send = async (amount: number) => {
        const asked = {
          at: '2026-06-02',
          loan: name.includes('{transactionId}') ? 1 : 2,
          transaction: 31,
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

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aBasicLoan, aBorrower, anExtendedLoan, aRepayment } from '../../support/recordBodies.ts'
import { type Records, recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let records: Records
let customer: { readonly id: string }
let loan: { readonly id: string }
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  customer = (await service.post('/v1/customers', { body: { externalId: 'asha' } })).body
  loan = (
    await service.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 1_000, externalId: 'l-1' } })
  ).body
})
afterAll(() => service.close())

describe('a refusal names what would be right', () => {
  it("404 not_found: a customer's number given as customerId", async () => {
    const { status, body } = await service.post('/v1/loans', {
      body: { customerId: customer.id, productId: 1, principal: 1_000 },
    })
    expect([status, body.code]).toEqual([404, 'not_found'])
    expect(body.message).toContain('it takes the externalId of a customer, not the number that is its id')
  })

  it.each([
    ['/v1/loans/l-1', 'no loan has that id; an externalId is asked for as /v1/loans/external/{externalId}'],
    ['/v1/loans/255700', 'no loan has that id; an externalId is asked for as /v1/loans/external/{externalId}'],
    [
      '/v1/customers/asha',
      'no customer has that id; an externalId is asked for as /v1/customers/external/{externalId}',
    ],
    ['/v1/loans/external/nobody', 'no loan has that externalId'],
  ])('404 not_found: %s', async (path, message) => {
    expect(await service.get(path)).toMatchObject({ status: 404, body: { code: 'not_found', message } })
  })

  it('404 not_found: a transaction that is not on the loan, without a word of externalIds', async () => {
    expect((await service.get(`/v1/loans/${loan.id}/repayments/77`)).body.message).toBe(
      'no transaction of this loan has that id',
    )
  })

  it.each(['dedupeToken', 'dedupe_token', 'reference', 'transactionReference', 'externalId', 'receipt', 'transID'])(
    '400 invalid_argument: %s for the dedupe token',
    async (name) => {
      const body = { transactionAmount: 1, [name]: 'tx-1' }
      const answer = await service.post(`/v1/loans/${loan.id}/repayments`, { body })
      expect(answer).toMatchObject({ status: 400, body: { details: [{ field: name }] } })
      expect(answer.body.message).toContain('idempotencyKey')
    },
  )

  it('400 invalid_argument: a dedupe token where none is taken', async () => {
    const body = { transactionAmount: 1, idempotencyKey: 'x' }
    const answer = await service.post(`/v1/loans/${loan.id}/repayments/waive-interest`, { body })
    expect(answer.body.message).toBe(
      'idempotencyKey: is not a known field here; to retry safely, send the header Idempotency-Key',
    )
  })

  it.each([
    ['/v1/customers', aBorrower],
    ['/v1/loans', aBasicLoan],
    ['/v1/loans', anExtendedLoan],
  ])('400 invalid_argument: a body of the record style on %s of the partner style', async (path, body) => {
    const answer = await service.post(path, { body })
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain(
      'this is a body of the record style, which is served at http://records.localhost:3000',
    )
  })

  it('400 invalid_argument: a body of the partner style on the record style', async () => {
    const answer = await records.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 1_000 } })
    expect(answer.body.message).toContain('body of the partner style, which is served at http://api.localhost:3000')
  })

  it.each([
    ['/v1/loans?customer=asha', 'customer: is not a known parameter; did you mean customerId?'],
    ['/v1/loans?state=Active', 'state: is not a known parameter; did you mean status?'],
    ['/v1/loan-products?phone=255700', 'phone: is not a known parameter; those left are page, rows, after'],
    [`/v1/loans/external/l-1?rows=1`, 'rows: is not a known parameter; none is taken here'],
  ])('400 invalid_argument: %s', async (path, message) => {
    expect(await service.get(path)).toMatchObject({ status: 400, body: { code: 'invalid_argument', message } })
  })

  it.each(['abc', '', '0', '-1', '9223372036854775808'])(
    '400 invalid_argument: customerId=%s, and the filter that takes an externalId',
    async (id) => {
      const { status, body } = await service.get(`/v1/loans?customerId=${id}`)
      expect([status, body.details[0]!.field]).toEqual([400, 'customerId'])
      expect(body.message).toContain('customerExternalId takes your own id')
    },
  )
})

describe('idempotency-mismatch', () => {
  const path = () => `/v1/loans/${loan.id}/repayments`
  const first = { transactionAmount: 3, transactionDate: '2026-01-31', idempotencyKey: 'mismatch' }
  const again = async (body: object, at = '') => {
    const { status, text, headers } = await service.post(`${path()}${at}`, { body })
    return { status, text, mismatch: headers['idempotency-mismatch'], replayed: headers['idempotency-replayed'] }
  }

  it('names in what a request differs from the transaction of its token, which is answered as it is', async () => {
    const { text, ...original } = await again(first)
    expect(original).toEqual({ status: 200, mismatch: undefined, replayed: undefined })
    const same = { status: 200, text, replayed: 'true' }
    const { idempotencyKey } = first
    expect(await again(first)).toEqual({ ...same, mismatch: undefined })
    expect(await again({ transactionAmount: 3, idempotencyKey })).toEqual({ ...same, mismatch: undefined })
    expect(await again({ ...first, transactionAmount: 4 })).toEqual({ ...same, mismatch: 'transactionAmount' })
    expect(await again({ ...first, transactionDate: '2026-01-30', transactionAmount: 4 })).toEqual({
      ...same,
      mismatch: 'transactionAmount, transactionDate',
    })
    expect(await again({ ...first, note: 'rent' }, '/recover')).toEqual({ ...same, mismatch: 'type, note' })
  })

  it('is answered again to the same request under the same Idempotency-Key', async () => {
    const call = { body: { ...first, transactionAmount: 5 }, headers: { 'idempotency-key': 'mismatched' } }
    for (let time = 0; time < 2; time++)
      expect((await service.post(path(), call)).headers['idempotency-mismatch']).toBe('transactionAmount')
  })
})

describe('idempotency-replayed: true is on every answer that posted nothing', () => {
  it('a dedupe token seen before', async () => {
    const body = { transactionAmount: 1, idempotencyKey: 'seen' }
    const path = `/v1/loans/${loan.id}/repayments`
    expect((await service.post(path, { body })).headers).not.toHaveProperty('idempotency-replayed')
    expect((await service.post(path, { body })).headers['idempotency-replayed']).toBe('true')
  })

  it.each([
    ['/v1/borrowers', { ...aBorrower, id: 501 }],
    ['/v1/loans', { ...aBasicLoan, borrower_id: 501, loan_id: 501 }],
    ['/v1/loans', { ...anExtendedLoan, borrower_id: 501, loan_id: 502 }],
    ['/v1/repayments', { ...aRepayment, loan_id: 501, repayment_id: 501 }],
  ])('a record id seen before, on %s', async (path, body) => {
    const first = await records.post(path, { body })
    expect([first.status, first.headers['idempotency-replayed']]).toEqual([200, undefined])
    const again = await records.post(path, { body })
    expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text, 'true'])
  })
})

const MESSAGE = '/v1/payment-channels/{id}/messages/{messageId}'

describe('what only an ADMIN may do', () => {
  it('403 permission_denied: a USER adjusts a payment, also to 0; nothing changes', async () => {
    const path = `/v1/loans/${loan.id}/repayments`
    const { body: posted } = await service.post(path, { body: { transactionAmount: 5 } })
    for (const transactionAmount of [0, 4])
      expect(await service.post(`${path}/${posted.id}/adjust`, { body: { transactionAmount } })).toMatchObject({
        status: 403,
        body: { code: 'permission_denied' },
      })
    expect((await service.get(`${path}/${posted.id}`)).body).toEqual(posted)
  })

  it('is marked as such in the documents, and nothing else is', async () => {
    const { body } = await service.get<{ paths: Record<string, Record<string, Record<string, unknown>>> }>(
      '/openapi.json',
    )
    const markedBy = (role: string) =>
      Object.entries(body.paths).flatMap(([path, methods]) =>
        Object.entries(methods)
          .filter(([, operation]) => operation['x-required-role'] === role)
          .map(([method]) => `${method} ${path}`),
      )
    const endpoint = '/v1/webhook-endpoints/{id}'
    const channel = '/v1/payment-channels/{id}'
    expect(
      markedBy('ADMIN')
        .filter((path) => !path.includes('external'))
        .sort(),
    ).toEqual(
      [
        ...['post /v1/webhook-endpoints', `patch ${endpoint}`, `delete ${endpoint}`],
        ...['recover', 'rotate-secret', 'test'].map((act) => `post ${endpoint}/${act}`),
        ...['post /v1/payment-channels', `patch ${channel}`, `post ${channel}/rotate-secret`],
        ...['allocations/reverse', 'return'].map((act) => `post /v1/payments/{id}/${act}`),
        ...['post /v1/reconciliations', 'post /v1/reconciliations/{id}/apply'],
        ...['post /v1/exports', 'post /v1/exports/{id}/accept', 'get /v1/exports', 'get /v1/exports/{id}'],
        ...['exceptions', 'excluded', 'file'].map((part) => `get /v1/exports/{id}/${part}`),
        ...['post /v1/export-formats', 'get /v1/export-formats', 'get /v1/export-formats/{name}'],
        ...['get', 'post'].flatMap((method) =>
          ['disputes', 'listing-notices'].map((noun) => `${method} /v1/loans/{id}/${noun}`),
        ),
        'post /v1/loans/{id}/disputes/{disputeId}/resolve',
        'get /v1/customers/{id}/identity',
        'post /v1/loans/{id}/write-off',
        'post /v1/loans/{id}/charges',
        'post /v1/loans/{id}/charges/{transactionId}/reverse',
        'post /v1/loans/{id}/restructures',
        'post /v1/loans/{id}/restructures/{transactionId}/reverse',
        'post /v1/loans/{id}/repayments/{transactionId}/adjust',
        'post /v1/loans/{id}/repayments/{transactionId}/reverse',
        'post /v1/test-clock/reset',
        'post /v1/test/payments',
        `post ${MESSAGE}/decide-again`,
        'put /v1/delinquency-policy',
        'put /v1/reminder-policy',
        'patch /v1/organization',
        ...['get /v1/office-sign-in', 'patch /v1/office-sign-in', 'post /v1/accounts/{id}/reset-second-factor'],
        ...['get /v1/roles', ...['delete', 'get', 'put'].map((method) => `${method} /v1/roles/{name}`)],
        ...['approve', 'reject'].map((act) => `post /v1/pending-actions/{id}/${act}`),
        'post /v1/pending-actions/reject',
        'get /v1/data-requests',
        'get /v1/data-requests/{id}',
        ...['result', 'result.pdf'].map((result) => `get /v1/data-requests/{id}/${result}`),
        ...['complete', 'confirm', 'refuse', 'withdraw'].map((act) => `post /v1/data-requests/{id}/${act}`),
        'post /v1/loan-products',
        'post /v1/loan-products/{id}/retire',
        'post /v1/portfolio/provisions/book',
        'put /v1/accounting/chart',
        'post /v1/accounting/periods/{period}/close',
      ].sort(),
    )
    expect(markedBy('AUDITOR').sort()).toEqual(
      [
        ...['/v1/audit-trail', '/v1/webhook-endpoints', endpoint, `${endpoint}/deliveries`],
        ...['/v1/payments', '/v1/payment-channels', channel, `${channel}/position`],
        ...['', '/{id}', '/{id}/lines'].map((path) => `/v1/reconciliations${path}`),
        ...['/v1/pending-actions', '/v1/pending-actions/{id}'],
        '/v1/payment-channels/{id}/messages',
        MESSAGE,
        ...['par', 'roll-rates', 'provisions'].map((path) => `/v1/portfolio/${path}`),
        ...['chart', 'journal', 'journal.csv', 'journal.hledger', 'periods', 'trial-balance'].map(
          (path) => `/v1/accounting/${path}`,
        ),
        ...['income-statement', 'balance-sheet'].map((path) => `/v1/accounting/${path}`),
      ]
        .map((path) => `get ${path}`)
        .sort(),
    )
    for (const [role, sentence] of [
      ['ADMIN', /^\*\*Takes the permission `[a-z._]+`\*\* \(ADMIN\)\./],
      ['AUDITOR', /^\*\*Takes the permission `reports\.read`\*\* \(ADMIN and AUDITOR\)\./],
    ] as const)
      for (const [method, path] of markedBy(role).map((name) => name.split(' ') as [string, string])) {
        expect(body.paths[path]![method]!.description).toMatch(sentence)
        expect(body.paths[path]![method]!.responses).toHaveProperty('403')
      }
  })
})

describe('transactions in the words of the original (contract 4.4.4)', () => {
  it('a recovery is a Repayment with recovery: true; every movement of money has its payment method', async () => {
    const { body: other } = await service.post('/v1/loans', {
      body: { customerId: 'asha', productId: 1, principal: 1_000 },
    })
    const act = async (path: string, body: object) =>
      (await service.post(`/v1/loans/${other.id}/${path}`, { body, token: service.tokens.operator })).body
    const repaid = await act('repayments', { transactionAmount: 200 })
    expect(repaid).toMatchObject({ type: 'Repayment', paymentMethod: 'Mobile Money' })
    expect(repaid).not.toHaveProperty('recovery')
    expect(await act('repayments/refund', { transactionAmount: 10 })).toMatchObject({
      type: 'Refund',
      paymentMethod: 'Mobile Money',
    })
    for (const [path, type] of [
      ['repayments/charge-off', 'Charge-off'],
      ['write-off', 'Write-off'],
    ] as const) {
      const marked = await act(path, {})
      expect(marked.type).toBe(type)
      expect(marked).not.toHaveProperty('paymentMethod')
    }
    const recovered = await act('repayments/recover', { transactionAmount: 50 })
    expect(recovered).toMatchObject({ type: 'Repayment', recovery: true, paymentMethod: 'Mobile Money' })
    expect((await service.get(`/v1/loans/${other.id}/repayments`)).body.items[0]).toEqual(recovered)
  })

  it("a record system's own method is the payment method in both styles", async () => {
    await records.post('/v1/borrowers', { body: { ...aBorrower, id: 601 } })
    await records.post('/v1/loans', { body: { ...aBasicLoan, borrower_id: 601, loan_id: 601 } })
    const { method: _, ...without } = aRepayment
    const post = (id: number, body: object) =>
      records.post('/v1/repayments', { body: { ...body, loan_id: 601, repayment_id: id } })
    await post(601, { ...aRepayment, method: 'Cash' })
    expect((await post(602, without)).body.item.method).toBe('Mobile Money')
    const { items } = (await service.get('/v1/loans/601/repayments')).body
    expect(items.map((one) => one.paymentMethod)).toEqual(['Mobile Money', 'Cash'])
    // Sent back as it was answered, it is the same repayment.
    expect((await post(602, { ...without, method: 'Mobile Money' })).status).toBe(200)
    expect((await post(602, { ...without, method: 'Cash' })).status).toBe(409)
  })
})

import { once } from 'node:events'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LINES_PLACES, MOST_LINES } from '../../src/api/body/lines.ts'
import { aBasicLoan, aBorrower, aRepayment } from '../support/recordBodies.ts'
import { recordsOf } from '../support/records.ts'
import { FIRST_DAY, startService, type TestService } from '../support/service.ts'

let service: TestService
let records: ReturnType<typeof recordsOf>
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  service.clock.set(FIRST_DAY)
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  await records.post('/v1/borrowers', { body: aBorrower })
})
afterAll(() => service.close())

interface Answered {
  readonly line: number
  readonly status: number
  readonly code?: string
  readonly message?: string
  readonly replayed?: boolean
  readonly mismatch?: readonly string[]
  readonly repayment?: { readonly id: string; readonly amount: number }
  readonly item?: { readonly repayment_id: number }
}

const LINES = 'application/x-ndjson'

async function send(lines: readonly (object | string)[], headers: Record<string, string> = {}) {
  const raw = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  const answer = await service.post('/v1/repayments/batch', { raw, headers: { 'content-type': LINES, ...headers } })
  return { ...answer, lines: answer.status === 200 ? linesIn(answer.text) : [] }
}

const linesIn = (text: string): Answered[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Answered)

async function lend(externalId: string, principal = 100_000): Promise<string> {
  const lent = await service.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal, externalId } })
  expect(lent.status).toBe(200)
  return lent.body.id
}

describe('a batch of repayments', () => {
  it('posts each line, answers them in their order, and posts none twice when it is sent again', async () => {
    const id = await lend('batch-1')
    await lend('batch-2')
    const file = [
      { loanExternalId: 'batch-1', transactionAmount: 1_000, idempotencyKey: 'b1-1' },
      { loanExternalId: 'batch-2', transactionAmount: 2_000, idempotencyKey: 'b2-1', transactionDate: '2026-01-31' },
      { loanId: id, transactionAmount: 500.5, idempotencyKey: 'b1-2' },
    ]
    const first = await send(file)
    expect(first.headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
    expect(first.lines).toMatchObject([
      { line: 1, status: 200, repayment: { amount: 1_000, loanId: id, idempotencyKey: 'b1-1' } },
      { line: 2, status: 200, repayment: { amount: 2_000, date: '2026-01-31' } },
      { line: 3, status: 200, repayment: { amount: 500.5, loanId: id } },
    ])
    expect(first.lines.some((line) => 'replayed' in line)).toBe(false)
    const again = await send(file)
    expect(again.lines.map(({ repayment, replayed }) => [repayment?.id, replayed])).toEqual(
      first.lines.map(({ repayment }) => [repayment?.id, true]),
    )
    expect((await service.get(`/v1/loans/${id}`)).body.totalPaid).toBe(1_500.5)
  })

  it('refuses a line alone, with the status and the words of a request for it', async () => {
    await lend('batch-3')
    const line = (more: object) => ({ loanExternalId: 'batch-3', transactionAmount: 10, idempotencyKey: 'k', ...more })
    const { lines } = await send([
      line({ idempotencyKey: 'k-1' }),
      line({ loanExternalId: 'nobody' }),
      line({ transactionAmount: -1 }),
      line({ idempotencyKey: undefined }),
      '{"loanExternalId": "batch-3"',
      '[]',
      line({ loanId: '1' }),
      { transactionAmount: 10, idempotencyKey: 'k-2' },
      line({ amount: 3 }),
      '',
      line({ idempotencyKey: 'k-1', transactionAmount: 11 }),
      line({ transactionDate: '2027-01-01', idempotencyKey: 'k-3' }),
      `{"note": "${'x'.repeat(5_000)}"}`,
      line({ idempotencyKey: 'k-4' }),
    ])
    expect(lines.map(({ line: number, status }) => [number, status])).toEqual([
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => [number, number === 1 ? 200 : number === 2 ? 404 : 400]),
      ...[
        [11, 200],
        [12, 400],
        [13, 400],
        [14, 200],
      ],
    ])
    expect(lines.map(({ message = '' }) => message)).toEqual([
      '',
      'no loan has that externalId',
      expect.stringContaining('transactionAmount'),
      'idempotencyKey: is required',
      expect.stringContaining('the line'),
      'the line must be a JSON object',
      expect.stringContaining('cannot be given together with loanExternalId'),
      expect.stringContaining('names its loan by loanId or by loanExternalId'),
      expect.stringContaining('amount'),
      '',
      expect.stringContaining('transactionDate'),
      'the line has more than 4096 characters',
      '',
    ])
    expect(lines[9]).toMatchObject({ replayed: true, mismatch: ['transactionAmount'] })
    const { body } = await service.get('/v1/loans/external/batch-3')
    expect(body.totalPaid).toBe(20)
  })

  it('of one loan many times is in the order of the lines, and settles it where the money is enough', async () => {
    const id = await lend('batch-4', 1_000)
    const file = Array.from({ length: 200 }, (_, n) => ({
      loanId: id,
      transactionAmount: 10,
      idempotencyKey: `many-${n}`,
    }))
    const { lines } = await send(file)
    expect(lines.every(({ status }) => status === 200)).toBe(true)
    const { body } = await service.get(`/v1/loans/${id}`)
    expect([body.totalPaid, body.totalOverpaid]).toEqual([1_100, 900])
  })

  it('is refused as a whole without lines, with too many, in another type, in another encoding, or under a key', async () => {
    const line = { loanExternalId: 'batch-1', transactionAmount: 1, idempotencyKey: 'no' }
    const refusal = async (lines: readonly (object | string)[], headers?: Record<string, string>) => {
      const { status, body } = await send(lines, headers)
      return [status, body.message]
    }
    expect(await refusal([' ', ''])).toEqual([400, 'the body has no lines: each line is a JSON object'])
    expect(await refusal(Array.from({ length: MOST_LINES + 1 }, () => '1'))).toEqual([
      400,
      'the body has 10001 lines, and at most 10000 are taken: divide it',
    ])
    expect(await refusal([line], { 'content-type': 'application/json' })).toEqual([
      415,
      'the content type must be application/x-ndjson, in UTF-8',
    ])
    expect(await refusal([line], { 'idempotency-key': 'one' })).toEqual([
      400,
      'Idempotency-Key: cannot be given here: each line has a key of its own',
    ])
    const latin = await service.post('/v1/repayments/batch', {
      raw: Buffer.from([0x7b, 0xe9, 0x7d]),
      headers: { 'content-type': LINES },
    })
    expect([latin.status, latin.body.message]).toEqual([400, 'the body is not valid UTF-8'])
    const large = await send(Array.from({ length: 2_200 }, () => `{"a": "${'x'.repeat(4_000)}"}`))
    expect([large.status, large.body.code]).toEqual([413, 'payload_too_large'])
  })

  it('is one of few at once of an account; the next is told when to come again', async () => {
    const id = await lend('batch-5')
    const file = Array.from({ length: 400 }, (_, n) => ({
      loanId: id,
      transactionAmount: 1,
      idempotencyKey: `crowd-${n}`,
    }))
    const answers = await Promise.all(Array.from({ length: LINES_PLACES.ofMember! + 3 }, () => send(file)))
    const taken = answers.filter(({ status }) => status === 200)
    expect(taken.length).toBeGreaterThanOrEqual(LINES_PLACES.ofMember!)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, headers } of refused) expect([status, headers['retry-after']]).toEqual([429, '5'])
    expect((await service.get(`/v1/loans/${id}`)).body.totalPaid).toBe(400)
  })

  it('whose caller hangs up in the middle is done by sending it again: what was posted is answered again', async () => {
    const id = await lend('batch-6')
    const file = Array.from({ length: 2_000 }, (_, n) => ({
      loanId: id,
      transactionAmount: 1,
      idempotencyKey: `h-${n}`,
    }))
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    const address = service.app.server.address()
    const sending = request(`http://127.0.0.1:${typeof address === 'object' ? address!.port : 0}/v1/repayments/batch`, {
      method: 'POST',
      headers: { host: 'api.localhost', authorization: `Bearer ${service.tokens.partner}`, 'content-type': LINES },
    })
    sending.on('error', () => undefined)
    sending.end(file.map((line) => JSON.stringify(line)).join('\n'))
    const [response] = await once(sending, 'response')
    await once(response, 'data')
    sending.destroy()
    const paid = async () => (await service.get(`/v1/loans/${id}`)).body.totalPaid
    expect(await paid()).toBeLessThan(2_000)
    await expect.poll(async () => (await send(file)).status).toBe(200)
    expect(await paid()).toBe(2_000)
  })

  it('in the record style has lines as its bodies, whose ids are their tokens', async () => {
    await records.post('/v1/loans', { body: aBasicLoan })
    const line = (repayment_id: number, more: object = {}) => ({ ...aRepayment, repayment_id, ...more })
    const post = async (lines: readonly object[]) => {
      const raw = lines.map((one) => JSON.stringify(one)).join('\r\n')
      const { text } = await records.post('/v1/repayments/batch', { raw, headers: { 'content-type': LINES } })
      return linesIn(text)
    }
    const file = [line(901), line(902), line(903, { loan_id: 999_999 }), line(901, { amount: 7 })]
    const answered = await post(file)
    expect(answered).toMatchObject([
      { line: 1, status: 200, success: true, item: { repayment_id: 901 } },
      { line: 2, status: 200, success: true },
      { line: 3, status: 404, success: false, code: 'not_found' },
      { line: 4, status: 409, success: false, code: 'already_exists' },
    ])
    expect(await post(file.slice(0, 2))).toMatchObject([{ replayed: true }, { replayed: true }])
  })
})

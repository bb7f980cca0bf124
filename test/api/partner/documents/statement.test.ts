import { crc32, deflateSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { StatementView } from '../../../../src/api/partner/documents/documents.wire.ts'
import { holderOf } from '../../../../src/toolbox/gate.ts'
import { fileOf, pdfOf } from '../../../support/documents.ts'
import { anotherLender } from '../../../support/lenders.ts'
import { aPng } from '../../../support/pictures.ts'
import { pagesOf, readStatement, squeezed } from '../../../support/readDocument.ts'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'
import { type Lent, lendBy, repay } from '../terms/lent.ts'

// Statements over HTTP (contract 14).

let service: TestService
let lent: Lent
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(async () => {
  service.clock.set(FIRST_DAY)
  lent = await lendBy(service, { interestRate: 10, penaltyPercentOfPrincipal: 5 })
})

const statementOf = async (query = '', path = lent.path) =>
  (await service.get<StatementView>(`${path}/statement${query}`)).body
const typesOf = (body: StatementView) => body.lines.map(({ type, change, balance }) => [type, change, balance])

describe('GET /v1/loans/{id}/statement', () => {
  it('200: from the disbursement to today, each line with the balance after it', async () => {
    service.clock.set('2026-03-05')
    const { transaction } = await repay(service, lent, 39_000, '2026-02-28')
    const { transaction: wrong } = await repay(service, lent, 500)
    await service.post(`${lent.path}/repayments/${wrong.id}/reverse`, { token: service.tokens.operator })
    const body = await statementOf()
    expect(body).toMatchObject({
      ...{ language: 'en', from: '2026-01-31', to: '2026-03-05', status: 'Active' },
      lender: { name: 'Demo Lender', licenceNumber: null },
      customer: { id: lent.loan.customerId, externalId: lent.loan.customerExternalId, name: lent.loan.customerName },
      loan: { id: lent.loan.id, currencyCode: 'TZS', principal: 90_000, numberOfRepayments: 3, feesDeducted: 0 },
      ...{ openingBalance: 0, charged: 117_000, credited: 39_000, closingBalance: 78_000 },
      ...{ principalOutstanding: 60_000, interestOutstanding: 18_000, totalOutstanding: 78_000, totalOverdue: 0 },
      ...{ nextDueDate: '2026-03-31', nextDueAmount: 39_000 },
    })
    expect(body.code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/)
    expect(typesOf(body)).toEqual([
      ['Disbursement', 90_000, 90_000],
      ['Scheduled Interest', 27_000, 117_000],
      ['Repayment', -39_000, 78_000],
      ['Repayment', 0, 78_000],
    ])
    expect(body.lines[2]).toEqual({
      ...{ date: '2026-02-28', type: 'Repayment', transactionId: transaction.id, status: 'posted' },
      ...{ paymentMethod: 'Mobile Money', amount: 39_000, principal: 30_000, interest: 9_000, fees: 0, penalty: 0 },
      ...{ overpayment: 0, change: -39_000, balance: 78_000 },
    })
    expect(body.lines[3]).toMatchObject({ status: 'reversed', amount: 500, principal: 0, interest: 0 })
    expect(body.instalments[0]).toEqual({
      ...{ period: 1, dueDate: '2026-02-28', due: 39_000, paid: 39_000, givenUp: 0, owed: 0 },
    })
  })

  it('200: closes with what the loan owes less what it is overpaid, also after a late penalty and an overpayment', async () => {
    service.clock.set('2026-05-02')
    const loan = (await service.get(lent.path)).body
    expect(await statementOf()).toMatchObject({
      closingBalance: loan.totalOutstanding,
      totalOverdue: loan.totalOverdue,
    })
    expect(typesOf(await statementOf()).at(-1)).toEqual(['Late Penalty', 4_500, 121_500])
    await repay(service, lent, 122_000)
    expect(await statementOf()).toMatchObject({ closingBalance: -500, totalOverpaid: 500, status: 'Overpaid' })
    await service.post(`${lent.path}/repayments/credit-balance-refund`, { body: { transactionAmount: 500 } })
    expect(await statementOf()).toMatchObject({ closingBalance: 0, status: 'Closed (obligations met)' })
  })

  it('200: from one day to another, as the loan stood at the end of the last one', async () => {
    service.clock.set('2026-05-02')
    await repay(service, lent, 39_000, '2026-02-28')
    const body = await statementOf('?from=2026-02-28&to=2026-03-01')
    expect(body).toMatchObject({ openingBalance: 117_000, charged: 0, credited: 39_000, closingBalance: 78_000 })
    expect(body.lines).toHaveLength(1)
    const none = await statementOf('?from=2026-03-01&to=2026-03-01')
    expect(none).toMatchObject({ lines: [], openingBalance: 78_000, closingBalance: 78_000, totalOverdue: 0 })
    const earlier = await statementOf('?from=2025-01-01&to=2026-01-31')
    expect(earlier).toMatchObject({ from: '2025-01-01', openingBalance: 0, closingBalance: 117_000 })
  })

  it('200: the same by the externalId of the loan, in both languages with codes of their own', async () => {
    const body = { customerId: lent.loan.customerExternalId, productId: 1, principal: 50_000, externalId: 'loan-x' }
    const { body: loan } = await service.post('/v1/loans', { body })
    const [byId, byOwnId] = [
      await statementOf('', `/v1/loans/${loan.id}`),
      await statementOf('', '/v1/loans/external/loan-x'),
    ]
    expect(byOwnId).toEqual(byId)
    const swahili = await statementOf('?language=sw', '/v1/loans/external/loan-x')
    expect(swahili).toEqual({ ...byId, language: 'sw', code: expect.any(String) })
    expect(swahili.code).not.toBe(byId.code)
  })

  it.each([
    ['?to=2026-02-01', 'to', 'must not be in the future: today is 2026-01-31'],
    ['?to=2026-01-30', 'to', 'must not be before the disbursement of the loan, 2026-01-31'],
    ['?from=2026-02-01', 'from', 'must not be after to, 2026-01-31'],
    ['?from=yesterday', 'from', 'must be a date written YYYY-MM-DD'],
    ['?language=fr', 'language', 'must be one of en, sw'],
    ['?form=2026-01-31', 'form', expect.stringContaining('from')],
  ])('400: %s', async (query, field, message) => {
    const { status, body } = await service.get(`${lent.path}/statement${query}`)
    expect([status, body.code, body.details]).toEqual([400, 'invalid_argument', [{ field, message }]])
  })

  it('404: no such loan, or one of another organization', async () => {
    expect(await service.get('/v1/loans/999/statement')).toMatchObject({ status: 404, body: { code: 'not_found' } })
    const token = await anotherLender(service, 5, 'KES')
    expect((await service.get(`${lent.path}/statement`, { token })).status).toBe(404)
  })
})

describe('the media type of a document', () => {
  it.each([
    ['application/json', 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['application/pdf', 'application/pdf'],
    ['text/html, application/pdf;q=0.9, */*;q=0.1', 'application/pdf'],
    ['text/csv, application/pdf;q=0.9', 'text/csv; charset=utf-8'],
    ['text/*', 'text/csv; charset=utf-8'],
    ['application/*', 'application/json; charset=utf-8'],
    ['application/json;q=0, */*', 'application/pdf'],
  ])('%s: %s', async (accept, type) => {
    const { status, headers } = await fileOf(service, `${lent.path}/statement`, { accept })
    expect([status, headers['content-type']]).toEqual([200, type])
  })

  it('400: another one, which names the three', async () => {
    const { status, bytes } = await fileOf(service, `${lent.path}/statement`, { accept: 'image/png' })
    expect([status, JSON.parse(bytes.toString())]).toEqual([
      400,
      {
        code: 'invalid_argument',
        message: 'the header Accept must allow one of application/json, application/pdf, text/csv',
      },
    ])
  })
})

describe('a statement as PDF', () => {
  it('is the same bytes each time, and says what the JSON says', async () => {
    service.clock.set('2026-03-05')
    await repay(service, lent, 39_000)
    for (const language of ['en', 'sw'] as const) {
      const path = `${lent.path}/statement?language=${language}`
      const [first, again] = [await pdfOf(service, path), await pdfOf(service, path)]
      expect(again.equals(first)).toBe(true)
      const read = await readStatement(first, language)
      const { body } = await service.get(path)
      expect(read).toMatchObject({
        code: body.code,
        pages: 1,
        sums: ['TZS 0.00', '117,000.00', '39,000.00', 'TZS 78,000.00'],
      })
      expect(read.lines.map(({ balance }) => balance)).toEqual(['90,000.00', '117,000.00', '78,000.00'])
    }
  })

  it('is an attachment with a name of ASCII letters, which no cache keeps', async () => {
    const { headers } = await fileOf(service, `${lent.path}/statement`, { accept: 'application/pdf' })
    expect(headers).toMatchObject({
      'content-disposition': `attachment; filename="statement-${lent.loan.id}-2026-01-31-2026-01-31.pdf"`,
      'cache-control': 'no-store',
    })
  })

  it('shows the legal name, the licence number and the logo of the lender; a broken picture is left out', async () => {
    const set = async (logo: Buffer | null) =>
      expect(
        await service.patch('/v1/organization', {
          body: { legalName: 'Ziwa Credit Ltd', licenceNumber: 'MFB/1', logo: logo?.toString('base64') ?? null },
          token: service.tokens.operator,
        }),
      ).toMatchObject({ status: 200 })
    const path = `${lent.path}/statement`
    await set(null)
    const plain = await pdfOf(service, path)
    await set(picture())
    const [first, again] = [await pdfOf(service, path), await pdfOf(service, path)]
    expect([again.equals(first), first.includes('/Subtype /Image'), plain.includes('/Subtype /Image')]).toEqual([
      ...[true, true, false],
    ])
    expect((await readStatement(first, 'en')).text).toContain(squeezed('Ziwa Credit Ltd'))
    expect((await readStatement(first, 'en')).text).toContain(squeezed('Licence number MFB/1'))
    await set(aPng(20, 30))
    expect((await pdfOf(service, path)).equals(plain)).toBe(true)
    await service.patch('/v1/organization', {
      body: { legalName: null, licenceNumber: null, logo: null },
      token: service.tokens.operator,
    })
  })

  it('429: while as many of its account wait as may', async () => {
    const path = `${lent.path}/statement`
    const { pdfs } = service.deps.gates
    const holder = holderOf(await service.deps.signIn.identify(service.tokens.partner))
    // The PDF of a test before may still rest on the one place of the account.
    const free = await pdfs.take(holder)
    const waiting = [pdfs.take(holder), pdfs.take(holder)]
    const { status, bytes, headers } = await fileOf(service, path, { accept: 'application/pdf' })
    expect([status, headers['retry-after']]).toEqual([429, '1'])
    expect(JSON.parse(bytes.toString())).toMatchObject({ code: 'resource_exhausted' })
    expect((await service.get(path)).status).toBe(200)
    free()
    for (const taken of waiting) (await taken)()
    await pdfOf(service, path)
  })

  it('shows texts of clients as text, in other scripts too', async () => {
    const externalId = '<b>ሰላም</b> 张 Ünïcödé Ελλ'
    await service.post('/v1/customers', { body: { externalId } })
    const { body: loan } = await service.post('/v1/loans', {
      body: { customerId: externalId, productId: 1, principal: 50_000 },
    })
    const references = ['=1+1', '\u202Ereversed', 'x'.repeat(100), 'محمد', 'नमस्ते 😀']
    for (const idempotencyKey of references)
      await service.post(`/v1/loans/${loan.id}/repayments`, { body: { transactionAmount: 10, idempotencyKey } })
    const pages = await pagesOf(await pdfOf(service, `/v1/loans/${loan.id}/statement`))
    const text = squeezed(
      pages
        .flat(2)
        .map((cell) => cell.text)
        .join(''),
    )
    for (const shown of ['<b>ሰላም</b>[U+5F20]ÜnïcödéΕλλ', '=1+1', '[U+202E]reversed', 'x'.repeat(100), '[U+1F600]'])
      expect(text).toContain(squeezed(shown))
    const { bytes } = await fileOf(service, `/v1/loans/${loan.id}/statement`, { accept: 'text/csv' })
    const csv = bytes.toString()
    for (const cell of ["'=1+1", '[U+202E]reversed', 'محمد', 'नमस्ते 😀']) expect(csv).toContain(`,${cell},`)
    const { lines } = await statementOf('', `/v1/loans/${loan.id}`)
    expect(lines.slice(2).map((one) => one.idempotencyKey)).toEqual(references)
  })
})

/** A PNG of one pixel that is half transparent. */
function picture(): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
    const ends = Buffer.alloc(8)
    ends.writeUInt32BE(data.length)
    ends.writeUInt32BE(crc32(body), 4)
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
  }
  const head = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0])
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    ...[
      chunk('IHDR', head),
      chunk('IDAT', deflateSync(Buffer.from([0, 200, 30, 30, 128]))),
      chunk('IEND', Buffer.alloc(0)),
    ],
  ])
}

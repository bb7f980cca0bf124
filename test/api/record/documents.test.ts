import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileOf } from '../../support/documents.ts'
import { readStatement } from '../../support/readDocument.ts'
import { openRecordBook } from '../../support/recordBook.ts'

// Statements and receipts in the words of the record style (contract 14).

let book: Awaited<ReturnType<typeof openRecordBook>>
beforeAll(async () => {
  book = await openRecordBook()
})
afterAll(() => book.service.close())

const host = () => new URL(book.service.deps.config.recordsUrl).host

describe('GET /v1/loans/{id}/statement', () => {
  it('200: in the envelope and the words of the style, with the borrower by the business name', async () => {
    const loan_id = await book.lend()
    const { body: repaid } = await book.repay(loan_id)
    const { amount, repayment_id, method, collection_date } = repaid.item as Record<string, number | string>
    const { status, body } = await book.records.get(`/v1/loans/${loan_id}/statement`)
    const principal = (body.item.loan as { principal_amount: number }).principal_amount
    const owed = principal - Number(amount)
    expect([status, body]).toMatchObject([
      200,
      {
        success: true,
        item: {
          loan: { loan_id, currency_code: 'TZS' },
          borrower: { id: 1, name: expect.any(String) },
          ...{ opening_balance: 0, charged: principal, credited: amount, closing_balance: owed },
          lines: [
            { type: 'Disbursement', amount: principal, balance: principal, reversed: false },
            { type: 'Repayment', date: collection_date, repayment_id, method, amount, change: -Number(amount) },
          ],
          ...{ total_outstanding: owed, total_overpaid: 0 },
          instalments: [{ number: 1, owed }],
        },
      },
    ])
    const { code } = body.item
    const pdf = await fileOf(book.service, `/v1/loans/${loan_id}/statement`, {
      accept: 'application/pdf',
      host: host(),
    })
    expect([pdf.status, (await readStatement(pdf.bytes, 'en')).code]).toEqual([200, code])
    const verified = await book.records.post('/v1/documents/verify', { body: { code } })
    expect(verified.body).toMatchObject({ success: true, item: { code, kind: 'statement', loan_id, current: true } })
  })

  it('400 and 404, in the words of the style', async () => {
    const loan_id = await book.lend()
    const { status, body } = await book.records.get(`/v1/loans/${loan_id}/statement?to=2999-01-01`)
    expect([status, body.success, body.details?.[0]?.field]).toEqual([400, false, 'to'])
    expect((await book.records.get('/v1/loans/987654/statement')).status).toBe(404)
  })
})

describe('GET /v1/repayments/{id}/receipt', () => {
  it('200: of a repayment, by its own id alone', async () => {
    const loan_id = await book.lend()
    const { body: repaid } = await book.repay(loan_id)
    const { amount, repayment_id } = repaid.item as Record<string, number>
    const { status, body } = await book.records.get(`/v1/repayments/${repayment_id}/receipt?language=sw`)
    expect([status, body]).toMatchObject([
      200,
      { success: true, item: { language: 'sw', loan: { loan_id }, repayment_id, amount, principal: amount } },
    ])
    expect((await book.records.get('/v1/repayments/987654/receipt')).status).toBe(404)
  })
})

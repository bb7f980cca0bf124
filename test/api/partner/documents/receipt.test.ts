import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fileOf, pdfOf } from '../../../support/documents.ts'
import { anotherLender } from '../../../support/lenders.ts'
import { pastTriggers } from '../../../support/pastTriggers.ts'
import { pagesOf } from '../../../support/readDocument.ts'
import { sandboxOf } from '../../../support/sandbox.ts'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'
import { type Lent, lendBy, repay } from '../terms/lent.ts'

// Receipts, and the check of the codes of documents (contract 14).

let service: TestService
let lent: Lent
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(async () => {
  service.clock.set(FIRST_DAY)
  lent = await lendBy(service, { interestRate: 10 })
})

const verify = (code: unknown, token = service.tokens.partner) =>
  service.post('/v1/documents/verify', { body: { code }, token })
const textOf = async (path: string) =>
  (await pagesOf(await pdfOf(service, path)))
    .flat()
    .map((line) => line.map(({ text }) => text).join(' '))
    .join('\n')

describe('GET /v1/loans/{id}/repayments/{transactionId}/receipt', () => {
  it('200: the amount, what it went to, and the balance after it on its day', async () => {
    const { transaction } = await repay(service, lent, 39_000)
    await repay(service, lent, 1_000)
    const path = `${lent.path}/repayments/${transaction.id}/receipt`
    const { status, body } = await service.get(path)
    expect([status, body]).toEqual([
      200,
      {
        ...{ code: expect.any(String), language: 'en', lender: { name: 'Demo Lender', licenceNumber: null } },
        customer: expect.objectContaining({ name: lent.loan.customerName }),
        loan: expect.objectContaining({ id: lent.loan.id }),
        ...{ date: '2026-01-31', type: 'Repayment', transactionId: transaction.id, status: 'posted' },
        ...{ paymentMethod: 'Mobile Money', transactionAt: transaction.transactionAt },
        ...{ amount: 39_000, principal: 30_000, interest: 9_000, fees: 0, penalty: 0, overpayment: 0 },
        ...{ change: -39_000, balance: 78_000 },
      },
    ])
    const text = await textOf(`${path}?language=sw`)
    for (const shown of ['Stakabadhi', 'TZS 39,000.00', 'TZS 78,000.00', 'Mtaji 30,000.00', lent.loan.customerName])
      expect(text).toContain(shown)
    const again = await fileOf(service, path, { accept: 'application/pdf' })
    expect(again.bytes.equals(await pdfOf(service, path))).toBe(true)
    expect(again.headers['content-disposition']).toBe(
      `attachment; filename="receipt-${lent.loan.id}-${transaction.id}.pdf"`,
    )
  })

  it('200: of a reversed one, which says so', async () => {
    const { transaction } = await repay(service, lent, 39_000)
    const path = `${lent.path}/repayments/${transaction.id}/receipt`
    expect(await textOf(path)).not.toContain('REVERSED')
    await service.post(`${lent.path}/repayments/${transaction.id}/reverse`, { token: service.tokens.operator })
    expect((await service.get(path)).body).toMatchObject({
      status: 'reversed',
      amount: 39_000,
      change: 0,
      balance: 117_000,
    })
    expect(await textOf(path)).toContain('REVERSED – NOT VALID')
    const { bytes } = await fileOf(service, path, { accept: 'text/csv' })
    expect(bytes.toString().split('\n')[1]).toContain(',reversed,TZS,39000.00,')
  })

  it('200: of a payout, as a voucher', async () => {
    await repay(service, lent, 117_500)
    const { body } = await service.post(`${lent.path}/repayments/credit-balance-refund`, {
      body: { transactionAmount: 500 },
    })
    const text = await textOf(`${lent.path}/repayments/${body.id}/receipt`)
    expect(text).toContain('Payment voucher')
    expect(text).toContain('Overpayment 500.00')
  })

  it('409: of a transaction in which no money moved; 404: of one that is not on the loan', async () => {
    const { body } = await service.post(`${lent.path}/repayments/waive-interest`, { body: { transactionAmount: 100 } })
    expect(await service.get(`${lent.path}/repayments/${body.id}/receipt`)).toMatchObject({
      status: 409,
      body: { code: 'failed_precondition', message: expect.stringContaining('Waive Interest') },
    })
    expect((await service.get(`${lent.path}/repayments/999/receipt`)).status).toBe(404)
  })
})

describe('POST /v1/documents/verify', () => {
  it('200: what a statement says, until the book says something else', async () => {
    service.clock.stand(FIRST_DAY)
    const { transaction } = await repay(service, lent, 39_000)
    const { code } = (await service.get(`${lent.path}/statement`)).body
    const said = {
      ...{ code, kind: 'statement', loanId: lent.loan.id, from: '2026-01-31', to: '2026-01-31', language: 'en' },
      ...{ currencyCode: 'TZS', amount: 78_000, reversed: false, lenderName: 'Demo Lender' },
      ...{ customerName: lent.loan.customerName, madeAt: '2026-01-31T09:30:00.000+03:00' },
    }
    expect(await verify(code)).toMatchObject({ status: 200, body: { ...said, current: true } })
    service.clock.set('2026-02-05')
    expect((await verify(code)).body).toEqual({ ...said, current: true })
    await service.post(`${lent.path}/repayments/${transaction.id}/reverse`, { token: service.tokens.operator })
    expect((await verify(code)).body).toEqual({ ...said, current: false })
  })

  it('200: what a receipt says', async () => {
    const { transaction } = await repay(service, lent, 39_000)
    const path = `${lent.path}/repayments/${transaction.id}/receipt`
    const { code } = (await service.get(path)).body
    const said = { kind: 'receipt', transactionId: transaction.id, to: '2026-01-31', amount: 39_000, reversed: false }
    expect((await verify(code)).body).toMatchObject({ ...said, current: true })
    await service.post(`${lent.path}/repayments/${transaction.id}/reverse`, { token: service.tokens.operator })
    expect((await verify(code)).body).toMatchObject({ ...said, current: false })
    const { code: another } = (await service.get(path)).body
    expect((await verify(another)).body).toMatchObject({ ...said, reversed: true, current: true })
  })

  it('200: a code as people type it', async () => {
    const { code } = (await service.get(`${lent.path}/statement`)).body
    const typed = code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')
    for (const one of [typed, ` ${code.replaceAll('-', '')} `, code.replaceAll('-', '–')])
      expect((await verify(one)).body).toMatchObject({ code, kind: 'statement' })
  })

  it('404: a code that no document has, of another organization, or whose row was changed', async () => {
    const { code } = (await service.get(`${lent.path}/statement`)).body
    const token = await anotherLender(service, 6, 'KES')
    const unknown = {
      status: 404,
      body: { code: 'not_found', message: 'no document of your organization has that code' },
    }
    expect(await verify('0000-0000-0000-0000')).toMatchObject(unknown)
    expect(await verify(code, token)).toMatchObject(unknown)
    service.damages('a document is changed by SQL')
    await pastTriggers(service.owner, `UPDATE document SET amount = 1 WHERE code = '${code.replaceAll('-', '')}'`)
    expect(await verify(code)).toMatchObject(unknown)
  })

  it('404: after a reset of the test organization', async () => {
    const sandbox = await sandboxOf(service)
    const loan = await sandbox.lend('reset', 1)
    const { code } = (await sandbox.get<{ code: string }>(`/v1/loans/${loan}/statement`)).body
    expect((await verify(code, sandbox.token)).status).toBe(200)
    expect((await sandbox.post('/v1/test-clock/reset')).status).toBe(200)
    expect((await verify(code, sandbox.token)).status).toBe(404)
  })

  it.each(['', 'short', 'x'.repeat(65), '../../../../etc/passwd', 5])('400: %j', async (code) => {
    const { status, body } = await verify(code)
    expect([status, body.details?.[0]?.field]).toEqual([400, 'code'])
  })

  it('503: a new document in a book that takes no writes; one that was made before is answered', async () => {
    const path = `${lent.path}/statement`
    const { code } = (await service.get(path)).body
    const { pool } = service.owner
    await pool.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'cannot execute INSERT in a read-only transaction' USING ERRCODE = '25006'; END $$`)
    await pool.query('CREATE TRIGGER refuse BEFORE INSERT ON document FOR EACH ROW EXECUTE FUNCTION refuse()')
    expect((await service.get(path)).body).toMatchObject({ code })
    expect((await verify(code)).status).toBe(200)
    expect(await service.get(`${path}?language=sw`)).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    await pool.query('DROP TRIGGER refuse ON document; DROP FUNCTION refuse')
    expect((await service.get(`${path}?language=sw`)).status).toBe(200)
  })
})

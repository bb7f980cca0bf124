import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { dataResultSchema } from '../../../../src/api/partner/people/results.wire.ts'
import { operator } from '../../../../src/services/access/caller.ts'
import { exportsJob } from '../../../../src/services/exports/exportsJob.ts'
import { drain } from '../../../../src/services/jobs/job.ts'
import { DEMO_AUDITOR } from '../../../../src/services/organizations/seedDemo.ts'
import { addAccount } from '../../../support/accounts.ts'
import { anAccount } from '../../../support/approvals.ts'
import { fileOf } from '../../../support/documents.ts'
import { everyText } from '../../../support/everyText.ts'
import { anotherLender } from '../../../support/lenders.ts'
import { turnsDuring } from '../../../support/patience.ts'
import { pagesOf, squeezed } from '../../../support/readDocument.ts'
import { aBorrower } from '../../../support/recordBodies.ts'
import { recordsOf } from '../../../support/records.ts'
import { startService, type TestService } from '../../../support/service.ts'
import type { Wire } from '../../../support/wire.ts'

// The result of a data request: all that a lender knows of a person (contract 18).

let service: TestService
let maker: { token: string }
let checker: { token: string }
let channelId: string
beforeAll(async () => {
  service = await startService()
  maker = { token: service.tokens.operator }
  checker = { token: await anAccount(service, 'checker') }
  await service.patch('/v1/organization', { body: { keepBorrowersYears: 0, keepOthersYears: 0 }, ...maker })
  const channel = await service.post('/v1/payment-channels', {
    body: { name: 'Wallet', adapter: 'canonical' },
    ...maker,
  })
  channelId = channel.body.id
})
afterAll(() => service.close())

/** The words of a person, none of them part of anything else. */
const WORDS = {
  firstName: 'Zawadixa',
  lastName: 'Wanjikuxa',
  dateOfBirth: '1971-03-04',
  idNumber: 'ID-77-XAQ-41',
  phone: '+255788123987',
  email: 'zawadixa@posta.example',
  address: 'Mtaa wa Xuma',
  reference: 'NIDA-XQ-991',
  note: 'Zawadixa was ill',
  payer: 'WANJIKUXA ZAWADIXA',
  description: 'Xaloon, blue',
} as const

async function sent(path: string, body: object, call: object = maker): Promise<Wire> {
  const answer = await service.post(path, { body, ...call })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

/** Makes a person of whom everything is known that can be. @returns its numbers */
async function aKnownPerson(externalId: string): Promise<{ id: string; loanId: string; other: string }> {
  const { firstName, lastName, dateOfBirth, idNumber, phone, email, address, reference } = WORDS
  const verification = { by: 'NIDA', on: '2026-01-01', result: 'verified', reference }
  const identity = { firstName, lastName, dateOfBirth, idNumber, phone, email, address, verification }
  const { id } = await sent('/v1/customers', { externalId, identity })
  const given = { purpose: 'bureau', channel: 'paper', givenAt: '2026-01-30T10:00:00+03:00' }
  await sent(`/v1/customers/${id}/consents`, given)
  const { id: otherCustomer } = await sent('/v1/customers', { externalId: `other-of-${externalId}` })
  const application = { productId: 4, principal: 10_000 }
  const loan = await sent('/v1/loans', { ...application, customerId: externalId })
  const other = await sent('/v1/loans', { ...application, customerId: `other-of-${externalId}` })
  const guarantor = { identity: { firstName: 'Secretxa' }, relationship: 'Sister', amount: 500 }
  await sent(`/v1/loans/${loan.id}/guarantors`, guarantor)
  await sent(`/v1/loans/${other.id}/guarantors`, { customerId: externalId, relationship: 'Uncle' })
  await sent(`/v1/loans/${loan.id}/collateral`, { kind: 'vehicle', description: WORDS.description, value: 4_000 })
  await sent(`/v1/loans/${loan.id}/repayments/waive-interest`, { transactionAmount: 100, note: WORDS.note })
  const payer = { payerPhone: phone, payerName: WORDS.payer, channelId }
  const payment = await sent('/v1/payments', { ...payer, receipt: `R-${id}`, amount: 700, reference: 'nobody knows' })
  const allocations = [loan, other].map(({ id }) => ({ loanId: id, amount: 350 }))
  await sent(`/v1/payments/${payment.id}/allocations`, { allocations })
  await service.get(`/v1/credit-scorecard/${externalId}`)
  expect((await service.get(`/v1/loans/${loan.id}/statement`)).status).toBe(200)
  expect(otherCustomer).not.toBe(id)
  return { id, loanId: loan.id, other: other.id }
}

const ask = async (customerId: string, kind = 'access'): Promise<string> =>
  (await sent(`/v1/customers/${customerId}/data-requests`, { kind, reason: WORDS.note })).id
type Result = z.output<typeof dataResultSchema> & Pick<Wire, 'message' | 'code'>
const resultOf = (id: string, call: object = maker) => service.get<Result>(`/v1/data-requests/${id}/result`, call)
const pdfOf = (id: string, query = '', token = maker.token) =>
  fileOf(service, `/v1/data-requests/${id}/result.pdf${query}`, { accept: '*/*', token })
const textOf = async (pdf: Buffer) =>
  squeezed((await pagesOf(pdf)).flatMap((page) => page.flatMap((line) => line.map(({ text }) => text))).join(' '))

describe('the result of a data request', () => {
  it('has all that is known of the person, and nothing of others', async () => {
    const { id, loanId, other } = await aKnownPerson('known')
    const request = await ask(id)
    const { status, body, text, headers } = await resultOf(request)
    expect(status, text).toBe(200)
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(dataResultSchema.safeParse(body).error?.issues).toBeUndefined()
    expect(body).toMatchObject({
      lenderName: 'Demo Lender',
      request: { id: request, kind: 'access', reason: WORDS.note },
      customer: { id, externalId: 'known', status: 'Active' },
      identity: { firstName: WORDS.firstName, verification: { reference: WORDS.reference } },
      consents: [{ purpose: 'bureau' }],
      guarantors: [{ loanId, relationship: 'Sister', amount: 500 }],
      guarantees: [{ loanId: other, relationship: 'Uncle' }],
      collateral: [{ loanId, description: WORDS.description }],
      payments: [{ receipt: `R-${id}`, payerName: WORDS.payer, payerPhone: WORDS.phone, amount: 700 }],
      documents: [{ kind: 'statement', loanId }],
      dataRequests: [{ id: request }],
    })
    const { repaymentHistory: _, delinquency: __, ...summary } = (await service.get(`/v1/loans/${loanId}`)).body
    expect(body.loans).toEqual([summary])
    expect(body.transactions.map(({ type, note }) => [type, note])).toEqual([
      ['Waive Interest', WORDS.note],
      ['Repayment', undefined],
    ])
    expect(body.payments[0]!.allocations.map(({ loanId: of }) => of)).toEqual([loanId])
    expect(body.creditDecisions).toMatchObject([{ kind: 'score', reasons: expect.any(Array), creditLimit: 0 }])
    for (const word of ['Secretxa', 'other-of-known']) expect(text).not.toContain(word)
  })

  it('is a PDF for the person, in English and in Kiswahili, in the name of the lender', async () => {
    const { id, loanId } = await aKnownPerson('printed')
    await service.patch('/v1/organization', { body: { legalName: 'Xamo Finance Ltd' }, ...maker })
    const request = await ask(id)
    for (const [query, words] of [
      ['', ['What we know about you', `Loan ${loanId}`, 'Payments', 'Collateral', 'Interest waived']],
      ['?language=sw', ['Taarifa zako tulizo nazo', `Mkopo ${loanId}`, 'Malipo', 'Dhamana', 'Riba iliyosamehewa']],
    ] as const) {
      const { status, bytes, headers } = await pdfOf(request, query)
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([200, 'application/pdf', 'no-store'])
      const text = await textOf(bytes)
      for (const word of [...words, ...Object.values(WORDS), 'Xamo Finance Ltd', `R-${id}`])
        expect(text).toContain(squeezed(word))
      expect(text).not.toContain('Secretxa')
    }
    await service.patch('/v1/organization', { body: { legalName: null }, ...maker })
  })

  it('is noted in the trail each time, and no copy of it is kept, also once the person is erased', async () => {
    const externalId = 'erasedxa'
    const { id, loanId, other } = await aKnownPerson(externalId)
    const request = await ask(id)
    await resultOf(request)
    await pdfOf(request, '?language=sw', checker.token)
    const trail = async () =>
      (await service.get(`/v1/audit-trail?entity=data%20request&entityId=${request}&rows=50`, maker)).body.items
        .filter(({ action }: Wire) => action === 'read')
        .map(({ after }: Wire) => after)
    expect(await trail()).toEqual([{ format: 'pdf sw' }, { format: 'json' }])
    for (const of of [loanId, other]) {
      const { totalOutstanding: transactionAmount } = (await service.get(`/v1/loans/${of}`)).body
      await sent(`/v1/loans/${of}/repayments`, { transactionAmount })
    }
    const erasure = await ask(id, 'erasure')
    const done = await service.post(`/v1/data-requests/${erasure}/confirm`, checker)
    expect(done.body, done.text).toMatchObject({ state: 'done' })
    const refused = await resultOf(request)
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'the person was erased, and nothing is known of it any more',
    ])
    const pdf = await pdfOf(request)
    expect(pdf.status).toBe(409)
    expect(await trail()).toHaveLength(2)
    const { rows } = await service.owner.pool.query('SELECT t::text AS text FROM customer t WHERE id = $1', [id])
    const known = [refused.text, pdf.bytes.toString(), rows[0].text, JSON.stringify(await trail())].join('\n')
    for (const word of [...Object.values(WORDS), externalId]) expect(known).not.toContain(word)
    const texts = await everyText(service)
    for (const word of ['%PDF', 'data-request-', Buffer.from('%PDF').toString('hex'), 'What we know'])
      expect(texts).not.toContain(word)
  })

  it('of a borrower of a record system has its words', async () => {
    await recordsOf(service).post('/v1/borrowers', { body: { ...aBorrower, id: 9_901, business_name: 'Duka la Xuma' } })
    const { body } = await resultOf(await ask('9901'))
    expect(body.customer).toMatchObject({ externalId: null, businessName: 'Duka la Xuma' })
    expect(body).toMatchObject({ identity: {}, loans: [], transactions: [], payments: [], creditDecisions: [] })
    expect(await textOf((await pdfOf(body.request.id)).bytes)).toContain(squeezed('You have had no loan.'))
  })
})

describe('is refused', () => {
  it('to everybody but an ADMIN of the lender, and for what is not there', async () => {
    const { id } = await sent('/v1/customers', { externalId: 'of-roles' })
    const request = await ask(id)
    const { email, password } = DEMO_AUDITOR
    const auditor = await service.deps.signIn.issueToken(email, password, '127.0.0.1')
    for (const token of [service.tokens.partner, auditor]) {
      expect((await resultOf(request, { token })).status).toBe(403)
      expect((await pdfOf(request, '', token)).status).toBe(403)
    }
    await anotherLender(service, 7, 'KES')
    const foreign = { email: 'admin@lender-7.example', password: 'a long enough secret' }
    await addAccount(service.deps, operator(7, 'test'), { ...foreign, roles: ['ADMIN'] })
    const token = await service.deps.signIn.issueToken(foreign.email, foreign.password, '127.0.0.1')
    expect((await resultOf(request, { token })).status).toBe(404)
    for (const path of ['999999', 'x', '-1', '9'.repeat(30)]) expect((await resultOf(path)).status).toBe(404)
  })

  it('for another kind, and for one that was refused or withdrawn, in words; a completed one has it still', async () => {
    const { id } = await sent('/v1/customers', { externalId: 'of-kinds' })
    const other = await resultOf(await ask(id, 'objection'))
    expect([other.status, other.body.code, other.body.message]).toEqual([
      409,
      'failed_precondition',
      'the data request is of the kind objection: only one of the kind access has a result',
    ])
    const [refused, withdrawn, done] = [await ask(id), await ask(id), await ask(id)]
    await sent(`/v1/data-requests/${refused}/refuse`, { note: 'Not the person' })
    await service.post(`/v1/data-requests/${withdrawn}/withdraw`, maker)
    await sent(`/v1/data-requests/${done}/complete`, { note: 'Sent' })
    for (const request of [refused, withdrawn]) expect((await resultOf(request)).status).toBe(409)
    expect((await resultOf(done)).body.dataRequests).toHaveLength(4)
  })

  it('for a language that it has not, and a query that it does not know', async () => {
    const { id } = await sent('/v1/customers', { externalId: 'of-words' })
    const request = await ask(id)
    for (const query of ['?language=fr', '?language=', '?page=1'])
      expect((await pdfOf(request, query)).status).toBe(400)
  })
})

describe('of a customer with hundreds of loans', () => {
  it('is whole, lets others have their turn, and waits for a place', async () => {
    const { id } = await sent('/v1/customers', { externalId: 'many' })
    const body = { customerId: 'many', productId: 4, principal: 10_000 }
    for (let at = 0; at < 30; at++)
      await Promise.all(Array.from({ length: 10 }, () => service.post('/v1/loans', { body })))
    const request = await ask(id)
    const asked = resultOf(request)
    const { turns, longestMs } = await turnsDuring(asked)
    const { body: result } = await asked
    expect(result.loans).toHaveLength(300)
    expect(new Set(result.loans.map((loan) => loan.id)).size).toBe(300)
    expect(turns).toBeGreaterThan(3)
    expect(longestMs).toBeLessThan(2_000)
    const answers = await Promise.all(Array.from({ length: 10 }, () => resultOf(request)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(answers.filter(({ status }) => status === 200).length).toBe(answers.length - refused.length)
    expect((await pdfOf(request)).status).toBe(200)
  })
})

describe('what others were told of the person', () => {
  it('is in the result, with the notices and the disputes', async () => {
    const { id, loanId } = await aKnownPerson('listed')
    service.clock.set('2026-02-02')
    await sent(`/v1/loans/${loanId}/listing-notices`, { sentOn: '2026-02-01', channel: 'sms', reference: 'SMS-7' })
    const dispute = await sent(`/v1/loans/${loanId}/disputes`, { openedOn: '2026-02-01', reason: WORDS.note })
    const end = { resolvedOn: '2026-02-02', outcome: 'upheld', note: 'Xorrected' }
    await sent(`/v1/loans/${loanId}/disputes/${dispute.id}/resolve`, end)
    const file = await sent('/v1/exports', { format: 'portfolio_return', asOf: '2026-02-01' })
    await drain(exportsJob(service.deps))
    await sent(`/v1/exports/${file.id}/accept`, {})
    const request = await ask(id)
    const { body, text } = await resultOf(request)
    expect(dataResultSchema.safeParse(body).error?.issues, text).toBeUndefined()
    expect(body).toMatchObject({
      listingNotices: [{ loanId, sentOn: '2026-02-01', channel: 'sms', reference: 'SMS-7' }],
      disputes: [{ loanId, reason: WORDS.note, outcome: 'upheld', resolution: 'Xorrected' }],
      files: [{ exportId: file.id, format: 'portfolio_return', asOf: '2026-02-01', accepted: true, loanId }],
    })
    const pdf = await textOf((await pdfOf(request)).bytes)
    for (const word of ['by SMS', 'SMS-7', 'upheld', 'Xorrected', 'portfolio_return', 'taken'])
      expect(pdf).toContain(squeezed(word))
  })
})

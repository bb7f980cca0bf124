import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operator } from '../../src/services/access/caller.ts'
import { phonesOf } from '../../src/services/office/search.ts'
import { createOrganization } from '../../src/services/organizations/organizations.ts'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER, DEMO_SANDBOX } from '../../src/services/organizations/seedDemo.ts'
import { addAccount } from '../support/accounts.ts'
import { keepJournal } from '../support/journal.ts'
import { type Office, openOffice } from '../support/office.ts'
import { pagesOf } from '../support/readDocument.ts'
import { aBorrower } from '../support/recordBodies.ts'
import { startService, type TestService } from '../support/service.ts'
import type { Wire } from '../support/wire.ts'

// The office pages to work with: search, today, customers, files and documents.

const FORMULA = '=1+1|cmd'

let service: TestService
let office: Office
let customer: string
let loan: string
let repayment: string

const post = async (path: string, body: object): Promise<Wire> => {
  const answer = await service.post(path, { body })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

beforeAll(async () => {
  service = await startService()
  service.clock.set('2026-02-28T10:00:00+03:00')
  customer = (await post('/v1/customers', { externalId: FORMULA })).id
  loan = (await post('/v1/loans', { customerId: FORMULA, productId: 3, principal: 60_000, externalId: 'order 66' })).id
  const { host } = new URL(service.deps.config.recordsUrl)
  const named = { ...aBorrower, id: 77, business_name: 'Duka la Mwanaidi', phone: '+255712345678' }
  expect(await service.post('/v1/borrowers', { host, token: service.tokens.partner, body: named })).toMatchObject({
    status: 200,
  })
  service.clock.set('2026-03-28T09:00:00+03:00')
  const early = { transactionAmount: 4_000, transactionDate: '2026-03-20', idempotencyKey: 'QK7 early' }
  repayment = (await post(`/v1/loans/${loan}/repayments`, early)).id
  await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 1_000, idempotencyKey: 'QK8' })
  await post('/v1/loans', { customerId: FORMULA, productId: 1, principal: 20_000 })
  await keepJournal(service.deps)
  office = openOffice(service.deps)
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})

const find = async (text: string) => (await office.look(`/search?q=${encodeURIComponent(text)}`)).text

describe('the search', () => {
  it.each([FORMULA, '=1+', '=1+1|CMD cust'])('finds the customer by %s', async (text) =>
    expect(await find(text)).toContain(`/customers/${customer}"`),
  )

  it.each(['+255712345678', '0712 345 678', '255712345678', '712-345-678', 'duka la', 'DUKA LA MWANAIDI', '77'])(
    'finds the borrower by %s',
    async (text) => expect(await find(text)).toContain('/customers/77"'),
  )

  it.each(['Mwanaidi', 'la mwana', 'mwanaidi DUKA', 'Mwanadi', 'Mwnaidi', 'duka mwanaidy'])(
    'finds the borrower by words of the name, also with a slip: %s',
    async (text) => expect(await find(text)).toContain('/customers/77"'),
  )

  it('shows what has the words before what has a slip', async () => {
    const { host } = new URL(service.deps.config.recordsUrl)
    for (const [id, business_name] of [
      [60, 'Baraka Mwandishi'],
      [61, 'Bidii ya Mwandisha'],
    ] as const)
      await service.post('/v1/borrowers', {
        host,
        token: service.tokens.partner,
        body: { ...aBorrower, id, business_name },
      })
    const found = (await find('mwandisha')).match(/\/customers\/6\d"/g)
    expect(found).toEqual(['/customers/61"', '/customers/60"'])
  })

  it.each(['order 66', 'QK7 early'])('finds the loan by %s', async (text) =>
    expect(await find(text)).toContain(`/loans/${loan}"`),
  )

  it('finds a loan, a customer and a transaction by number', async () => {
    expect(await find(loan)).toContain(`/loans/${loan}"`)
    expect(await find(customer)).toContain(`/customers/${customer}"`)
    expect(await find(repayment)).toMatch(/QK7 early/)
  })

  it.each(['nobody', '%', '_', '\\', "' OR 1=1 --", '99999999999999999999', 'd'])(
    'finds nothing for %s',
    async (text) => expect(await find(text)).toContain('Nothing was found.'),
  )

  it.each(['', ' ', 'x'.repeat(101), 'a\u0007b'])('refuses "%s"', async (text) =>
    expect((await office.look(`/search?q=${encodeURIComponent(text)}`)).status).toBe(400),
  )

  it('finds nothing of another organization', async () => {
    const admin = { email: 'admin@elsewhere.example', password: 'the secret of elsewhere' }
    const elsewhere = await createOrganization(service.deps, operator(1, 'test'), {
      name: 'Elsewhere',
      currency: 'KES',
    })
    await addAccount(service.deps, operator(elsewhere.id, 'test'), { ...admin, roles: ['ADMIN'] })
    expect((await office.look(`/search?q=${loan}`, admin)).text).toContain('Nothing was found.')
    expect((await office.look(`/loans/${loan}`, admin)).status).toBe(404)
    expect((await office.look(`/customers/${customer}`, admin)).status).toBe(404)
  })

  it('knows the ways to write a phone number, and takes no other text for one', () => {
    expect(phonesOf('0712345678')).toEqual(expect.arrayContaining(['0712345678', '+255712345678', '254712345678']))
    expect(phonesOf('+254 712 345 678')).toContain('0712345678')
    expect(phonesOf('order 66')).toEqual(['order 66'])
  })
})

describe('a value that no page can take', () => {
  it.each([
    ['/audit?from=0001-01-01', 'from must be a date, YYYY-MM-DD, from 1900-01-01 to 2999-12-31'],
    ['/trial-balance?asOf=0000-01-01', 'asOf must be a date'],
    ['/documents?code=%00', 'code must not have the character U+0000'],
  ])('is refused with the name of its field: %s', async (url, message) => {
    const { status, text } = await office.look(url)
    expect([status, text]).toEqual([400, expect.stringContaining(message)])
  })

  it('is no HEAD of the form of a change, which is answered as its GET is', async () => {
    const cookie = await office.signIn(DEMO_OPERATOR)
    const url = `/loans/${loan}/do/charge`
    const { statusCode } = await office.monitor.inject({ method: 'HEAD', url, headers: { cookie } })
    expect(statusCode).toBe(200)
  })
})

describe('today', () => {
  it('has what was collected today and of earlier days, what was disbursed, and what is due', async () => {
    const { text } = await office.look('/')
    expect(text).toContain('<h1>Today, 2026-03-28</h1>')
    expect(text).toMatch(/Collected today<\/dt><dd><span>1 for 1,000\.00 TZS/)
    expect(text).toMatch(/Posted today, paid earlier<\/dt><dd><span>1 for 4,000\.00 TZS/)
    expect(text).toMatch(/Disbursed today<\/dt><dd><span>1 for 20,000\.00 TZS/)
    // An instalment of 10,000 and 3,000 interest, of which 5,000 are paid.
    expect(text).toMatch(/Due today, still owed<\/dt><dd><span>1 for 8,000\.00 TZS/)
    expect(text).toMatch(new RegExp(`/loans/${loan}".*8,000\\.00.*73,000\\.00`, 's'))
  })

  it('a loan whose instalment is paid in full is due no more', async () => {
    await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 8_000, idempotencyKey: 'QK9' })
    expect((await office.look('/')).text).toContain('No loan has an instalment due today that is not paid.')
  })
})

describe('a customer', () => {
  it('has the loans, the details and the scorecard; to look keeps no decision', async () => {
    const count = async () => (await service.deps.db.pool.query('SELECT count(*)::int AS n FROM credit_decision')).rows
    const before = await count()
    const { text } = await office.look(`/customers/${customer}`)
    // The loan of today stands before that of last month.
    expect(text).toMatch(new RegExp(`Loans of the customer.*20,000\\.00.*/loans/${loan}"`, 's'))
    expect(text).toContain('Scorecard')
    expect(await count()).toEqual(before)
    expect((await office.look('/customers/77')).text).toMatch(/<dt>Phone<\/dt><dd>\+255712345678/)
  })
})

describe('the journal and the trail', () => {
  beforeAll(() => keepJournal(service.deps))

  it('have the postings of the days and the changes, with links to their loans', async () => {
    const { text } = await office.look('/journal?from=2026-02-01&to=2026-03-28')
    // The accounts of the default chart, with their names.
    expect(text).toMatch(/<td[^>]*><a [^>]*>1000 Cash/)
    expect((await office.look(`/loans/${loan}`)).text).toMatch(/<td[^>]*>1000 Cash/)
    expect(text).toContain(`/loans/${loan}"`)
    expect(text).toMatch(/<td[^>]*>repayment<\/td>/)
    const trail = (await office.look(`/audit?entity=loan&entityId=${loan}`)).text
    expect(trail).toMatch(/<td[^>]*>Repayment<\/td>/)
    expect(trail).toMatch(/<td[^>]*>partner@example\.com<\/td>/)
    expect((await office.look('/audit?from=2026-13-01')).status).toBe(400)
    expect((await office.look('/journal?from=2026-03-02&to=2026-03-01')).status).toBe(400)
  })
})

describe('files', () => {
  it('have every row, marked where a spreadsheet would run it', async () => {
    const lines = async (path: string) => (await office.look(path, DEMO_AUDITOR)).text.trim().split('\n')
    const customers = await lines('/customers.csv')
    expect(customers.length).toBeGreaterThanOrEqual(3)
    expect(customers.join('\n')).toContain(`'${FORMULA}`)
    expect(await lines('/loans.csv')).toHaveLength(3)
    const transactions = await lines('/transactions.csv')
    expect(transactions[0]).toContain('transactionAmount')
    expect(transactions.join('\n')).toContain('QK7 early')
    expect((await lines('/audit.csv')).length).toBeGreaterThan(5)
    await keepJournal(service.deps)
    expect((await lines('/journal.csv?period=2026-03')).length).toBeGreaterThan(5)
    expect((await office.look('/journal.hledger?period=2026-03')).text).toContain('2026-03-28')
    expect((await office.look('/journal.csv?period=x')).status).toBe(400)
  })
})

describe('documents', () => {
  it('a statement is the same as over HTTP, and its code is known', async () => {
    const page = await office.look(`/loans/${loan}/statement?format=csv&language=en&from=&to=`, DEMO_PARTNER)
    expect(page.status).toBe(200)
    const overHttp = await service.get(`/v1/loans/${loan}/statement`, { headers: { accept: 'text/csv' } })
    expect(page.text).toBe(overHttp.text)
    const { code } = (await service.get(`/v1/loans/${loan}/statement`)).body
    const known = await office.look(`/documents?code=${code.toLowerCase()}`)
    expect(known.text).toContain('The document is genuine, and the book still says the same.')
    await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 10 })
    expect((await office.look(`/documents?code=${code}`)).text).toContain('the book has changed since')
    expect((await office.look('/documents?code=0000-0000-0000-0000')).text).toContain(
      'No document of the organization has that code.',
    )
  })

  it('a receipt is a PDF in the language of the page', async () => {
    const answer = await office.monitor.inject({
      url: `/loans/${loan}/transactions/${repayment}/receipt?language=sw`,
      headers: { cookie: await office.signIn(DEMO_PARTNER) },
    })
    expect(answer.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': expect.stringContaining('.pdf'),
    })
    const words = JSON.stringify(await pagesOf(answer.rawPayload))
    expect(words.toLowerCase()).toContain('stakabadhi')
    expect((await office.look(`/loans/${loan}/transactions/1/receipt`)).status).toBe(404)
    expect((await office.look(`/loans/${loan}/statement?format=doc`)).status).toBe(400)
  })
})

describe('the sums of the arrears', () => {
  it('are of the time of the organization, whose test clock may be ahead', async () => {
    const { email, password } = DEMO_SANDBOX
    const token = await service.deps.signIn.issueToken(email, password, '127.0.0.1')
    const to = '2027-01-05T08:00:00+03:00'
    const advanced = await service.post('/v1/test-clock/advance', { token, body: { to } })
    expect(advanced.status, advanced.text).toBe(200)
    expect((await office.look('/arrears', DEMO_SANDBOX)).text).toContain('The sums are of 2027-01-05 08:00:00.')
  })
})

describe('a loan that is written off', () => {
  it('shows the amount, and no day on which its instalments were completed', async () => {
    const own = await post('/v1/loans', { customerId: FORMULA, productId: 1, principal: 7_000 })
    const { status } = await service.post(`/v1/loans/${own.id}/write-off`, { token: service.tokens.operator, body: {} })
    expect(status).toBe(200)
    const { text } = await office.look(`/loans/${own.id}`)
    expect(text).toMatch(/Written off<\/dt><dd>7,700\.00</)
    const [, schedule = ''] = /Completed on<\/th>.*?<tbody>(.*?)<\/tbody>/s.exec(text) ?? []
    const cells = [...schedule.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => cell)
    expect([cells.length > 0, cells.at(-1)]).toEqual([true, ''])
  })
})

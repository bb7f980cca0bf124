import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connectAsOwner, dropFence, listMovedTables, makeFence } from '../../src/db/directory/moving.ts'
import { DEMO_AUDITOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { formOf, type Office, openOffice, type Seen } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'
import type { Wire } from '../support/wire.ts'

// What an ADMIN does at the office pages: a form, a preview that asks again, and the change.

let service: TestService
let office: Office
let loan: string
let customer: string
let repayment: string

const post = async (path: string, body: object): Promise<Wire> => {
  const answer = await service.post(path, { body })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const read = async (id = loan): Promise<Wire> => (await service.get(`/v1/loans/${id}`)).body

beforeAll(async () => {
  service = await startService()
  office = openOffice(service.deps)
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})
beforeEach(async () => {
  service.clock.set('2026-03-01T12:00:00+03:00')
  const externalId = crypto.randomUUID()
  customer = (await post('/v1/customers', { externalId })).id
  loan = (await post('/v1/loans', { customerId: externalId, productId: 3, principal: 60_000 })).id
  repayment = (await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 5_000 })).id
})

/** Takes the three steps of an action. @returns the preview, and the answer to its question */
async function take(path: string, fields: Record<string, string>) {
  const preview = await office.send(path, fields)
  expect(preview.status, preview.text).toBe(200)
  const answer = await answerTo(path, preview.text)
  return { preview: preview.text, answer }
}
/** Answers the question of a preview with yes. */
function answerTo(path: string, page: string): Promise<Seen> {
  const { _token, ...form } = formOf(page, path)
  expect(form.step).toBe('confirm')
  return office.send(path, form)
}

describe('an action on a loan', () => {
  it.each([
    ['waive', { amount: '1,000', note: 'a flood' }, 'Waive Interest', 1_000],
    ['charge', { kind: 'penalty', name: 'A letter', amount: '250.50' }, 'Penalty', -250.5],
  ] as const)('%s: previews the loan, asks again, and is done once', async (action, fields, type, less) => {
    const before = await read()
    const path = `/loans/${loan}/do/${action}`
    const { preview, answer } = await take(path, fields)
    const after = before.totalOutstanding - less
    expect(preview).toContain(`<strong>${after.toLocaleString('en', { minimumFractionDigits: 2 })}</strong>`)
    expect(answer).toMatchObject({
      status: 303,
      headers: { location: expect.stringContaining(`/loans/${loan}?done=`) },
    })
    const now = await read()
    expect(now.totalOutstanding).toBe(after)
    const { text } = await office.look(String(answer.headers.location))
    expect(text).toContain('role="status"')
    expect(text).toContain(type)
  })

  it('write-off: the loan becomes Closed (written off), and the trail has the person', async () => {
    const { preview, answer } = await take(`/loans/${loan}/do/write-off`, { note: 'gone abroad' })
    expect(preview).toContain('<strong>Closed (written off)</strong>')
    expect(answer.status).toBe(303)
    expect(await read()).toMatchObject({ status: 'Closed (written off)' })
    const [entry] = (
      await service.get(`/v1/audit-trail?entity=loan&entityId=${loan}&rows=1`, { token: service.tokens.operator })
    ).body.items
    expect(entry).toMatchObject({ action: expect.any(String), accountId: 2 })
  })

  it('reverse and adjust a transaction', async () => {
    const adjusting = `/loans/${loan}/transactions/${repayment}/do/adjust`
    expect((await office.look(adjusting)).text).toContain(
      'name="amount" inputmode="decimal" autocomplete="off" maxlength="32" value="5000.00"',
    )
    expect((await take(adjusting, { amount: '7000' })).answer.status).toBe(303)
    const [latest] = (await service.get(`/v1/loans/${loan}/repayments`)).body.items
    expect(latest).toMatchObject({ amount: 7_000 })
    expect(
      (await take(`/loans/${loan}/transactions/${latest!.id}/do/reverse`, { note: 'not his' })).answer.status,
    ).toBe(303)
    expect(await read()).toMatchObject({ totalPaid: 0 })
  })

  it('a second click, and the same question answered twice at once, make one change', async () => {
    const path = `/loans/${loan}/do/charge`
    const preview = await office.send(path, { kind: 'fee', name: 'A visit', amount: '500' })
    const answers = await Promise.all([1, 2, 3, 4].map(() => answerTo(path, preview.text)))
    expect(answers.filter(({ status }) => status === 303).length).toBeGreaterThanOrEqual(1)
    expect((await answerTo(path, preview.text)).status).toBe(303)
    expect((await service.get(`/v1/loans/${loan}/charges`)).body.items).toHaveLength(1)
  })

  it('asks again where the loan has changed since the preview', async () => {
    const path = `/loans/${loan}/do/waive`
    const preview = await office.send(path, { amount: '1000' })
    await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 100 })
    const again = await answerTo(path, preview.text)
    expect(again.status).toBe(200)
    expect(again.text).toContain('The loan has changed since you looked')
    expect((await read()).interestWaived).toBe(0)
    expect((await answerTo(path, again.text)).status).toBe(303)
    expect((await read()).interestWaived).toBe(1_000)
  })

  it.each([
    [{ amount: '' }, 'amount must be a number'],
    [{ amount: 'a lot' }, 'amount must be a number'],
    [{ amount: '-5' }, 'amount must be a number'],
    [{ amount: '0' }, 'greater than 0'],
    [{ amount: '1.001' }, 'decimals'],
    [{ amount: '99999999' }, 'interest'],
    [{ amount: '100', date: '2026-02-30' }, 'date must be a date'],
    [{ amount: '100', date: '2027-01-01' }, 'future'],
    [{ amount: '100', note: '\u001b[31m' }, 'control characters'],
    [{ amount: '100', note: 'x'.repeat(1_001) }, '1000'],
  ])('%o is refused in plain words, with the form as it was, and changes nothing', async (fields, why) => {
    const before = await read()
    const { status, text } = await office.send(`/loans/${loan}/do/waive`, fields as Record<string, string>)
    expect([status >= 400 && status < 500, text]).toEqual([true, expect.stringContaining(why)])
    expect(text).toContain('role="alert"')
    if (fields.amount) expect(text).toContain(`value="${fields.amount}"`)
    expect(await read()).toEqual(before)
  })

  it('is for an ADMIN alone: neither seen nor done by others', async () => {
    for (const person of [DEMO_PARTNER, DEMO_AUDITOR]) {
      expect((await office.look(`/loans/${loan}`, person)).text).not.toMatch(
        /\/do\/(waive|charge|write-off|restructure|reverse|adjust)/,
      )
      const path = `/loans/${loan}/do/waive`
      expect((await office.look(path, person)).status).toBe(403)
      const token = /name="_token" value="([^"]*)"/.exec((await office.look('/', person)).text)![1]!
      const sent = { _token: token, step: 'confirm', amount: '10', mark: '1', key: 'x' }
      expect((await office.post(path, sent, await office.signIn(person))).status).toBe(403)
    }
    expect((await read()).interestWaived).toBe(0)
  })

  it('404 for what is not there', async () => {
    for (const path of [
      ...[`/loans/${loan}/do/dance`, `/loans/${loan}/do/constructor`, '/loans/1/do/waive', '/loans/x/do/waive'],
      ...[`/loans/${loan}/transactions/1/do/reverse`, `/loans/${loan}/transactions/x/do/adjust`],
      ...['/customers/1/do/close', '/products/99/do/retire', '/products/x/do/retire'],
    ])
      expect([path, (await office.look(path)).status]).toEqual([path, 404])
  })
})

describe('an action on a customer or a product', () => {
  it('closes a customer who has no open loan, and says why another cannot be closed', async () => {
    const { status, text } = await office.send(`/customers/${customer}/do/close`, { reason: 'moved' })
    expect(status).toBe(200)
    const refused = await answerTo(`/customers/${customer}/do/close`, text)
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('loan')])
    const { id } = await post('/v1/customers', { externalId: crypto.randomUUID() })
    const { answer } = await take(`/customers/${id}/do/close`, { reason: 'moved', date: '' })
    expect(answer.headers.location).toBe(`/customers/${id}?done=doneClose`)
    expect((await office.look(`/customers/${id}`)).text).toContain('Closed')
  })

  it('retires a product, which then takes no new loan', async () => {
    const { preview, answer } = await take('/products/4/do/retire', {})
    expect(preview).toContain('lending → retired')
    expect(answer.headers.location).toBe('/products?done=doneRetire')
    expect((await office.look('/products')).text).not.toContain('/products/4/do/retire')
    expect((await office.send('/products/4/do/retire', {})).status).toBe(200)
  })
})

describe('a lender who is being moved to another book', () => {
  it('sees the pages, and is answered 503 for an action: the same will do there', async () => {
    const preview = await office.send('/products/3/do/retire', {})
    const book = await connectAsOwner(service.owner.pool.options.connectionString!)
    const tables = await listMovedTables(book)
    await makeFence(book, tables, 1)
    await book.query('INSERT INTO absent_organization VALUES (1, now())')
    try {
      // Later than the last request of the session that is stored.
      service.clock.set('2026-03-01T12:05:00+03:00', 'machine')
      expect((await office.look('/products')).status).toBe(200)
      const { status, headers, text } = await answerTo('/products/3/do/retire', preview.text)
      expect([status, headers['retry-after']]).toEqual([503, '2'])
      expect(text).toContain('try again')
    } finally {
      await book.query('DELETE FROM absent_organization')
      await dropFence(book, tables, 1)
      await book.end()
    }
    const { answer } = await take('/products/3/do/retire', {})
    expect(answer.headers.location).toBe('/products?done=doneRetire')
  })
})

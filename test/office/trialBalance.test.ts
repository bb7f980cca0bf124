import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Books, type ChartWire, openBooks } from '../support/books.ts'
import { type Office, openOffice } from '../support/office.ts'

// The books on the operators' pages.

let books: Books
let office: Office
let loan: string
beforeAll(async () => {
  books = await openBooks()
  office = openOffice(books.service.deps)
  await books.customer('asha')
  loan = await books.lend('asha', 100_000)
  await books.pay(loan, 10_000)
  await books.at('2026-02-03')
  const { accounts, slots, method } = (await books.get<ChartWire>('chart')).body
  const named = accounts.map((one) => (one.code === '1000' ? { ...one, name: '<b>Till</b>' } : one))
  expect(await books.put('chart', { accounts: named, slots, method })).toMatchObject({ status: 200 })
})
afterAll(async () => {
  await office.monitor.close()
  await books.end()
})

const look = (url: string) => office.look(url)

describe('the page of the trial balance', () => {
  it('has the accounts, their totals and the months, and is linked from the book', async () => {
    expect((await look('/')).text).toContain('<a href="/trial-balance">')
    const { status, text } = await look('/trial-balance')
    expect(status).toBe(200)
    expect(text).toContain('TZS, as booked, up to 2026-02-03')
    expect(text).toContain('&lt;b&gt;Till&lt;/b&gt;')
    expect(text).toMatch(/All accounts<\/td>.*110,000\.00.*110,000\.00/)
    expect(text).toContain('<a href="/trial-balance?asOf=2026-01-31">2026-01</a></td><td>open')
  })

  it('is as of the day, the basis and the currency of its form', async () => {
    const { text } = await look('/trial-balance?asOf=2026-01-30&basis=economic&currency=UGX')
    expect(text).toContain('UGX, by value date, up to 2026-01-30')
    expect(text).toMatch(/<option value="economic" selected>/)
    expect(text).not.toContain('110,000')
    expect((await look('/trial-balance?asOf=&basis=&currency=')).text).toContain('up to 2026-02-03')
  })

  it('shows what was closed, with its hash', async () => {
    const closed = await books.post<{ trialBalanceHash: string }>('periods/2026-01/close')
    expect((await look('/trial-balance')).text).toContain(closed.body.trialBalanceHash)
  })

  it.each(['asOf=2026-02-30', 'asOf=a&asOf=b', 'basis=cash', 'currency=EUR'])('refuses %s', async (query) => {
    expect(await look(`/trial-balance?${query}`)).toMatchObject({
      status: 400,
      text: expect.stringContaining('must be'),
    })
  })

  it('is for those who signed in', async () => {
    expect((await office.monitor.inject({ url: '/trial-balance' })).statusCode).toBe(303)
  })
})

it('the page of a loan has its journal, newest first', async () => {
  const { text } = await look(`/loans/${loan}`)
  const journal = text.slice(text.indexOf('Journal, newest first'))
  expect(journal.indexOf('repayment')).toBeLessThan(journal.indexOf('disbursement'))
  expect(journal).toMatch(
    /disbursement<\/td><td>2026-01-31<\/td><td>2026-01-31<\/td><td>1000 &lt;b&gt;Till&lt;\/b&gt;<\/td>.*100,000\.00/,
  )
})

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

/** Opens a page; its cells without the labels that they have on a phone. */
const look = async (url: string) => {
  const { text, ...seen } = await office.look(url)
  return { ...seen, text: text.replaceAll(/ data-label="[^"]*"/g, '') }
}
/** The codes of the accounts that are shown, in their order. */
const codesIn = (text: string) =>
  [...text.matchAll(/<tr><td><a href="\/journal\?[^"]*">([^<]*)<\/a>/g)].map(([, code]) => code)

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

  it('has the accounts of a type with their sums, by code, by name or the largest first', async () => {
    const { text } = await look('/trial-balance?type=asset')
    expect(codesIn(text)).toEqual(['1000', '1100', '1200', '1210', '1220', '1300'])
    expect(text).toMatch(/<option value="asset" selected>/)
    expect(text).toMatch(/All accounts of the type<\/td>.*110,000\.00.*100,000\.00.*10,000\.00/)
    expect(codesIn((await look('/trial-balance?type=asset&order=balance')).text)).toEqual([
      ...['1100', '1200', '1210', '1220', '1300', '1000'],
    ])
    const byName = await look('/trial-balance?type=income&order=name')
    expect(codesIn(byName.text)).toEqual(['4010', '4000', '4020', '4100'])
    expect(byName.text).toMatch(/<option value="name" selected>/)
    expect(codesIn((await look('/trial-balance?order=balance&type=')).text)).toHaveLength(19)
  })

  it('leads from an account to its postings of the month up to the day', async () => {
    const { text } = await look('/trial-balance?asOf=2026-01-31')
    expect(text).toContain('<a href="/journal?from=2026-01-01&amp;to=2026-01-31&amp;account=4000">4000</a>')
  })

  it.each([
    ...['asOf=2026-02-30', 'asOf=a&asOf=b', 'basis=cash', 'currency=EUR'],
    ...['type=cost', 'order=size', 'type=asset&type=asset'],
  ])('refuses %s', async (query) => {
    expect(await look(`/trial-balance?${query}`)).toMatchObject({
      status: 400,
      text: expect.stringContaining('must be'),
    })
  })

  it('is for those who signed in', async () => {
    expect((await office.monitor.inject({ url: '/trial-balance' })).statusCode).toBe(303)
  })
})

describe('the page of the journal', () => {
  it('chooses among the accounts of the chart, and leads to the postings of a day and of an account', async () => {
    const { text } = await look('/journal?from=2026-01-01&to=2026-02-03')
    expect(text).toContain('<option value="" selected>any account</option>')
    expect(text).toContain('<option value="1000">1000 &lt;b&gt;Till&lt;/b&gt;</option>')
    expect(text).toContain('<a href="/journal?from=2026-01-31&amp;to=2026-01-31">2026-01-31</a>')
    const ofAccount = '/journal?from=2026-01-01&to=2026-02-03&account=4000'
    expect(text).toContain(`<a href="${ofAccount.replaceAll('&', '&amp;')}">4000 Interest income</a>`)
    const chosen = (await look(ofAccount)).text
    expect(chosen).toContain('<option value="4000" selected>4000 Interest income</option>')
    expect(chosen).toContain('<td>4000 Interest income</td>')
    expect(chosen).toContain('repayment')
    expect(chosen).not.toContain('disbursement')
    expect((await look('/journal?account=gone-1')).text).toContain('<option value="gone-1" selected>gone-1</option>')
  })

  it('of one day leads from no day to itself', async () => {
    const { text } = await look('/journal?from=2026-01-31&to=2026-01-31')
    expect(text).toContain('<td>2026-01-31</td><td>2026-01-31</td>')
    expect((await look('/journal?from=2026-01-30&to=2026-01-30')).text).toContain('There is no posting.')
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

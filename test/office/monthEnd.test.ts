import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operator } from '../../src/services/access/caller.ts'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { addAccount } from '../support/accounts.ts'
import { type Books, openBooks } from '../support/books.ts'
import { giveLedger } from '../support/ledgerBook.ts'
import { anotherLender } from '../support/lenders.ts'
import { type Office, openOffice } from '../support/office.ts'
import { pagesOf, squeezed } from '../support/readDocument.ts'

// The end of a month at the office pages (contract 19.6).

const STRANGER = { email: 'admin@lender-7.example', password: 'a long enough secret' }
const PAGE = '/month-end?period=2026-01'
const CLOSE = '/month-end/2026-01/do/close'
const PROVISIONS = '/month-end/2026-01/do/provisions'

let books: Books
let office: Office
let loan: string
beforeAll(async () => {
  books = await openBooks()
  books.service.damages('the journal of lender 7 is made by SQL')
  office = openOffice(books.service.deps)
  await anotherLender(books.service, 7, 'KES')
  await addAccount(books.service.deps, operator(7, 'test'), { ...STRANGER, roles: ['ADMIN'] })
  await books.customer('asha')
  loan = await books.lend('asha', 100_000)
  await books.pay(loan, 10_000)
  await books.at('2026-02-03')
})
afterAll(async () => {
  await office.monitor.close()
  await books.end()
})

const look = (url: string, person = DEMO_OPERATOR) => office.look(url, person)
const setPolicy = async (preset: string) => {
  const { tokens } = books.service
  expect(await books.service.put('/v1/delinquency-policy', { body: { preset }, token: tokens.operator })).toMatchObject(
    {
      status: 200,
    },
  )
}
/** The cells of the first row of a table that has a text. */
const cells = (text: string, caption: string, having: string): string[] => {
  const part = text.slice(text.indexOf(`<caption>${caption}`))
  const row = part.split('<tr>').find((one) => one.includes(having)) ?? ''
  return [...row.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell = '']) => cell.replace(/<[^>]+>/g, ''))
}

describe('the page of the end of a month', () => {
  it('is of the oldest open month, and is in the menu of readers', async () => {
    expect((await look('/')).text).toContain('<a href="/month-end">Month-end</a>')
    const { status, text } = await look('/month-end')
    expect(status).toBe(200)
    expect(text).toContain('<h1>Month-end 2026-01</h1>')
    expect(text).toContain('From 2026-01-01 to 2026-01-31. Figures of the books are as booked.')
    expect(text).toContain('<option selected>2026-01</option>')
    expect(text).toContain('<a href="/month-end?period=2025-12">')
    expect(text).toContain('<a href="/month-end?period=2026-02">')
  })

  it('has the statements, whose codes lead to the journal of the month', async () => {
    const { text } = await look(PAGE)
    expect(cells(text, 'Income statement, TZS', '>4000<')).toEqual(['4000', 'Interest income', 'income', '10,000.00'])
    expect(cells(text, 'Income statement, TZS', '>Result<')).toEqual(['', 'Result', '', '10,000.00'])
    expect(cells(text, 'Balance sheet of the loan business, TZS', 'All assets')).toEqual([
      ...['', 'All assets', '', '10,000.00'],
    ])
    expect(cells(text, 'Balance sheet of the loan business, TZS', 'Liabilities, equity and')[3]).toBe('10,000.00')
    expect(cells(text, 'Trial balance, TZS', 'All accounts')).toEqual([
      ...['', 'All accounts', '', '110,000.00', '110,000.00', ''],
    ])
    expect(text).toContain('<a href="/journal?from=2026-01-01&amp;to=2026-01-31&amp;account=4000">4000</a>')
    expect(text).toContain('<a href="/journal?from=2026-01-01&amp;to=2026-01-31">')
    expect(text).toContain('<a href="/journal.csv?period=2026-01">')
  })

  it('has how loans moved, and what is at risk at the end of the month', async () => {
    const { text } = await look(PAGE)
    expect(cells(text, 'Roll rates from the end of 2025-12-31 to that of 2026-01-31', 'lent in the month')).toEqual([
      ...['TZS', 'lent in the month', 'current', '1', '100,000.00', '100.00 %'],
    ])
    expect(cells(text, 'Portfolio at risk at the end of 2026-01-31', 'PAR 30')).toEqual([
      ...['TZS', 'PAR 30', '1', '100,000.00', '0.00', '0.00 %'],
    ])
  })

  it('says why there are no provisions where the policy has no rates', async () => {
    const { text } = await look(PAGE)
    expect(text).toContain('no bucket of the policy has a provisionRate')
    expect(text).not.toContain(PROVISIONS)
  })

  it('of the current month goes up to today, and says that it cannot be closed', async () => {
    const { text } = await look('/month-end?period=2026-02')
    expect(text).toContain('From 2026-02-01 to 2026-02-03: the month is not over.')
    expect(text).toContain('Against a close: 2026-02 is not over: it can be closed from 2026-03-01 on')
    expect(text).not.toContain('/do/close')
    expect(text).not.toContain('period=2026-03')
    expect(cells(text, 'Income statement, TZS', '>Result<')[3]).toBe('0.00')
  })

  it.each([
    ['/month-end?period=2026-03', 'period: must be at most 2026-02, the current month'],
    ['/month-end?period=2026-13', 'period: must be a month, such as 2026-01'],
    ['/month-end?period=january', 'period: must be a month'],
    ['/month-end?period=2026-01-01', 'period must have at most 7 characters'],
    ['/month-end?period=2026-01&period=2026-02', 'period must be given once'],
    ['/month-end/2026-03.csv', 'period: must be at most 2026-02'],
    ['/month-end/2026-00.pdf', 'period: must be a month'],
    ['/month-end/2026-01.pdf?language=fr', 'language must be one of en, sw'],
    ['/month-end/2026-03/do/close', 'period: must be at most 2026-02'],
    ['/month-end/x/do/provisions', 'period: must be a month'],
  ])('refuses %s', async (url, message) => {
    expect(await look(url)).toMatchObject({ status: 400, text: expect.stringContaining(message) })
  })

  it('is for readers; only an ADMIN is offered and may take the steps', async () => {
    const auditor = await look(PAGE, DEMO_AUDITOR)
    expect(auditor.status).toBe(200)
    expect(auditor.text).not.toContain('/do/')
    for (const path of [CLOSE, PROVISIONS]) expect((await look(path, DEMO_AUDITOR)).status).toBe(403)
    for (const path of [PAGE, CLOSE, PROVISIONS, '/month-end/2026-01.csv', '/month-end/2026-01.pdf'])
      expect([path, (await look(path, DEMO_PARTNER)).status]).toEqual([path, 403])
    expect((await look('/', DEMO_PARTNER)).text).not.toContain('/month-end')
    expect((await office.monitor.inject({ url: PAGE })).statusCode).toBe(303)
  })

  it('of a lender without any posting has zeros, nothing to close, and nothing of another lender', async () => {
    const { text } = await look(PAGE, STRANGER)
    expect(text).toContain('not in the books')
    expect(cells(text, 'Income statement, KES', '>Result<')[3]).toBe('0.00')
    expect(text).toContain('The month was over before the journal began')
    expect(text).toContain('No loan was open.')
    expect(text).not.toContain('100,000.00')
    const current = await look('/month-end', STRANGER)
    expect(current.text).toContain('<h1>Month-end 2026-02</h1>')
  })
})

describe('the pack of a month', () => {
  beforeAll(() => setPolicy('cbk'))

  const csv = async (person = DEMO_OPERATOR) => {
    const { status, headers, text } = await look('/month-end/2026-01.csv', person)
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(headers['content-disposition']).toBe('attachment; filename="month-end-2026-01.csv"')
    return parse(text, { bom: true, columns: true }) as Record<string, string>[]
  }

  it('as CSV has every section, with exact amounts', async () => {
    const rows = await csv()
    expect([...new Set(rows.map(({ section }) => section))]).toEqual([
      ...['state', 'trial_balance', 'income_statement', 'balance_sheet', 'provisions', 'roll_rates'],
      'portfolio_at_risk',
    ])
    expect(new Set(rows.map(({ month }) => month))).toEqual(new Set(['2026-01']))
    const has = (row: Record<string, string>) => expect(rows).toContainEqual(expect.objectContaining(row))
    has({ section: 'state', row: 'state', value: 'open' })
    has({ section: 'trial_balance', row: 'total', debit: '110000.00', credit: '110000.00' })
    has({ section: 'income_statement', row: 'account', code: '4000', type: 'income', amount: '10000.00' })
    has({ section: 'income_statement', row: 'total', type: 'result', amount: '10000.00' })
    has({ section: 'balance_sheet', row: 'total', type: 'asset', amount: '10000.00' })
    has({ section: 'provisions', row: 'total', provision: '1000.00', booked: '0.00', difference: '1000.00' })
    has({ section: 'roll_rates', from: 'lent', to: 'normal', principal: '100000.00' })
    has({ section: 'portfolio_at_risk', row: 'par30', amount: '0.00', percent: '0' })
  })

  it.each([
    ['en', 'Month-end pack', 'Income statement, TZS', 'All liabilities'],
    ['sw', 'Ripoti ya kufunga mwezi', 'Taarifa ya mapato na matumizi, TZS', 'Dhima zote'],
  ])('as PDF in %s has the same tables', async (language, title, statement, label) => {
    const cookie = await office.signIn(DEMO_OPERATOR)
    const url = `/month-end/2026-01.pdf?language=${language}`
    const { statusCode, headers, rawPayload } = await office.monitor.inject({ url, headers: { cookie } })
    expect([statusCode, headers['content-type']]).toEqual([200, 'application/pdf'])
    expect(headers['content-disposition']).toBe(`attachment; filename="month-end-2026-01-${language}.pdf"`)
    const text = squeezed(JSON.stringify(await pagesOf(rawPayload)))
    for (const part of [title, statement, label, '110,000.00', 'PAR 90', '2026-01-31'])
      expect(text).toContain(squeezed(part))
  })

  it('of two currencies has each apart', async () => {
    await giveLedger(books.service.owner, 7)
    const rows = await csv(STRANGER)
    const results = rows.filter(({ section, type }) => section === 'income_statement' && type === 'result')
    expect(results.map(({ currencyCode, amount }) => [currencyCode, amount])).toEqual([
      ['KES', '100.50'],
      ['UGX', '0'],
    ])
    const { text } = await look('/month-end?period=2026-01', STRANGER)
    for (const currency of ['KES', 'UGX'])
      expect(text).toContain(`<caption>Balance sheet of the loan business, ${currency}`)
    // A name that a spreadsheet would run is a text; on a page it is as it is.
    expect((await look('/month-end?period=2026-02', STRANGER)).text).toContain('=M-PESA')
    const february = await look('/month-end/2026-02.csv', STRANGER)
    expect(february.text).toContain("'=M-PESA")
  })
})

describe('the steps of the end of a month', () => {
  it('book the provisions of the last day, once', async () => {
    expect((await look(PAGE)).text).toContain(`<a href="${PROVISIONS}">Book the provisions of 2026-01-31</a>`)
    const question = await look(PROVISIONS)
    expect(cells(question.text, 'To book', '>TZS<')).toEqual(['1', 'TZS', '1,000.00', '0.00', '1,000.00'])
    expect((await look(CLOSE)).text).toContain('The provisions of 2026-01-31 are not all booked')
    const done = await office.send(PROVISIONS, { step: 'confirm' })
    expect([done.status, done.headers.location]).toEqual([303, '/month-end?period=2026-01&done=doneBookProvisions'])
    const { text } = await look('/month-end?period=2026-01&done=doneBookProvisions')
    expect(text).toContain('The provisions are booked.')
    expect(text).not.toContain(PROVISIONS)
    expect(cells(text, 'Income statement, TZS', '>5300<')[3]).toBe('1,000.00')
    expect(cells(text, 'Income statement, TZS', '>Result<')[3]).toBe('9,000.00')
    expect(cells(text, 'Balance sheet of the loan business, TZS', 'All assets')[3]).toBe('9,000.00')
  })

  it('ask again where the books of the month have changed since the question, and close nothing', async () => {
    const { text: asked } = await look(CLOSE)
    const mark = /name="mark" value="([\w-]{43})"/.exec(asked)![1]!
    await books.pay(loan, 500, '2026-01-31')
    const again = await office.send(CLOSE, { step: 'confirm', mark })
    expect(again.status).toBe(200)
    expect(again.text).toContain('role="alert"')
    expect((await look(PAGE)).text).toContain('Nothing is against a close.')
  })

  it('close the month, whose page then has its hash, and no step', async () => {
    const closed = await office.send(CLOSE, { step: 'confirm' })
    expect([closed.status, closed.headers.location]).toEqual([303, '/month-end?period=2026-01&done=doneCloseMonth'])
    const { text } = await look(PAGE)
    expect(text).toMatch(/<dt>State<\/dt><dd>closed<\/dd>/)
    expect(text).toMatch(/Hash of the trial balance: [0-9a-f]{64}/)
    expect(text).not.toContain(CLOSE)
    expect((await look('/month-end')).text).toContain('<h1>Month-end 2026-02</h1>')
  })

  it('refuse the close of a month that is not over, in words that say when it can be', async () => {
    const refused = await look('/month-end/2026-02/do/close')
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringContaining('it can be closed from 2026-03-01 on'),
    ])
  })

  it('wait until the last day of the month is saved, which the page says', async () => {
    books.service.clock.set('2026-03-01')
    const { status, text } = await look('/month-end?period=2026-02')
    expect(status).toBe(200)
    expect(text).toContain('Against a close: what the end of 2026-02 changed in loans is still being saved')
    expect((await look('/month-end/2026-02/do/close')).status).toBe(503)
    await books.at('2026-03-01')
    expect((await look('/month-end?period=2026-02')).text).toContain('Nothing is against a close.')
  })
})

import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Books, openBooks } from '../../support/books.ts'

// The reports that can be had as JSON and as CSV, by the header Accept.

let books: Books
beforeAll(async () => {
  books = await openBooks()
  await books.customer('asha')
  const loan = await books.lend('asha', 100_000)
  await books.pay(loan, 10_000)
  await books.at('2026-02-03')
  const { status } = await books.service.put('/v1/delinquency-policy', {
    body: { preset: 'cbk' },
    token: books.service.tokens.operator,
  })
  expect(status).toBe(200)
})
afterAll(() => books.end())

const ask = (path: string, accept?: string, token = books.service.tokens.operator) =>
  books.service.get(path, { token, headers: accept === undefined ? {} : { accept } })

const REPORTS = [
  ['/v1/portfolio/par?asOf=2026-02-03', 'portfolio-at-risk-2026-02-03.csv', { row: 'total', loans: '1' }],
  ['/v1/portfolio/roll-rates?from=2026-02-01&to=2026-02-03', 'roll-rates-2026-02-01-2026-02-03.csv', { loans: '1' }],
  ['/v1/portfolio/provisions?asOf=2026-02-03', 'provisions-2026-02-03.csv', { row: 'total', booked: '0.00' }],
  [
    '/v1/accounting/trial-balance?asOf=2026-02-03',
    'trial-balance-2026-02-03.csv',
    { row: 'total', currencyCode: 'TZS', debit: '110000.00', credit: '110000.00' },
  ],
  [
    '/v1/accounting/income-statement?from=2026-01-01&to=2026-02-03',
    'income-statement-2026-01-01-2026-02-03.csv',
    { from: '2026-01-01', row: 'total', type: 'result', currencyCode: 'TZS', amount: '10000.00' },
  ],
  [
    '/v1/accounting/balance-sheet?asOf=2026-02-03',
    'balance-sheet-2026-02-03.csv',
    { asOf: '2026-02-03', row: 'total', type: 'asset', currencyCode: 'TZS', amount: '10000.00' },
  ],
] as const

describe.each(REPORTS)('GET %s', (path, name, row) => {
  it('answers a CSV file where Accept asks for one', async () => {
    const { status, text, headers } = await ask(path, 'text/csv')
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(headers['content-disposition']).toBe(`attachment; filename="${name}"`)
    const rows = parse(text, { bom: true, columns: true }) as Record<string, string>[]
    expect(text.startsWith('\uFEFF')).toBe(true)
    expect(rows).toContainEqual(expect.objectContaining(row))
    expect((await ask(path, 'application/json;q=0.5, text/*')).text).toBe(text)
  })

  it.each([
    undefined,
    '*/*',
    'application/json',
    'text/csv;q=0.5, application/json',
    'application/pdf',
    'text/csv;q=0',
  ])('answers JSON with Accept: %s', async (accept) => {
    const { status, headers, text } = await ask(path, accept)
    expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    expect(headers['content-disposition']).toBeUndefined()
    expect(text).toBe((await ask(path)).text)
  })

  it('refuses a USER in JSON', async () => {
    const { status, body } = await ask(path, 'text/csv', books.service.tokens.partner)
    expect([status, body.code]).toEqual([403, 'permission_denied'])
  })
})

describe('the trial balance as CSV', () => {
  it('has a row for each account as the JSON has it, and one for the sums', async () => {
    const path = '/v1/accounting/trial-balance?asOf=2026-02-03'
    const { body } = await ask(path)
    const { accounts, totalDebit } = body as unknown as {
      accounts: { code: string; name: string; debit: number; balance: number }[]
      totalDebit: number
    }
    const rows = parse((await ask(path, 'text/csv')).text, { bom: true, columns: true }) as Record<string, string>[]
    const [total, ...rest] = rows.toReversed()
    expect(
      rest.toReversed().map(({ code, name, debit, balance }) => [code, name, Number(debit), Number(balance)]),
    ).toEqual(accounts.map(({ code, name, debit, balance }) => [code, name, debit, balance]))
    expect([total!.row, Number(total!.debit)]).toEqual(['total', totalDebit])
  })
})

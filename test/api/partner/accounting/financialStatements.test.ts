import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminOfAnother, type Books, openBooks } from '../../../support/books.ts'
import { giveLedger } from '../../../support/ledgerBook.ts'

// The income statement and the balance sheet over HTTP (contract 19.6).

interface Line {
  readonly code: string
  readonly name: string
  readonly amount: number
}

interface IncomeWire {
  readonly sequence: string
  readonly currencies: readonly {
    readonly currencyCode: string
    readonly income: readonly Line[]
    readonly expenses: readonly Line[]
    readonly totalIncome: number
    readonly totalExpenses: number
    readonly result: number
  }[]
}

interface SheetWire {
  readonly sequence: string
  readonly currencies: readonly {
    readonly currencyCode: string
    readonly assets: readonly Line[]
    readonly totalAssets: number
    readonly totalLiabilities: number
    readonly totalEquity: number
    readonly accumulatedResult: number
  }[]
}

let books: Books
let stranger = ''
let loan = ''
beforeAll(async () => {
  books = await openBooks()
  books.service.damages('the journal of lender 7 is made by SQL')
  stranger = await adminOfAnother(books.service)
  await books.customer('asha')
  loan = await books.lend('asha', 100_000)
  await books.pay(loan, 10_000)
  await books.at('2026-02-03')
})
afterAll(() => books.end())

const income = async (query: string) => (await books.get<IncomeWire>(`income-statement?${query}`)).body
const sheet = async (query = '') => (await books.get<SheetWire>(`balance-sheet${query}`)).body

describe('the income statement', () => {
  it('has what the accounts of income and expenses changed over the days, and the result', async () => {
    const { currencies } = await income('from=2026-01-01&to=2026-01-31')
    expect(currencies).toMatchObject([{ currencyCode: 'TZS', totalIncome: 10_000, totalExpenses: 0, result: 10_000 }])
    expect(currencies[0]!.income[0]).toEqual({ code: '4000', name: 'Interest income', amount: 10_000 })
    expect(currencies[0]!.expenses.map(({ code }) => code)).toEqual(['5000', '5100', '5200', '5300'])
    expect((await income('from=2026-02-01&to=2026-02-28')).currencies[0]).toMatchObject({ totalIncome: 0, result: 0 })
    expect((await income('from=1900-01-01&to=2999-12-31')).currencies[0]).toMatchObject({ result: 10_000 })
  })

  it.each([
    ['from=2026-01-01', 'to'],
    ['from=2026-02-01&to=2026-01-31', 'to'],
    ['from=2026-02-30&to=2026-03-31', 'from'],
    ['from=2026-01-01&to=2026-01-31&basis=cash', 'basis'],
    ['from=2026-01-01&to=2026-01-31&currency=KES', 'currency'],
  ])('refuses %s', async (query, field) => {
    const answer = await books.get(`income-statement?${query}`)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_argument', details: [{ field }] } })
  })
})

describe('the balance sheet', () => {
  it('has assets that are liabilities, equity and the accumulated result, as of today unless asked otherwise', async () => {
    expect(await sheet()).toMatchObject({ asOf: '2026-02-03', basis: 'booked' })
    const [{ assets, ...sums }] = (await sheet('?asOf=2026-01-31')).currencies as [SheetWire['currencies'][0]]
    expect(assets.filter(({ amount }) => amount !== 0)).toEqual([
      { code: '1000', name: 'Cash and mobile money', amount: -90_000 },
      { code: '1100', name: 'Loans to customers', amount: 100_000 },
    ])
    expect(sums).toMatchObject({
      ...{ totalAssets: 10_000, totalLiabilities: 0, totalEquity: 0, accumulatedResult: 10_000 },
    })
    expect((await sheet('?asOf=2026-01-30')).currencies[0]).toMatchObject({ totalAssets: 0, accumulatedResult: 0 })
  })

  it.each([
    ['asOf=yesterday', 'asOf'],
    ['basis=cash', 'basis'],
    ['from=2026-01-31', 'from'],
  ])('refuses %s', async (query, field) => {
    const answer = await books.get(`balance-sheet?${query}`)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_argument', details: [{ field }] } })
  })
})

it('both stay to the byte what they were once the month is closed, and have late money by value date alone', async () => {
  const paths = ['income-statement?from=2026-01-01&to=2026-01-31', 'balance-sheet?asOf=2026-01-31']
  const closed = await books.post<{ closeSequence: string }>('periods/2026-01/close')
  const before = await Promise.all(paths.map(async (path) => (await books.get(path)).text))
  for (const text of before) expect(JSON.parse(text)).toMatchObject({ sequence: closed.body.closeSequence })
  // The interest of the loan is paid; what is paid now is principal. Another loan earns in January, late.
  const other = await books.lend('asha', 1_000)
  await books.pay(other, 50)
  await books.pay(loan, 400, '2026-01-31')
  expect(await Promise.all(paths.map(async (path) => (await books.get(path)).text))).toEqual(before)
  const late = await sheet('?asOf=2026-01-31&basis=economic')
  expect(late.currencies[0]!.assets.find(({ code }) => code === '1000')).toMatchObject({ amount: -89_600 })
})

describe('an organization', () => {
  it('without any posting has zeros in its own currency', async () => {
    const { body } = await books.get<IncomeWire>('income-statement?from=2026-01-01&to=2026-01-31', stranger)
    expect(body.currencies).toMatchObject([{ currencyCode: 'KES', totalIncome: 0, totalExpenses: 0, result: 0 }])
    const { body: empty } = await books.get<SheetWire>('balance-sheet', stranger)
    expect(empty.currencies).toMatchObject([{ currencyCode: 'KES', totalAssets: 0, accumulatedResult: 0 }])
  })

  it('with two currencies has the statements of each, and none over both', async () => {
    await giveLedger(books.service.deps.db, 7)
    const { body } = await books.get<IncomeWire>('income-statement?from=2026-01-01&to=2026-01-31', stranger)
    expect(body.currencies.map(({ currencyCode, result }) => [currencyCode, result])).toEqual([
      ['KES', 100.5],
      ['UGX', 0],
    ])
    const { body: standing } = await books.get<SheetWire>('balance-sheet?asOf=2026-02-28', stranger)
    expect(standing.currencies.map((one) => [one.currencyCode, one.totalAssets, one.totalLiabilities])).toEqual([
      ['KES', 100.51, 0.01],
      ['UGX', 0, 0],
    ])
    const [{ assets }] = standing.currencies as [SheetWire['currencies'][0]]
    // Cash moved to another account, which the chart from February on has.
    expect(assets.find(({ code }) => code === '1001')).toEqual({ code: '1001', name: '=M-PESA', amount: 100.51 })
    const csv = await books.service.get('/v1/accounting/balance-sheet?asOf=2026-02-28', {
      token: stranger,
      headers: { accept: 'text/csv' },
    })
    expect(csv.text).toContain(`KES,account,asset,1001,'=M-PESA,100.51`)
  })
})

it('are for readers of the whole book', async () => {
  for (const path of ['income-statement?from=2026-01-01&to=2026-01-31', 'balance-sheet'])
    expect(await books.get(path, books.service.tokens.partner)).toMatchObject({
      ...{ status: 403, body: { code: 'permission_denied' } },
    })
})

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  adminOfAnother,
  type Books,
  type ChartWire,
  type JournalWire,
  openBooks,
  type TrialBalanceWire,
} from '../../../support/books.ts'

// Trial balances, months and exports of real loans over HTTP (contract 9).

let books: Books
let [loan, other, stranger] = ['', '', '']
beforeAll(async () => {
  books = await openBooks()
  stranger = await adminOfAnother(books.service)
  await books.customer('asha')
  loan = await books.lend('asha', 100_000)
  other = await books.lend('asha', 6_000)
  await books.pay(loan, 10_000)
  await books.at('2026-02-03')
})
afterAll(() => books.end())

const balancesOf = ({ accounts }: TrialBalanceWire) =>
  Object.fromEntries(accounts.filter(({ debit, credit }) => debit + credit > 0).map((one) => [one.code, one.balance]))

const trialBalance = async (query = '') => (await books.get<TrialBalanceWire>(`trial-balance${query}`)).body

const JANUARY = { 1000: -96_000, 1100: 106_000, 4000: 10_000 }

describe('the trial balance', () => {
  it('has the balance of each account on the side of its type, and debits that equal credits', async () => {
    const { status, body } = await books.get<TrialBalanceWire>('trial-balance?asOf=2026-01-31')
    expect([status, balancesOf(body)]).toEqual([200, JANUARY])
    expect(body).toMatchObject({ asOf: '2026-01-31', basis: 'booked', currencyCode: 'TZS' })
    expect([body.totalDebit, body.totalCredit]).toEqual([116_000, 116_000])
    expect(body.accounts.map(({ code }) => code)).toEqual(body.accounts.map(({ code }) => code).toSorted())
    expect(body.accounts.find(({ code }) => code === '5200')).toEqual({
      ...{ code: '5200', name: 'Loans charged off', type: 'expense', debit: 0, credit: 0, balance: 0 },
    })
  })

  it('is as of today, in the currency of the organization, of all products, unless it is asked otherwise', async () => {
    expect(await trialBalance()).toMatchObject({ asOf: '2026-02-03', totalDebit: 116_000 })
    expect(await trialBalance('?asOf=2026-01-30')).toMatchObject({ totalDebit: 0 })
    expect(await trialBalance('?currency=KES')).toMatchObject({ currencyCode: 'KES', totalDebit: 0 })
    expect(await trialBalance('?productId=1')).toMatchObject({ totalDebit: 116_000 })
    expect(await trialBalance('?productId=2')).toMatchObject({ totalDebit: 0 })
  })

  it('has the number of the last event in it', async () => {
    const { body } = await books.service.get<{ items: { data: { sequence: string } }[] }>('/v1/events')
    expect((await trialBalance()).sequence).toBe(body.items.at(-1)!.data.sequence)
  })

  it.each([
    ['asOf=yesterday', 'asOf'],
    ['asOf=2026-02-30', 'asOf'],
    ['basis=cash', 'basis'],
    ['currency=EUR', 'currency'],
    ['productId=0', 'productId'],
    ['day=2026-01-31', 'day'],
  ])('refuses %s', async (query, field) => {
    const answer = await books.get(`trial-balance?${query}`)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_argument', details: [{ field }] } })
  })
})

describe('a month', () => {
  interface PeriodWire {
    readonly month: string
    readonly closeSequence: string
    readonly trialBalanceHash: string
  }
  const months = async () => (await books.get<{ items: PeriodWire[] }>('periods')).body.items

  it('is open until it is closed; the list goes from the current month back to the first posting', async () => {
    expect(await months()).toEqual(
      ['2026-02', '2026-01'].map((month) => {
        return { month, state: 'open', closeSequence: null, trialBalanceHash: null, closedAt: null }
      }),
    )
  })

  it('is refused a close while it is not over, and out of its turn', async () => {
    expect(await books.post('periods/2026-02/close')).toMatchObject({
      ...{ status: 409, body: { code: 'failed_precondition', message: expect.stringContaining('is not over') } },
    })
    expect(await books.post('periods/2025-12/close')).toMatchObject({ status: 409 })
    for (const none of ['2026-13', '2026-1', 'january', '2026-01-01'])
      expect(await books.post(`periods/${none}/close`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })

  it('stays to the byte what it was, whatever comes later', async () => {
    const closed = await books.post<PeriodWire>('periods/2026-01/close', { 'idempotency-key': 'close-january' })
    expect(closed).toMatchObject({ status: 200, body: { month: '2026-01', state: 'closed' } })
    const { body } = closed
    const paths = ['trial-balance?asOf=2026-01-31', 'trial-balance?asOf=2026-01-15', 'journal.csv?period=2026-01']
    const read = () =>
      Promise.all([...paths, 'journal.hledger?period=2026-01'].map(async (one) => (await books.get(one)).text))
    const before = await read()
    await books.pay(loan, 500, '2026-01-31')
    await books.pay(other, 300, '2026-02-03')
    expect(await read()).toEqual(before)
    expect(JSON.parse(before[0]!)).toMatchObject({ sequence: body.closeSequence })
    expect((await months()).map(({ month }) => month)).toEqual(['2026-02', '2026-01'])
    expect((await months())[1]).toEqual(body)
    const again = await books.post('periods/2026-01/close')
    expect(again.body).toEqual(body)
    const sameKey = await books.post('periods/2026-01/close', { 'idempotency-key': 'close-january' })
    expect([sameKey.text, sameKey.headers['idempotency-replayed']]).toEqual([closed.text, 'true'])
  })

  it('has a hash that its trial balance gives again', async () => {
    const { accounts } = await trialBalance('?asOf=2026-01-31')
    const text = accounts
      .filter(({ debit, credit }) => debit + credit > 0)
      .map(({ code, debit, credit }) => `TZS,${code},${debit.toFixed(2)},${credit.toFixed(2)}\n`)
      .join('')
    expect((await months())[1]!.trialBalanceHash).toBe(createHash('sha256').update(text).digest('hex'))
  })

  it('has what came late in its economic balances, and the month after it in the booked ones', async () => {
    expect(balancesOf(await trialBalance('?asOf=2026-01-31'))).toEqual(JANUARY)
    expect(balancesOf(await trialBalance('?asOf=2026-01-31&basis=economic'))).toEqual({
      ...{ 1000: -95_500, 1100: 105_500, 4000: 10_000 },
    })
    expect(await trialBalance('?basis=economic')).toMatchObject({ totalDebit: 116_800 })
    const { body } = await books.get<JournalWire>('journal?from=2026-02-01&to=2026-02-28')
    expect(body.items.map(({ bookedOn, valueDate, late }) => [bookedOn, valueDate, late])).toEqual([
      ['2026-02-01', '2026-01-31', true],
      ['2026-02-03', '2026-02-03', false],
    ])
  })
})

describe('an export', () => {
  it('is a file that no cache keeps', async () => {
    const csv = await books.get('journal.csv?period=2026-02')
    expect(csv).toMatchObject({
      ...{ status: 200, headers: { 'content-type': 'text/csv; charset=utf-8', 'cache-control': 'no-store' } },
    })
    expect(csv.text).toMatch(/^\uFEFFposting,sequence.*\n(.+\n){4}control totals,.*TZS,800\.00,800\.00,\n$/)
    const ledger = await books.get('journal.hledger?period=2026-02')
    expect(ledger.headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(ledger.text).toMatch(/; postings 2\n; debit 800\.00 TZS, credit 800\.00 TZS\n$/)
  })

  it.each(['', '?period=2026', '?period=2026-00', '?period=2026-02&format=csv'])('refuses %s', async (query) => {
    for (const file of ['journal.csv', 'journal.hledger'])
      expect(await books.get(file + query)).toMatchObject({ status: 400, body: { code: 'invalid_argument' } })
  })
})

const READS = ['chart', 'trial-balance', 'journal?from=1900-01-01&to=2999-12-31', 'periods']
const EXPORTS = ['journal.csv?period=2026-01', 'journal.hledger?period=2026-01']

it('is for an ADMIN', async () => {
  const { partner } = books.service.tokens
  const chart = (await books.get<ChartWire>('chart')).body
  const { accounts, slots, method } = chart
  const answers = [
    ...(await Promise.all([...READS, ...EXPORTS].map((path) => books.get(path, partner)))),
    await books.put('chart', { accounts, slots, method }, partner),
    await books.service.post('/v1/accounting/periods/2026-02/close'),
  ]
  for (const answer of answers) expect(answer).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
})

it('shows nothing of another lender', async () => {
  const [, balance, journal, periods] = await Promise.all(READS.map((path) => books.get<never>(path, stranger)))
  expect(balance!.body).toMatchObject({ currencyCode: 'KES', totalDebit: 0, totalCredit: 0 })
  expect(journal!.body).toEqual({ items: [] })
  expect(periods!.body).toMatchObject({ items: [{ month: '2026-02', state: 'open' }] })
  for (const path of EXPORTS) expect((await books.get(path, stranger)).text).toMatch(/0\.00/)
  const ofLoan = await books.get(`journal?from=1900-01-01&to=2999-12-31&loanId=${loan}`, stranger)
  expect(ofLoan.body).toEqual({ items: [] })
})

import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILT_IN_ROLES } from '../../../src/domain/access/permissions.ts'
import { DEFAULT_CHART } from '../../../src/domain/accounting/chart.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { exportJournal, type JournalFormat } from '../../../src/services/accounting/exportJournal.ts'
import { giveLedger } from '../../support/ledgerBook.ts'
import { anotherLender } from '../../support/lenders.ts'
import { giveChart, givePosting, journalIsUpToDate } from '../../support/postings.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startService()
  service.damages('postings are inserted by SQL')
  await anotherLender(service, 7, 'KES')
  await giveLedger(service.owner, 7)
})
afterAll(() => service.close())

async function write(month: string, format: JournalFormat, organizationId = 7): Promise<string> {
  const parts = await exportJournal(service.deps, operator(organizationId, 'test'), { period: month, format })
  const written: string[] = []
  for await (const part of parts) written.push(part)
  return written.join('')
}

describe('a month for hledger', () => {
  it('begins with currencies, accounts and opening balances, and ends with balances and control totals', async () => {
    expect(await write('2026-02', 'hledger')).toBe(FEBRUARY)
  })

  it('opens with nothing before the first posting', async () => {
    const january = await write('2026-01', 'hledger')
    expect(january).not.toContain('opening balances')
    expect(january).toContain(`
2026-01-31 (2) repayment  ; loan:7, transaction:70, sequence:2, valueDate:2026-01-20
    assets:1000 Cash and mobile money  600.50 KES
    assets:1100 Loans to customers  -500.00 KES
    income:4000 Interest income  -100.50 KES
`)
    expect(january).toMatch(/; postings 3\n; debit 1600\.50 KES, credit 1600\.50 KES\n; debit 7 UGX, credit 7 UGX\n$/)
  })

  it('of a month without postings has the balances and totals of zero', async () => {
    const march = await write('2026-03', 'hledger')
    expect(march).toContain('assets:1001 M-PESA  = 100.51 KES')
    expect(march).toMatch(/; postings 0\n; debit 0\.00 KES, credit 0\.00 KES\n; debit 0 UGX, credit 0 UGX\n$/)
    await journalIsUpToDate(service.owner, 1)
    expect(await write('2026-03', 'hledger', 1)).toMatch(/; control totals\n; postings 0\n; debit 0/)
  })
})

describe('a month as CSV', () => {
  it('has a row for each line, and the control totals of each currency', async () => {
    expect(await write('2026-02', 'csv')).toBe(`\uFEFF${FEBRUARY_CSV}`)
  })

  it('of a month without postings has its head and totals of zero', async () => {
    const [head, total, ...rest] = (await write('2025-12', 'csv')).split('\n')
    expect(head).toContain('posting,sequence,bookedOn')
    expect([total, rest]).toEqual(['control totals,,,,,,0 postings,,,,,KES,0.00,0.00,', ['']])
  })
})

it('reads a month in parts, each once, also where many postings are of one day', async () => {
  const base = { organizationId: 7, bookedOn: '2026-05-02', amounts: { cash: 1n, overpayments: -1n } }
  await givePosting(service.owner, { ...base, id: 8 })
  await service.owner.pool.query(`
    INSERT INTO posting (organization_id, id, sequence, loan_id, product_id, currency, kind, value_date, booked_on,
      posted_at, cash, overpayments)
    SELECT 7, n, n, 7, 1, 'KES', 'repayment', '2026-05-02', date '2026-05-01' + (n % 3)::int, now(), 1, -1
    FROM generate_series(9, 2508) AS n`)
  await journalIsUpToDate(service.owner, 7, 2508)
  const ids = [...(await write('2026-05', 'hledger')).matchAll(/^\S+ \((\d+)\)/gm)].map(([, id]) => Number(id))
  expect(ids.length).toBe(2501)
  expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 2501 }, (_, index) => index + 8))
})

it('reads the next part when the one before was taken, and nothing more for a client that has gone', async () => {
  const { db } = service.deps
  const sent: string[] = []
  const counting = (statement: { name?: string }, ...rest: unknown[]) => {
    if (statement.name === 'read-booked') sent.push(statement.name)
    return (db.pool.query as (...all: unknown[]) => unknown)(statement, ...rest)
  }
  const pool = new Proxy(db.pool, { get: (target, name) => (name === 'query' ? counting : Reflect.get(target, name)) })
  const deps = { ...service.deps, db: { ...db, pool } }
  const parts = await exportJournal(deps, operator(7, 'test'), { period: '2026-05', format: 'csv' })
  const file = Readable.from(parts, { objectMode: false, highWaterMark: 1 })
  const reader = file[Symbol.asyncIterator]()
  for (let taken = 0; taken < 3; taken++) await reader.next()
  expect(sent.length).toBeLessThan(5)
  file.destroy()
  await new Promise((closed) => file.once('close', closed))
  const asked = sent.length
  await write('2026-05', 'csv')
  expect(sent.length).toBe(asked)
})

it('writes a month as before once a later chart calls an account otherwise', async () => {
  const chart = {
    ...DEFAULT_CHART,
    accounts: DEFAULT_CHART.accounts.map((one) => ({ ...one, name: `New ${one.name}` })),
  }
  const csv = await write('2026-02', 'csv')
  await giveChart(service.owner, { organizationId: 7, version: 3, chart, countsFrom: '2026-03-01' })
  expect(await write('2026-03', 'hledger')).toContain('account assets:1100 New Loans to customers')
  expect(await write('2026-02', 'hledger')).toBe(FEBRUARY)
  expect(await write('2026-02', 'csv')).toBe(csv)
})

it('is for an ADMIN', async () => {
  const user = { ...operator(7, 'test'), permissions: BUILT_IN_ROLES.USER }
  await expect(exportJournal(service.deps, user, { period: '2026-01', format: 'csv' })).rejects.toMatchObject({
    code: 'permission_denied',
  })
})

const FEBRUARY = `; The journal of 2026-02, organization 7
decimal-mark .
commodity 1000.00 KES
commodity 1000. UGX
account assets:1000 Cash and mobile money
account assets:1001 M-PESA
account assets:1100 Loans to people
account assets:1200 Interest receivable
account assets:1210 Fees receivable
account assets:1220 Penalties receivable
account assets:1300 Allowance for loan losses
account liabilities:2000 Overpayments owed to customers
account liabilities:2100 Unearned interest
account liabilities:2200 Tax payable
account liabilities:2300 Payments in suspense
account equity:3000 Opening equity
account income:4000 Interest income
account income:4010 Fee income
account income:4020 Penalty income
account income:4100 Recoveries of loans lost
account expenses:5000 Waivers
account expenses:5100 Loans written off
account expenses:5200 Loans charged off
account expenses:5300 Provisions for loan losses
account assets:1100 Loans to customers

2026-02-01 opening balances
    assets:1000 Cash and mobile money  = -399.50 KES
    assets:1100 Loans to customers  = 0.00 KES
    assets:1100 Loans to people  = 500.00 KES
    income:4000 Interest income  = -100.50 KES

2026-02-01 opening balances
    assets:1000 Cash and mobile money  = -7 UGX
    assets:1100 Loans to customers  = 0 UGX
    assets:1100 Loans to people  = 7 UGX

2026-02-01 (4) chart_changed  ; sequence:4, valueDate:2026-02-01
    assets:1000 Cash and mobile money  399.50 KES
    assets:1001 M-PESA  -399.50 KES

2026-02-01 (5) chart_changed  ; sequence:5, valueDate:2026-02-01
    assets:1000 Cash and mobile money  7 UGX
    assets:1001 M-PESA  -7 UGX

2026-02-01 (6) repayment  ; loan:7, transaction:71, sequence:6, valueDate:2026-01-02
    assets:1001 M-PESA  0.01 KES
    liabilities:2000 Overpayments owed to customers  -0.01 KES

2026-02-03 (7) repayment  ; loan:7, transaction:72, sequence:7, valueDate:2026-02-03
    assets:1001 M-PESA  500.00 KES
    assets:1100 Loans to people  -500.00 KES

2026-02-28 closing balances
    assets:1000 Cash and mobile money  0.00 KES = 0.00 KES
    assets:1001 M-PESA  0.00 KES = 100.51 KES
    assets:1100 Loans to people  0.00 KES = 0.00 KES
    liabilities:2000 Overpayments owed to customers  0.00 KES = -0.01 KES
    income:4000 Interest income  0.00 KES = -100.50 KES

2026-02-28 closing balances
    assets:1000 Cash and mobile money  0 UGX = 0 UGX
    assets:1001 M-PESA  0 UGX = -7 UGX
    assets:1100 Loans to people  0 UGX = 7 UGX

; control totals
; postings 4
; debit 899.51 KES, credit 899.51 KES
; debit 7 UGX, credit 7 UGX
`
const FEBRUARY_CSV = `posting,sequence,bookedOn,valueDate,late,postedAt,kind,loanId,transactionId,account,accountName,currencyCode,debit,credit,paymentId
4,4,2026-02-01,2026-02-01,false,2026-11-21T12:00:00.000+03:00,chart_changed,,,1000,Cash and mobile money,KES,399.50,0.00,
4,4,2026-02-01,2026-02-01,false,2026-11-21T12:00:00.000+03:00,chart_changed,,,1001,'=M-PESA,KES,0.00,399.50,
5,5,2026-02-01,2026-02-01,false,2026-11-21T12:00:00.000+03:00,chart_changed,,,1000,Cash and mobile money,UGX,7,0,
5,5,2026-02-01,2026-02-01,false,2026-11-21T12:00:00.000+03:00,chart_changed,,,1001,'=M-PESA,UGX,0,7,
6,6,2026-02-01,2026-01-02,true,2026-11-21T12:00:00.000+03:00,repayment,7,71,1001,'=M-PESA,KES,0.01,0.00,
6,6,2026-02-01,2026-01-02,true,2026-11-21T12:00:00.000+03:00,repayment,7,71,2000,Overpayments owed to customers,KES,0.00,0.01,
7,7,2026-02-03,2026-02-03,false,2026-11-21T12:00:00.000+03:00,repayment,7,72,1001,'=M-PESA,KES,500.00,0.00,
7,7,2026-02-03,2026-02-03,false,2026-11-21T12:00:00.000+03:00,repayment,7,72,1100,Loans; to: people,KES,0.00,500.00,
control totals,,,,,,4 postings,,,,,KES,899.51,899.51,
control totals,,,,,,4 postings,,,,,UGX,7,7,
`

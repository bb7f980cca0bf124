import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Books, type ChartWire, openBooks } from '../support/books.ts'
import { opsOn } from '../support/ops.ts'

let books: Books
let ops: ReturnType<typeof opsOn>
let folder: string
beforeAll(async () => {
  books = await openBooks()
  ops = opsOn(books.service)
  folder = await mkdtemp(join(tmpdir(), 'mkopo-chart-'))
  await books.customer('asha')
  const loan = await books.lend('asha', 100_000)
  await books.pay(loan, 10_000)
  await books.at('2026-02-03')
})
afterAll(async () => {
  await books.end()
  await rm(folder, { recursive: true })
})

interface PeriodJson {
  readonly month: string
  readonly state: string
  readonly closeSequence: string
  readonly trialBalanceHash: string
}

describe('mkopo journal', () => {
  it('trial-balance shows the accounts and their totals, exactly', async () => {
    const { out, err } = await ops('journal trial-balance --as-of 2026-01-31')
    expect(out).toMatch(/1000 +Cash and mobile money +asset +10000\.00 +100000\.00 +-90000\.00\n/)
    expect(out).toMatch(/ +total +110000\.00 +110000\.00\n$/)
    expect(err).toMatch(/^TZS, booked, as of 2026-01-31, up to event \d+\n$/)
    const { json } = await ops('journal trial-balance --basis economic --product 1 --json')
    expect(json).toMatchObject({ asOf: '2026-02-03', basis: 'economic', currencyCode: 'TZS', totalDebit: '110000.00' })
    expect((await ops('journal trial-balance --currency UGX --json')).json).toMatchObject({ totalDebit: '0' })
  })

  it('income-statement and balance-sheet show the accounts, their sums and the result', async () => {
    const income = await ops('journal income-statement --from 2026-01-01 --to 2026-01-31')
    expect(income.out).toMatch(/TZS +income +4000 +Interest income +10000\.00\n/)
    expect(income.out).toMatch(/TZS +result +total +10000\.00\n$/)
    expect(income.err).toMatch(/^booked, 2026-01-01 to 2026-01-31, up to event \d+\n$/)
    const sheet = await ops<{ rows: object[] }>('journal balance-sheet --as-of 2026-01-31 --basis economic --json')
    expect(sheet.json).toMatchObject({ asOf: '2026-01-31', basis: 'economic' })
    expect(sheet.json.rows).toContainEqual({
      ...{ currencyCode: 'TZS', row: 'total', type: 'asset', code: null, name: null, amount: '10000.00' },
    })
    expect((await ops('journal balance-sheet')).err).toMatch(/^booked, 2026-02-03, up to event/)
    expect((await ops('journal balance-sheet --csv')).out).toMatch(/,TZS,total,result,,,10000\.00\n$/)
    const csv = await ops('journal income-statement --from 2026-02-01 --to 2026-02-28 --csv')
    expect(csv.out).toMatch(/,TZS,total,result,,,0\.00\n$/)
    const day = await ops('journal income-statement --from 2026-01-31 --to 2026-01-31')
    expect(day.err).toMatch(/^booked, 2026-01-31 to 2026-01-31, up to event \d+\n$/)
  })

  it('income-statement refuses days in the wrong order, two formats, and a missing day', async () => {
    const wrong = await ops('journal income-statement --from 2026-02-01 --to 2026-01-31')
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('must not be before from')])
    expect(await ops('journal income-statement --from 2026-01-01 --to 2026-01-31 --csv --json')).toMatchObject({
      code: 2,
    })
    expect(await ops('journal income-statement --from 2026-01-01')).toMatchObject({ code: 2 })
  })

  it('close asks first, and periods shows what was closed', async () => {
    const declined = await ops('journal close 2026-01')
    expect([declined.code, declined.err]).toEqual([1, expect.stringContaining('Close 2026-01 of organization 1')])
    expect((await ops('journal periods')).out).toMatch(/2026-01 +open/)
    const { json } = await ops<PeriodJson>('journal close 2026-01 --yes --json')
    expect(json).toMatchObject({ organizationId: 1, month: '2026-01', trialBalanceHash: expect.any(String) })
    expect((await ops('journal close 2026-01 --yes')).out).toContain(json.trialBalanceHash)
    const periods = await ops<PeriodJson[]>('journal periods --json')
    expect(periods.json).toMatchObject([
      { month: '2026-02', state: 'open', closedAt: null },
      { month: '2026-01', state: 'closed', closeSequence: json.closeSequence },
    ])
    expect((await ops('journal periods')).out).toContain(json.trialBalanceHash)
    expect(await ops('journal close 2026-02 --yes')).toMatchObject({ code: 1 })
  })

  it('trial-balance --hashed prints the lines of which the hash is made', async () => {
    const { out } = await ops('journal trial-balance --as-of 2026-01-31 --hashed')
    expect(out).toBe('TZS,1000,10000.00,100000.00\nTZS,1100,100000.00,0.00\nTZS,4000,0.00,10000.00\n')
    const [, january] = (await ops<PeriodJson[]>('journal periods --json')).json
    expect(january?.trialBalanceHash).toBe(createHash('sha256').update(out).digest('hex'))
    expect(await ops('journal trial-balance --hashed')).toMatchObject({ code: 2 })
    expect(await ops('journal trial-balance --hashed --as-of 2026-01-31 --product 1')).toMatchObject({ code: 2 })
  })

  it('export writes a month for hledger, or as CSV', async () => {
    expect((await ops('journal export 2026-01')).out).toMatch(/^; The journal of 2026-01.*\n(.*\n)+; postings 2\n/)
    expect((await ops('journal export 2026-01 --format csv')).out).toMatch(/control totals,.*110000\.00,110000\.00,\n$/)
    const wrong = await ops('journal export january')
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('must be a month, such as 2026-01')])
  })

  it('chart set takes what chart show prints, and says what is wrong with it', async () => {
    const path = join(folder, 'chart.json')
    const set = async (chart: unknown, ...more: string[]) => {
      await writeFile(path, typeof chart === 'string' ? chart : JSON.stringify(chart))
      return ops(['journal', 'chart', 'set', path, ...more])
    }
    const { json: chart, err } = await ops<ChartWire>('journal chart show --json')
    expect([chart.slots.cash, err]).toEqual(['1000', ''])
    expect((await ops('journal chart show')).err).toBe('version 1, counts from the beginning\n')
    expect((await set(chart, '--yes')).out).toBe('The chart of organization 1 is version 1.\n')
    expect(await set({ ...chart, method: 'accrual_upfront' })).toMatchObject({ code: 1 })
    const { out } = await set({ ...chart, method: 'accrual_upfront' }, '--yes')
    expect(out).toBe('The chart of organization 1 is version 2.\n')
    const refused = [
      ['{', 2, 'is not JSON'],
      [[], 1, 'accounts: must be a list'],
      [{ ...chart, slots: [] }, 1, 'slots: must be an object'],
      [{ ...chart, accounts: [7] }, 1, 'accounts[0]: must have code, name and type'],
      [{ ...chart, accounts: [{ code: '1', name: 'x', type: 'cost' }] }, 1, 'accounts[0].type: must be one of asset'],
      [{ ...chart, method: { products: {} } }, 1, 'method: must be a method, or an object'],
      [{ ...chart, method: 'later' }, 1, 'method.default: must be one of cash'],
    ] as const
    for (const [wrong, code, message] of refused) {
      const answer = await set(wrong, '--yes')
      expect([answer.code, answer.err]).toEqual([code, expect.stringContaining(message)])
    }
  })
})

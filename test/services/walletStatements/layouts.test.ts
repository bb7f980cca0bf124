import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { currencyOf } from '../../../src/domain/money.ts'
import { parseStatement } from '../../../src/services/walletStatements/parse.ts'
import { statementHash } from '../../../src/services/walletStatements/reader.ts'
import { readAmount, readDate } from '../../../src/services/walletStatements/table.ts'
import { linesOf } from '../../../src/services/walletStatements/text.ts'
import { patientReader } from '../../support/patientReader.ts'
import { readHere } from '../../support/readHere.ts'
import { fictionalStatement, type StatementSketch, statementPdf } from '../../support/statementPdf.ts'

const TZS = currencyOf('TZS')
const UGX = currencyOf('UGX')
const reader = patientReader()

/** What the figures should be, computed from the sketch and not from what is drawn. */
function expectedOf({ movements, opening }: StatementSketch) {
  const done = movements.filter(({ failed }) => !failed)
  const income = new Map<string, bigint>()
  for (const { on, amount, details } of done) {
    if (amount <= 0n || details.includes('Loan')) continue
    income.set(on.slice(0, 7), (income.get(on.slice(0, 7)) ?? 0n) + amount)
  }
  const inflows = [...income.values()]
  return {
    transactions: done.length,
    averageMonthlyInflow: inflows.reduce((sum, inflow) => sum + inflow, 0n) / BigInt(inflows.length),
    leastMonthlyInflow: inflows.reduce((least, inflow) => (inflow < least ? inflow : least)),
    openingBalance: opening,
    closingBalance: done.reduce((balance, { amount, fee }) => balance + amount - fee, opening),
  }
}

describe('every layout, half a year on twelve pages, is read back as it was made', () => {
  it.each(['mpesa', 'airtel', 'yas', 'bank'] as const)('%s', async (layout) => {
    const sketch = fictionalStatement({ layout })
    const figures = await reader.read(await statementPdf(sketch), TZS)
    expect(figures).toMatchObject({
      layout,
      owner: 'ASHA WANJIKU MWANGI',
      phone: layout === 'bank' ? null : '255754000123',
      from: '2026-01-01',
      to: '2026-06-30',
      months: 6,
      ...expectedOf(sketch),
    })
    expect(figures.monthly.map(({ from, to }) => `${from}–${to}`).slice(0, 2)).toEqual([
      '2026-06-01–2026-06-30',
      '2026-05-01–2026-05-31',
    ])
    expect(figures.monthly[0]?.closingBalance).toBe(figures.closingBalance)
  })

  it('the fingerprint is that of the transactions: the same when drawn again, another for another statement', async () => {
    const sketch = fictionalStatement({ layout: 'yas', from: '2026-05-01' })
    const masked = { ...sketch, phone: '255754***123' }
    const other = { ...sketch, opening: sketch.opening + 1n }
    const [one, two, three] = await Promise.all([sketch, masked, other].map((it) => statementPdf(it)))
    const prints = await Promise.all([one, two, three].map(async (pdf) => (await readHere(pdf!, TZS)).fingerprint))
    expect(prints[0]).toBe(prints[1])
    expect(prints[2]).not.toBe(prints[0])
    expect(statementHash(one!)).not.toBe(statementHash(two!))
  })

  it('overdrawn balances and amounts without cents', async () => {
    const overdrawn = fictionalStatement({ layout: 'bank', opening: -50_000_000_00n })
    expect(await readHere(await statementPdf(overdrawn), TZS)).toMatchObject({ openingBalance: -50_000_000_00n })
    const shillings = fictionalStatement({ layout: 'airtel', currency: UGX, phone: '0754000123' })
    expect(await readHere(await statementPdf(shillings), UGX)).toMatchObject(expectedOf(shillings))
  })

  it('months are counted back from the last day, and days before them are in no month', async () => {
    const pdf = await statementPdf(fictionalStatement({ layout: 'bank', from: '2026-03-20', to: '2026-06-10' }))
    const { months, monthly } = await readHere(pdf, TZS)
    expect(months).toBe(2)
    expect(monthly.map(({ from }) => from)).toEqual(['2026-05-11', '2026-04-11'])
  })
})

it.each([
  ['1,234,567.89', 123456789n],
  ['1 234 567.8', 123456780n],
  ['1234', 123400n],
  ['-1,000.00', -100000n],
  ['1,000.00-', -100000n],
  ['(1,000.00)', -100000n],
  ['1,000.00 DR', -100000n],
  ['1,000.00 CR', 100000n],
  ['TSh 1,000', 100000n],
  ['TZS -1,000.00', -100000n],
  ['+50.5', 5050n],
  ['1,00.00', null],
  ['1.000,00', null],
  ['12,3456', null],
  ['', null],
  ['twelve', null],
])('the amount %j is %s', (text, minor) => {
  expect(readAmount(text, TZS)).toBe(minor)
})

it('cents of a currency that has none are good only as nought', () => {
  expect(readAmount('1,000.00', UGX)).toBe(1000n)
  expect(readAmount('1,000.50', UGX)).toBeNull()
})

it.each([
  ['2026-03-31 18:22:11', '2026-03-31'],
  ['31/03/2026', '2026-03-31'],
  ['31-03-26 10:30 AM', '2026-03-31'],
  ['31 March 2026', '2026-03-31'],
  ['1-Mar-26', '2026-03-01'],
  ['30/02/2026', null],
  ['Page 1', null],
])('the date %j is %s', (text, date) => {
  const forms = ['yyyy-MM-dd', 'dd/MM/yyyy', 'dd-MM-yy', 'dd MMM yyyy', 'dd-MMM-yy'] as const
  expect(readDate(text, forms)).toBe(date)
})

it('pieces of a line are put together whatever the order in which they are drawn', () => {
  const piece = (text: string, left: number, base: number) => ({ text, left, base, width: text.length * 4, size: 8 })
  const lines = linesOf([
    piece('Balance', 200, 50),
    piece('second', 10, 40),
    piece('Paid', 10, 50.5),
    piece('In', 28, 50),
  ])
  expect(lines.map((line) => line.map(({ text }) => text))).toEqual([['Paid In', 'Balance'], ['second']])
})

it('a document of no lines fits no layout', () => {
  expect(() => parseStatement([[]], TZS)).toThrow(/fits no layout/)
})

it('docs/integrating/statement-layouts.md shows a layout as it is', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/integrating/statement-layouts.md'), 'utf8')
  const layouts = readFileSync(join(import.meta.dirname, '../../../src/services/walletStatements/layouts.ts'), 'utf8')
  const plain = (text: string) => text.replace(/\s+\/\/ .*$/gm, '').replace(/\s+/g, ' ')
  const shown = /```ts\n(.*?)```/s.exec(page)?.[1] ?? ''
  expect(shown).toContain("id: 'yas'")
  expect(plain(layouts)).toContain(plain(shown).trim())
})

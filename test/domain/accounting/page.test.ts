import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DEFAULT_CHART } from '../../../src/domain/accounting/chart.ts'
import { METHODS } from '../../../src/domain/accounting/contribution.ts'
import { POSTING_KINDS } from '../../../src/domain/accounting/postingKinds.ts'
import { SLOTS } from '../../../src/domain/accounting/slots.ts'
import { turnoversText } from '../../../src/domain/accounting/trialBalance.ts'
import { play, workedByFile } from './playJournal.ts'

// docs/accounting.md says to accountants what the journal posts; here its tables are held against the journal.

const page = readFileSync(new URL('../../../docs/accounting.md', import.meta.url), 'utf8')

/** The rows of all tables of the page, as cells. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map((cells) => cells.slice(1, -1))

/** A cell in the words of the worked examples: `debits | credits`, the accounts in their order of the alphabet. */
function said(cells: readonly string[], index: number): string {
  const cell = cells[index] ?? ''
  if (cell === 'no posting') return 'nothing'
  if (cell === 'the same') return said(cells, 1)
  if (cell === 'the same as upfront') return said(cells, 2)
  const [debits = '', credits = ''] = cell.split('; ')
  const side = (text: string) => text.replace(/^(Dr|Cr) /, '').replace(/(\d),(\d)/g, '$1$2')
  return sorted(`${side(debits)} | ${side(credits)}`)
}

const sorted = (text = ''): string =>
  text
    .split(' | ')
    .map((side) => side.split(', ').toSorted().join(', '))
    .join(' | ')

const saidOf = (row: readonly string[]) => METHODS.map((_, index) => said(row, index + 1))

/** What the examples of the page are worked out to. */
const [[, examples] = ['', []]] = workedByFile().filter(([file]) => file === '7-page.txt')
const steps = examples.map((example) =>
  play(example).map(({ expected }) => METHODS.map((method) => sorted(expected[method]))),
)

it('the page shows what becomes of its example', () => {
  const shown = rows.filter(([first = '']) => /^\d+ \w+ `/.test(first)).map(saidOf)
  expect(shown).toEqual(steps[0])
})

it('the page shows the other kinds of change as they are posted', () => {
  const row = (begin: string) => saidOf(rows.find(([first = '']) => first.startsWith(begin)) ?? [])
  const [, writtenOff, overpaid, corrected, restated, opened] = steps
  expect(row('`write_off`')).toEqual(writtenOff!.at(-2))
  expect(row('`repayment` of 114,000')).toEqual(overpaid!.at(-2))
  expect(row('`credit_balance_refund`')).toEqual(overpaid!.at(-1))
  expect(row('`adjustment`')).toEqual(corrected!.at(-2))
  expect(row('`reversal`')).toEqual(corrected!.at(-1))
  expect(row('`restatement`')).toEqual(restated!.at(-1))
  expect(row('`opening`')).toEqual(opened!.at(-1))
})

it('the page has every kind of posting, and the chart of a lender who has set none', () => {
  expect(POSTING_KINDS.filter((kind) => !page.includes(`\`${kind}\``))).toEqual([])
  const accounts = rows.flatMap(([slot = '', account = '', type = '']) =>
    /^\d{4} /.test(account) ? [{ slot: slot.replaceAll('`', ''), account, type }] : [],
  )
  const known = new Map(DEFAULT_CHART.accounts.map((account) => [account.code, account]))
  const expected = SLOTS.map((slot) => {
    const { code, name, type } = known.get(DEFAULT_CHART.slots[slot]!)!
    return { slot, account: `${code} ${name}`, type }
  })
  const bySlot = (a: { slot: string }, b: { slot: string }) => a.slot.localeCompare(b.slot)
  expect(accounts.toSorted(bySlot)).toEqual(expected.toSorted(bySlot))
})

it('has an example of the hash of a close that the service makes, too', () => {
  const [, text, hash] = /printf '([^']+)' \| sha256sum\n# ([0-9a-f]{64})\n/.exec(page)!
  const lent = new Map([
    ['1100', { debit: 10_000_000n, credit: 0n }],
    ['1000', { debit: 0n, credit: 10_000_000n }],
    ['2000', { debit: 0n, credit: 0n }],
  ])
  const made = turnoversText(new Map([['TZS', lent]]))
  expect(made).toBe(text!.replaceAll('\\n', '\n'))
  expect(createHash('sha256').update(made).digest('hex')).toBe(hash)
})

import { describe, expect, it } from 'vitest'
import { onAccount } from '../../../src/domain/accounting/accountFilter.ts'
import { DEFAULT_CHART } from '../../../src/domain/accounting/chart.ts'
import {
  accountsAsOf,
  type Charts,
  chartOfVersion,
  chartOn,
  FIRST_CHART,
  turnsOf,
} from '../../../src/domain/accounting/chartsInForce.ts'
import { linesOf, type StoredAmounts } from '../../../src/domain/accounting/lines.ts'
import { amountsBy, SLOTS } from '../../../src/domain/accounting/slots.ts'

const withCash = (code: string, name: string) => ({
  ...DEFAULT_CHART,
  accounts: [
    ...DEFAULT_CHART.accounts.filter(({ code: one }) => one !== '1000'),
    { code, name, type: 'asset' as const },
  ],
  slots: { ...DEFAULT_CHART.slots, cash: code },
})

/** Version 2 counts from the beginning, 3 and 4 from February, and 5 from April. */
const CHARTS: Charts = [
  FIRST_CHART,
  { version: 2, chart: withCash('1000', 'Till'), countsFrom: null },
  { version: 3, chart: withCash('1001', 'M-PESA'), countsFrom: '2026-02-01' },
  { version: 4, chart: withCash('1002', 'Airtel'), countsFrom: '2026-02-01' },
  { version: 5, chart: withCash('1000', 'Safe'), countsFrom: '2026-04-01' },
]

describe('the chart in force on a day', () => {
  it.each([
    [null, 2],
    ['2026-01-31', 2],
    ['2026-02-01', 4],
    ['2026-03-31', 4],
    ['2026-04-01', 5],
    ['2999-12-31', 5],
  ])('%s is version %d', (day, version) => {
    expect(chartOn(CHARTS, day).version).toBe(version)
  })

  it('changes on the days from which charts count, each once', () => {
    expect(turnsOf(CHARTS)).toEqual(['2026-02-01', '2026-04-01'])
    expect(turnsOf([FIRST_CHART])).toEqual([])
  })

  it('is found by its version, and one that there is not is a fault of the service', () => {
    expect(chartOfVersion(CHARTS, 3).slots.cash).toBe('1001')
    expect(() => chartOfVersion(CHARTS, 6)).toThrow('a chart of version 6')
  })
})

describe('the name of an account on a day', () => {
  const nameOn = (day: string, code: string) => accountsAsOf(CHARTS, day).get(code)?.name

  it('is that of the chart in force, else of the last chart before that has it, else of the first one after', () => {
    expect(nameOn('2026-01-31', '1000')).toBe('Till')
    expect(nameOn('2026-02-01', '1000')).toBe('Till')
    expect(nameOn('2026-04-01', '1000')).toBe('Safe')
    expect(nameOn('2026-01-31', '1002')).toBe('Airtel')
    expect(nameOn('2026-05-01', '1001')).toBe('M-PESA')
    expect(nameOn('2026-05-01', '9')).toBeUndefined()
  })
})

describe('the lines of a posting', () => {
  const NONE = Object.fromEntries(SLOTS.map((slot) => [slot, null])) as StoredAmounts

  it('are on the accounts of the chart in force on its booked day, in the order of the slots', () => {
    const amounts = { ...NONE, cash: 150n, loan_portfolio: -100n, interest_income: -50n }
    expect(linesOf(CHARTS, { bookedOn: '2026-03-01', amounts, cashAccount: null, move: null })).toEqual([
      { account: '1002', debit: 150n, credit: 0n },
      { account: '1100', debit: 0n, credit: 100n },
      { account: '4000', debit: 0n, credit: 50n },
    ])
  })

  it('are two for each slot that moves, whatever the chart in force', () => {
    const amounts = { ...NONE, cash: -150n }
    expect(linesOf(CHARTS, { bookedOn: '2026-03-01', amounts, cashAccount: null, move: { from: 2, to: 3 } })).toEqual([
      { account: '1000', debit: 150n, credit: 0n },
      { account: '1001', debit: 0n, credit: 150n },
    ])
  })

  it('are none where nothing has an amount', () => {
    expect(
      linesOf(CHARTS, { bookedOn: '2026-03-01', amounts: amountsBy(() => 0n), cashAccount: null, move: null }),
    ).toEqual([])
  })
})

it('the postings on an account are found by the spans of days in which charts have the account', () => {
  const cash = 2 ** SLOTS.indexOf('cash')
  expect(onAccount(CHARTS, '1000')).toEqual({
    code: '1000',
    spans: [
      { from: null, before: '2026-02-01', slots: cash },
      { from: '2026-04-01', before: null, slots: cash },
    ],
    versions: [1, 2, 5].map((version) => ({ version, slots: cash })),
  })
  expect(onAccount(CHARTS, 'none')).toEqual({ code: 'none', spans: [], versions: [] })
})

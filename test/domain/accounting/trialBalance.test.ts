import { describe, expect, it } from 'vitest'
import { DEFAULT_CHART } from '../../../src/domain/accounting/chart.ts'
import { type Charts, FIRST_CHART } from '../../../src/domain/accounting/chartsInForce.ts'
import type { StoredAmounts } from '../../../src/domain/accounting/lines.ts'
import { SLOTS, type Slot } from '../../../src/domain/accounting/slots.ts'
import { type Posted, trialBalanceOf, turnoversOf, turnoversText } from '../../../src/domain/accounting/trialBalance.ts'

const NONE = Object.fromEntries(SLOTS.map((slot) => [slot, null])) as StoredAmounts

/** From February on, write-offs are on the account of charge-offs, and cash is in the bank. */
const CHARTS: Charts = [
  FIRST_CHART,
  {
    version: 2,
    chart: {
      ...DEFAULT_CHART,
      accounts: [
        ...DEFAULT_CHART.accounts.filter(({ code }) => code !== '1000' && code !== '5100'),
        { code: 'A-1', name: 'Bank', type: 'asset' },
      ],
      slots: { ...DEFAULT_CHART.slots, cash: 'A-1', write_offs: '5200' },
    },
    countsFrom: '2026-02-01',
  },
]

const sum = (slot: Slot, debit: bigint, credit: bigint, bookedFrom: string | null = null, currency = 'KES') => ({
  ...{ currency, slot, bookedFrom, debit, credit },
})

const POSTED: Posted = {
  sums: [
    sum('cash', 4_000n, 10_000n),
    sum('loan_portfolio', 10_000n, 4_500n),
    sum('write_offs', 500n, 0n),
    sum('cash', 700n, 0n, '2026-02-01'),
    sum('write_offs', 300n, 0n, '2026-02-01'),
    sum('charge_offs', 20n, 0n, '2026-02-01'),
    sum('loan_portfolio', 0n, 1_020n, '2026-02-01'),
    sum('cash', 0n, 5n, null, 'UGX'),
    sum('loan_portfolio', 5n, 0n, null, 'UGX'),
  ],
  transfers: [
    {
      ...{ currency: 'KES', bookedOn: '2026-02-01', move: { from: 1, to: 2 }, cashAccount: null },
      amounts: { ...NONE, cash: -6_000n, write_offs: 500n },
    },
  ],
}

describe('a trial balance', () => {
  const balance = trialBalanceOf(CHARTS, turnoversOf(CHARTS, POSTED), { currency: 'KES', asOf: '2026-02-28' })
  const of = (code: string) => balance.accounts.find((account) => account.code === code)

  it('has all that was posted on an account, by the chart of its day, and what moved between accounts', () => {
    expect(of('1000')).toMatchObject({ debit: 10_000n, credit: 10_000n, balance: 0n })
    expect(of('A-1')).toMatchObject({ debit: 700n, credit: 6_000n, balance: -5_300n })
    expect(of('5100')).toMatchObject({ debit: 500n, credit: 500n, balance: 0n })
    expect(of('5200')).toMatchObject({ debit: 820n, credit: 0n, balance: 820n })
  })

  it('has debits that equal credits', () => {
    expect([balance.totalDebit, balance.totalCredit]).toEqual([22_020n, 22_020n])
  })

  it('lists the accounts of the chart in force, and others only where they have postings', () => {
    expect(of('4000')).toEqual({
      ...{ code: '4000', name: 'Interest income', type: 'income', debit: 0n, credit: 0n, balance: 0n },
    })
    const codes = balance.accounts.map(({ code }) => code)
    expect(codes).toEqual(codes.toSorted())
    const none = trialBalanceOf(CHARTS, new Map(), { currency: 'KES', asOf: '2026-02-28' })
    expect(none.accounts.map(({ code }) => code)).not.toContain('1000')
    expect(trialBalanceOf(CHARTS, new Map(), { currency: 'KES', asOf: '2026-01-31' }).accounts.length).toBe(19)
  })

  it('has balances above zero on the side of the type', () => {
    const posted = { sums: [sum('overpayments', 0n, 9n), sum('cash', 9n, 0n)], transfers: [] }
    const { accounts } = trialBalanceOf(CHARTS, turnoversOf(CHARTS, posted), { currency: 'KES', asOf: '2026-01-31' })
    expect(accounts.filter(({ balance: one }) => one === 9n).map(({ code }) => code)).toEqual(['1000', '2000'])
  })
})

describe('the text of a close', () => {
  it('is a line for each account with a posting, by currency and code', () => {
    expect(turnoversText(turnoversOf(CHARTS, POSTED))).toBe(
      [
        ...['KES,1000,100.00,100.00', 'KES,1100,100.00,55.20', 'KES,5100,5.00,5.00', 'KES,5200,8.20,0.00'],
        ...['KES,A-1,7.00,60.00', 'UGX,1000,0,5', 'UGX,1100,5,0', ''],
      ].join('\n'),
    )
  })

  it('is empty where nothing was posted', () => {
    expect(turnoversText(turnoversOf(CHARTS, { sums: [sum('cash', 0n, 0n)], transfers: [] }))).toBe('')
  })
})

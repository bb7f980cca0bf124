import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CHART } from '../../../src/domain/accounting/chart.ts'
import { type Charts, FIRST_CHART } from '../../../src/domain/accounting/chartsInForce.ts'
import { SLOTS, type Slot } from '../../../src/domain/accounting/slots.ts'
import { balanceSheetOf } from '../../../src/domain/accounting/statements/balanceSheet.ts'
import { incomeStatementOf } from '../../../src/domain/accounting/statements/incomeStatement.ts'
import {
  type SlotSum,
  type TrialBalance,
  trialBalanceOf,
  turnoversOf,
} from '../../../src/domain/accounting/trialBalance.ts'
import { runs } from '../../support/runs.ts'

/** From February on, losses are on an account of assets: what was an expense moves there. */
const CHARTS: Charts = [
  FIRST_CHART,
  {
    version: 2,
    chart: {
      ...DEFAULT_CHART,
      accounts: [...DEFAULT_CHART.accounts, { code: '1190', name: 'Allowance for losses', type: 'asset' }],
      slots: { ...DEFAULT_CHART.slots, write_offs: '1190', charge_offs: '1190' },
    },
    countsFrom: '2026-02-01',
  },
]

/** A posting of two slots: what one is debited, the other is credited. */
const entry = fc.record({
  debit: fc.constantFrom(...SLOTS),
  credit: fc.constantFrom(...SLOTS),
  amount: fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
  month: fc.integer({ min: 0, max: 3 }),
})
type Entry = typeof entry extends fc.Arbitrary<infer T> ? T : never

const sumsOf = ({ debit, credit, amount, month }: Entry): SlotSum[] => {
  const of = (slot: Slot, net: bigint): SlotSum => ({
    ...{ currency: 'KES', slot, bookedFrom: month === 0 ? null : '2026-02-01' },
    ...{ debit: net > 0n ? net : 0n, credit: net < 0n ? -net : 0n },
  })
  return [of(debit, amount), of(credit, -amount)]
}

/** The trial balance after the months up to one, with the move of losses in the second. */
function balanceAt(entries: readonly Entry[], month: number): TrialBalance {
  const amounts = Object.fromEntries(SLOTS.map((slot) => [slot, null])) as Record<Slot, bigint | null>
  for (const slot of ['write_offs', 'charge_offs'] as const)
    amounts[slot] = entries
      .filter((one) => one.month === 0)
      .flatMap(sumsOf)
      .reduce((sum, one) => (one.slot === slot ? sum + one.debit - one.credit : sum), 0n)
  const moved = { currency: 'KES', bookedOn: '2026-02-01', move: { from: 1, to: 2 }, cashAccount: null, amounts }
  const posted = {
    sums: entries.filter((one) => one.month <= month).flatMap(sumsOf),
    transfers: month === 0 ? [] : [moved],
  }
  return trialBalanceOf(CHARTS, turnoversOf(CHARTS, posted), { currency: 'KES', asOf: `2026-0${month + 1}-28` })
}

describe('the financial statements', () => {
  it('balance to the cent, and the results of the months sum to the accumulated one, whatever was posted', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), (entries) => {
        const months = [0, 1, 2, 3].map((month) => balanceAt(entries, month))
        let results = 0n
        for (const [month, closing] of months.entries()) {
          expect(closing.totalDebit).toBe(closing.totalCredit)
          results += incomeStatementOf(months[month - 1], closing).result
          const { totalAssets, totalLiabilities, totalEquity, accumulatedResult } = balanceSheetOf(closing)
          expect(totalAssets).toBe(totalLiabilities + totalEquity + accumulatedResult)
          expect(accumulatedResult).toBe(results)
        }
      }),
      { numRuns: runs(200) },
    )
  })

  it('have every account of the trial balance once, each with its own amount', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), (entries) => {
        const closing = balanceAt(entries, 3)
        const { income, expenses } = incomeStatementOf(undefined, closing)
        const { assets, liabilities, equity } = balanceSheetOf(closing)
        const shown = [...income, ...expenses, ...assets, ...liabilities, ...equity]
        expect(Object.fromEntries(shown.map(({ code, amount }) => [code, amount]))).toEqual(
          Object.fromEntries(closing.accounts.map(({ code, balance }) => [code, balance])),
        )
        expect(shown).toHaveLength(closing.accounts.length)
      }),
      { numRuns: runs(200) },
    )
  })

  it('have a loss below zero, and income that was taken back less than before', () => {
    const one = (debit: Slot, credit: Slot, amount: bigint, month: number): Entry => ({ debit, credit, amount, month })
    const entries = [one('cash', 'interest_income', 500n, 0), one('interest_income', 'cash', 200n, 2)]
    const [january, february, march] = [0, 1, 2].map((month) => balanceAt(entries, month)) as [
      ...[TrialBalance, TrialBalance, TrialBalance],
    ]
    expect(incomeStatementOf(undefined, january)).toMatchObject({ totalIncome: 500n, totalExpenses: 0n, result: 500n })
    expect(incomeStatementOf(january, february)).toMatchObject({ totalIncome: 0n, result: 0n })
    expect(incomeStatementOf(february, march)).toMatchObject({ totalIncome: -200n, result: -200n })
    expect(balanceSheetOf(march)).toMatchObject({ totalAssets: 300n, accumulatedResult: 300n })
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linesOf } from '../../../src/domain/documents/loanLines.ts'
import type { Period } from '../../../src/domain/loan/allocation.ts'
import { ENTRY_TYPES, type EntryType, isCustomerRepayment, isOfRestructures } from '../../../src/domain/loan/entry.ts'
import { post } from '../../../src/domain/loan/loan.ts'
import type { Outcome } from '../../../src/domain/loan/outcomes.ts'
import { add, noPortions, type Portions, subtract } from '../../../src/domain/loan/portions.ts'
import { settlementOn } from '../../../src/domain/loan/rules/earlySettlement.ts'
import type { Instalment } from '../../../src/domain/schedule/schedule.ts'
import { runs } from '../../support/runs.ts'
import { anyHistory } from './anyHistory.ts'
import { anyLent } from './anyLent.ts'
import { dateOf, dayAt } from './naive/calendar.ts'
import { played } from './playedLoan.ts'

describe('the portions of all transactions', () => {
  it('add up to the figures of the loan, and the lines of its statement to what is owed', () => {
    const seen: Record<string, number> = {}
    fc.assert(
      fc.property(anyLent, anyHistory, (lent, steps) => {
        const loan = played(lent, steps)
        const state = loan.state()
        const posted = loan.entries.filter(({ reversedAt }) => reversedAt === null)
        for (const { type } of posted) seen[type] = (seen[type] ?? 0) + 1
        if (loan.settled > 0)
          seen[loan.terms.rules!.earlySettlement] = 1 + (seen[loan.terms.rules!.earlySettlement] ?? 0)
        const effects = posted.map(({ type, ordinal }) => ({ type, outcome: state.outcomes.get(ordinal)! }))
        expect(figuresOf(effects, loan.terms.schedule)).toEqual({
          paid: add(state.paid, recoveredIn(state.periods)),
          waived: state.waived,
          writtenOff: state.writtenOff,
          charged: {
            ...state.charged,
            // Interest after the last due date is in no transaction.
            interest: state.charged.interest - state.interestAfterDue,
            penalty: undefined,
          },
          overpaid: state.totalOverpaid,
        })
        const lines = linesOf(loan.terms, loan.entries, loan.now)
        expect(lines.at(-1)!.balance).toBe(state.totalOutstanding - state.totalOverpaid)
        expect(lines.reduce((sum, { change }) => sum + change, 0n)).toBe(lines.at(-1)!.balance)
      }),
      { numRuns: runs(2_000) },
    )
    for (const kind of [
      ...ENTRY_TYPES.filter((type) => !isOfRestructures(type)),
      'interest_to_date',
      'interest_to_period_end',
    ])
      expect([kind, (seen[kind] ?? 0) > 5]).toEqual([kind, true])
  })
})

const MONEY_OUT: readonly EntryType[] = ['Refund', 'Credit Balance Refund']

/** Returns what was recovered, by component. */
const recoveredIn = (periods: readonly Period[]): Portions =>
  periods.reduce((sum, { recovered }) => add(sum, recovered), noPortions())

/** Returns the figures of a loan by what its transactions did; the penalties that time raised are in none. */
function figuresOf(
  effects: readonly { readonly type: EntryType; readonly outcome: Outcome }[],
  schedule: readonly Instalment[],
) {
  const figures = { paid: noPortions(), waived: noPortions(), writtenOff: noPortions() }
  const charged = { ...noPortions(), penalty: undefined }
  let overpaid = 0n
  for (const { fees, interest, principal } of schedule) {
    charged.fees += fees
    charged.interest += interest
    charged.principal += principal
  }
  for (const { type, outcome } of effects) {
    const { portions, overpayment, credited } = outcome
    const again = { ...noPortions(), principal: credited }
    overpaid += isCustomerRepayment(type) ? overpayment : -overpayment
    if (isCustomerRepayment(type)) figures.paid = add(figures.paid, portions)
    if (MONEY_OUT.includes(type)) {
      figures.paid = subtract(figures.paid, subtract(portions, again))
      charged.principal += credited
    }
    if (type === 'Waive Interest' || type === 'Settlement Waiver') figures.waived = add(figures.waived, portions)
    if (type === 'Write-off') figures.writtenOff = add(figures.writtenOff, portions)
    if (type === 'Fee') charged.fees += portions.fees + overpayment
    // What pays a charge out of the overpayment was paid by the transactions that were overpaid.
    if (type === 'Fee') figures.paid.fees += overpayment
    if (type === 'Penalty') figures.paid.penalty += overpayment
  }
  return { ...figures, charged, overpaid }
}

describe('an early settlement', () => {
  it('is before the money of its day: after the money that settles the loan nothing is owed', () => {
    fc.assert(
      fc.property(anyLent, anyHistory, (lent, steps) => {
        const loan = played(lent, steps)
        const today = dateOf(dayAt(loan.now))
        const { amount } = settlementOn(loan.whole(), today)
        fc.pre(loan.state().status === 'Active' && amount !== 0n)
        const units = { units: amount, scale: lent.product.currency.decimals }
        const payment = { type: 'Repayment', amount: units, valueDate: today, token: null, note: null } as const
        const { settled: before } = loan
        loan.change(post(loan.whole(), payment, loan.now))
        fc.pre(loan.settled !== before)
        const paid = loan.entries.findLast(({ type }) => type === 'Repayment')!
        const lines = linesOf(loan.terms, loan.entries, loan.now)
        const [waiver, receipt] = ['Settlement Waiver', 'Repayment'].map((type) =>
          lines.findLastIndex((line) => line.type === type),
        ) as [number, number]
        expect([waiver < receipt, lines[receipt]!.entry, lines[receipt]!.balance]).toEqual([true, paid, 0n])
        expect(lines[receipt]!.portions).toEqual(loan.state().outcomes.get(paid.ordinal)!.portions)
      }),
      { numRuns: runs(30) },
    )
  })
})

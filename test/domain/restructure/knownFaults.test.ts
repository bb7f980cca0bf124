import { describe, expect, it } from 'vitest'
import { startOfDay } from '../../../src/domain/dates.ts'
import { type Decision, type Loan, post, stateOf } from '../../../src/domain/loan/loan.ts'
import {
  type AskedChange,
  type RestructureRequest,
  restructureLoan,
} from '../../../src/domain/loan/restructure/restructureLoan.ts'
import { weeklyTerms, ZONE } from '../../support/weeklyTerms.ts'

// Faults that other systems are known for, each on a loan of 9,000 in three weeks: 3,000 and 450 interest are due on 7, 14 and
// 21 February.

const HOUR_MS = 3_600_000
const atNoon = (day: string) => startOfDay(day, ZONE) + 12 * HOUR_MS

function saved({ terms, entries }: Loan, decisions: readonly Decision[]): Loan {
  const posted = decisions.flatMap((one) => (one.posted ? [{ ...one.posted, id: BigInt(one.posted.ordinal) }] : []))
  return { terms, entries: [...entries, ...posted] }
}

const paid = (loan: Loan, amount: bigint, valueDate: string, today = valueDate): Loan => {
  const posting = {
    type: 'Repayment',
    amount: { units: amount, scale: 2 },
    valueDate,
    token: null,
    note: null,
  } as const
  return saved(loan, [post(loan, posting, atNoon(today))])
}

const charged = (loan: Loan, amount: bigint, day: string, dueOn: string): Loan => {
  const charge = {
    type: 'Fee',
    amount: { units: amount, scale: 2 },
    valueDate: day,
    dueOn,
    token: null,
    note: 'Visit',
  } as const
  return saved(loan, [post(loan, charge, atNoon(day))])
}

function restructured(loan: Loan, change: AskedChange, on: string, today = on): Loan {
  const request: RestructureRequest = {
    ...{ effectiveDate: on, change, interest: 'none', fee: null, waive: {}, reason: 'other', note: null },
  }
  const terms = { every: { every: 1, unit: 'weeks' }, limits: null } as const
  return saved(loan, restructureLoan(loan, request, terms, atNoon(today)))
}

const LENT: Loan = { terms: weeklyTerms, entries: [] }
const on = (loan: Loan, day: string) => stateOf(loan, atNoon(day))
const linesOf = (loan: Loan, day: string) =>
  on(loan, day).periods.map(({ period, dueDate, due, owed }) => [
    period,
    dueDate,
    Number(due.principal + due.interest) / 100,
    Number(due.fees) / 100,
    Number(owed) / 100,
  ])

describe('a fault that is known of other systems', () => {
  it('a re-age dated back moves the dates, and leaves every amount as it is', () => {
    const loan = restructured(LENT, { kind: 'newFirstDueDate', on: '2026-02-20' }, '2026-02-05', '2026-02-10')
    expect(linesOf(loan, '2026-02-10')).toEqual([
      [1, '2026-02-20', 3_450, 0, 3_450],
      [2, '2026-02-27', 3_450, 0, 3_450],
      [3, '2026-03-06', 3_450, 0, 3_450],
    ])
    expect(on(loan, '2026-02-10').totalOverdue).toBe(0n)
  })

  it('a re-age may be dated before the last repayment, which pays the same', () => {
    const loan = restructured(
      paid(LENT, 1_000_00n, '2026-02-06'),
      { kind: 'newFirstDueDate', on: '2026-02-20' },
      '2026-02-04',
      '2026-02-10',
    )
    expect(linesOf(loan, '2026-02-10')[0]).toEqual([1, '2026-02-20', 3_450, 0, 2_450])
    expect(on(loan, '2026-02-10').outstanding.principal).toBe(8_450_00n)
  })

  it('a due date that is moved after a payment leaves what was paid, and moves what is left', () => {
    const loan = restructured(
      paid(LENT, 4_000_00n, '2026-02-07'),
      { kind: 'newFirstDueDate', on: '2026-03-01' },
      '2026-02-10',
    )
    expect(linesOf(loan, '2026-02-10')).toEqual([
      [1, '2026-02-07', 3_450, 0, 0],
      [2, '2026-03-01', 3_450, 0, 2_900],
      [3, '2026-03-08', 3_450, 0, 3_450],
    ])
  })

  it('the last instalment is not swollen: what is owed is divided in parts that are alike', () => {
    const loan = restructured(LENT, { kind: 'numberOfRepayments', count: 7, every: null }, '2026-02-05')
    const totals = linesOf(loan, '2026-02-05').map(([, , total]) => Number(total))
    expect(totals.reduce((sum, one) => sum + one, 0)).toBeCloseTo(10_350, 2)
    expect(Math.max(...totals) - Math.min(...totals)).toBeLessThan(0.1)
    const level = restructured(LENT, { kind: 'instalmentAmount', amount: { units: 2_000_00n, scale: 2 } }, '2026-02-05')
    expect(linesOf(level, '2026-02-05').map(([, , total]) => total)).toEqual([2_000, 2_000, 2_000, 2_000, 2_000, 350])
  })

  it('a charge that is due after the date is not waived', () => {
    const loan = restructured(
      charged(LENT, 100_00n, '2026-02-04', '2026-02-14'),
      { kind: 'newFirstDueDate', on: '2026-02-20' },
      '2026-02-05',
    )
    expect(linesOf(loan, '2026-02-05').map(([, , , fees]) => fees)).toEqual([0, 100, 0])
    expect(on(loan, '2026-02-05')).toMatchObject({ waived: { fees: 0n }, outstanding: { fees: 100_00n } })
  })
})

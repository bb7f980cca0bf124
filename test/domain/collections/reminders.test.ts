import { describe, expect, it } from 'vitest'
import { reminderOn, reminderText, requireText } from '../../../src/domain/collections/reminders.ts'
import type { Period } from '../../../src/domain/loan/allocation.ts'
import { currencyOf } from '../../../src/domain/money.ts'

const POLICY = { daysBefore: [0, 3], daysAfter: [1, 7] }
const period = (dueDate: string, owed: bigint) => ({ dueDate, owed }) as Period
const owing = (totalOverdue: bigint, ...periods: Period[]) => ({ status: 'Active' as const, periods, totalOverdue })

describe('a reminder', () => {
  const state = owing(0n, period('2026-02-05', 0n), period('2026-03-05', 1_000_00n), period('2026-04-05', 500_00n))

  it('before the next due date is told on the days of the policy, the due date among them', () => {
    const days = ['2026-03-01', '2026-03-02', '2026-03-04', '2026-03-05'].map((today) =>
      reminderOn(POLICY, state, today),
    )
    const due = { kind: 'due_soon', amount: 1_000_00n, dueOn: '2026-03-05' }
    expect(days).toEqual([undefined, { ...due, days: 3 }, undefined, { ...due, days: 0 }])
  })

  it('after the oldest due date that is unpaid has all that is overdue', () => {
    const late = owing(1_500_00n, period('2026-03-05', 1_000_00n), period('2026-04-05', 500_00n))
    const days = ['2026-03-06', '2026-03-08', '2026-03-12'].map((today) => reminderOn(POLICY, late, today)?.days)
    expect(days).toEqual([1, undefined, 7])
    expect(reminderOn(POLICY, late, '2026-03-06')).toMatchObject({ kind: 'overdue', amount: 1_500_00n })
  })

  it('is not told of a loan that is closed, or owes nothing', () => {
    expect(reminderOn(POLICY, { ...state, status: 'Closed (written off)' }, '2026-03-02')).toBe(undefined)
    expect(reminderOn(POLICY, owing(0n, period('2026-03-05', 0n)), '2026-03-02')).toBe(undefined)
  })
})

describe('the text of a reminder', () => {
  const reminder = { kind: 'overdue', amount: 1_234_567_50n, dueOn: '2026-03-05', days: 7 } as const
  const names = { currency: currencyOf('TZS'), loan: '12', lender: 'Mkopo Ltd' }
  const own = { language: 'sw', dueSoonText: null, overdueText: null } as const

  it('is the own one of the service in the language, or that of the lender', () => {
    expect(reminderText(own, reminder, names)).toBe(
      'Mkopo Ltd: TZS 1,234,567.50 za mkopo wako 12 zilipaswa kulipwa tarehe 2026-03-05. Tafadhali lipa sasa.',
    )
    const overdueText = 'Loan {loan}: {amount} for {days} days'
    expect(reminderText({ ...own, overdueText }, { ...reminder, amount: 5_000_00n }, names)).toBe(
      'Loan 12: 5,000 for 7 days',
    )
  })

  it('names nothing else in braces: a name of a person would be told to everybody who reads events', () => {
    expect(() => requireText('overdueText', 'Dear {name}, {amount} is due')).toThrow(
      /only \{amount\}, .*, and not \{name\}/,
    )
    expect(() => requireText('overdueText', 'Pay {amount')).toThrow(/and not \{amount/)
    expect(() => requireText('overdueText', '{lender}: {currency} {amount}')).not.toThrow()
  })
})

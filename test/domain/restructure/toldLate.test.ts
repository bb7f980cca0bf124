import { describe, expect, it } from 'vitest'
import { contributionOf, METHODS } from '../../../src/domain/accounting/contribution.ts'
import { type LocalDate, startOfDay } from '../../../src/domain/dates.ts'
import { type Decision, type Loan, post, stateOf } from '../../../src/domain/loan/loan.ts'
import { restructureLoan } from '../../../src/domain/loan/restructure/restructureLoan.ts'
import { weeklyTerms, ZONE } from '../../support/weeklyTerms.ts'

// A restructure that is told late, after fees that are dated after its day. 3,000 and 450 interest are due on 7, 14 and 21 February.

const FEE = 100_00n
const at = (day: LocalDate) => startOfDay(day, ZONE) + 12 * 3_600_000

const saved = ({ terms, entries }: Loan, decisions: readonly Decision[]): Loan => ({
  terms,
  entries: [
    ...entries,
    ...decisions.flatMap(({ posted }) => (posted ? [{ ...posted, id: BigInt(posted.ordinal) }] : [])),
  ],
})

/** Charges a fee on a day; it is due then, with the first instalment from then on. */
const charged = (loan: Loan, on: LocalDate, dueOn: LocalDate = on): Loan => {
  const amount = { units: FEE, scale: 2 }
  return saved(loan, [post(loan, { type: 'Fee', amount, valueDate: on, dueOn, token: null, note: 'Visit' }, at(on))])
}

/** Waives interest on a day. */
const waived = (loan: Loan, on: LocalDate, units: bigint): Loan => {
  const posting = {
    type: 'Waive Interest',
    amount: { units, scale: 2 },
    valueDate: on,
    token: null,
    note: null,
  } as const
  return saved(loan, [post(loan, posting, at(on))])
}

/** Tells on a day that the loan was restructured on 5 February: its first instalment is due on 1 March. */
function toldOn(loan: Loan, today: LocalDate): Loan {
  const request = {
    effectiveDate: '2026-02-05',
    change: { kind: 'newFirstDueDate', on: '2026-03-01' },
    interest: 'none',
    fee: null,
    waive: {},
    reason: 'other',
    note: null,
  } as const
  return saved(loan, restructureLoan(loan, request, { every: { every: 1, unit: 'weeks' }, limits: null }, at(today)))
}

const lent: Loan = { terms: weeklyTerms, entries: [] }

/** Requires that a restructure told on a day posts nothing. @returns the loan after it */
function postsNothing(loan: Loan, today: LocalDate) {
  const [before, after] = [loan, toldOn(loan, today)].map((one) => stateOf(one, at(today)))
  expect(after!.periods.map(({ dueDate }) => dueDate)[0]).toBe('2026-03-01')
  for (const method of METHODS) expect(contributionOf(method, after!)).toEqual(contributionOf(method, before!))
  return after!
}

describe('a restructure that is told after a waiver of after its day', () => {
  it.each([
    ['given up early, where it had not fallen due', waived(lent, '2026-02-06', 900_00n), '2026-02-16', 900_00n],
    ['given up where it had fallen due', waived(lent, '2026-02-08', 900_00n), '2026-02-16', 450_00n],
    [
      'given up early by the dates of before the first of two restructures',
      toldOn(waived(lent, '2026-02-06', 900_00n), '2026-02-16'),
      '2026-02-17',
      900_00n,
    ],
  ] as const)('posts nothing: the interest was %s', (_, loan, today, early) => {
    expect(postsNothing(loan, today).forgone.waived.interest).toBe(early)
  })
})

describe('a restructure that is told after a fee of after its day', () => {
  it.each([
    ['is earned where its instalment had fallen due', charged(lent, '2026-02-08'), '2026-02-16', 0n],
    ['is not earned where its instalment had not', charged(lent, '2026-02-08'), '2026-02-12', FEE],
    ['is earned where it had an instalment of its own', charged(lent, '2026-02-23'), '2026-02-24', 0n],
    [
      'is not earned where it was due with the later one of another fee',
      charged(charged(lent, '2026-02-22', '2026-02-25'), '2026-02-23'),
      '2026-02-24',
      2n * FEE,
    ],
    [
      'is earned where it had fallen due before the first of two restructures was told',
      toldOn(charged(lent, '2026-02-08'), '2026-02-16'),
      '2026-02-17',
      0n,
    ],
  ] as const)('posts nothing: the fee %s', (_, loan, today, unearned) => {
    expect(postsNothing(loan, today).unearned.fees).toBe(unearned)
  })
})

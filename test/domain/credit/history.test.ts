import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { historyOf } from '../../../src/domain/credit/history.ts'
import { scoreCustomer } from '../../../src/domain/credit/score.ts'
import { addPeriods } from '../../../src/domain/dates.ts'
import type { EntryType, NewEntry } from '../../../src/domain/loan/entry.ts'
import { type LoanTerms, termsOf } from '../../../src/domain/loan/terms/terms.ts'
import { currencyOf } from '../../../src/domain/money.ts'
import type { Product } from '../../../src/domain/product/product.ts'
import { DEFAULT_POLICY } from './customers.ts'

const zone = 'Africa/Nairobi'
const TZS = currencyOf('TZS')
/** 1 July 2026, noon in Nairobi. */
const JULY = Date.UTC(2026, 6, 1, 9)
const question = { asOf: JULY, zone, currency: TZS }

const product: Product = {
  id: 3,
  name: 'Flat 10% monthly × 3',
  currency: TZS,
  principalMin: 1n,
  principalMax: 10n ** 14n,
  numberOfRepayments: 3,
  repayEvery: 1,
  repayUnit: 'months',
  ratePerPeriod: 10_000_000n,
  totalMultipleOf: null,
  penaltyRate: null,
  terms: null,
  enforceCreditLimit: false,
  retired: false,
}

/** 90,000 in three instalments of 39,000, due on the 10th of the three months after. */
const lend = (year: number, month: number, changes: Partial<Product> = {}): LoanTerms =>
  termsOf({ ...product, ...changes }, { units: 90_000n, scale: 0 }, Date.UTC(year, month - 1, 10, 6), zone)

const entriesOf = (...facts: readonly [EntryType, bigint, string][]): NewEntry[] =>
  facts.map(([type, amount, valueDate], index) => ({
    type,
    amount,
    valueDate,
    ordinal: index + 1,
    place: index + 1,
    postedAt: JULY,
    token: null,
    note: null,
    replaces: null,
    reversedAt: null,
  }))

const INSTALMENT = 39_000_00n

describe('the history of a customer', () => {
  it('nothing of one who never borrowed', () => {
    expect(historyOf([], question)).toMatchObject({ asOf: '2026-07-01', loansTaken: 0, monthsOfHistory: 0 })
  })

  it('of 130,000 instalments as of one', () => {
    const daily = lend(2020, 1, { numberOfRepayments: 2_000, repayUnit: 'days' })
    const loans = Array.from({ length: 65 }, () => ({ terms: daily, entries: [] }))
    expect(historyOf(loans, question)).toMatchObject({
      instalmentsDue: 130_000,
      instalmentsOnTime: 0,
      worstDaysOverdue: historyOf([{ terms: daily, entries: [] }], question).worstDaysOverdue,
    })
  })

  it('a closed loan, one instalment a week late, going by value dates though all was posted in July', () => {
    const entries = entriesOf(
      ['Repayment', INSTALMENT, '2026-02-10'],
      ['Repayment', INSTALMENT, '2026-03-17'],
      ['Repayment', INSTALMENT, '2026-04-01'],
    )
    expect(historyOf([{ terms: lend(2026, 1), entries }], question)).toEqual({
      asOf: '2026-07-01',
      loansTaken: 1,
      loansOpen: 0,
      loansClosed: 1,
      instalmentsDue: 3,
      instalmentsOnTime: 2,
      daysOverdueNow: 0,
      worstDaysOverdue: 7,
      loansChargedOff: 0,
      chargedOff: 0n,
      loansWrittenOff: 0,
      writtenOff: 0n,
      loansRecovered: 0,
      monthsOfHistory: 5,
      borrowed: 90_000_00n,
      repaid: 3n * INSTALMENT,
      largestRepaid: 90_000_00n,
      outstanding: 0n,
    })
  })

  it('an open loan: an instalment that is not due yet does not count, one paid early does', () => {
    const unpaid = historyOf([{ terms: lend(2026, 5), entries: [] }], question)
    expect(unpaid).toMatchObject({ loansOpen: 1, instalmentsDue: 1, instalmentsOnTime: 0, daysOverdueNow: 21 })
    expect(unpaid).toMatchObject({ worstDaysOverdue: 21, outstanding: 3n * INSTALMENT, largestRepaid: 0n })
    const early = entriesOf(['Repayment', 2n * INSTALMENT, '2026-06-10'])
    const paid = historyOf([{ terms: lend(2026, 5), entries: early }], question)
    expect(paid).toMatchObject({ instalmentsDue: 2, instalmentsOnTime: 2, daysOverdueNow: 0, worstDaysOverdue: 0 })
  })

  it('an instalment is on time through its due date, and late from the day after', () => {
    const due = { ...question, asOf: Date.UTC(2026, 5, 10, 20) }
    expect(historyOf([{ terms: lend(2026, 5), entries: [] }], due)).toMatchObject({ instalmentsDue: 0 })
    const after = { ...question, asOf: Date.UTC(2026, 5, 10, 21) }
    expect(historyOf([{ terms: lend(2026, 5), entries: [] }], after)).toMatchObject({ instalmentsDue: 1 })
  })

  it('a reversed repayment is none', () => {
    const [entry] = entriesOf(['Repayment', 3n * INSTALMENT, '2026-02-01'])
    const loans = [{ terms: lend(2026, 1), entries: [{ ...entry!, reversedAt: JULY }] }]
    expect(historyOf(loans, question)).toMatchObject({ loansClosed: 0, instalmentsOnTime: 0, worstDaysOverdue: 141 })
  })

  it('charged off and still owed, then paid in full', () => {
    const charged = entriesOf(['Charge-off', 3n * INSTALMENT, '2026-06-01'])
    const owed = historyOf([{ terms: lend(2026, 1), entries: charged }], question)
    expect(owed).toMatchObject({ loansChargedOff: 1, chargedOff: 3n * INSTALMENT, loansRecovered: 0 })
    const entries = entriesOf(
      ['Charge-off', 3n * INSTALMENT, '2026-06-01'],
      ['Repayment', 3n * INSTALMENT, '2026-06-20'],
    )
    const paid = historyOf([{ terms: lend(2026, 1), entries }], question)
    expect(paid).toMatchObject({ loansChargedOff: 0, chargedOff: 0n, loansRecovered: 1, loansClosed: 1 })
  })

  it('written off: no instalment of it is on time, and what comes back is counted', () => {
    const off = entriesOf(
      ['Write-off', 3n * INSTALMENT, '2026-02-01'],
      ['Recovery Repayment', 17_000_00n, '2026-03-01'],
    )
    expect(historyOf([{ terms: lend(2026, 1), entries: off }], question)).toMatchObject({
      loansClosed: 0,
      loansWrittenOff: 1,
      writtenOff: 100_000_00n,
      instalmentsDue: 3,
      instalmentsOnTime: 0,
      largestRepaid: 0n,
    })
    const back = entriesOf(
      ['Write-off', 3n * INSTALMENT, '2026-02-01'],
      ['Recovery Repayment', 117_000_00n, '2026-03-01'],
    )
    const recovered = historyOf([{ terms: lend(2026, 1), entries: back }], question)
    expect(recovered).toMatchObject({ loansWrittenOff: 0, loansRecovered: 1, writtenOff: 0n, repaid: 117_000_00n })
  })

  it('a loan in another currency counts in numbers and days, not in amounts', () => {
    const entries = entriesOf(['Repayment', 3n * INSTALMENT, '2026-02-10'])
    const loans = [
      { terms: lend(2026, 1), entries },
      { terms: lend(2025, 12, { currency: currencyOf('KES') }), entries: [] },
    ]
    expect(historyOf(loans, question)).toMatchObject({
      loansTaken: 2,
      loansOpen: 1,
      outstanding: 0n,
      monthsOfHistory: 6,
    })
  })
})

it('law: the same money paid earlier never lowers a score', () =>
  fc.assert(
    fc.property(
      fc.array(fc.record({ day: fc.nat(150), thousands: fc.integer({ min: 1, max: 60 }) }), { maxLength: 6 }),
      fc.nat(),
      fc.integer({ min: 1, max: 60 }),
      (payments, which, days) => {
        fc.pre(payments.length > 0)
        const terms = lend(2026, 1)
        const scoreOf = (list: typeof payments) => {
          const facts = list.map(({ day, thousands }): [EntryType, bigint, string] => [
            'Repayment',
            BigInt(thousands) * 1_000_00n,
            addPeriods(terms.disbursedOn, day, 'days'),
          ])
          return scoreCustomer(historyOf([{ terms, entries: entriesOf(...facts) }], question), DEFAULT_POLICY).score
        }
        const earlier = payments.map((payment, index) =>
          index === which % payments.length ? { ...payment, day: Math.max(0, payment.day - days) } : payment,
        )
        expect(scoreOf(earlier)).toBeGreaterThanOrEqual(scoreOf(payments))
      },
    ),
  ))

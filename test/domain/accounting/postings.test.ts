import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contributionOf, METHODS, openingOf } from '../../../src/domain/accounting/contribution.ts'
import { isBalanced, plusAmounts, SLOTS, type Slot, type SlotAmounts } from '../../../src/domain/accounting/slots.ts'
import { dateIn } from '../../../src/domain/dates.ts'
import { post } from '../../../src/domain/loan/loan.ts'
import { runs } from '../../support/runs.ts'
import { type BookedChange, dayBefore } from './bookedLoan.ts'
import { naiveBooks } from './naiveBooks.ts'
import {
  BEGIN,
  type Command,
  DAY_MS,
  decide,
  loanOf,
  type NewLoan,
  POSTED_TYPES,
  type RandomLoan,
  ZONE,
} from './randomLoans.ts'

const HALF_HOUR_MS = 1_800_000

/** The accounts of a balance sheet but cash. */
const OPENED: ReadonlySet<Slot> = new Set([
  ...(['loan_portfolio', 'interest_receivable', 'fees_receivable', 'penalties_receivable'] as const),
  ...(['unearned_interest', 'overpayments'] as const),
])

const anyLoan: fc.Arbitrary<NewLoan> = fc.record({
  kind: fc.constantFrom('product', 'fees', 'basic', 'extended'),
  currency: fc.constantFrom('TZS', 'UGX', 'KES'),
  principal: fc.integer({ min: 100_00, max: 9_000_00 }),
  instalments: fc.integer({ min: 1, max: 6 }),
  unit: fc.constantFrom('days', 'weeks', 'months'),
  ratePercent: fc.constantFrom(0, 1, 5, 12),
  penaltyPercent: fc.constantFrom(0, 10),
  method: fc.constantFrom('flat_rate', 'reducing_rate_equal_installments', 'interest_only', 'compound_interest'),
  releasedAgo: fc.constantFrom(0, 0, 3, 40),
})

const anyStep = fc.record({
  does: fc.constantFrom<Command['does'][]>('post', 'post', 'post', 'post', 'reverse', 'adjust', 'restate', 'time'),
  type: fc.oneof({ weight: 3, arbitrary: fc.constant('Repayment' as const) }, fc.constantFrom(...POSTED_TYPES)),
  share: fc.integer({ min: 0, max: 1200 }),
  isToTheCent: fc.boolean(),
  daysAgo: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 40 })),
  target: fc.nat({ max: 50 }),
  wait: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 1500 })),
})
const anySteps = fc.array(anyStep, { minLength: 1, maxLength: 14 })

interface Played {
  readonly loan: RandomLoan
  readonly now: number
  readonly changes: readonly BookedChange[]
  readonly done: ReadonlyMap<string, number>
}

/** Plays steps on a loan; what time changes is booked before each of them, as the service does. */
function play(made: NewLoan, steps: readonly (Command & { wait: number })[]): Played {
  let now = BEGIN
  const loan = loanOf(made, now)
  const changes = [loan.disbursed(now)]
  const done = new Map<string, number>()
  for (const step of steps) {
    now += step.wait * HALF_HOUR_MS
    changes.push(loan.timePassed(now, dayBefore(ZONE, now)))
    const decision = decide(loan, step, now)
    if (!decision) continue
    const what = decision.posted && !decision.reversed ? decision.posted.type : step.does
    done.set(what, (done.get(what) ?? 0) + 1)
    changes.push(loan.decided(decision, now))
  }
  return { loan, now, changes, done }
}

const named = (amounts: SlotAmounts) =>
  Object.fromEntries(SLOTS.flatMap((slot) => (amounts[slot] === 0n ? [] : [[slot, amounts[slot]]])))

const stateNow = ({ loan, now }: Played) => loan.replayed(now)

/** Plays random histories, and says how often each kind of change was there. */
function eachHistory(check: (played: Played) => void, numRuns = runs(400)): Map<string, number> {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(anyLoan, anySteps, (made, steps) => {
      const played = play(made, steps)
      for (const [what, times] of played.done) seen.set(what, (seen.get(what) ?? 0) + times)
      check(played)
    }),
    { numRuns },
  )
  return seen
}

describe('the postings of a loan', () => {
  it('balance each, and sum to what a replay of all entries contributes', () => {
    const seen = eachHistory((played) => {
      for (const method of METHODS) {
        const postings = played.changes.map(({ postings: of }) => of[method])
        expect(postings.every(isBalanced)).toBe(true)
        const total = contributionOf(method, stateNow(played))
        expect(named(postings.reduce(plusAmounts))).toEqual(named(total))
      }
    })
    expect([...seen.keys()].toSorted()).toEqual([...POSTED_TYPES, 'adjust', 'restate', 'reverse'].toSorted())
  })

  it('are those of a book-keeper who goes through the loan day by day', () => {
    eachHistory((played) => {
      const { loan, now } = played
      for (const method of METHODS)
        expect({ method, ...named(loan.booked[method]) }).toEqual({
          method,
          ...naiveBooks(loan.terms, loan.entries, now, method),
        })
    }, runs(3_000))
  })

  it('are the same in the end where entries with other dates were posted in another order', () => {
    const anyRepayments = fc.uniqueArray(anyStep, { selector: ({ daysAgo }) => daysAgo, minLength: 2, maxLength: 6 })
    fc.assert(
      fc.property(anyLoan, anyRepayments, fc.boolean(), (made, steps, isCharged) => {
        const now = BEGIN + 70 * DAY_MS
        const repayments = steps.map((step) => ({ ...step, does: 'post' as const, type: 'Repayment' as const }))
        const ends = [repayments, repayments.toReversed(), repayments.toSorted((a, b) => b.daysAgo - a.daysAgo)].map(
          (order) => {
            const loan = loanOf(made, BEGIN)
            const chargeOff = { ...steps[0]!, does: 'post', type: 'Charge-off', daysAgo: 50 } as const
            for (const step of isCharged ? [chargeOff, ...order] : order) {
              // The amount must not depend on what came before.
              const amount = { units: BigInt(step.share * 5 + 1), scale: loan.terms.currency.decimals }
              const wanted = step.type === 'Charge-off' ? null : amount
              const valueDate = dateIn(ZONE, now - step.daysAgo * DAY_MS)
              const plain = { type: step.type, amount: wanted, valueDate, token: null, note: null }
              loan.decided(post(loan.whole(), plain, now), now)
            }
            return loan.booked
          },
        )
        expect(ends[1]).toEqual(ends[0])
        expect(ends[2]).toEqual(ends[0])
      }),
      { numRuns: runs(300) },
    )
  })
})

describe('what a loan contributes', () => {
  it('to cash is the money that came in less the money that went out, by its entries alone', () => {
    eachHistory(({ loan }) => {
      const moved = loan.entries
        .filter(({ reversedAt }) => reversedAt === null)
        .map(({ type, amount }) => {
          if (type === 'Repayment' || type === 'Recovery Repayment') return amount
          return type === 'Refund' || type === 'Credit Balance Refund' ? -amount : 0n
        })
      const expected = moved.reduce((sum, amount) => sum + amount, -loan.terms.principal)
      for (const method of METHODS) expect(loan.booked[method].cash).toBe(expected)
    })
  })

  it('to overpayments is what the customer is owed; to the portfolio, the principal that is owed to the lender', () => {
    eachHistory((played) => {
      const state = stateNow(played)
      for (const method of METHODS) {
        const { overpayments, loan_portfolio, write_offs, charge_offs } = played.loan.booked[method]
        expect(overpayments).toBe(-state.totalOverpaid)
        expect(loan_portfolio).toBe(state.chargedOffOn === null ? state.outstanding.principal : 0n)
        if (state.chargedOffOn === null) expect(charge_offs).toBe(0n)
        if (method === 'cash' && state.chargedOffOn === null) expect(write_offs).toBe(state.writtenOff.principal)
      }
    })
  })

  it('to receivables is nothing once it is charged off, and what is owed before', () => {
    let chargedOff = 0
    eachHistory((played) => {
      const { outstanding, chargedOffOn } = stateNow(played)
      const { accrual_upfront: upfront, cash, accrual_periodic: periodic } = played.loan.booked
      const isOpen = chargedOffOn === null
      if (!isOpen) chargedOff++
      expect(upfront.interest_receivable).toBe(isOpen ? outstanding.interest : 0n)
      expect(periodic.interest_receivable).toBe(isOpen ? outstanding.interest : 0n)
      expect(upfront.fees_receivable).toBe(isOpen ? outstanding.fees : 0n)
      expect(upfront.penalties_receivable).toBe(isOpen ? outstanding.penalty : 0n)
      expect(periodic.penalties_receivable).toBe(isOpen ? outstanding.penalty : 0n)
      if (!isOpen) expect([periodic.unearned_interest, periodic.fees_receivable]).toEqual([0n, 0n])
      expect([cash.interest_receivable, cash.fees_receivable, cash.penalties_receivable]).toEqual([0n, 0n, 0n])
    })
    expect(chargedOff).toBeGreaterThan(10)
  })

  it('to income is what was paid by cash, what was charged upfront, and what fell due or was paid before by periods', () => {
    eachHistory((played) => {
      const { charged, paid, chargedOffOn, periods } = stateNow(played)
      if (chargedOffOn !== null) return
      const { cash, accrual_upfront: upfront, accrual_periodic: periodic } = played.loan.booked
      for (const [slot, part] of [
        ['interest_income', 'interest'],
        ['fee_income', 'fees'],
      ] as const) {
        expect(-cash[slot]).toBe(paid[part])
        expect(-upfront[slot]).toBe(charged[part])
        const today = dateIn(ZONE, played.now)
        const isPast = ({ dueDate }: (typeof periods)[number]) => dueDate < today
        const fellDue = periods.filter(isPast).reduce((sum, { due }) => sum + due[part], 0n)
        const early = periods.filter((period) => !isPast(period)).reduce((sum, period) => sum + period.paid[part], 0n)
        const givenUp = periods
          .filter(isPast)
          .reduce((sum, period) => sum + period.waived[part] + period.writtenOff[part], 0n)
        // Of what fell due, only what was given up before that was never earned.
        expect(-periodic[slot]).toBeLessThanOrEqual(fellDue + early)
        expect(-periodic[slot]).toBeGreaterThanOrEqual(fellDue + early - givenUp)
      }
    })
  })

  it('is opened, where its past was elsewhere, with what is owed on either side and nothing else', () => {
    eachHistory(({ loan }) => {
      for (const method of METHODS) {
        const opened = openingOf(loan.booked[method])
        expect(isBalanced(opened)).toBe(true)
        for (const slot of SLOTS)
          if (slot !== 'opening_equity') expect(opened[slot]).toBe(OPENED.has(slot) ? loan.booked[method][slot] : 0n)
      }
    }, 100)
  })
})

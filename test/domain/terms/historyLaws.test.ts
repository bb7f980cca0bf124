import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Entry, isCharge } from '../../../src/domain/loan/entry.ts'
import { post, reverse } from '../../../src/domain/loan/loan.ts'
import { replay } from '../../../src/domain/loan/replay.ts'
import { settlementOn } from '../../../src/domain/loan/rules/earlySettlement.ts'
import { anyHistory, lastMoment } from './anyHistory.ts'
import { anyLent, type Lent } from './anyLent.ts'
import { dateOf, dayAt, dayOf } from './naive/calendar.ts'
import type { SeenLoan } from './naive/seen.ts'
import { PlayedLoan, played } from './playedLoan.ts'

/** Returns what a loan is, whatever the numbers of its transactions. */
const withoutEffects = ({ effects: _, ...seen }: SeenLoan) => seen

const order = fc.array(fc.nat({ max: 1_000 }), { minLength: 60, maxLength: 60 })

describe('the order of posting', () => {
  it('does not matter to repayments, also where one of them settles the loan', () => {
    const someRepayments = fc.array(fc.tuple(fc.integer({ min: 100, max: 900 }), fc.nat({ max: 1_000 })), {
      minLength: 2,
      maxLength: 6,
    })
    let settled = 0
    fc.assert(
      fc.property(anyLent, someRepayments, order, (lent, repayments, keys) => {
        const numbered = repayments.map((one, index) => ({ one, key: keys[index]! }))
        const inOrder = repaid(lent, repayments)
        const shuffled = numbered.toSorted((a, b) => a.key - b.key).map(({ one }) => one)
        expect(withoutEffects(repaid(lent, shuffled).seen())).toEqual(withoutEffects(inOrder.seen()))
        settled += inOrder.settled
      }),
      { numRuns: 250 },
    )
    expect(settled).toBeGreaterThan(20)
  })

  it('of entries with different value dates does not matter to what they come to', () => {
    fc.assert(
      fc.property(anyLent, anyHistory, order, (lent, steps, keys) => {
        const loan = played(lent, steps)
        const entries = renumbered(loan.entries, keys)
        const { outcomes: _, ...one } = replay(loan.terms, loan.entries, loan.now)
        const { outcomes: __, ...other } = replay(loan.terms, entries, loan.now)
        expect(other).toEqual(one)
      }),
      { numRuns: 150 },
    )
  })
})

/** Plays repayments: thousandths of the principal, and how far their value dates are along its schedule. */
function repaid(lent: Lent, repayments: readonly (readonly [share: number, at: number])[]): PlayedLoan {
  const loan = new PlayedLoan(lent)
  const { disbursedOn } = loan.naive
  loan.now = lastMoment(loan.naive)
  const days = dayOf(loan.terms.dueOn) + 5 - disbursedOn
  for (const [share, at] of repayments) {
    const units = (lent.principal * BigInt(share)) / 1_000n + 1n
    const amount = { units, scale: lent.product.currency.decimals }
    const valueDate = dateOf(disbursedOn + Math.floor((days * at) / 1_000))
    loan.change(post(loan.whole(), { type: 'Repayment', amount, valueDate, token: null, note: null }, loan.now))
  }
  return loan
}

/** Numbers entries again as if their days had been posted in another order; those of one day keep theirs. */
function renumbered(entries: readonly Entry[], keys: readonly number[]): Entry[] {
  const byDay = [...Map.groupBy(entries, ({ valueDate }) => valueDate).values()]
  const shuffled = byDay.map((ofDay, index) => ({ ofDay, key: keys[index]! })).toSorted((a, b) => a.key - b.key)
  let ordinal = 0
  return shuffled.flatMap(({ ofDay }) =>
    ofDay
      .toSorted((a, b) => a.place - b.place || a.ordinal - b.ordinal)
      .map((entry) => {
        ordinal++
        return { ...entry, ordinal, place: ordinal }
      }),
  )
}

describe('charges', () => {
  it('never exceed a cap, whatever happens', () => {
    const seen = { penalties: 0, reached: 0, charges: 0 }
    fc.assert(
      fc.property(anyLent, anyHistory, (lent, steps) => {
        const loan = played(lent, steps)
        const { mostPenalties, mostCharges, deducted } = loan.naive
        for (const moment of [loan.now, ...loan.later()]) {
          const { charged } = loan.state(moment)
          const all = deducted + charged.interest + charged.fees + charged.penalty
          if (mostPenalties !== null) {
            expect(charged.penalty <= mostPenalties).toBe(true)
            seen.penalties++
          }
          if (mostCharges !== null) {
            expect(all <= mostCharges).toBe(true)
            seen.charges++
            if (all === mostCharges) seen.reached++
          }
        }
      }),
      { numRuns: 400 },
    )
    for (const times of Object.values(seen)) expect(times).toBeGreaterThan(50)
  })

  it('that are taken singly are taken in full at their posting; later changes may cut them', () => {
    let seen = 0
    fc.assert(
      fc.property(anyLent, anyHistory, (lent, steps) => {
        const loan = new PlayedLoan(lent)
        for (const step of steps) {
          const count = loan.entries.length
          loan.do(step)
          const posted = loan.entries[count]
          if (!posted || !isCharge(posted.type)) continue
          expect(Object.values(loan.seen().effects[posted.ordinal]!)).toEqual([posted.amount])
          seen++
        }
      }),
      { numRuns: 200 },
    )
    expect(seen).toBeGreaterThan(50)
  })

  it('of time are never raised on penalties: where nothing else is unpaid, none follows', () => {
    let seen = 0
    fc.assert(
      fc.property(anyLent, anyHistory, (lent, steps) => {
        const loan = played(lent, steps)
        const { outstanding, penaltiesRaised } = loan.state()
        if (outstanding.fees + outstanding.interest + outstanding.principal > 0n) return
        const later = loan.later().map((moment) => loan.state(moment).penaltiesRaised)
        expect([...new Set([penaltiesRaised, ...later])]).toEqual([penaltiesRaised])
        seen++
      }),
      { numRuns: 400 },
    )
    expect(seen).toBeGreaterThan(50)
  })

  it('that are reversed leave the loan as if they had never been posted', () => {
    let seen = 0
    fc.assert(
      fc.property(anyLent, anyHistory, (lent, steps) => {
        const loan = played(lent, steps)
        for (const { id, type, reversedAt } of loan.entries) {
          if (!isCharge(type) || reversedAt !== null) continue
          const others = loan.entries.filter((entry) => entry.id !== id)
          const { outcomes: _, ...without } = replay(loan.terms, others, loan.now)
          loan.change(reverse(loan.whole(), id, loan.now, null))
          // The reversal may settle the loan on another day, whose waiver is posted with it.
          if (loan.entries.length > others.length + 1) return
          const { outcomes: __, ...reversed } = loan.state()
          expect(reversed).toEqual(without)
          seen++
          return
        }
      }),
      { numRuns: 200 },
    )
    expect(seen).toBeGreaterThan(20)
  })
})

describe('an early settlement', () => {
  it('takes exactly what was quoted for the day, and its reversal brings all back', () => {
    let waived = 0
    fc.assert(
      fc.property(anyLent, anyHistory, (lent, steps) => {
        const loan = played(lent, steps)
        const today = dateOf(dayAt(loan.now))
        const { amount, waived: forgiven } = settlementOn(loan.whole(), today)
        const before = loan.seen()
        if (before.status !== 'Active' || amount === 0n) return
        const units = { units: amount, scale: lent.product.currency.decimals }
        const payment = { type: 'Repayment', amount: units, valueDate: today, token: null, note: null } as const
        loan.change(post(loan.whole(), payment, loan.now))
        const paid = loan.entries.findLast(({ type }) => type === 'Repayment')!
        expect(loan.state().totalOutstanding).toBe(0n)
        expect(loan.state().totalOverpaid).toBe(0n)
        loan.change(reverse(loan.whole(), paid.id, loan.now, null))
        expect(loan.seen().instalments).toEqual(before.instalments)
        if (forgiven > 0n) waived++
      }),
      { numRuns: 400 },
    )
    expect(waived).toBeGreaterThan(30)
  })
})

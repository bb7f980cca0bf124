import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LendingError } from '../../../src/domain/errors.ts'
import type { LoanHead } from '../../../src/domain/loan/carriedForward/loanHead.ts'
import type { Entry } from '../../../src/domain/loan/entry.ts'
import { type Decision, needsHistoryFor, type Posting, post } from '../../../src/domain/loan/loan.ts'
import {
  carriedForward,
  endFrom,
  extend,
  type LoanState,
  owedByDay,
  replay,
  stateAt,
  stillHolds,
} from '../../../src/domain/loan/replay.ts'
import { anyHistory, type Step } from './anyHistory.ts'
import { anyLent, type Lent } from './anyLent.ts'
import { dayOf, startOf } from './naive/calendar.ts'
import { owed } from './naive/debt.ts'
import { lifeOf } from './naive/life.ts'
import { PlayedLoan } from './playedLoan.ts'

/** Plays a history, and shows the loan before each step. */
function play(lent: Lent, steps: readonly Step[], before: (loan: PlayedLoan, step: Step) => void): PlayedLoan {
  const loan = new PlayedLoan(lent)
  for (const step of steps) {
    loan.goOn(step)
    before(loan, step)
    loan.do({ ...step, clock: { hours: 0 } })
  }
  return loan
}

/** Returns the decision, or the words of the refusal. */
function tried(decide: () => Decision): Decision | string {
  try {
    return decide()
  } catch (error) {
    if (error instanceof LendingError) return error.message
    throw error
  }
}

/** Returns a state without what a head does not know. */
const balancesIn = (state: Decision['state']): Record<string, unknown> =>
  Object.fromEntries(Object.entries(state).filter(([name]) => name !== 'periods' && name !== 'outcomes'))

describe('what is carried forward of a loan', () => {
  it('takes each entry that needs no history as the whole loan does, and carries the same forward', () => {
    const seen = { same: 0, refused: 0, needsHistory: 0, penalties: 0 }
    fc.assert(
      fc.property(anyLent, anyHistory, (lent, steps) => {
        let savedAt = lent.disbursedAt
        play(lent, steps, (loan, step) => {
          const { terms, entries, now } = loan
          const posting = loan.wouldPost(step)
          const text = carriedForward(terms, replay(terms, entries, savedAt))
          const end = text === null ? undefined : endFrom(terms, text, entries.length, savedAt)
          savedAt = now
          if (!posting || !end) return
          const { schedule: _, ...headTerms } = terms
          const head: LoanHead = { terms: headTerms, end, count: entries.length, since: [] }
          expectSame(loan, head, posting)
        })
      }),
      { numRuns: 300 },
    )
    expect(seen.same).toBeGreaterThan(200)
    for (const times of Object.values(seen)) expect(times).toBeGreaterThan(20)

    function expectSame(loan: PlayedLoan, head: LoanHead, posting: Posting): void {
      const { terms, now } = loan
      if (needsHistoryFor(head, posting, now)) {
        seen.needsHistory++
        return
      }
      const ofHead = tried(() => post(head, posting, now))
      const ofWhole = tried(() => post({ ...loan.whole() }, posting, now))
      if (typeof ofHead === 'string' || typeof ofWhole === 'string') {
        expect(ofHead).toBe(ofWhole)
        seen.refused++
        return
      }
      expect(ofHead.posted).toEqual(ofWhole.posted)
      expect(ofHead.outcome).toEqual(ofWhole.outcome)
      expect(balancesIn(ofHead.before)).toEqual(balancesIn(ofWhole.before))
      expect(balancesIn(ofHead.state)).toEqual(balancesIn(ofWhole.state))
      expect(carriedForward(terms, ofHead.state)).toBe(carriedForward(terms, ofWhole.state))
      seen.same++
      if (ofWhole.state.penaltiesRaised > 0) seen.penalties++
    }
  })
})

describe('a state that was computed before', () => {
  it('is brought to a later moment, and to one more entry, as a replay of everything is', () => {
    const seen = { later: 0, extended: 0, held: 0 }
    fc.assert(
      fc.property(anyLent, anyHistory, (lent, steps) => {
        let state: LoanState | undefined
        let known: readonly Entry[] = []
        const loan = play(lent, steps, ({ terms, entries, now }) => {
          const everything = replay(terms, entries, now)
          if (state && entries === known) expectLater({ terms, entries, now }, state, everything)
          const last = entries.at(-1)
          const isUntouched = entries.every(({ reversedAt, replaces }) => reversedAt === null && replaces === null)
          if (last && isUntouched) {
            const before = replay(terms, entries.slice(0, -1), last.postedAt)
            const extended = extend(terms, before, last, last.postedAt)
            if (extended) {
              expect(extended).toEqual(replay(terms, entries, last.postedAt))
              seen.extended++
            }
          }
          state = everything
          known = entries
        })
        const { terms, entries, now } = loan
        const end = loan.state()
        for (const moment of loan.later())
          expectLater({ terms, entries, now: moment }, end, replay(terms, entries, moment))
        expect(end.nextChangeAt === null || end.nextChangeAt > now).toBe(true)
      }),
      { numRuns: 200 },
    )
    for (const times of Object.values(seen)) expect(times).toBeGreaterThan(50)

    function expectLater(
      { terms, now }: Pick<PlayedLoan, 'terms' | 'entries' | 'now'>,
      before: LoanState,
      fresh: LoanState,
    ) {
      const state = stateAt(terms, before, now)
      if (state) {
        expect(state).toEqual(fresh)
        seen.later++
      }
      const holds = stillHolds(terms, before, now)
      const withoutDays = ({ daysOverdue: _, ...rest }: LoanState) => rest
      if (holds) {
        expect(withoutDays(before)).toEqual(withoutDays(fresh))
        seen.held++
      }
      const { nextChangeAt } = before
      if (nextChangeAt === null || now < nextChangeAt) expect(withoutDays(before)).toEqual(withoutDays(fresh))
    }
  })

  it('changes by time alone at the moment that it names', () => {
    let seen = 0
    fc.assert(
      fc.property(anyLent, anyHistory, (lent, steps) => {
        const loan = play(lent, steps, () => {})
        const { daysOverdue: _, ...state } = loan.state()
        if (state.nextChangeAt === null) return
        const { daysOverdue: __, ...before } = loan.state(state.nextChangeAt - 1)
        expect(before).toEqual(state)
        seen++
      }),
      { numRuns: 400 },
    )
    expect(seen).toBeGreaterThan(50)
  })
})

describe('what was owed by day', () => {
  it('is what the model owed at the end of each day on which it changed', () => {
    let seen = 0
    fc.assert(
      fc.property(anyLent, anyHistory, (lent, steps) => {
        const { naive, terms, entries, transactions, now } = play(lent, steps, () => {})
        for (const { date, owed: ofDomain } of owedByDay(terms, entries, now)) {
          const until = transactions.filter(({ valueDate }) => valueDate <= date)
          const endOfDay = Math.min(now, startOf(dayOf(date) + 1) - 1)
          expect(ofDomain).toBe(owed(lifeOf(naive, until, endOfDay).debt))
          seen++
        }
      }),
      { numRuns: 100 },
    )
    expect(seen).toBeGreaterThan(200)
  })
})

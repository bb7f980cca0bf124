import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contributionOf, METHODS } from '../../../src/domain/accounting/contribution.ts'
import { NO_AMOUNTS } from '../../../src/domain/accounting/slots.ts'
import { brokenRules } from '../../../src/domain/bookCheck/invariants.ts'
import { dateIn, type Instant, type LocalDate } from '../../../src/domain/dates.ts'
import { PRESETS } from '../../../src/domain/delinquency/policy.ts'
import { delinquencyNow } from '../../../src/domain/delinquency/position.ts'
import { standingsOf } from '../../../src/domain/delinquency/standings.ts'
import type { Period } from '../../../src/domain/loan/allocation.ts'
import { type Decision, type Loan, post, stateOf } from '../../../src/domain/loan/loan.ts'
import { totalOf } from '../../../src/domain/loan/portions.ts'
import { type LoanState, replay, restructuredOf } from '../../../src/domain/loan/replay.ts'
import { planOf } from '../../../src/domain/loan/restructure/plan.ts'
import { reverseRestructure } from '../../../src/domain/loan/restructure/restructureLoan.ts'
import { scheduleVersions } from '../../../src/domain/loan/restructure/scheduleVersions.ts'
import { runs } from '../../support/runs.ts'
import { anyLent } from '../terms/anyLent.ts'
import {
  type AnyRestructure,
  type AnyStep,
  anyRestructure,
  anySteps,
  LivedLoan,
  lived,
  ZONE,
} from './anyRestructure.ts'

/** A restructure that a loan has taken. */
interface Taken {
  readonly before: Loan
  readonly decisions: readonly Decision[]
  readonly loan: Loan
  readonly now: Instant
}

/** The restructures of random histories. They are decided once, and each law looks at all of them. */
const taken: readonly Taken[] = fc
  .sample(fc.tuple(anyLent, anySteps), { numRuns: 500, seed: 41 })
  .flatMap(([lent, steps]) => {
    const lived = new LivedLoan(lent)
    return steps.flatMap((step): Taken[] => {
      const before = lived.loan
      const decisions = lived.does(step)
      if (step.does !== 'restructure' || !decisions) return []
      return [{ before, decisions, loan: lived.loan, now: lived.now }]
    })
  })

/** Calls a function with each restructure of random histories. @returns their number */
function eachRestructure(check: (before: Loan, decisions: readonly Decision[], after: Taken) => void): number {
  for (const one of taken) check(one.before, one.decisions, one)
  return taken.length
}

/** Returns the decision about the restructure itself. */
const ofRestructure = (decisions: readonly Decision[]): Decision =>
  decisions.find(({ posted }) => posted?.type === 'Restructure')!

const whole = ({ state }: { readonly state: Decision['state'] }): LoanState => state as LoanState

const settledOf = ({ paid, waived, writtenOff }: Period) => totalOf(paid) + totalOf(waived) + totalOf(writtenOff)

describe('a restructure', () => {
  it('leaves the principal that is owed as it is, and the book by its rules', () => {
    const seen = eachRestructure((before, decisions, { loan, now }) => {
      const { valueDate: on } = ofRestructure(decisions).posted!
      const principalOn = ({ terms, entries }: Loan) =>
        replay(
          terms,
          entries.filter(({ valueDate }) => valueDate <= on),
          now,
        ).outstanding.principal
      expect(principalOn(loan)).toBe(principalOn(before))
      expect(brokenRules(loan, stateOf(loan, now))).toEqual([])
      expect(ofRestructure(decisions).outcome!.portions.principal).toBe(0n)
    })
    expect(seen).toBeGreaterThan(200)
  })

  it('keeps what was settled of each instalment, and numbers the others after the last that is paid in full', () => {
    let withMoney = 0
    eachRestructure((_, decisions, { now }) => {
      const decision = ofRestructure(decisions)
      // What was paid after an earlier day is paid again by the new schedule.
      if (decision.posted!.valueDate !== dateIn(ZONE, now)) return
      const [before, after] = [whole({ state: decision.before }), whole(decision)]
      const [paidBefore, paidAfter] = [before, after].map(({ periods }) => periods.filter(({ owed }) => owed === 0n))
      for (const period of paidBefore!) expect(paidAfter).toContainEqual(period)
      const settled = (periods: readonly Period[]) => periods.map(settledOf).reduce((sum, one) => sum + one, 0n)
      expect(settled(after.periods)).toBe(settled(before.periods))
      const last = paidBefore!.reduce((most, { period }) => Math.max(most, period), 0)
      const open = after.periods.filter(({ owed }) => owed > 0n)
      expect(open.every(({ period }) => period > last)).toBe(true)
      expect(new Set(after.periods.map(({ period }) => period)).size).toBe(after.periods.length)
      // The first that owes something keeps the money that it has.
      const first = before.periods.find(({ owed }) => owed > 0n)!
      if (settledOf(first) > 0n) {
        withMoney++
        const next = after.periods.find(({ period }) => period === last + 1)!
        expect(settledOf(next)).toBeGreaterThanOrEqual(settledOf(first))
      }
    })
    expect(withMoney).toBeGreaterThan(20)
  })

  it('is as if it had never been once it is reversed: to the byte', () => {
    const seen = eachRestructure((before, decisions, { loan, now }) => {
      const id = loan.entries.find(({ ordinal }) => ordinal === ofRestructure(decisions).posted!.ordinal)!.id
      const lived = { loan }
      for (const { reversed } of reverseRestructure(loan, id, now, null))
        lived.loan = {
          ...lived.loan,
          entries: lived.loan.entries.map((one) => (one.id === reversed!.id ? { ...one, reversedAt: now } : one)),
        }
      const [is, was] = [replay(lived.loan.terms, lived.loan.entries, now), replay(before.terms, before.entries, now)]
      expect(is.periods).toEqual(was.periods)
      expect({ ...is, outcomes: null }).toEqual({ ...was, outcomes: null })
      expect(linesOf(lived.loan, now)).toEqual(linesOf(before, now))
    })
    expect(seen).toBeGreaterThan(200)
  })

  it('comes out the same where a payment of before it is told after it', () => {
    let told = 0
    fc.assert(
      fc.property(anyLent, anySteps, fc.nat({ max: 11 }), (lent, steps, place) => {
        const inOrder = new LivedLoan(lent)
        let late: { readonly valueDate: LocalDate; readonly amount: bigint; readonly ordinal: number } | undefined
        for (const [index, step] of steps.entries()) {
          const decisions = inOrder.does({ ...step, ago: 0, restructure: { ...step.restructure, ago: 0 } })
          const posted = index === place && step.does === 'pay' ? decisions?.[0]?.posted : undefined
          if (posted) late = posted
        }
        const { entries, terms } = inOrder.loan
        const isReversed = entries.some(({ ordinal, reversedAt }) => ordinal === late?.ordinal && reversedAt !== null)
        if (
          !late ||
          isReversed ||
          !entries.some(({ type, valueDate }) => type === 'Restructure' && valueDate > late!.valueDate)
        )
          return
        // The same entries: the payment is told last, by a caller who knows its day.
        const others = entries.filter(({ ordinal }) => ordinal !== late!.ordinal)
        const renumbered = others.map((entry, index) => numbered(entry, index + 1, others))
        const amount = { units: late.amount, scale: terms.currency.decimals }
        const outOfOrder: Loan = { terms, entries: renumbered }
        const { state } = (() => {
          try {
            const posting = { type: 'Repayment', amount, valueDate: late.valueDate, token: null, note: null } as const
            return post(outOfOrder, posting, inOrder.now)
          } catch {
            return { state: undefined }
          }
        })()
        if (!state || sharesDay(entries, late)) return
        told++
        const expected = replay(terms, entries, inOrder.now)
        // The numbers of the entries differ, and nothing is shown of what was before.
        const shown = (periods: readonly Period[]) => periods.map(({ before: _, ...period }) => period)
        expect(shown(whole({ state }).periods)).toEqual(shown(expected.periods))
        const unnumbered = (of: LoanState) => ({ ...restructuredOf(of), ordinal: 0, moved: [] })
        expect(unnumbered(whole({ state }))).toEqual(unnumbered(expected))
        expect(state.outstanding).toEqual(expected.outstanding)
      }),
      { numRuns: runs(1_500), endOnFailure: true },
    )
    expect(told).toBeGreaterThan(runs(50))
  })

  it('never resets the days past due of hardship', () => {
    let late = 0
    eachRestructure((before, decisions, { loan, now }) => {
      const { restructure } = ofRestructure(decisions).posted!
      const plan = planOf(restructure)!
      const policy = PRESETS[0].policy
      const [was, is] = [delinquencyNow(before, policy, now), delinquencyNow(loan, policy, now)]
      const waived = decisions.some(({ posted }) => posted!.type.startsWith('Waive'))
      if (plan.reason === 'error' || waived || !was || !is) return
      if (dateIn(ZONE, now) !== ofRestructure(decisions).posted!.valueDate) return
      if (was.daysPastDue > 0) late++
      expect(is.daysPastDue).toBe(was.daysPastDue)
      expect(is.bucket).toEqual(was.bucket)
      const counts = scheduleVersions(loan.terms, loan.entries, now).at(-1)!.made!.countsAs
      expect(counts).toBe(plan.reason === 'hardship' || was.daysPastDue > 0 ? 'hardship' : 'commercial')
    })
    expect(late).toBeGreaterThan(30)
  })

  it('counts the cap of charges over all versions', () => {
    let capped = 0
    eachRestructure((_, __, { loan, now }) => {
      const most = loan.terms.rules?.mostCharges ?? null
      if (most === null) return
      capped++
      const { charged } = stateOf(loan, now)
      const deducted = loan.terms.rules!.deducted
      expect(charged.interest + charged.fees + charged.penalty + deducted <= most).toBe(true)
    })
    expect(capped).toBeGreaterThan(20)
  })

  it('keeps the penalties that were raised, and raises none in the past', () => {
    let penalties = 0
    eachRestructure((before, decisions, { now }) => {
      const was = stateOf(before, now)
      if (was.charged.penalty > 0n) penalties++
      expect(decisions.at(-1)!.state.charged.penalty).toBe(was.charged.penalty)
    })
    expect(penalties).toBeGreaterThan(20)
  })

  it('posts nothing in the journal where it only moves due dates', () => {
    let moved = 0
    fc.assert(
      fc.property(anyLent, anySteps, anyRestructure, (lent, steps, asked) => {
        const loan = lived(lent, steps)
        const before = stateOf(loan.loan, loan.now)
        const none = { penalty: 0, fees: 0, interest: 0 }
        const step: AnyStep = {
          ...{ does: 'restructure', type: 'Repayment', share: 1, hours: 0, ago: 0, target: 0 },
          restructure: { ...asked, ago: isMoved(asked) ? asked.ago : 0, interest: 'none', fee: null, waive: none },
        }
        const decisions = loan.does(step)
        if (!decisions) return
        moved++
        for (const method of METHODS) {
          const [was, is] = [contributionOf(method, before), contributionOf(method, loan.state)]
          expect(is).toEqual(was)
        }
      }),
      { numRuns: runs(400), endOnFailure: true },
    )
    expect(moved).toBeGreaterThan(60)
    expect(Object.values(NO_AMOUNTS).every((amount) => amount === 0n)).toBe(true)
  })

  it('is the same in what it is shown as beforehand: deciding again gives the same', () => {
    eachRestructure((before, decisions, { now, loan }) => {
      const last = decisions.at(-1)!
      expect(whole(last).periods).toEqual(replay(loan.terms, loan.entries, now).periods)
      expect(before.entries.length + decisions.length).toBe(loan.entries.length)
    })
  })

  it('has schedules of which each instalment is due after the day of its posting', () => {
    eachRestructure((_, decisions, { now, loan }) => {
      const { periods } = whole(ofRestructure(decisions))
      const today = dateIn(ZONE, now)
      for (const { dueDate, owed } of periods) if (owed > 0n) expect(dueDate > today).toBe(true)
      expect(standingsOf(loan.terms, loan.entries, now).length).toBeGreaterThan(0)
      const dates = periods.map(({ dueDate }) => dueDate)
      expect(dates).toEqual(dates.toSorted())
    })
  })
})

/** Returns whether each instalment keeps its amounts: what was paid meanwhile then paid the same. */
const isMoved = ({ kind }: AnyRestructure) => kind !== 'numberOfRepayments' && kind !== 'instalmentAmount'

const linesOf = ({ terms, entries }: Loan, asOf: Instant) =>
  JSON.stringify(scheduleVersions(terms, entries, asOf), (_, one) => (typeof one === 'bigint' ? String(one) : one))

type Entries = Loan['entries']

/** Returns an entry with another ordinal, and with its place and what it was posted with numbered alike. */
function numbered(entry: Entries[number], ordinal: number, others: Entries): Entries[number] {
  const at = (of: number) => others.findIndex((one) => one.ordinal === of) + 1
  const { restructure } = entry
  const place = at(entry.place) || ordinal
  if (!restructure || 'plan' in restructure) return { ...entry, ordinal, place }
  return { ...entry, ordinal, place, restructure: { ...restructure, of: at(restructure.of) } }
}

const sharesDay = (entries: Entries, late: { readonly valueDate: LocalDate; readonly ordinal: number }): boolean =>
  entries.some(({ valueDate, ordinal }) => valueDate === late.valueDate && ordinal !== late.ordinal)

import { describe, expect, it } from 'vitest'
import {
  type Decided,
  decideAgain,
  decideScore,
  decideStatement,
  requireWithinLimit,
  scorecardOf,
} from '../../../src/domain/credit/decision.ts'
import { fromStored, toStored } from '../../../src/domain/credit/policyJson.ts'
import { currencyOf } from '../../../src/domain/money.ts'
import { DEFAULT_POLICY, NOBODY } from './customers.ts'

const TZS = currencyOf('TZS')
const UGX = currencyOf('UGX')
/** Grade C, and so a limit of what was repaid: 100,000. */
const PAID = { ...NOBODY, loansClosed: 1, instalmentsDue: 1, instalmentsOnTime: 1, largestRepaid: 100_000_00n }
const FALLEN = { ...PAID, loansOpen: 1, daysOverdueNow: 30, worstDaysOverdue: 90 }
const boosted = (shillings: bigint) => ({ limit: shillings * 100n, on: '2026-06-01' })

describe('a limit that a statement raised', () => {
  it.each([
    ['none', PAID, null, 100_000n, []],
    [
      'above what the history earns: it counts',
      PAID,
      150_000n,
      150_000n,
      ['limit raised to 150,000 TZS by a statement'],
    ],
    ['below it: no reason', PAID, 90_000n, 100_000n, []],
    ['of somebody unscored: it counts', NOBODY, 150_000n, 150_000n, ['limit raised to 150,000 TZS by a statement']],
    ['of somebody who fell to D: not now', FALLEN, 150_000n, 0n, ['the limit that a statement raised on 2026-06-01']],
    ['above what the policy gives now: up to that', PAID, 9_000_000n, 3_000_000n, ['limit raised to 3,000,000 TZS']],
  ])('%s', (_what, history, raised, limit, sentences) => {
    const card = scorecardOf(history, raised === null ? null : boosted(raised), DEFAULT_POLICY)
    expect(card.creditLimit).toBe(limit * 100n)
    expect(card.reasons.filter((reason) => /statement/.test(reason))).toEqual(
      sentences.map((beginning) => expect.stringContaining(beginning)),
    )
    expect(card.availableLimit).toBe(history.loansOpen > 0 ? 0n : card.creditLimit)
  })
})

describe('requireWithinLimit', () => {
  const card = scorecardOf(PAID, null, DEFAULT_POLICY)
  const owing = scorecardOf({ ...PAID, loansOpen: 1 }, null, DEFAULT_POLICY)

  it('lets pass what is available, to the cent', () => {
    expect(() => requireWithinLimit(card, TZS, { principal: 100_000_00n, currency: TZS })).not.toThrow()
  })

  it.each([
    [card, 100_000_01n, TZS, 'available credit limit of 100000.00 TZS'],
    [owing, 1n, TZS, 'available credit limit of 0.00 TZS: the limit of 100000.00 TZS is available while nothing'],
    [card, 1n, UGX, 'the product lends in UGX up to the credit limit, and limits here are in TZS'],
  ])('refuses, and names the limit: %#', (of, principal, currency, message) => {
    expect(() => requireWithinLimit(of, TZS, { principal, currency })).toThrow(
      expect.objectContaining({ code: 'failed_precondition', message: expect.stringContaining(message) }),
    )
  })
})

describe('what is kept of a decision', () => {
  const statement = { months: 6, averageMonthlyInflow: 2_000_000_50n, monthly: [{ inflow: 7n, closingBalance: -5n }] }
  const boost = {
    statement,
    score: 500,
    grade: 'C' as const,
    currentLimit: 0n,
    lastRaisedOn: null,
    seenBefore: false,
    today: '2026-07-01',
    cooldownDays: 30,
  }
  const score = { history: { ...PAID, repaid: 10n ** 17n + 1n }, boosted: boosted(5n) }
  const decided: Decided[] = [
    { kind: 'score', inputs: score, result: decideScore(score, DEFAULT_POLICY) },
    { kind: 'boost', inputs: boost, result: decideStatement(boost, DEFAULT_POLICY) },
  ]

  it.each(decided)('$kind: comes back as it was, in every currency, and is decided again alike', (one) => {
    for (const currency of [TZS, UGX]) {
      const stored = JSON.parse(JSON.stringify(toStored(one, currency)))
      const back = fromStored(stored) as Decided
      expect(back).toEqual(one)
      expect(decideAgain(back, DEFAULT_POLICY)).toEqual(one.result)
    }
  })
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CreditHistory } from '../../../src/domain/credit/history.ts'
import type { CreditPolicy } from '../../../src/domain/credit/policy.ts'
import { policyToJson, readPolicy } from '../../../src/domain/credit/policyJson.ts'
import { scoreCustomer } from '../../../src/domain/credit/score.ts'
import { DEFAULT_POLICY, NOBODY, workedCustomers } from './customers.ts'

const table = readFileSync(join(import.meta.dirname, 'customers.txt'), 'utf8')

describe('worked customers, by the default policy', () => {
  const customers = workedCustomers(table)

  it('are at least 20', () => expect(customers.length).toBeGreaterThanOrEqual(20))

  it.each(customers)('$name: $answer', ({ history, answer, reasons }) => {
    const { score, grade, limit, reasons: sentences } = scoreCustomer(history, DEFAULT_POLICY)
    expect(`${score} ${grade} ${(limit / 100n).toLocaleString('en')}`).toBe(answer)
    expect(sentences).toEqual(reasons)
  })

  it('the arithmetic of one of them: a year, six loans, one 10 days late', () => {
    const onTime = Math.floor((300 * 5) / (6 + 2))
    const months = (100 * 12) / 24
    const largest = (150 * 300_000) / 1_000_000
    const delay = Math.floor((250 * 10) / 90)
    const score = 300 + onTime + 150 + months + largest - delay
    expect(customers.find(({ name }) => name.includes('one 10 days late'))?.answer).toBe(`${score} B 450,000`)
  })
})

const count = (max: number) => fc.integer({ min: 0, max })
const amount = fc.bigInt({ min: 0n, max: 10n ** 13n })

const histories: fc.Arbitrary<CreditHistory> = fc
  .record({
    loansClosed: count(60),
    onTime: count(200),
    late: count(50),
    daysOverdueNow: fc.oneof(fc.constant(0), count(400)),
    worstDaysOverdue: count(900),
    loansChargedOff: fc.oneof(fc.constant(0), count(3)),
    loansWrittenOff: fc.oneof(fc.constant(0), count(3)),
    loansRecovered: fc.oneof(fc.constant(0), count(3)),
    monthsOfHistory: count(120),
    largestRepaid: amount,
  })
  .map(({ onTime, late, ...rest }) => ({
    ...NOBODY,
    ...rest,
    instalmentsDue: onTime + late,
    instalmentsOnTime: onTime,
    worstDaysOverdue: Math.max(rest.worstDaysOverdue, rest.daysOverdueNow),
  }))

const policies: fc.Arbitrary<CreditPolicy> = fc
  .record({
    parts: fc.array(count(200), { minLength: 5, maxLength: 5 }),
    fulls: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 5, maxLength: 5 }),
    prior: count(10),
    ceilings: fc.array(count(1000), { minLength: 3, maxLength: 3 }),
    delays: fc.array(count(1000), { minLength: 3, maxLength: 3 }),
  })
  .map(({ parts, fulls, prior, ceilings, delays }) => {
    const [first, most] = [delays[0]!, delays[1]!].toSorted((a, b) => a - b)
    return {
      ...DEFAULT_POLICY,
      version: 'any',
      score: {
        base: parts[0]!,
        onTime: { weight: parts[1]!, prior },
        loansClosed: { weight: parts[2]!, full: fulls[0]! },
        months: { weight: parts[3]!, full: fulls[1]! },
        largestRepaid: { weight: parts[4]!, full: BigInt(fulls[2]!) * 1_000_00n },
        worstDelay: { most: delays[2]!, fullDays: fulls[3]! },
        overdueNow: { first: first!, most: most!, fullDays: fulls[4]! },
        ceilings: { writtenOff: ceilings[0]!, chargedOff: ceilings[1]!, recovered: ceilings[2]! },
      },
    }
  })

const scoreOf = (history: CreditHistory, policy: CreditPolicy) => scoreCustomer(history, policy).score

describe('laws, for every history and policy', () => {
  it('more instalments paid on time never lower a score, be they further ones or late ones made good', () =>
    fc.assert(
      fc.property(histories, policies, fc.integer({ min: 1, max: 50 }), (history, policy, more) => {
        const { instalmentsDue, instalmentsOnTime } = history
        const further = {
          ...history,
          instalmentsDue: instalmentsDue + more,
          instalmentsOnTime: instalmentsOnTime + more,
        }
        const madeGood = { ...history, instalmentsOnTime: Math.min(instalmentsDue, instalmentsOnTime + more) }
        expect(scoreOf(further, policy)).toBeGreaterThanOrEqual(scoreOf(history, policy))
        expect(scoreOf(madeGood, policy)).toBeGreaterThanOrEqual(scoreOf(history, policy))
      }),
    ))

  it('a worse worst delay never raises a score, nor does a longer one now', () =>
    fc.assert(
      fc.property(histories, policies, fc.integer({ min: 1, max: 500 }), (history, policy, more) => {
        const worst = { ...history, worstDaysOverdue: history.worstDaysOverdue + more }
        const now = { ...worst, daysOverdueNow: history.daysOverdueNow + more }
        expect(scoreOf(worst, policy)).toBeLessThanOrEqual(scoreOf(history, policy))
        expect(scoreOf(now, policy)).toBeLessThanOrEqual(scoreOf(worst, policy))
      }),
    ))

  it('a loss never raises a score', () =>
    fc.assert(
      fc.property(histories, policies, (history, policy) => {
        // A customer without any history is unscored: a loss scores him, at 0 or more.
        fc.pre(scoreCustomer(history, policy).grade !== 'XX')
        const lost = { ...history, loansWrittenOff: history.loansWrittenOff + 1 }
        expect(scoreOf(lost, policy)).toBeLessThanOrEqual(scoreOf(history, policy))
      }),
    ))

  it('score and limit stay within bounds, and the grade is the one of the score', () =>
    fc.assert(
      fc.property(histories, policies, (history, policy) => {
        const { score, grade, limit } = scoreCustomer(history, policy)
        expect(score).toBeGreaterThanOrEqual(0)
        expect(score).toBeLessThanOrEqual(1000)
        expect(limit >= 0n && limit <= policy.limits.A.most).toBe(true)
        expect(limit % policy.step).toBe(0n)
        const { A, B, C } = policy.grades
        if (grade !== 'XX') expect(grade).toBe(score >= A ? 'A' : score >= B ? 'B' : score >= C ? 'C' : 'D')
      }),
    ))

  it('the same history and policy give the same answer, also after the policy was stored', () =>
    fc.assert(
      fc.property(histories, policies, (history, policy) => {
        const stored = readPolicy(JSON.parse(JSON.stringify(policyToJson(policy))))
        expect(stored).toEqual(policy)
        expect(scoreCustomer(history, stored)).toEqual(scoreCustomer(history, policy))
      }),
    ))

  it('points and ceilings in the reasons account for the whole score', () =>
    fc.assert(
      fc.property(histories, policies, (history, policy) => {
        const { score, grade, reasons } = scoreCustomer(history, policy)
        fc.pre(grade !== 'XX')
        const sum = reasons.reduce((total, reason) => {
          const [, way, points] = /^(raised|lowered) by (\d+)/.exec(reason) ?? []
          return total + (way === 'lowered' ? -1 : 1) * Number(points ?? 0)
        }, policy.score.base)
        const ceilings = reasons.flatMap((reason) => Number(/^held at (\d+)/.exec(reason)?.[1] ?? 1000))
        expect(Math.max(0, Math.min(sum, ...ceilings))).toBe(score)
      }),
    ))
})

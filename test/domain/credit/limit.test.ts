import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { availableLimit, decideBoost, limitFromStatement } from '../../../src/domain/credit/decision.ts'
import { DEFAULT_POLICY } from './customers.ts'

describe('limitFromStatement, by the default policy (30% of the inflow, 3,000,000 at most)', () => {
  it.each([
    ['six months', 6, 1_000_000_00n, 'XX', 300_000_00n],
    ['more months count no more', 12, 1_000_000_00n, 'XX', 300_000_00n],
    ['three months count half', 3, 1_000_000_00n, 'B', 150_000_00n],
    ['two months count a third', 2, 1_000_000_00n, 'A', 100_000_00n],
    ['rounded down to 1,000', 6, 1_234_567_89n, 'C', 370_000_00n],
    ['capped', 6, 90_000_000_00n, 'C', 3_000_000_00n],
    ['nothing came in', 6, 0n, 'C', 0n],
    ['a customer of grade D is not raised', 6, 1_000_000_00n, 'D', 0n],
  ] as const)('%s', (_name, months, averageMonthlyInflow, grade, limit) => {
    expect(limitFromStatement({ months, averageMonthlyInflow }, DEFAULT_POLICY, grade)).toBe(limit)
  })

  it('law: within bounds, and never less for more inflow or more months', () =>
    fc.assert(
      fc.property(fc.nat(24), fc.bigInt(0n, 10n ** 13n), fc.bigInt(0n, 10n ** 12n), (months, inflow, more) => {
        const limit = limitFromStatement({ months, averageMonthlyInflow: inflow }, DEFAULT_POLICY, 'XX')
        const richer = { months: months + 1, averageMonthlyInflow: inflow + more }
        expect(limit >= 0n && limit <= DEFAULT_POLICY.statement.most).toBe(true)
        expect(limitFromStatement(richer, DEFAULT_POLICY, 'XX') >= limit).toBe(true)
      }),
    ))
})

it('the limit is available only while no loan is open', () => {
  expect(availableLimit(500_00n, { loansOpen: 0 })).toBe(500_00n)
  expect(availableLimit(500_00n, { loansOpen: 1 })).toBe(0n)
})

describe('decideBoost on 1 July, with a cooldown of 30 days', () => {
  const question = {
    currentLimit: 100n,
    statementLimit: 300n,
    lastRaisedOn: null,
    seenBefore: false,
    today: '2026-07-01',
    cooldownDays: 30,
  }

  it.each([
    ['a higher limit', {}, 'raised', 300n, '2026-07-31'],
    ['the same limit', { statementLimit: 100n }, 'unchanged', 100n, '2026-07-01'],
    ['a lower limit never lowers it', { statementLimit: 50n }, 'unchanged', 100n, '2026-07-01'],
    ['the same statement again', { seenBefore: true }, 'unchanged', 100n, '2026-07-01'],
    ['raised 29 days ago', { lastRaisedOn: '2026-06-02' }, 'cooldown', 100n, '2026-07-02'],
    ['raised 30 days ago', { lastRaisedOn: '2026-06-01' }, 'raised', 300n, '2026-07-31'],
  ] as const)('%s', (_name, changes, boostStatus, creditLimit, nextBoostOn) => {
    expect(decideBoost({ ...question, ...changes })).toEqual({ boostStatus, creditLimit, nextBoostOn })
  })
})

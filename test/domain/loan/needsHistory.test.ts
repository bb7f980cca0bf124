import { describe, expect, it } from 'vitest'
import { startOfDay } from '../../../src/domain/dates.ts'
import { type DatedPosting, needsHistory } from '../../../src/domain/loan/carriedForward/loanHead.ts'
import type { Entry } from '../../../src/domain/loan/entry.ts'
import { carriedForward, endFrom, replay } from '../../../src/domain/loan/replay.ts'
import { DISBURSED, weeklyTerms as terms, ZONE } from '../../support/weeklyTerms.ts'

/** The last entry of the loan, of 3 February. */
const last: Entry = {
  ...{ id: 1n, type: 'Repayment', amount: 1_500_00n, valueDate: '2026-02-03', postedAt: DISBURSED },
  ...{ ordinal: 1, place: 1, token: null, note: null, replaces: null, reversedAt: null },
}
const now = startOfDay('2026-02-04', ZONE)
const due = terms.dueOn
const [before, after] = [terms.dueAt - 1, terms.dueAt]
const table: [string, Omit<DatedPosting, 'amount'>, { penalty: boolean; storedAt: number; at: number }, boolean][] = [
  [
    'a repayment of the day of the last entry',
    { type: 'Repayment', valueDate: '2026-02-03' },
    { penalty: false, storedAt: now, at: now },
    false,
  ],
  [
    'a repayment of a later day',
    { type: 'Repayment', valueDate: '2026-02-04' },
    { penalty: false, storedAt: now, at: now },
    false,
  ],
  [
    'a repayment of an earlier day',
    { type: 'Repayment', valueDate: '2026-02-02' },
    { penalty: false, storedAt: now, at: now },
    true,
  ],
  [
    'a recovery',
    { type: 'Recovery Repayment', valueDate: '2026-02-04' },
    { penalty: false, storedAt: now, at: now },
    false,
  ],
  [
    'an interest waiver',
    { type: 'Waive Interest', valueDate: '2026-02-04' },
    { penalty: false, storedAt: now, at: now },
    false,
  ],
  ['a charge-off', { type: 'Charge-off', valueDate: '2026-02-04' }, { penalty: false, storedAt: now, at: now }, false],
  ['a refund', { type: 'Refund', valueDate: '2026-02-04' }, { penalty: false, storedAt: now, at: now }, true],
  [
    'a credit balance refund',
    { type: 'Credit Balance Refund', valueDate: '2026-02-04' },
    { penalty: false, storedAt: now, at: now },
    true,
  ],
  ['a write-off', { type: 'Write-off', valueDate: '2026-02-04' }, { penalty: false, storedAt: now, at: now }, true],
  [
    'a repayment after the due time, without a penalty',
    { type: 'Repayment', valueDate: due },
    { penalty: false, storedAt: before, at: after },
    false,
  ],
  [
    'a repayment before the penalty',
    { type: 'Repayment', valueDate: due },
    { penalty: true, storedAt: now, at: before },
    false,
  ],
  [
    'a repayment after a penalty that is not stored yet',
    { type: 'Repayment', valueDate: '2026-02-22' },
    { penalty: true, storedAt: before, at: after },
    true,
  ],
  [
    'a repayment after a penalty that is stored',
    { type: 'Repayment', valueDate: '2026-02-22' },
    { penalty: true, storedAt: after, at: after },
    false,
  ],
  [
    'a repayment of the due date after a penalty that is stored',
    { type: 'Repayment', valueDate: due },
    { penalty: true, storedAt: after, at: after },
    true,
  ],
]
describe('a posting on a loan whose last entry is of 3 February', () => {
  it.each(table)('%s: %j, %j needs the history: %s', (_, posting, { penalty, storedAt, at }, expected) => {
    const own = { ...terms, penaltyAmount: penalty ? 90_000n : null }
    const end = endFrom(own, carriedForward(own, replay(own, [last], storedAt))!, 1, storedAt)!
    expect(needsHistory({ terms: own, end, count: 1 }, { ...posting, amount: 1n }, at)).toBe(expected)
  })
})

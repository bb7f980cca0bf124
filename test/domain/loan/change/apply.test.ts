import { expect, it } from 'vitest'
import { apply } from '../../../../src/domain/loan/change/apply.ts'
import type { Entry } from '../../../../src/domain/loan/entry.ts'
import { findByToken, post, reverse, stateOf } from '../../../../src/domain/loan/loan.ts'
import { DISBURSED, weeklyTerms } from '../../../support/weeklyTerms.ts'

const DAY = 86_400_000

const made = {
  version: 1,
  updatedAt: DISBURSED,
  nextChangeAt: null as number | null,
  terms: weeklyTerms,
  entries: [] as readonly Entry[],
}

/** Posts a repayment. */
function repaid(loan: typeof made, units: bigint, at: number) {
  const posting = { type: 'Repayment' as const, amount: { units, scale: 0 }, valueDate: undefined, note: null }
  const decision = post(loan, { ...posting, token: `paid ${units}` }, at)
  const after = apply(loan, decision, { ...decision.posted!, id: units }, at)
  return { before: loan, after }
}

it('apply shares nothing with the loan that it was given: both keep their entries, their state and what is found', () => {
  const at = DISBURSED + 2 * DAY
  const first = repaid(made, 1_000n, at)
  const second = repaid(first.after, 700n, at)
  const other = repaid(first.after, 300n, at)
  const idsOf = ({ entries }: typeof made) => entries.map(({ id }) => id)
  expect([first.before, first.after, second.after, other.after].map(idsOf)).toEqual([
    [],
    [1_000n],
    [1_000n, 700n],
    [1_000n, 300n],
  ])
  for (const [loan, paid] of [
    [first.before, 0n],
    [first.after, 1_000_00n],
    [second.after, 1_700_00n],
    [other.after, 1_300_00n],
  ] as const)
    expect(stateOf(loan, at).totalPaid).toBe(paid)
  for (let search = 0; search < 3; search++) {
    expect(findByToken(second.after, 'paid 700')?.id).toBe(700n)
    expect(findByToken(other.after, 'paid 700')).toBeUndefined()
    expect(findByToken(second.before, 'paid 700')).toBeUndefined()
  }
})

it('a reversal marks the entry in a list of its own', () => {
  const at = DISBURSED + 2 * DAY
  const { after } = repaid(made, 1_000n, at)
  const undone = apply(after, reverse(after, 1_000n, at, null), null, at)
  expect([after, undone].map(({ entries }) => entries[0]!.reversedAt)).toEqual([null, at])
  expect([after, undone].map((loan) => stateOf(loan, at).totalPaid)).toEqual([1_000_00n, 0n])
})

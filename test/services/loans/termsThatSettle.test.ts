import { expect, it } from 'vitest'
import type { StoredLoan } from '../../../src/db/loans/storedLoan.ts'
import { post } from '../../../src/domain/loan/loan.ts'
import { COMPONENTS } from '../../../src/domain/loan/portions.ts'
import { changeTerms } from '../../../src/domain/loan/terms/changeTerms.ts'
import { parseDecimal } from '../../../src/domain/money.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { decideAll } from '../../../src/services/loans/changes/decide.ts'
import { DISBURSED, weeklyTerms } from '../../support/weeklyTerms.ts'

const DAY = 86_400_000

/** Three lines of 3,000 with interest of 450 each; on the fifth day, the interest of the last two is not earned. */
const loan: StoredLoan = {
  organizationId: 1,
  id: 5n,
  externalId: null,
  accountNo: 1n,
  version: 1,
  updatedAt: DISBURSED,
  createdAt: DISBURSED,
  nextChangeAt: null,
  customerId: 1n,
  customerExternalId: null,
  customerBusinessName: null,
  customerStatus: 'Active',
  productId: null,
  productName: null,
  record: null,
  terms: {
    ...weeklyTerms,
    rules: {
      deducted: 0n,
      penalty: null,
      allocation: COMPONENTS,
      earlySettlement: 'interest_to_period_end',
      interestGrace: 0,
      afterDue: null,
      taxes: null,
      mostCharges: null,
      settled: [],
    },
  },
  entries: [],
}

it('a change of terms that leaves no more than a settlement forgives is followed by the waiver, as a repayment is', () => {
  let [at, id] = [DISBURSED + 5 * DAY, 10n]
  const author = operator(1, 'test')
  const ground = { now: () => ++at, elsewhere: new Set<bigint>(), nextId: () => ++id }
  const decide = (before: StoredLoan, decided: (of: StoredLoan, now: number) => ReturnType<typeof post>) => {
    const one = { author, posting: undefined, entryId: ++id }
    const asked = [{ ...one, decide: (of: unknown, now: number) => ({ save: decided(of as StoredLoan, now) }) }]
    const { changes, after } = decideAll(before, asked, ground)!
    return { changes, after: after as StoredLoan }
  }
  const amount = parseDecimal('9350')!
  const paid = decide(loan, (of, now) =>
    post(of, { type: 'Repayment', amount, valueDate: undefined, token: null, note: null }, now),
  )
  expect(paid.changes.map(({ changed }) => changed.action)).toEqual(['Repayment'])

  const [first, ...others] = loan.terms.schedule
  const terms = { ...loan.terms, schedule: [{ ...first!, interest: 300_00n }, ...others] }
  const { changes, after } = decide(paid.after, (of, now) => changeTerms(of, { terms, customerId: 1n }, now))
  expect(
    changes.map(({ changed: { action, version, posted, after: left } }) => [
      action,
      version,
      posted?.type ?? null,
      left.totalOutstanding,
      left.totalOverpaid,
    ]),
  ).toEqual([
    ['Settlement Waiver', 3, 'Settlement Waiver', 100_00n, 0n],
    ['update', 4, null, 0n, 50_00n],
  ])
  expect(after.terms).toEqual(terms)
  expect(after.entries.map(({ type, amount }) => [type, amount])).toEqual([
    ['Repayment', 9_350_00n],
    ['Settlement Waiver', 900_00n],
  ])
})

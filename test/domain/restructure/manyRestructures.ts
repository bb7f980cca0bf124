import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { Period } from '../../../src/domain/loan/allocation.ts'
import { replay, restructuredOf } from '../../../src/domain/loan/replay.ts'
import { anyLent, type Lent } from '../terms/anyLent.ts'
import { dateOf } from '../terms/naive/calendar.ts'
import { COLUMNS, type Debt, PARTS } from '../terms/naive/debt.ts'
import { lifeOf } from '../terms/naive/life.ts'
import { naiveLoan, type Transaction } from '../terms/naive/loan.ts'
import { anySteps, LivedLoan } from './anyRestructure.ts'

/** What is counted of the loans that are compared. */
export type Counts = Record<'loans' | 'compared' | 'restructures' | 'reversed' | 'penalized' | 'late', number>

const noCounts = (): Counts => ({ loans: 0, compared: 0, restructures: 0, reversed: 0, penalized: 0, late: 0 })

/** The model has no waiver that follows from a payment: each loan bears its full interest. */
export const bearingFullInterest = ({ product, ...lent }: Lent): Lent => ({
  ...lent,
  product: { ...product, terms: product.terms && { ...product.terms, earlySettlement: 'full_interest' } },
})

/** Compares random loans with restructures with the model, after each step. @throws the first difference, with its seed */
export function compareMany(seed: number, numRuns: number): Counts {
  const counts = noCounts()
  fc.assert(
    fc.property(anyLent, anySteps, (given, steps) => {
      const lent = bearingFullInterest(given)
      const lived = new LivedLoan(lent)
      const naive = naiveLoan(lent.product, lent.principal, lent.disbursedAt, lived.loan.terms.schedule)
      counts.loans++
      for (const step of steps) {
        const decisions = lived.does(step)
        const isRestructure = step.does === 'restructure' && decisions !== undefined
        if (isRestructure) counts.restructures++
        if (step.does === 'reverse restructure' && (decisions?.length ?? 0) > 0) counts.reversed++
        const { terms, entries } = lived.loan
        const { debt } = lifeOf(naive, entries as readonly Transaction[], lived.now)
        const state = replay(terms, entries, lived.now)
        const [is, expected] = [state.periods.map(lineOf), linesOf(debt)]
        if (!isDeepStrictEqual(is, expected))
          throw new Error(
            `${step.does}: the domain has ${JSON.stringify(is)}, and the model ${JSON.stringify(expected)}`,
          )
        if (state.totalOverpaid !== debt.overpaid)
          throw new Error(`overpaid by ${state.totalOverpaid}, and in the model by ${debt.overpaid}`)
        counts.compared++
        if (state.charged.penalty > 0n) counts.penalized++
        if ((restructuredOf(state)?.arrears.length ?? 0) > 0) counts.late++
      }
    }),
    { seed, numRuns, endOnFailure: true },
  )
  return counts
}

/** Returns an instalment as text: its due date, and the columns of each part. */
const lineOf = (period: Period): string =>
  [period.dueDate, ...PARTS.flatMap((part) => COLUMNS.map((column) => period[column][part]))].join(' ')

const linesOf = ({ rows }: Debt): string[] =>
  rows.map(({ dueDay, cells }) =>
    [dateOf(dueDay), ...PARTS.flatMap((part) => COLUMNS.map((column) => cells[part][column]))].join(' '),
  )

import { dayBefore, type LocalDate } from '../../dates.ts'
import { sum } from '../../money.ts'
import type { Entry } from '../entry.ts'
import type { Fold } from '../fold.ts'
import type { Loan } from '../loan.ts'
import { foldOf, unreversedInOrder } from '../replay.ts'
import { forgivenOn, forgivingRules, mostForgiven } from './settlement.ts'

/**
 * Returns the first day on which a loan is settled early and of which no waiver says so: what is outstanding after the
 * transactions of the day is no more than what a settlement forgives (contract 10.11). Undefined where there is none.
 * After each change of a loan, the service posts one waiver, for that day: later days have no interest left to forgive.
 */
export function settlementDay({ terms, entries }: Loan): LocalDate | undefined {
  if (forgivingRules(terms) === null) return undefined
  const wasReversed = daysOfReversedWaivers(entries)
  const unreversed = unreversedInOrder(entries)
  let next = 0
  let day: LocalDate | undefined
  // Penalties after the last entry are not raised here: they add to what is owed, so no day becomes settled by them.
  foldOf(terms, unreversed, unreversed.at(-1)?.valueDate ?? terms.disbursedOn, {
    entry: (fold, { valueDate }) => {
      next++
      const isLastOfDay = unreversed[next]?.valueDate !== valueDate
      if (day === undefined && isLastOfDay && !wasReversed.has(valueDate) && isSettled(fold, valueDate)) day = valueDate
    },
  })
  return day

  function isSettled(fold: Fold, on: LocalDate): boolean {
    if (fold.writtenOffOn !== null || fold.owed > mostForgiven(terms, fold.totals)) return false
    const forgiven = sum(forgivenOn(terms, fold.periods, on))
    return forgiven > 0n && fold.owed <= forgiven
  }
}

/** Returns the days of which an operator has reversed the waiver: none is posted again for them. */
const daysOfReversedWaivers = (entries: readonly Entry[]): ReadonlySet<LocalDate> =>
  new Set(
    entries
      .filter(({ type, reversedAt }) => type === 'Settlement Waiver' && reversedAt !== null)
      .map(({ valueDate }) => valueDate),
  )

/** What pays a loan off on a day. Amounts in minor units. */
export interface Settlement {
  readonly on: LocalDate
  readonly outstanding: bigint
  /** The interest that a settlement on the day waives. */
  readonly waived: bigint
  readonly amount: bigint
  /** What the loan is overpaid by after the settlement. */
  readonly overpaid: bigint
}

/** Returns what pays a loan off on a day, by the transactions dated up to that day and the penalties of the days before. */
export function settlementOn({ terms, entries }: Loan, on: LocalDate): Settlement {
  const dated = unreversedInOrder(entries).filter(({ valueDate }) => valueDate <= on)
  const fold = foldOf(terms, dated, dayBefore(on), {})
  const isForgiving = fold.writtenOffOn === null && !daysOfReversedWaivers(entries).has(on)
  const waived = isForgiving ? sum(forgivenOn(terms, fold.periods, on)) : 0n
  const left = fold.owed - waived
  const [amount, overpaid] = left > 0n ? [left, 0n] : [0n, fold.overpaid - left]
  return { on, outstanding: fold.owed, waived, amount, overpaid }
}

import { dayBefore, type Instant, type LocalDate } from '../../dates.ts'
import { invariant } from '../../errors.ts'
import { sum } from '../../money.ts'
import type { Entry, NewEntry } from '../entry.ts'
import type { Fold } from '../fold.ts'
import { type Decision, decisionOf, type Loan } from '../loan.ts'
import { balancesForgiving, foldOf, replay, unreversedInOrder } from '../replay.ts'
import { forgivenOn, forgivingRules, mostForgiven } from './settlement.ts'

/** A day on which a loan is settled early, and the interest of each instalment that is then forgiven, minor units. */
export interface SettledDay {
  readonly on: LocalDate
  readonly forgiven: readonly bigint[]
}

/**
 * Returns the first day on which a loan is settled early and of which no waiver says so: what is outstanding after the
 * transactions of the day is no more than what a settlement forgives (contract 10.11). Undefined where there is none.
 * After each change of a loan, the service posts one waiver, for that day: later days have no interest left to forgive.
 */
export function settledDayOf({ terms, entries }: Loan): SettledDay | undefined {
  if (forgivingRules(terms) === null) return undefined
  const wasReversed = daysOfReversedWaivers(entries)
  const unreversed = unreversedInOrder(entries)
  let next = 0
  let day: SettledDay | undefined
  // Penalties after the last entry are not raised here: they add to what is owed, so no day becomes settled by them.
  const last = unreversed.at(-1)?.valueDate ?? terms.disbursedOn
  foldOf(
    terms,
    unreversed,
    { penalties: last, interest: last },
    {
      entry: (fold, { valueDate: on }) => {
        next++
        const isLastOfDay = unreversed[next]?.valueDate !== on
        if (day !== undefined || !isLastOfDay || wasReversed.has(on)) return
        const forgiven = forgivenWhereSettled(fold, on)
        if (forgiven) day = { on, forgiven }
      },
    },
  )
  return day

  function forgivenWhereSettled(fold: Fold, on: LocalDate): bigint[] | undefined {
    if (fold.writtenOffOn !== null || fold.owed > mostForgiven(terms, fold.totals)) return undefined
    const forgiven = forgivenOn(terms, fold.periods, on)
    const most = sum(forgiven)
    return most > 0n && fold.owed <= most ? forgiven : undefined
  }
}

/** A change that settles a loan early, and the waiver that follows from it: decisions that are saved one after the other. */
export interface Settled {
  readonly waiver: Decision
  readonly cause: Decision
}

/**
 * Posts the waiver of an early settlement (contract 10.11) with the change that settles the loan. The waiver comes before
 * the money of its day: it is decided on the loan before the change, and the change on what the waiver leaves.
 * @param loan the loan after the change, without the waiver
 * @param day the day of the waiver, as `settledDayOf` says
 */
export function settle(loan: Loan, cause: Decision, { on, forgiven }: SettledDay, now: Instant): Settled {
  const { terms } = loan
  const ordinal = loan.entries.length + 1
  const entry: NewEntry = {
    type: 'Settlement Waiver',
    amount: 0n,
    valueDate: on,
    ordinal,
    place: ordinal,
    postedAt: now,
    token: null,
    note: null,
    replaces: null,
    reversedAt: null,
    record: null,
    paymentMethod: null,
    dueOn: null,
  }
  const state = replay(terms, [...loan.entries, entry], now)
  const outcome = state.outcomes.get(ordinal)
  invariant(outcome && outcome.amount > 0n, 'the waiver of a loan that is settled forgives interest')
  const waived = balancesForgiving(terms, cause.before, forgiven, on)
  const { between, posted } = cause
  const changed = {
    before: waived,
    state,
    outcome: posted ? state.outcomes.get(posted.ordinal) : undefined,
    ...(between && { between: balancesForgiving(terms, between, forgiven, on) }),
  }
  return { waiver: decisionOf(cause.before, entry, outcome, waived), cause: { ...cause, ...changed } }
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
  const fold = foldOf(terms, dated, { penalties: dayBefore(on), interest: on }, {})
  const isForgiving = fold.writtenOffOn === null && !daysOfReversedWaivers(entries).has(on)
  const waived = isForgiving ? sum(forgivenOn(terms, fold.periods, on)) : 0n
  const left = fold.owed - waived
  const [amount, overpaid] = left > 0n ? [left, 0n] : [0n, fold.overpaid - left]
  return { on, outstanding: fold.owed, waived, amount, overpaid }
}

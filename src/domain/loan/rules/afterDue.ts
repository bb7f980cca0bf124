import { addPeriods, dateIn, dayAfter, type Instant, type LocalDate, startOfDay } from '../../dates.ts'
import { applyRate, min } from '../../money.ts'
import { taxOn } from '../../schedule/taxes.ts'
import type { Totals } from '../allocation.ts'
import type { HeadTerms } from '../terms/terms.ts'
import { chargesLeft, lastDueOn, type Penalized } from './penalties.ts'

// Interest that runs on after the last due date (contract 10.13). A day raises the interest of the day before at its beginning,
// before its own transactions.

/** Returns the principal that is unpaid, in minor units. */
const unpaidPrincipal = ({ due, paid, waived, writtenOff }: Readonly<Totals>): bigint =>
  due.principal - paid.principal - waived.principal - writtenOff.principal

/** Returns the interest that a day raises, with its tax, in minor units; 0 where none runs on. */
export function interestOfDay(terms: HeadTerms, { totals }: Penalized): bigint {
  const { afterDue = null, taxes = null } = terms.rules ?? {}
  if (afterDue === null) return 0n
  const interest = applyRate(unpaidPrincipal(totals), afterDue.rate)
  const asked = interest + taxOn(interest, taxes?.interest ?? null)
  return min(asked, chargesLeft(terms, totals.due, 'interest') ?? asked)
}

/** Returns the first day after another that raises interest if nothing happens until then; null: none. */
export function nextInterestOn(terms: HeadTerms, fold: Penalized, after: LocalDate): LocalDate | null {
  const rule = terms.rules?.afterDue
  if (!rule || fold.owed === 0n || interestOfDay(terms, fold) === 0n) return null
  const dueOn = lastDueOn(terms, fold)
  const next = dayAfter(after > dueOn ? after : dueOn)
  return next <= addPeriods(dueOn, rule.maxDays, 'days') ? next : null
}

/** Returns the moment after another at which interest is raised if nothing happens until then; null: none. */
export function nextInterestAt(terms: HeadTerms, fold: Penalized, asOf: Instant): Instant | null {
  // Most loans have no such interest: the day is not worked out for them.
  const day = terms.rules?.afterDue ? nextInterestOn(terms, fold, dateIn(terms.zone, asOf)) : null
  return day === null ? null : startOfDay(day, terms.zone)
}

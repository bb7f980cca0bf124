import { dateIn, dayAfter, daysBetween, type Instant, type LocalDate, startOfDay } from '../dates.ts'
import { type Rate, sum } from '../money.ts'
import { outstandingOf, owedOf, type Period, type Totals } from './allocation.ts'
import { type LoanStatus, statusOf } from './lifecycle.ts'
import { type Portions, totalOf } from './portions.ts'
import { type AtChargeOff, type Forgone, isNotDue, type Unearned, unearnedOf } from './recognition.ts'
import { carriedArrears, type Restructured } from './restructure/carriedArrears.ts'
import { nextInterestAt } from './rules/afterDue.ts'
import type { LoanTaxes } from './rules/loanRules.ts'
import { nextPenaltyAt } from './rules/penalties.ts'
import type { HeadTerms } from './terms/terms.ts'

/** What the books recognise of a loan's charges, besides their totals. Amounts in minor units. */
export interface Recognition {
  /** Owed, and not earned yet. */
  readonly unearned: Unearned
  readonly forgone: Forgone
  /** Null for a loan that is not charged off. */
  readonly atChargeOff: AtChargeOff | null
  /** Fees that were kept back from what was paid out: earned at once, and never owed. */
  readonly deducted: bigint
  /** Null for a loan without taxes. */
  readonly taxes: RecognizedTaxes | null
  /** Money that was received as payments before it was allocated to the loan. */
  readonly fromPayments: bigint
}

/** The taxes in the charges of a loan. */
export interface RecognizedTaxes {
  /** The rate of the tax in all interest; 0: none. */
  readonly interest: Rate
  /** In the fees of the schedule. */
  readonly fees: bigint
  /** In the fees that were kept back from what was paid out. */
  readonly deducted: bigint
}

/** The totals of a loan at a moment. Amounts in minor units. */
export interface Balances extends Recognition {
  readonly status: LoanStatus
  readonly charged: Readonly<Portions>
  readonly paid: Readonly<Portions>
  readonly waived: Readonly<Portions>
  readonly writtenOff: Readonly<Portions>
  readonly outstanding: Readonly<Portions>
  readonly totalPaid: bigint
  readonly totalOutstanding: bigint
  readonly totalOverpaid: bigint
  /** What is owed of instalments whose due date has passed, or, where that is more, of arrears that a restructure carries. */
  readonly totalOverdue: bigint
  /** The penalties in `totalOverdue`. */
  readonly penaltyOverdue: bigint
  readonly totalWrittenOff: bigint
  /** The part of what was written off that was recovered. */
  readonly totalRecovered: bigint
  /** Due date of the oldest instalment with anything owed; null when nothing is owed. */
  readonly nextDueOn: LocalDate | null
  readonly nextDueAmount: bigint | null
  /** The day after the oldest due date that is overdue now, or of arrears that a restructure carries (contract 4.3.3). */
  readonly overdueSince: LocalDate | null
  /** Days since the oldest due date that is overdue; 0 when nothing is overdue. */
  readonly daysOverdue: number
  readonly chargedOffOn: LocalDate | null
  readonly closedOn: LocalDate | null
  /** The last due date of the schedule that a restructure made; null: that of the terms. */
  readonly restructuredDueOn: LocalDate | null
  /** The number of penalties that time has raised; single charges are not among them. */
  readonly penaltiesRaised: number
  /** The interest that was raised after the last due date; it is in `charged`. */
  readonly interestAfterDue: bigint
  /** When time alone next changes any field here but `daysOverdue`; null: never. */
  readonly nextChangeAt: Instant | null
}

/** The end of the fold over the entries of a loan. */
export interface Folded extends Pick<Recognition, 'forgone' | 'atChargeOff'> {
  readonly periods: readonly Period[]
  readonly totals: Readonly<Totals>
  readonly owed: bigint
  readonly overpaid: bigint
  readonly chargedOffOn: LocalDate | null
  readonly writtenOffOn: LocalDate | null
  readonly paidOffOn: LocalDate | null
  readonly penaltiesRaised: number
  /** The day of the latest penalty that was raised; null: none was. */
  readonly lastPenaltyOn: LocalDate | null
  /** The interest that was raised after the last due date, minor units, and the latest day that raised some; null: none did. */
  readonly interestAfterDue: bigint
  readonly lastInterestOn: LocalDate | null
  /** Money that was received as payments before it was allocated to the loan, minor units. */
  readonly fromPayments: bigint
  /** Null for a loan that was not restructured. */
  readonly restructured: Restructured | null
}

/** Computes the balances of a fold at a moment. */
export function balancesOf(terms: HeadTerms, folded: Folded, asOf: Instant): Balances {
  const { due: charged, paid, waived, writtenOff, recovered } = folded.totals
  const today = dateIn(terms.zone, asOf)
  let totalOverdue = 0n
  let penaltyOverdue = 0n
  let first: Period | undefined
  let overdue: Period | undefined
  let next: Period | undefined
  let interest = 0n
  let fees = 0n
  for (const period of folded.periods) {
    if (period.owed === 0n) continue
    first ??= period
    if (isNotDue(period, today)) {
      next ??= period
      interest += unearnedOf(period, 'interest')
      fees += unearnedOf(period, 'fees')
    } else {
      overdue ??= period
      totalOverdue += period.owed
      penaltyOverdue += owedOf(period, 'penalty')
    }
  }
  const status = statusOf(folded)
  // What was overdue before a restructure counts as overdue until as much is settled.
  const carried = folded.restructured === null ? null : carriedArrears(folded)
  const oldestDue = earlier(overdue?.dueDate ?? null, carried?.oldestDue ?? null)
  return {
    status,
    charged,
    paid,
    waived,
    writtenOff,
    outstanding: outstandingOf(folded.totals),
    totalPaid: totalOf(paid),
    totalOutstanding: folded.owed,
    totalOverpaid: folded.overpaid,
    totalOverdue: carried !== null && carried.overdue > totalOverdue ? carried.overdue : totalOverdue,
    penaltyOverdue,
    totalWrittenOff: totalOf(writtenOff),
    totalRecovered: totalOf(recovered),
    nextDueOn: first?.dueDate ?? null,
    nextDueAmount: first?.owed ?? null,
    overdueSince: oldestDue === null ? null : dayAfter(oldestDue),
    daysOverdue: oldestDue === null ? 0 : daysBetween(oldestDue, today),
    chargedOffOn: folded.chargedOffOn,
    closedOn: status.startsWith('Closed') ? (folded.writtenOffOn ?? folded.paidOffOn) : null,
    restructuredDueOn: folded.restructured?.dueOn ?? null,
    penaltiesRaised: folded.penaltiesRaised,
    interestAfterDue: folded.interestAfterDue,
    unearned: { interest, fees },
    forgone: folded.forgone,
    atChargeOff: folded.atChargeOff,
    deducted: terms.rules?.deducted ?? 0n,
    taxes: recognizedTaxes(terms.rules?.taxes ?? null),
    fromPayments: folded.fromPayments,
    nextChangeAt: nextChange(terms, folded, next, asOf),
  }
}

const recognizedTaxes = (taxes: LoanTaxes | null): RecognizedTaxes | null =>
  taxes && {
    interest: taxes.interest?.rate ?? 0n,
    fees: sum(taxes.fees.map(({ added }) => added)),
    deducted: sum(taxes.fees.map(({ deducted }) => deducted)),
  }

/** Returns the earlier of two days; null: none. */
const earlier = (a: LocalDate | null, b: LocalDate | null): LocalDate | null =>
  a === null || (b !== null && b < a) ? b : a

/**
 * Returns the earliest of the next penalty's instant, the midnight from which the next instalment is overdue, and the one that raises
 * interest; null: none comes.
 */
function nextChange(terms: HeadTerms, folded: Folded, next: Period | undefined, asOf: Instant): Instant | null {
  const overdueAt = next ? startOfDay(dayAfter(next.dueDate), terms.zone) : null
  return sooner(sooner(overdueAt, nextPenaltyAt(terms, folded, asOf)), nextInterestAt(terms, folded, asOf))
}

const sooner = (a: Instant | null, b: Instant | null): Instant | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

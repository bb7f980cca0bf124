import { outstandingOf, type Period, type Portions, type Totals, totalOf } from './allocation.ts'
import { dateIn, dayAfter, daysBetween, type Instant, type LocalDate, startOfDay } from './dates.ts'
import { type LoanStatus, statusOf } from './lifecycle.ts'
import { sum } from './money.ts'
import type { LoanTerms } from './terms.ts'

/** A loan in figures, at a moment. Amounts in minor units. */
export interface Balances {
  readonly status: LoanStatus
  readonly charged: Readonly<Portions>
  readonly paid: Readonly<Portions>
  readonly waived: Readonly<Portions>
  readonly writtenOff: Readonly<Portions>
  readonly outstanding: Readonly<Portions>
  readonly totalPaid: bigint
  readonly totalOutstanding: bigint
  readonly totalOverpaid: bigint
  readonly totalOverdue: bigint
  readonly totalWrittenOff: bigint
  /** Of what was written off, what has come back. */
  readonly totalRecovered: bigint
  /** The oldest instalment with anything owed; null once nothing is. */
  readonly nextDueOn: LocalDate | null
  readonly nextDueAmount: bigint | null
  /** The first day on which something was overdue that still is: the day after its due date (contract 4.3.3). */
  readonly overdueSince: LocalDate | null
  /** Days since the due date of what is overdue longest; 0 when nothing is. */
  readonly daysOverdue: number
  readonly chargedOffOn: LocalDate | null
  readonly closedOn: LocalDate | null
  readonly penaltyRaised: boolean
  /** When time alone next changes any figure here but `daysOverdue`; null: never. */
  readonly nextChangeAt: Instant | null
}

/** What the fold over the entries knows at its end. */
export interface Folded {
  readonly periods: readonly Period[]
  readonly totals: Readonly<Totals>
  readonly owed: bigint
  readonly overpaid: bigint
  readonly chargedOffOn: LocalDate | null
  readonly writtenOffOn: LocalDate | null
  readonly paidOffOn: LocalDate | null
  readonly penaltyRaised: boolean
}

/** Sums up a fold: totals by component, what is due next, and what is overdue at that moment. */
export function balancesOf(terms: LoanTerms, folded: Folded, asOf: Instant): Balances {
  const { due: charged, paid, waived, writtenOff, recovered } = folded.totals
  const today = dateIn(terms.zone, asOf)
  const owing = folded.periods.filter((period) => period.owed > 0n)
  const overdue = owing.filter((period) => period.dueDate < today)
  const status = statusOf(folded)
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
    totalOverdue: sum(overdue.map(({ owed }) => owed)),
    totalWrittenOff: totalOf(writtenOff),
    totalRecovered: totalOf(recovered),
    nextDueOn: owing[0]?.dueDate ?? null,
    nextDueAmount: owing[0]?.owed ?? null,
    overdueSince: overdue[0] ? dayAfter(overdue[0].dueDate) : null,
    daysOverdue: overdue[0] ? daysBetween(overdue[0].dueDate, today) : 0,
    chargedOffOn: folded.chargedOffOn,
    closedOn: status.startsWith('Closed') ? (folded.writtenOffOn ?? folded.paidOffOn) : null,
    penaltyRaised: folded.penaltyRaised,
    nextChangeAt: nextChange(terms, folded, owing, today, asOf),
  }
}

/** The sooner of the penalty's instant and the midnight on which the next instalment becomes overdue. */
function nextChange(terms: LoanTerms, folded: Folded, owing: readonly Period[], today: LocalDate, asOf: Instant) {
  const next = owing.find((period) => period.dueDate >= today)
  const overdueAt = next ? startOfDay(dayAfter(next.dueDate), terms.zone) : null
  const penaltyAt = terms.penaltyAmount !== null && folded.owed > 0n && asOf < terms.dueAt ? terms.dueAt : null
  if (overdueAt === null || penaltyAt === null) return overdueAt ?? penaltyAt
  return Math.min(overdueAt, penaltyAt)
}

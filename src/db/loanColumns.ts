import type { Balances } from '../domain/balances.ts'
import { type ColumnTypes, moment } from './rows.ts'

/** Columns that cache what replay made of the entries, for lists, reports and the sweep; and their types. */
const CACHED_TYPES = {
  status: 'text',
  principal_outstanding: 'bigint',
  interest_outstanding: 'bigint',
  fees_outstanding: 'bigint',
  penalty_outstanding: 'bigint',
  total_paid: 'bigint',
  total_overpaid: 'bigint',
  total_overdue: 'bigint',
  total_written_off: 'bigint',
  total_recovered: 'bigint',
  next_due_on: 'date',
  overdue_since: 'date',
  charged_off_on: 'date',
  closed_on: 'date',
  next_change_at: 'timestamptz',
}

export const CACHED = Object.keys(CACHED_TYPES)

/** Their values, in the same order. */
export const cached = (state: Balances): unknown[] => [
  state.status,
  state.outstanding.principal,
  state.outstanding.interest,
  state.outstanding.fees,
  state.outstanding.penalty,
  state.totalPaid,
  state.totalOverpaid,
  state.totalOverdue,
  state.totalWrittenOff,
  state.totalRecovered,
  state.nextDueOn,
  state.overdueSince,
  state.chargedOffOn,
  state.closedOn,
  moment(state.nextChangeAt),
]

/** A loan in the few figures that the audit trail keeps of it. */
export const figures = ({
  status,
  totalOutstanding,
  totalPaid,
  totalOverpaid,
  totalWrittenOff,
  chargedOffOn,
}: Balances) => ({ status, totalOutstanding, totalPaid, totalOverpaid, totalWrittenOff, chargedOffOn })

/** The cached columns, to be part of such a set. */
export const CACHED_COLUMNS: ColumnTypes = CACHED_TYPES

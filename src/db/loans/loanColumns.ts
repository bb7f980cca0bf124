import type { Balances } from '../../domain/loan/balances.ts'
import type { LoanChanged } from '../../domain/loan/change/change.ts'
import {
  changeToText,
  type ReversedEntry,
  type ShownFigures,
  type StoredChange,
} from '../../domain/loan/change/changeText.ts'
import type { Contract } from '../../domain/loan/change/contractText.ts'
import type { Trace } from '../audit/trail.ts'
import { type ColumnTypes, moment } from '../queries/rows.ts'

/** Columns that cache what replay made of the entries, for lists, reports and the sweep; and their types. */
export const CACHED_COLUMNS: ColumnTypes = {
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
  is_overdue: 'boolean',
  charged_off_on: 'date',
  closed_on: 'date',
  next_change_at: 'timestamptz',
}

export const CACHED = Object.keys(CACHED_COLUMNS)

/**
 * The values of `CACHED_COLUMNS`, in the same order.
 * @param nextReview when the sweep reviews the loan next
 */
export const cached = (state: Balances, nextReview = state.nextChangeAt): unknown[] => [
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
  state.overdueSince !== null,
  state.chargedOffOn,
  state.closedOn,
  moment(nextReview),
]

/** Whether a column says what replay made of the loan; `next_change_at` may be earlier. */
export function agrees(column: string, stored: unknown, computed: unknown): boolean {
  if (column !== 'next_change_at' || computed === null) return stored === computed
  return typeof stored === 'number' && stored <= Date.parse(String(computed))
}

/** A loan in the few figures that the audit trail shows of it; what was recovered, only where something was written off. */
export const figures = ({
  status,
  totalOutstanding,
  totalPaid,
  totalOverpaid,
  totalWrittenOff,
  totalRecovered,
  chargedOffOn,
}: ShownFigures) => {
  const always = { status, totalOutstanding, totalPaid, totalOverpaid, totalWrittenOff, chargedOffOn }
  return totalWrittenOff > 0n ? { ...always, totalRecovered } : always
}

/** Further members of the trail: before and after a change, for those who read it, and the contract of a loan that is made. */
export interface MoreOfTrail {
  readonly before?: object
  readonly after?: object
  readonly made?: Contract | undefined
}

/**
 * Returns the content of the audit trail about a change of a loan. Its figures before and after are in the change itself,
 * from which `shownChange` makes them; they are written besides only where the trail keeps more than them.
 */
export function traceOf(changed: LoanChanged, more?: MoreOfTrail): Trace {
  const { action, before, after } = changed
  const change = changeToText(changed, more?.made)
  if (!more) return { action, before: null, after: null, change }
  return {
    action,
    before: before && { ...figures(before), ...more.before },
    after: { ...figures(after), ...more.after },
    change,
  }
}

/** A change as the audit trail shows it. */
export interface ShownChange {
  readonly before: object | null
  readonly after: object
}

/** Returns what the audit trail shows of a change of a loan: its figures before and after, and the entry. */
export function shownChange(change: StoredChange): ShownChange {
  const { before, posted, reversed, reason } = change
  return {
    before: before && figures(before),
    after: {
      ...figures(change),
      ...(posted && { posted: { ...shownEntry(posted), valueDate: posted.valueDate, note: posted.note } }),
      ...(reversed && { reversed: { ...shownEntry(reversed), reason } }),
    },
  }
}

const shownEntry = ({ id, type, amount }: ReversedEntry) => ({ id, type, amount })

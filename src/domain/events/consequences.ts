import type { Balances } from '../loan/balances.ts'
import type { EventType } from './eventTypes.ts'

/** The part of the balances of a loan that tells what followed from a change. */
type Standing = Pick<
  Balances,
  | 'status'
  | 'penaltiesRaised'
  | 'interestAfterDue'
  | 'overdueSince'
  | 'totalOverdue'
  | 'penaltyOverdue'
  | 'totalOverpaid'
  | 'chargedOffOn'
>

/** A loan of which nothing is late: one that is booked late may be overdue at once. */
export const FRESH: Standing = {
  status: 'Active',
  penaltiesRaised: 0,
  interestAfterDue: 0n,
  overdueSince: null,
  totalOverdue: 0n,
  penaltyOverdue: 0n,
  totalOverpaid: 0n,
  chargedOffOn: null,
}

const OBLIGATIONS_MET = 'Closed (obligations met)'
const WRITTEN_OFF = 'Closed (written off)'

/**
 * Returns the types of the events that follow from a change of a loan, in the order in which they are told: what became of
 * penalties, of interest after the last due date, of arrears, of the charge-off and at last of the status.
 * @param before the loan at the moment of the change, without it
 */
export function consequencesOf(before: Standing, after: Standing): EventType[] {
  const types: EventType[] = []
  if (before.penaltiesRaised !== after.penaltiesRaised)
    types.push(after.penaltiesRaised > before.penaltiesRaised ? 'loan.penalty_raised' : 'loan.penalty_cancelled')
  if (after.interestAfterDue > before.interestAfterDue) types.push('loan.interest_accrued')
  if (before.overdueSince === null && after.overdueSince !== null) types.push('loan.overdue')
  if (before.chargedOffOn === null && after.chargedOffOn !== null) types.push('loan.charged_off')
  const became = statusEvent(before.status, after.status)
  if (became) types.push(became)
  return types
}

function statusEvent(before: Standing['status'], after: Standing['status']): EventType | undefined {
  if (before === after) return undefined
  if (after === OBLIGATIONS_MET) return 'loan.closed'
  if (after === WRITTEN_OFF) return 'loan.written_off'
  return after === 'Overpaid' ? 'loan.overpaid' : 'loan.reopened'
}

/**
 * Returns the types of the events of what time alone changed in a loan: at least one. Another instalment that was not
 * paid in time is told as `loan.overdue` again; a penalty or interest on one that is overdue already is not.
 */
export function eventsOfTime(before: Standing, after: Standing): EventType[] {
  const types = consequencesOf(before, after)
  const scheduled = ({ totalOverdue, penaltyOverdue, interestAfterDue }: Standing) =>
    totalOverdue - penaltyOverdue - interestAfterDue
  if (scheduled(after) > scheduled(before) && !types.includes('loan.overdue')) types.push('loan.overdue')
  return types.length > 0 ? types : ['loan.restated']
}

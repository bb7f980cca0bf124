import { type Day, dayOf, isRepeat } from './calendar.ts'
import { type Debt, noteWhatIsClear, owedIn, type Row, share } from './debt.ts'
import { cutPenalty, type NaiveLoan } from './loan.ts'

// Penalty occurrences (contract 10.7).

/** Returns whether penalties that follow a due date may be raised on a day. */
function isOccurrence({ penalty, product: { repayEvery, repayUnit } }: NaiveLoan, dueDay: Day, day: Day): boolean {
  if (!penalty) return false
  const first = dueDay + penalty.graceDays
  switch (penalty.every) {
    case 'once':
      return day === first
    case 'day':
      return isRepeat(first, day, 1, 'days')
    case 'week':
      return isRepeat(first, day, 1, 'weeks')
    case 'period':
      return isRepeat(first, day, repayEvery, repayUnit)
  }
}

/** Returns the amount of an occurrence that looks at instalments, before any limit. */
function amountOf({ penalty, principal }: NaiveLoan, rows: readonly Row[]): bigint {
  let overduePrincipal = 0n
  let overdueTotal = 0n
  for (const { cells } of rows) {
    overduePrincipal += owedIn(cells.principal)
    overdueTotal += owedIn(cells.principal) + owedIn(cells.interest) + owedIn(cells.fees)
  }
  if (overdueTotal === 0n) return 0n
  const { base, value } = penalty!
  const of = { principal, overdue_principal: overduePrincipal, overdue_total: overdueTotal }
  return base === 'fixed' ? value : share(of[base], value)
}

/**
 * Raises the penalties of a day.
 * @param basis the debt by which is decided what is unpaid
 * @param from the index of the first instalment that may have one of its own
 */
export function raise(loan: NaiveLoan, debt: Debt, basis: Debt, day: Day, from = 0): void {
  if (!loan.penalty) return
  const { maxTimes, per } = loan.penalty
  const most = loan.penalty.every === 'once' ? 1 : maxTimes
  const mayRaise = (times: number) => most === null || times < most
  if (per === 'instalment') {
    for (const [index, row] of debt.rows.entries())
      if (index >= from && isOccurrence(loan, row.dueDay, day) && mayRaise(row.raised))
        raiseOne(loan, debt, row, amountOf(loan, basis.rows.slice(index, index + 1)))
  } else if (from === 0 && isOccurrence(loan, lastDueOf(loan, debt), day) && mayRaise(debt.raised)) {
    const dueByNow = basis.rows.filter(({ dueDay }) => dueDay <= day)
    raiseOne(loan, debt, lastRowOf(loan, debt), amountOf(loan, dueByNow))
  } else return
  noteWhatIsClear(debt, day)
}

/** Returns the last due date of the schedule in force. */
export const lastDueOf = ({ schedule }: NaiveLoan, { lastDue }: Debt): Day => lastDue ?? dayOf(schedule.at(-1)!.dueDate)

/** Returns the last instalment of the schedule in force. */
export const lastRowOf = ({ schedule }: NaiveLoan, { rows, lastDue }: Debt): Row =>
  lastDue === null ? rows[schedule.length - 1]! : rows.findLast(({ dueDay }) => dueDay <= lastDue)!

/** Raises one penalty with an instalment, cut to what the limits leave. */
function raiseOne(loan: NaiveLoan, debt: Debt, row: Row, amount: bigint): void {
  const cut = cutPenalty(loan, debt, amount)
  if (cut === 0n) return
  row.cells.penalty.due += cut
  row.raised++
  debt.raised++
}

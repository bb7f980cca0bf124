import { type Day, dayOf } from './calendar.ts'
import { type Debt, divided, type Effect, owed } from './debt.ts'
import type { NaiveLoan } from './loan.ts'

// Early settlement (contract 10.11).

/** Returns the interest of an instalment of the schedule that is earned on a day. */
function earned({ schedule, product, disbursedOn, earlySettlement }: NaiveLoan, index: number, day: Day): bigint {
  const { interest, dueDate, fromDate } = schedule[index]!
  const due = dayOf(dueDate)
  if (due <= day || earlySettlement === 'full_interest') return interest
  const grace = product.terms?.interestGrace ?? 0
  /** The interest of the first instalment after a grace belongs to all the periods that it waited for. */
  const periods = grace > 0 && index === grace ? schedule.slice(0, index + 1) : [schedule[index]!]
  const from = periods.length > 1 ? disbursedOn : dayOf(fromDate)
  if (earlySettlement === 'interest_to_date')
    return day <= from ? 0n : divided(interest * BigInt(day - from), BigInt(due - from))
  let begun = 0n
  for (const period of periods)
    if (dayOf(period.fromDate) < day || (period.period === 1 && day === disbursedOn)) begun++
  return divided(interest * begun, BigInt(periods.length))
}

/** Returns what is forgiven of each instalment of the schedule in a settlement on a day; nothing after a write-off. */
export function forgiven(loan: NaiveLoan, debt: Debt, day: Day): bigint[] {
  // The schedule is that of the rows as long as no restructure has made others, which the model has for such loans alone.
  if (loan.earlySettlement === 'full_interest') return debt.rows.map(() => 0n)
  return loan.schedule.map(({ interest }, index) => {
    const { waived } = debt.rows[index]!.cells.interest
    const rest = interest - earned(loan, index, day) - waived
    return rest > 0n && debt.writtenOffOn === null ? rest : 0n
  })
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, one) => sum + one, 0n)

/** Returns whether what is outstanding is no more than what is forgiven, of which there is some. */
export function isSettled(loan: NaiveLoan, debt: Debt, day: Day): boolean {
  if (loan.earlySettlement === 'full_interest') return false
  const most = sumOf(forgiven(loan, debt, day))
  return most > 0n && owed(debt) <= most
}

/**
 * Waives what is forgiven, where the loan is settled.
 * @returns what had paid it, for the caller to pay with what else is owed
 */
export function settle(
  loan: NaiveLoan,
  debt: Debt,
  { day, effect }: { readonly day: Day; readonly effect: Effect },
): bigint {
  if (!isSettled(loan, debt, day)) return 0n
  const amounts = forgiven(loan, debt, day)
  effect.parts.interest = sumOf(amounts)
  let freed = 0n
  for (const [index, amount] of amounts.entries()) {
    const { interest } = debt.rows[index]!.cells
    interest.waived += amount
    const most = interest.due - interest.waived
    if (interest.paid <= most) continue
    freed += interest.paid - most
    interest.paid = most
  }
  return freed
}

/** What it takes to settle a loan on a day. */
export interface NaiveQuote {
  readonly interestWaived: bigint
  readonly settlementAmount: bigint
  readonly overpaid: bigint
}

/** @param isBarred whether a waiver of the day was reversed, so that no other follows */
export function quoteOn(loan: NaiveLoan, debt: Debt, day: Day, isBarred = false): NaiveQuote {
  const interestWaived = isBarred ? 0n : sumOf(forgiven(loan, debt, day))
  const rest = owed(debt) - interestWaived
  return {
    interestWaived,
    settlementAmount: rest > 0n ? rest : 0n,
    overpaid: debt.overpaid + (rest < 0n ? -rest : 0n),
  }
}

import type { DelinquencyPolicy } from '../../../../src/domain/delinquency/policy.ts'
import { type Day, dayAt, startOf } from '../../terms/naive/calendar.ts'
import { type Debt, owed, owedOf, share, total } from '../../terms/naive/debt.ts'
import { lifeOf } from '../../terms/naive/life.ts'
import type { NaiveLoan, Transaction } from '../../terms/naive/loan.ts'

// How late a loan is, day by day, from what the model of loans owes of each instalment. Written from the contract (11), on
// purpose without the code of the service.

/** A loan at the end of a day, or at the moment that is asked for. Amounts in minor units. */
export interface NaiveDay {
  readonly day: Day
  readonly state: 'open' | 'closed' | 'written off'
  /** The index of the bucket, where the loan is open. */
  readonly index: number
  readonly daysPastDue: number
  /** What is owed of instalments that are overdue, whether it counts or not. */
  readonly overdue: bigint
  readonly principal: bigint
  readonly provision: bigint
}

/** What is carried from one day to the next. */
interface Carried {
  /** The days in a row with arrears that count. */
  lateDays: number
  /** The bucket in which the loan is; null: the loan was not open. */
  held: number | null
  /** The days in a row in better buckets than that. */
  betterDays: number
}

/** Returns how late a loan was on each day from disbursement to a moment. */
export function naiveDays(
  loan: NaiveLoan,
  transactions: readonly Transaction[],
  policy: DelinquencyPolicy,
  asOf: number,
): NaiveDay[] {
  const carried: Carried = { lateDays: 0, held: null, betterDays: 0 }
  const days: NaiveDay[] = []
  lifeOf(loan, transactions, asOf, (day, debt) => days.push(naiveDay(loan, debt, policy, { day, carried })))
  return days
}

/** Returns the last moment of a day that counts for the day: its end, or the moment that is asked for. */
export const lastMomentOf = (day: Day, asOf: number): number => (day === dayAt(asOf) ? asOf : startOf(day + 1) - 1)

function naiveDay(
  loan: NaiveLoan,
  debt: Debt,
  policy: DelinquencyPolicy,
  { day, carried }: { readonly day: Day; readonly carried: Carried },
): NaiveDay {
  let principal = total(debt, 'principal', 'due')
  for (const column of ['paid', 'waived', 'writtenOff'] as const) principal -= total(debt, 'principal', column)
  if (owed(debt) === 0n) {
    Object.assign(carried, { lateDays: 0, held: null, betterDays: 0 } satisfies Carried)
    const state = debt.writtenOffOn === null ? 'closed' : 'written off'
    return { day, state, index: 0, daysPastDue: 0, overdue: 0n, principal, provision: 0n }
  }
  const { daysPastDue, overdue } = daysLate(loan, debt, policy, { day, carried })
  const index = held(carried, bucketOf(policy, daysPastDue), policy.cureDays)
  const rate = policy.buckets[index]!.provisionRate
  const provision = rate === null || debt.chargedOffOn !== null ? 0n : share(principal, rate)
  return { day, state: 'open', index, daysPastDue, overdue, principal, provision }
}

/** Returns the days past due and the arrears, and counts the days in a row. */
function daysLate(
  { principal, product: { currency } }: NaiveLoan,
  { rows }: Debt,
  { materiality, countFrom }: DelinquencyPolicy,
  { day, carried }: { readonly day: Day; readonly carried: Carried },
): Pick<NaiveDay, 'daysPastDue' | 'overdue'> {
  let [overdue, oldest] = [0n, day]
  for (const row of rows) {
    if (row.dueDay >= day || owedOf(row) === 0n) continue
    overdue += owedOf(row)
    oldest = Math.min(oldest, row.dueDay)
  }
  let counts = overdue > 0n
  if (materiality !== null) {
    const { amount, currency: ofAmount = currency.code, percentOfPrincipal: percent } = materiality
    if (amount !== null && ofAmount === currency.code && overdue <= amount) counts = false
    // 100 percent are 100 million units of a rate.
    if (percent !== null && overdue * 100_000_000n <= principal * percent) counts = false
  }
  carried.lateDays = counts ? carried.lateDays + 1 : 0
  const daysPastDue = countFrom === 'oldest_unpaid' ? day - oldest : carried.lateDays
  return { daysPastDue: counts ? daysPastDue : 0, overdue }
}

function bucketOf({ buckets }: DelinquencyPolicy, days: number): number {
  const index = buckets.findIndex(({ fromDays, toDays }) => fromDays <= days && (toDays === null || days <= toDays))
  if (index === -1) throw new Error(`no bucket has ${days} days`)
  return index
}

/** Returns the bucket in which a loan is that would be in one by the days alone: better ones wait for the days of cure. */
function held(carried: Carried, index: number, cureDays: number): number {
  carried.betterDays = carried.held !== null && index < carried.held ? carried.betterDays + 1 : 0
  const isWaiting = carried.betterDays > 0 && carried.betterDays <= cureDays
  if (isWaiting && carried.held !== null) return carried.held
  carried.held = index
  carried.betterDays = 0
  return index
}

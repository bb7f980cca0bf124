import { type Currency, RATE_UNIT, type Rate } from '../money.ts'

/** From which day on days past due are counted (contract 11.2). */
export const COUNT_FROM = ['oldest_unpaid', 'first_arrears'] as const
export type CountFrom = (typeof COUNT_FROM)[number]

/** The stages of IFRS 9. */
export const STAGES = [1, 2, 3] as const
export type Stage = (typeof STAGES)[number]

/** A range of days past due. */
export interface Bucket {
  readonly name: string
  readonly fromDays: number
  /** Null: without end. */
  readonly toDays: number | null
  /** The class of the loan in the words of a supervisor; null: none. */
  readonly class: string | null
  readonly stage: Stage | null
  /** The provision as a share of the principal outstanding; null: none. */
  readonly provisionRate: Rate | null
}

/** The most arrears that do not count: both limits have to be exceeded where both are given. */
export interface Materiality {
  /** In minor units; null: no such limit. */
  readonly amount: bigint | null
  /** The code of the amount's currency: loans in another have no such limit. Left out: the amount is in that of each loan. */
  readonly currency?: string | undefined
  /** Of the principal that was lent; null: no such limit. */
  readonly percentOfPrincipal: Rate | null
}

/** The rules by which a lender says how late a loan is (contract 11). */
export interface DelinquencyPolicy {
  /** By days, from 0 on, without gap or overlap; the last one has no end. */
  readonly buckets: readonly Bucket[]
  readonly countFrom: CountFrom
  readonly materiality: Materiality | null
  /** The days in a row for which a loan has to be in a better bucket before it moves there. */
  readonly cureDays: number
}

/** Returns the index of the bucket of days past due. */
export function bucketIndex({ buckets }: DelinquencyPolicy, days: number): number {
  let index = buckets.length - 1
  while (index > 0 && buckets[index]!.fromDays > days) index--
  return index
}

/** Returns the policy for loans in a currency: a limit in another currency is none of theirs. */
export function policyIn(policy: DelinquencyPolicy, { code }: Currency): DelinquencyPolicy {
  const { materiality } = policy
  if (!materiality || materiality.amount === null || (materiality.currency ?? code) === code) return policy
  return { ...policy, materiality: { ...materiality, amount: null } }
}

/** Returns whether arrears count. Amounts in minor units. */
export function isMaterial({ materiality }: DelinquencyPolicy, overdue: bigint, principal: bigint): boolean {
  if (overdue === 0n) return false
  if (materiality === null) return true
  const { amount, percentOfPrincipal: percent } = materiality
  return (amount === null || overdue > amount) && (percent === null || overdue * RATE_UNIT > principal * percent)
}

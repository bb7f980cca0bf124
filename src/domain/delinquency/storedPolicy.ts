import { invariant } from '../errors.ts'
import { digits, isCount } from '../product/storedNumbers.ts'
import { type Bucket, COUNT_FROM, type DelinquencyPolicy, type Materiality, STAGES } from './policy.ts'

/** A bucket as it is stored: its rate in digits, which JSON keeps exactly. */
type StoredBucket = Omit<Bucket, 'provisionRate'> & { readonly provisionRate: string | null }

/** Limits as they are stored: numbers in digits. */
interface StoredMateriality {
  readonly amount: string | null
  readonly currency: string | null
  readonly percentOfPrincipal: string | null
}

/** A policy as it is stored and as the audit trail has it: rates in millionths of a percent, amounts in minor units. */
export interface StoredPolicy extends Pick<DelinquencyPolicy, 'countFrom' | 'cureDays'> {
  readonly buckets: readonly StoredBucket[]
  readonly materiality: StoredMateriality | null
}

const textOf = (number: bigint | null): string | null => number?.toString() ?? null

/** Returns a policy in the form in which it is stored. */
export const toStoredPolicy = ({ buckets, countFrom, materiality, cureDays }: DelinquencyPolicy): StoredPolicy => ({
  buckets: buckets.map(({ name, fromDays, toDays, class: ofClass, stage, provisionRate }) => ({
    name,
    fromDays,
    toDays,
    class: ofClass,
    stage,
    provisionRate: textOf(provisionRate),
  })),
  countFrom,
  materiality: materiality && {
    amount: textOf(materiality.amount),
    currency: materiality.currency ?? null,
    percentOfPrincipal: textOf(materiality.percentOfPrincipal),
  },
  cureDays,
})

/** Returns the policy of its stored form. @throws InvariantError for a value that `toStoredPolicy` did not make */
export function fromStoredPolicy(stored: unknown): DelinquencyPolicy {
  const { buckets, countFrom, materiality, cureDays } = stored as StoredPolicy
  invariant(
    Array.isArray(buckets) &&
      buckets.length > 0 &&
      buckets.every(isStoredBucket) &&
      COUNT_FROM.includes(countFrom) &&
      isCount(cureDays),
    'a stored delinquency policy with buckets, a first day and days of cure',
  )
  return {
    buckets: buckets.map(({ name, fromDays, toDays, class: ofClass, stage, provisionRate }) => ({
      name,
      fromDays,
      toDays,
      class: ofClass,
      stage,
      provisionRate: numberOf(provisionRate),
    })),
    countFrom,
    materiality: materiality === null ? null : fromStoredMateriality(materiality),
    cureDays,
  }
}

const numberOf = (text: string | null): bigint | null => (text === null ? null : digits(text))

const isStoredBucket = ({ name, fromDays, toDays, stage }: StoredBucket): boolean =>
  typeof name === 'string' &&
  isCount(fromDays) &&
  (toDays === null || isCount(toDays)) &&
  (stage === null || STAGES.includes(stage))

const fromStoredMateriality = ({ amount, currency, percentOfPrincipal }: StoredMateriality): Materiality => ({
  amount: numberOf(amount),
  ...(currency !== null && { currency }),
  percentOfPrincipal: numberOf(percentOfPrincipal),
})

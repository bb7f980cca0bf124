import { invariant } from '../errors.ts'
import { type Currency, RATE_UNIT, type Rate } from '../money.ts'
import { digits, isCount } from '../product/storedTerms.ts'

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

/** A policy by name, and where its figures are from. */
interface Preset {
  readonly name: string
  readonly source: string
  readonly policy: DelinquencyPolicy
}

type Row = readonly [
  name: string,
  toDays: number | null,
  more?: Partial<Pick<Bucket, 'class' | 'stage' | 'provisionRate'>>,
]

const PERCENT = 1_000_000n
const ofClass = (name: string, percent: bigint) => ({ class: name, provisionRate: percent * PERCENT })
const ofStage = (stage: Stage) => ({ stage })

const policyOf = (rows: readonly Row[]): DelinquencyPolicy => ({
  buckets: bucketsOf(rows),
  countFrom: 'oldest_unpaid',
  materiality: null,
  cureDays: 0,
})

/**
 * The policies that a lender can name. The first is in force until the lender sets one: it is version 0 of every lender, and
 * must never change.
 */
export const PRESETS: readonly [Preset, ...Preset[]] = [
  {
    name: 'par',
    source: 'CGAP, Measuring Microcredit Delinquency, Occasional Paper 3 (1999): portfolio at risk by age',
    policy: policyOf([
      ['current', 0],
      ['1-30', 30],
      ['31-60', 60],
      ['61-90', 90],
      ['over 90', null],
    ]),
  },
  {
    name: 'cbk',
    source:
      'Central Bank of Kenya, Prudential Guideline CBK/PG/04 (2013), Risk Classification of Assets and Provisioning: minimum provisions',
    policy: policyOf([
      ['normal', 30, ofClass('Normal', 1n)],
      ['watch', 90, ofClass('Watch', 3n)],
      ['substandard', 180, ofClass('Substandard', 20n)],
      ['doubtful', 360, ofClass('Doubtful', 100n)],
      ['loss', null, ofClass('Loss', 100n)],
    ]),
  },
  {
    name: 'ifrs9',
    source:
      'IFRS 9, 5.5.11 (more than 30 days past due) and B5.5.37 (default no later than 90 days past due): presumptions that can be rebutted',
    policy: policyOf([
      ['stage 1', 30, ofStage(1)],
      ['stage 2', 89, ofStage(2)],
      ['stage 3', null, ofStage(3)],
    ]),
  },
]

/** Returns buckets from their names and last days, each from the day after the one before. */
function bucketsOf(rows: readonly Row[]): Bucket[] {
  let fromDays = 0
  return rows.map(([name, toDays, more]) => {
    const bucket = { name, fromDays, toDays, class: null, stage: null, provisionRate: null, ...more }
    fromDays = (toDays ?? 0) + 1
    return bucket
  })
}

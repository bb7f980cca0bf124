import { dateIn, type Instant, type LocalDate } from '../dates.ts'
import type { Bucket, DelinquencyPolicy } from './policy.ts'
import { type Positioned, provisionOf } from './position.ts'
import { daysPastDueOn, type Segment, segmentsOf } from './segments.ts'

/** How late a loan is by a policy. */
export interface DelinquencyNow {
  readonly daysPastDue: number
  readonly bucket: Bucket
  /** The first day of the span that goes on. */
  readonly since: LocalDate
  /** In minor units; null: the bucket has no rate. */
  readonly provision: bigint | null
}

/** Returns how late a loan is at a moment; null where it owes nothing then. */
export function delinquencyNow(
  { terms, entries }: Positioned,
  policy: DelinquencyPolicy,
  asOf: Instant,
): DelinquencyNow | null {
  let last: Segment | undefined
  let since = terms.disbursedOn
  for (const segment of segmentsOf(terms, entries, policy, asOf)) {
    if (last?.standing.state !== 'open' || last.index !== segment.index) since = segment.from
    last = segment
  }
  if (last?.standing.state !== 'open') return null
  const { index, standing } = last
  const bucket = policy.buckets[index]!
  const provision = bucket.provisionRate === null ? null : provisionOf(policy, { index, ...standing })
  return { daysPastDue: daysPastDueOn(last, dateIn(terms.zone, asOf)), bucket, since, provision }
}

import { setImmediate as turn } from 'node:timers/promises'
import { findOverdue, type OverdueLoan, type OverduePlace, readOverdue } from '../../db/portfolio/arrearsList.ts'
import { inSnapshot, type Snapshot } from '../../db/postgres/transaction.ts'
import { displayName } from '../../domain/customer/customer.ts'
import {
  addPeriods,
  dateIn,
  dayBefore,
  type Instant,
  isCalendarDate,
  type LocalDate,
  startOfDay,
  toRfc3339,
} from '../../domain/dates.ts'
import type { Bucket, DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { delinquencyNow, followsFromDay } from '../../domain/delinquency/position.ts'
import { invalidArgument } from '../../domain/errors.ts'
import { isCustomerRepayment } from '../../domain/loan/entry.ts'
import { replay } from '../../domain/loan/replay.ts'
import type { Currency } from '../../domain/money.ts'
import { LARGEST_INT64 } from '../../toolbox/integers.ts'
import type { Caller } from '../access/caller.ts'
import { findPolicy, type NamedPolicy } from '../delinquency/policies.ts'
import type { Caches, Core } from '../deps.ts'

/** The most loans of one answer. */
export const MOST_ARREARS = 1_000
/** The most loans that are replayed for one answer, where a bucket is asked for that only a replay finds. */
const MOST_REPLAYED = 5_000
/** Loans that are read at once, and those that are replayed before requests get their turn. */
const READ = { atOnce: 200, slice: 50 } as const
/** What is asked of the overdue loans. */
export interface ArrearsRequest {
  /** The name of a bucket of the policy in force; left out: all overdue loans. */
  readonly bucket?: string | undefined
  /** 1 to `MOST_ARREARS`. */
  readonly rows: number
  /** The `next` of the answer before; left out: the beginning of the list. */
  readonly after?: string | undefined
}

/** An overdue loan. Amounts in minor units. */
export interface LateLoan extends Pick<OverdueLoan, 'id' | 'externalId' | 'customerId' | 'customerExternalId'> {
  readonly customerName: string
  readonly phone: string | null
  /** Null: of no product, but of a record system. */
  readonly productId: number | null
  readonly productName: string | null
  readonly currency: Currency
  /** The due date of the oldest instalment that is unpaid. */
  readonly dueOn: LocalDate
  readonly daysPastDue: number
  readonly bucket: Bucket
  readonly overdue: bigint
  readonly principal: bigint
  /** The value date of the last repayment; null: there is none. */
  readonly lastPaidOn: LocalDate | null
}

/** Overdue loans, those with the oldest unpaid instalment first. */
export interface ArrearsList {
  readonly asOf: LocalDate
  readonly policy: NamedPolicy
  readonly loans: readonly LateLoan[]
  /** Where the list goes on; undefined at its end. An answer about a bucket may have no loans, and go on. */
  readonly next: string | undefined
}

/**
 * Lists the overdue loans of the caller's organization as they are now, with their buckets by the policy in force. Every
 * role sees them: a loan officer calls the customers.
 * @throws LendingError `invalid_argument` for a bucket or a place that is none; `resource_exhausted` when too many
 *   questions about a whole portfolio wait
 */
export async function listArrears(deps: Core & Caches, caller: Caller, request: ArrearsRequest): Promise<ArrearsList> {
  const { organizationId } = caller
  const now = deps.now(organizationId)
  const today = dateIn(deps.config.zone, now)
  const after = request.after === undefined ? null : placeOf(request.after)
  const policy = await findPolicy(deps, organizationId, {})
  const bucket = request.bucket === undefined ? undefined : bucketOf(policy.policy, request.bucket)
  const asked = { organizationId, today, now, policy: policy.policy, bucket, after, rows: request.rows }
  const name = JSON.stringify(['arrears', policy.version, request])
  const read = () => inSnapshot(deps.db, (snapshot) => readList(deps, snapshot, asked))
  const found = await deps.portfolioReads.run({ organizationId, name }, read)
  return { asOf: today, policy, ...found }
}

const toPlace = ({ dueOn, id }: OverduePlace): string => `${dueOn}.${id}`

function placeOf(text: string): OverduePlace {
  const [, dueOn = '', digits = ''] = /^(\d{4}-\d{2}-\d{2})\.(\d{1,19})$/.exec(text) ?? []
  if (!isCalendarDate(dueOn) || BigInt(digits) > LARGEST_INT64)
    throw invalidArgument('after', 'must be the place that the answer before gave')
  return { dueOn, id: BigInt(digits) }
}

/** Returns a bucket by its name. @throws LendingError `invalid_argument` */
export function bucketOf({ buckets }: DelinquencyPolicy, name: string): Bucket {
  const bucket = buckets.find((one) => one.name === name)
  const names = buckets.map((one) => one.name).join(', ')
  if (!bucket) throw invalidArgument('bucket', `must be one of the policy in force: ${names}`)
  return bucket
}

interface Asked {
  readonly organizationId: number
  readonly today: LocalDate
  readonly now: Instant
  readonly policy: DelinquencyPolicy
  readonly bucket: Bucket | undefined
  readonly after: OverduePlace | null
  readonly rows: number
}

/** Reads the loans of a list, by as many of the overdue ones as it takes. */
async function readList(
  { config: { zone } }: Core,
  snapshot: Snapshot,
  { organizationId, today, now, policy, bucket, after, rows }: Asked,
): Promise<Pick<ArrearsList, 'loans' | 'next'>> {
  const dayDecides = followsFromDay(policy) && policy.materiality === null
  const isFiltered = bucket !== undefined && !dayDecides
  const most = isFiltered ? MOST_REPLAYED : rows
  const due = bucket === undefined ? { dueFrom: null, dueTo: null } : dueOf(bucket, policy, today)
  const start = toRfc3339(startOfDay(today, zone), zone)
  const places = await findOverdue(snapshot, { organizationId, today, start, ...due, after, most })
  const loans: LateLoan[] = []
  let seen = 0
  while (seen < places.length && loans.length < rows) {
    const ids = places.slice(seen, seen + READ.atOnce).map(({ id }) => id)
    for (const loan of await readOverdue(snapshot, zone, { organizationId, ids })) {
      if (loans.length === rows) break
      const late = lateOf(loan, policy, { dueOn: places[seen]!.dueOn, now })
      if (late && (!isFiltered || late.bucket === bucket)) loans.push(late)
      if (++seen % READ.slice === 0) await turn()
    }
  }
  const isEnd = seen === places.length && places.length < most
  return { loans, next: isEnd ? undefined : toPlace(places[seen - 1]!) }
}

/**
 * Returns the due dates that loans in a bucket can have; exactly those where the days past due of a day decide alone. Cure
 * and the first day of arrears keep a loan in a worse bucket than the days since the oldest due date, and small arrears in
 * the first.
 */
const dueOf = (
  { fromDays, toDays }: Bucket,
  { countFrom, cureDays, materiality }: DelinquencyPolicy,
  today: LocalDate,
) => ({
  dueFrom: toDays === null || materiality !== null ? null : addPeriods(today, -toDays, 'days'),
  dueTo:
    fromDays === 0 || countFrom !== 'oldest_unpaid' || cureDays > 0
      ? dayBefore(today)
      : addPeriods(today, -fromDays, 'days'),
})

/** Returns how late a loan is; undefined where it owes nothing. */
function lateOf(
  loan: OverdueLoan,
  policy: DelinquencyPolicy,
  { dueOn, now }: { readonly dueOn: LocalDate; readonly now: Instant },
): LateLoan | undefined {
  const late = delinquencyNow(loan, policy, now)
  if (late === null) return undefined
  const { totalOverdue, outstanding } = replay(loan.terms, loan.entries, now)
  const paid = loan.entries.filter(({ type, reversedAt }) => reversedAt === null && isCustomerRepayment(type))
  const { id, externalId, customerId, customerExternalId, productId, productName } = loan
  return {
    id,
    externalId,
    customerId,
    customerExternalId,
    productId,
    productName,
    customerName: displayName({ externalId: customerExternalId, businessName: loan.customerBusinessName }),
    phone: loan.customerPhone,
    currency: loan.terms.currency,
    dueOn,
    daysPastDue: late.daysPastDue,
    bucket: late.bucket,
    overdue: totalOverdue,
    principal: outstanding.principal,
    lastPaidOn: paid.reduce<LocalDate | null>(
      (last, { valueDate }) => (last === null || valueDate > last ? valueDate : last),
      null,
    ),
  }
}

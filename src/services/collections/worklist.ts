import { setImmediate as turn } from 'node:timers/promises'
import {
  findWork,
  readPeopleOf,
  readWorkDetails,
  type WorkDetails,
  type WorklistOrder,
  type WorkPlace,
} from '../../db/collections/worklist.ts'
import { type OverdueLoan, readOverdue } from '../../db/portfolio/arrearsList.ts'
import { inSnapshot } from '../../db/postgres/transaction.ts'
import { hasPermission } from '../../domain/access/permissions.ts'
import { displayName } from '../../domain/customer/customer.ts'
import { fullName, type Identity } from '../../domain/customer/identity.ts'
import { dateIn, type Instant, type LocalDate, startOfDay, toRfc3339 } from '../../domain/dates.ts'
import type { Bucket, DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { delinquencyNow } from '../../domain/delinquency/position.ts'
import { isCustomerRepayment } from '../../domain/loan/entry.ts'
import { replay } from '../../domain/loan/replay.ts'
import type { Currency } from '../../domain/money.ts'
import type { Caller } from '../access/caller.ts'
import { findPolicy } from '../delinquency/policies.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { bucketOf } from '../portfolio/arrears.ts'

export { WORKLIST_ORDERS, type WorklistOrder } from '../../db/collections/worklist.ts'

/** The most loans of one answer. */
export const MOST_WORK = 100
/** Loans that are replayed before requests get their turn. */
const SLICE = 50

/** What is asked of the work list. */
export interface WorklistRequest {
  readonly orderBy: WorklistOrder
  /** The account of an officer; `none`: loans that nobody has; left out: all. */
  readonly assignedTo?: number | 'none' | undefined
  readonly productId?: number | undefined
  /** The name of a bucket of the policy in force. */
  readonly bucket?: string | undefined
  readonly page: number
  /** 1 to `MOST_WORK`. */
  readonly rows: number
}

/** A loan to work at. Amounts in minor units. */
export interface WorkItem
  extends Pick<WorkPlace, 'nextOn' | 'assignedTo' | 'contactedAt' | 'channel' | 'outcome'>,
    Pick<WorkDetails, 'held' | 'promiseId' | 'promised' | 'by'>,
    Pick<OverdueLoan, 'id' | 'externalId' | 'customerId' | 'customerExternalId' | 'productId' | 'productName'> {
  readonly customerName: string
  readonly phone: string | null
  readonly currency: Currency
  readonly status: string
  readonly daysPastDue: number
  /** Null: the loan is not open. */
  readonly bucket: Bucket | null
  readonly overdue: bigint
  readonly outstanding: bigint
  readonly brokenPromises: number
  /** The value date of the last repayment; null: there is none. */
  readonly lastPaidOn: LocalDate | null
}

/** A page of the work list. */
export interface Worklist {
  readonly asOf: LocalDate
  readonly items: readonly WorkItem[]
  readonly total: number
}

/**
 * Lists the loans to work at: those that are overdue, and those whose next action is due. The figures are of now; the bucket that is
 * asked for is the one of the beginning of the day. Who may read people sees who the customers are.
 * @throws LendingError `invalid_argument` for a bucket that is none; `resource_exhausted` when too many questions about a whole
 *   portfolio wait
 */
export async function readWorklist(
  deps: Core & Caches & Pick<Writing, 'people'>,
  caller: Caller,
  request: WorklistRequest,
): Promise<Worklist> {
  const { organizationId } = caller
  const { zone } = deps.config
  const now = deps.now(organizationId)
  const today = dateIn(zone, now)
  const { policy, version } = await findPolicy(deps, organizationId, {})
  const { assignedTo, productId = null, orderBy, page, rows } = request
  const asked = {
    organizationId,
    today,
    start: toRfc3339(startOfDay(today, zone), zone),
    assignedTo: assignedTo === 'none' ? 0 : (assignedTo ?? null),
    productId,
    bucket: request.bucket === undefined ? null : bucketOf(policy, request.bucket).name,
    bestBucket: policy.buckets[0]!.name,
    skip: (page - 1) * rows,
    rows,
  }
  const read = () =>
    inSnapshot(deps.db, async (snapshot) => {
      const { places, total } = await findWork(snapshot, orderBy, asked)
      const ids = places.map(({ id }) => id)
      const loans = new Map((await readOverdue(snapshot, zone, { organizationId, ids })).map((loan) => [loan.id, loan]))
      const details = await readWorkDetails(snapshot, { organizationId, ids, today })
      const customerIds = [...loans.values()].map(({ customerId }) => customerId)
      const sealed = hasPermission(caller, 'people.read')
        ? await readPeopleOf(snapshot, { organizationId, ids: customerIds })
        : []
      const known = new Map(sealed.map((one) => [one.id, deps.people.open({ organizationId, id: one.id }, one)]))
      const detailed = new Map(details.map((one) => [one.loanId, one]))
      const items: WorkItem[] = []
      for (const [index, place] of places.entries()) {
        const loan = loans.get(place.id)!
        const item = itemOf(loan, { place, details: detailed.get(place.id)!, policy, now })
        const person = known.get(loan.customerId)
        items.push(person ? { ...item, ...toldOf(item, person) } : item)
        if ((index + 1) % SLICE === 0) await turn()
      }
      return { asOf: today, items, total }
    })
  const name = JSON.stringify(['worklist', version, request, hasPermission(caller, 'people.read')])
  return deps.portfolioReads.run({ organizationId, name }, read)
}

/** Returns the name and the phone number of a person, where they are known. */
const toldOf = ({ customerName, phone }: WorkItem, person: Identity): Pick<WorkItem, 'customerName' | 'phone'> => ({
  customerName: fullName(person) || customerName,
  phone: person.phone ?? phone,
})

function itemOf(
  loan: OverdueLoan,
  {
    place,
    details,
    policy,
    now,
  }: {
    readonly place: WorkPlace
    readonly details: WorkDetails
    readonly policy: DelinquencyPolicy
    readonly now: Instant
  },
): WorkItem {
  const late = delinquencyNow(loan, policy, now)
  const { status, totalOverdue, totalOutstanding } = replay(loan.terms, loan.entries, now)
  const paid = loan.entries.filter(({ type }) => isCustomerRepayment(type)).map(({ valueDate }) => valueDate)
  return {
    ...place,
    ...details,
    id: loan.id,
    externalId: loan.externalId,
    customerId: loan.customerId,
    customerExternalId: loan.customerExternalId,
    productId: loan.productId,
    productName: loan.productName,
    customerName: displayName({ externalId: loan.customerExternalId, businessName: loan.customerBusinessName }),
    phone: loan.customerPhone,
    currency: loan.terms.currency,
    status,
    daysPastDue: late?.daysPastDue ?? 0,
    bucket: late?.bucket ?? null,
    overdue: totalOverdue,
    outstanding: totalOutstanding,
    brokenPromises: place.broken,
    lastPaidOn: paid.sort().at(-1) ?? null,
  }
}

import { setImmediate as turn } from 'node:timers/promises'
import type { Deps } from '../../app/deps.ts'
import { type DayMoved, findDue, sumDay } from '../../db/office/today.ts'
import { type OverdueLoan, readOverdue } from '../../db/portfolio/arrearsList.ts'
import { inSnapshot } from '../../db/postgres/transaction.ts'
import { displayName } from '../../domain/customer/customer.ts'
import { dateIn, dayAfter, type Instant, type LocalDate, startOfDay, toRfc3339 } from '../../domain/dates.ts'
import { owedOf } from '../../domain/loan/allocation.ts'
import { COMPONENTS } from '../../domain/loan/portions.ts'
import { replay } from '../../domain/loan/replay.ts'
import { type Currency, sum } from '../../domain/money.ts'
import type { Caller } from '../access/caller.ts'

/** The loans of one part of the list, and those that are replayed before requests get their turn. */
export const DUE_ROWS = 50
const SLICE = 25

/** A loan with an instalment that is due today and not paid in full. Minor units. */
export interface DueLoan {
  readonly id: bigint
  readonly customerId: bigint
  readonly customerName: string
  readonly phone: string | null
  readonly currency: Currency
  /** The part of the instalments due up to today that is not paid. */
  readonly due: bigint
  readonly outstanding: bigint
}

/** The day of an office: what moved, and the loans with an instalment that is due. */
export interface Today extends DayMoved {
  readonly today: LocalDate
  readonly dueLoans: readonly DueLoan[]
  /** The id after which the list of loans goes on; undefined at its end. */
  readonly next: bigint | undefined
}

/**
 * Returns the day of the caller's organization as it is now.
 * @param after the `next` of the part before; 0 for the first part
 */
export async function getToday(deps: Deps, { organizationId }: Caller, after: bigint): Promise<Today> {
  const { zone } = deps.config
  const now = deps.now(organizationId)
  const today = dateIn(zone, now)
  const [start, end] = [today, dayAfter(today)].map((day) => toRfc3339(startOfDay(day, zone), zone))
  return inSnapshot(deps.db, async (snapshot) => {
    const moved = await sumDay(snapshot, { organizationId, today, start: start!, end: end! })
    const ids = await findDue(snapshot, { organizationId, today, after, most: DUE_ROWS })
    const read = ids.length === 0 ? [] : await readOverdue(snapshot, zone, { organizationId, ids })
    const dueLoans: DueLoan[] = []
    for (const [index, loan] of read.entries()) {
      dueLoans.push(dueOf(loan, { today, now }))
      if (index % SLICE === SLICE - 1) await turn()
    }
    return { today, ...moved, dueLoans, next: ids.length === DUE_ROWS ? ids.at(-1) : undefined }
  })
}

function dueOf(loan: OverdueLoan, { today, now }: { readonly today: LocalDate; readonly now: Instant }): DueLoan {
  const { periods, totalOutstanding } = replay(loan.terms, loan.entries, now)
  const upToToday = periods.filter(({ dueDate }) => dueDate <= today)
  return {
    id: loan.id,
    customerId: loan.customerId,
    customerName: displayName({ externalId: loan.customerExternalId, businessName: loan.customerBusinessName }),
    phone: loan.customerPhone,
    currency: loan.terms.currency,
    due: sum(upToToday.flatMap((period) => COMPONENTS.map((component) => owedOf(period, component)))),
    outstanding: totalOutstanding,
  }
}

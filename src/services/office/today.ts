import { setImmediate as turn } from 'node:timers/promises'
import { readLoans } from '../../db/loans/loans.ts'
import { type DayMoved, findDue, type MayOwe, type Moved, readOwing, sumDay } from '../../db/office/today.ts'
import { type OverdueLoan, readOverdue } from '../../db/portfolio/arrearsList.ts'
import { inSnapshot, type Snapshot } from '../../db/postgres/transaction.ts'
import { displayName } from '../../domain/customer/customer.ts'
import { dateIn, dayAfter, type Instant, type LocalDate, startOfDay, toRfc3339 } from '../../domain/dates.ts'
import type { Period } from '../../domain/loan/allocation.ts'
import { replay } from '../../domain/loan/replay.ts'
import { type Currency, sum } from '../../domain/money.ts'
import type { Caller } from '../access/caller.ts'
import type { Core } from '../deps.ts'

/** The loans of one part of the list, and those that are replayed before requests get their turn. */
export const DUE_ROWS = 50
const SLICE = 25
/** The heads that are read at once. */
const HEADS = 500

/** A loan with an instalment that is due today and not paid in full. Minor units. */
export interface DueLoan {
  readonly id: bigint
  readonly customerId: bigint
  readonly customerName: string
  readonly phone: string | null
  readonly currency: Currency
  /** The part of the instalments due today that is not paid. */
  readonly dueToday: bigint
  /** The part of the instalments due up to today that is not paid. */
  readonly due: bigint
  readonly outstanding: bigint
}

/** The day of an office: what moved, and the loans with an instalment that is due. */
export interface Today extends DayMoved {
  readonly today: LocalDate
  /** What is not paid of the instalments that are due today. */
  readonly due: readonly Moved[]
  readonly dueLoans: readonly DueLoan[]
  /** The id after which the list of loans goes on; undefined at its end. */
  readonly next: bigint | undefined
}

/** A day of an organization, in one view of the book. */
interface Day {
  readonly organizationId: number
  readonly today: LocalDate
  /** The first instant of the next day, as RFC 3339. */
  readonly end: string
  readonly now: Instant
  readonly zone: string
}

/**
 * Returns the day of the caller's organization as it is now.
 * @param after the `next` of the part before; 0 for the first part
 */
export async function getToday(deps: Core, { organizationId }: Caller, after: bigint): Promise<Today> {
  const { zone } = deps.config
  const now = deps.now(organizationId)
  const today = dateIn(zone, now)
  const [start, end] = [today, dayAfter(today)].map((day) => toRfc3339(startOfDay(day, zone), zone))
  const day = { organizationId, today, end: end!, now, zone }
  return inSnapshot(deps.db, async (snapshot) => {
    const moved = await sumDay(snapshot, { organizationId, today, start: start!, end: end! })
    const due = await sumOwed(snapshot, day)
    return { today, ...moved, due, ...(await listDue(snapshot, day, after)) }
  })
}

/** Sums up what is not paid of the instalments that are due on a day, by currency. */
async function sumOwed(snapshot: Snapshot, day: Day): Promise<Moved[]> {
  const { organizationId, today, end, now, zone } = day
  const sums = new Map<string, Moved>()
  let after: bigint | undefined = 0n
  while (after !== undefined) {
    const asked = { organizationId, today, end, now: toRfc3339(now, zone), after, most: HEADS }
    const loans: MayOwe[] = await readOwing(snapshot, zone, asked)
    for (const { currency, owed } of await owedToday(snapshot, day, loans)) {
      if (owed === 0n) continue
      const { count, amount } = sums.get(currency) ?? { count: 0, amount: 0n }
      sums.set(currency, { currency, count: count + 1, amount: amount + owed })
    }
    after = loans.length === HEADS ? loans.at(-1)?.id : undefined
    await turn()
  }
  return [...sums.values()].toSorted((a, b) => (a.currency < b.currency ? -1 : 1))
}

/** What a loan owes of the instalments that are due on a day, minor units. */
interface Owes {
  readonly currency: string
  readonly owed: bigint
}

/** Returns what loans owe of the instalments of the day: by what is carried forward, or by a replay where nothing is. */
async function owedToday(snapshot: Snapshot, { organizationId, today, now, zone }: Day, loans: readonly MayOwe[]) {
  const owes: Owes[] = loans.flatMap(({ head }) =>
    head ? { currency: head.terms.currency.code, owed: owedOn(head.end.fold.periods, today) } : [],
  )
  const whole = loans.filter(({ head }) => head === undefined)
  for (let from = 0; from < whole.length; from += SLICE) {
    const keys = whole.slice(from, from + SLICE).map(({ id }) => ({ organizationId, ref: { id }, zone }))
    for (const loan of await readLoans({ pool: snapshot }, keys)) {
      if (!loan) continue
      const { periods } = replay(loan.terms, loan.entries, now)
      owes.push({ currency: loan.terms.currency.code, owed: owedOn(periods, today) })
    }
    await turn()
  }
  return owes
}

/** Returns what is owed of the instalments that are due on a day, minor units. */
const owedOn = (periods: readonly Period[], day: LocalDate): bigint =>
  sum(periods.filter(({ dueDate }) => dueDate === day).map(({ owed }) => owed))

/** Lists loans with an instalment that is due today, from an id on. */
async function listDue(snapshot: Snapshot, day: Day, after: bigint): Promise<Pick<Today, 'dueLoans' | 'next'>> {
  const { organizationId, today, end, zone } = day
  const dueLoans: DueLoan[] = []
  let next: bigint | undefined = after
  while (next !== undefined && dueLoans.length < DUE_ROWS) {
    const most = DUE_ROWS - dueLoans.length
    const ids = await findDue(snapshot, { organizationId, today, end, after: next, most })
    const read = ids.length === 0 ? [] : await readOverdue(snapshot, zone, { organizationId, ids })
    const some: DueLoan[] = []
    for (const [index, loan] of read.entries()) {
      some.push(dueOf(loan, day))
      if (index % SLICE === SLICE - 1) await turn()
    }
    dueLoans.push(...some.filter(({ dueToday }) => dueToday > 0n).toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    next = ids.length === most ? ids.at(-1) : undefined
  }
  return { dueLoans, next }
}

function dueOf(loan: OverdueLoan, { today, now }: Day): DueLoan {
  const { periods, totalOutstanding } = replay(loan.terms, loan.entries, now)
  const upToToday = periods.filter(({ dueDate }) => dueDate <= today)
  return {
    id: loan.id,
    customerId: loan.customerId,
    customerName: displayName({ externalId: loan.customerExternalId, businessName: loan.customerBusinessName }),
    phone: loan.customerPhone,
    currency: loan.terms.currency,
    dueToday: owedOn(periods, today),
    due: sum(upToToday.map(({ owed }) => owed)),
    outstanding: totalOutstanding,
  }
}

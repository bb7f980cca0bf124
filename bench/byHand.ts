import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import * as sql from './byHand.sql.ts'
import { CREATED_PRODUCT, LIST_ROWS } from './scenarios.ts'

// What a good engineer would write by hand to keep the same tables: one prepared read and one prepared write a request,
// numbers instead of money, no layers. It knows repayments of flat loans without fees or penalties, and nothing else.

/** A pool or a single connection; named statements are prepared once on each. */
export type Connection = Pick<pg.Pool, 'query'> | Pick<pg.Client, 'query'>

/** Who does it: whose book, which account, and how far the tenant's clock is ahead of UTC. */
export interface Caller {
  readonly org: number
  readonly account: number
}

const AHEAD_MS = 3 * 3_600_000
const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS
const MOST_TRIES = 100

const dayOf = (instant: number): string => new Date(instant + AHEAD_MS).toISOString().slice(0, 10)

/** `[due date, principal, interest]`, minor units. */
type Period = [dueOn: string, principal: number, interest: number]

interface LoanRow {
  version: number
  total_paid: string
  total_overpaid: string
  disbursed_on: string
  periods: Period[]
}

/** What of a schedule is paid and owed once so much has come in: oldest first, interest before principal. */
function settle(periods: readonly Period[], received: number, today: string) {
  const figures = { principal: 0, interest: 0, owedPrincipal: 0, owedInterest: 0, overdue: 0, overpaid: 0 }
  let left = received
  let nextDueOn: string | null = null
  let overdueSince: string | null = null
  for (const [dueOn, principal, interest] of periods) {
    const paidInterest = Math.min(left, interest)
    const paidPrincipal = Math.min(left - paidInterest, principal)
    left -= paidInterest + paidPrincipal
    figures.interest += paidInterest
    figures.principal += paidPrincipal
    const owed = principal + interest - paidPrincipal - paidInterest
    if (owed === 0) continue
    figures.owedInterest += interest - paidInterest
    figures.owedPrincipal += principal - paidPrincipal
    nextDueOn ??= dueOn
    if (dueOn >= today) continue
    figures.overdue += owed
    overdueSince ??= dayOf(Date.parse(dueOn) + DAY_MS - AHEAD_MS)
  }
  figures.overpaid = left
  const status = left > 0 ? 'Overpaid' : nextDueOn === null ? 'Closed (obligations met)' : 'Active'
  return { ...figures, nextDueOn, overdueSince, status }
}

/** Posts a repayment; `amount` in minor units. */
export function repay(db: Connection, caller: Caller, loan: number, amount: number, token: string): Promise<object> {
  return inTurn(loan, async () => {
    for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
      const read = await db.query<LoanRow>({ name: 'loan', text: sql.READ_LOAN, values: [caller.org, loan] })
      const row = read.rows[0]
      if (!row) throw new Error('no such loan')
      const now = Date.now()
      const today = dayOf(now)
      const received = Number(row.total_paid) + Number(row.total_overpaid)
      const before = settle(row.periods, received, today)
      const after = settle(row.periods, received + amount, today)
      const at = new Date(now).toISOString()
      const values = [
        caller.org,
        loan,
        row.version,
        at,
        after.status,
        after.owedPrincipal,
        after.owedInterest,
        after.principal + after.interest,
        after.overpaid,
        after.overdue,
        after.nextDueOn,
        after.overdueSince,
        after.status.startsWith('Closed') ? today : null,
        today,
        amount,
        token,
        caller.account,
        randomUUID(),
        JSON.stringify({ status: before.status, totalOutstanding: before.owedPrincipal + before.owedInterest }),
        JSON.stringify({ status: after.status, totalOutstanding: after.owedPrincipal + after.owedInterest, amount }),
      ]
      const saved = await db.query<{ id: string }>({ name: 'repay', text: sql.SAVE_REPAYMENT, values })
      const id = saved.rows[0]?.id
      if (id === undefined) continue
      return {
        id,
        loanId: String(loan),
        type: 'Repayment',
        date: today,
        transactionAt: at,
        amount: amount / 100,
        principal: (after.principal - before.principal) / 100,
        interest: (after.interest - before.interest) / 100,
        overpayment: (after.overpaid - before.overpaid) / 100,
        status: 'posted',
        idempotencyKey: token,
      }
    }
    throw new Error('others were faster every time')
  })
}

const tails = new Map<number, Promise<unknown>>()

/**
 * Repayments of one loan one after the other. Without it, those that arrive together read the same version, and all but
 * one start over, again and again: on one loan the floor was four to six times slower.
 */
async function inTurn<T>(loan: number, task: () => Promise<T>): Promise<T> {
  const before = tails.get(loan)
  const mine = before ? before.then(task, task) : task()
  tails.set(loan, mine)
  try {
    return await mine
  } finally {
    if (tails.get(loan) === mine) tails.delete(loan)
  }
}

interface OfferRow {
  customer_id: string
  customer_status: string
  currency: string
  number_of_repayments: number
  rate_per_period: string
  total_multiple_of: string | null
}

/** Makes a loan of twelve weekly instalments; `principal` in minor units. */
export async function create(db: Connection, caller: Caller, customer: string, principal: number, externalId: string) {
  const asked = [caller.org, customer, CREATED_PRODUCT]
  const read = await db.query<OfferRow>({ name: 'offer', text: sql.READ_OFFER, values: asked })
  const offer = read.rows[0]
  if (offer?.customer_status !== 'Active') throw new Error('no such customer or product')
  const now = Date.now()
  const count = offer.number_of_repayments
  const interest = Math.round((principal * Number(offer.rate_per_period) * count) / 100_000_000)
  const interestEach = Math.round(interest / count)
  const multiple = Number(offer.total_multiple_of ?? 1)
  const principalEach = Math.round((principal / count + interestEach) / multiple) * multiple - interestEach
  const periods = Array.from({ length: count }, (_, index) => ({
    period: index + 1,
    from: dayOf(now + index * WEEK_MS),
    due: dayOf(now + (index + 1) * WEEK_MS),
    principal: index === count - 1 ? principal - principalEach * (count - 1) : principalEach,
    interest: index === count - 1 ? interest - interestEach * (count - 1) : interestEach,
  }))
  const at = new Date(now).toISOString()
  const { due } = periods.at(-1)!
  const { rows } = await db.query<{ id: string }>({
    name: 'create',
    text: sql.SAVE_LOAN,
    values: [
      caller.org,
      offer.customer_id,
      CREATED_PRODUCT,
      externalId,
      offer.currency,
      principal,
      count,
      offer.rate_per_period,
      at,
      dayOf(now),
      due,
      new Date(now + count * WEEK_MS).toISOString(),
      interest,
      periods[0]!.due,
      new Date(Date.parse(periods[0]!.due) + DAY_MS - AHEAD_MS).toISOString(),
      periods.map((one) => one.period),
      periods.map((one) => one.from),
      periods.map((one) => one.due),
      periods.map((one) => one.principal),
      periods.map((one) => one.interest),
      caller.account,
      randomUUID(),
      JSON.stringify({ status: 'Active', totalOutstanding: principal + interest }),
    ],
  })
  return { id: rows[0]!.id, externalId, status: 'Active', principal: principal / 100, repaymentSchedule: periods }
}

/** One loan with its schedule and history, as the database has it. */
export async function read(db: Connection, { org }: Caller, loan: number): Promise<object> {
  const { rows } = await db.query<object>({ name: 'single', text: sql.READ_SINGLE, values: [org, loan] })
  if (!rows[0]) throw new Error('no such loan')
  return rows[0]
}

/** A page of loans with their schedules, and how many there are. */
export async function list(db: Connection, { org }: Caller, page: number): Promise<object> {
  const values = [org, LIST_ROWS, (page - 1) * LIST_ROWS]
  const { rows } = await db.query<{ total: string }>({ name: 'list', text: sql.READ_PAGE, values })
  return { items: rows, total: Number(rows[0]?.total ?? 0), page, rowsPerPage: LIST_ROWS }
}

/** A customer and what his loans come to. */
export async function scorecard(db: Connection, { org }: Caller, customer: string): Promise<object> {
  const { rows } = await db.query<object>({ name: 'scorecard', text: sql.READ_SCORECARD, values: [org, customer] })
  if (!rows[0]) throw new Error('no such customer')
  return rows[0]
}

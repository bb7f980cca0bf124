import { insertPostings, type NewPosting } from '../../db/accounting/insertPostings.ts'
import type { JournalHead } from '../../db/accounting/journalHead.ts'
import type { UnkeptChange } from '../../db/accounting/keeping.ts'
import { CLOSING, closeMonth } from '../../db/accounting/periods.ts'
import { BOOKING, readBooking, sumAllowance } from '../../db/accounting/provisions.ts'
import { CHARTING, readBookedBefore, readChart, takeUpChart } from '../../db/accounting/takenUp.ts'
import { moment } from '../../db/queries/rows.ts'
import type { Chart } from '../../domain/accounting/chart.ts'
import { firstDayAfter, firstDayOf, lastDayOf } from '../../domain/accounting/months.ts'
import { bookedDay, movedBetween } from '../../domain/accounting/posted.ts'
import { differencesOf, provisionAmounts } from '../../domain/accounting/provisions.ts'
import { isNothing } from '../../domain/accounting/slots.ts'
import type { LocalDate } from '../../domain/dates.ts'
import type { Keeping } from './keepChanges.ts'
import { closingHash } from './trialBalance.ts'

/** Returns whether a change is one of the journal itself: a close, a new chart, or a booking of provisions. */
export const isControl = ({ entity }: Pick<UnkeptChange, 'entity'>): boolean =>
  entity === CLOSING || entity === CHARTING || entity === BOOKING

/** Takes a change of the journal itself into it. @returns the head of the journal after it */
export async function keepControl(keeping: Keeping, head: JournalHead, change: UnkeptChange): Promise<JournalHead> {
  const { id: changeId, last, entity } = change
  const moved = { ...head, changeId, sequence: last ?? head.sequence }
  if (entity === BOOKING) return book(keeping, moved, change)
  return entity === CLOSING ? close(keeping, moved, change) : setChart(keeping, moved, change)
}

/** Posts what provisions differ from the allowance that is booked as of their day. */
async function book(
  { transaction, organizationId }: Keeping,
  head: JournalHead,
  { id: changeId, at }: UnkeptChange,
): Promise<JournalHead> {
  const queries = { pool: transaction }
  const booking = await readBooking(queries, organizationId, changeId)
  if (!booking) return head
  const { asOf, provisions } = booking
  const differences = differencesOf(provisions, await sumAllowance(queries, organizationId, asOf))
  const postings = differences.map(({ currency, productId, difference }, index): NewPosting => {
    const id = head.postingId + BigInt(index) + 1n
    return {
      id,
      sequence: head.sequence,
      changeId,
      loanId: null,
      productId: productId ?? 0,
      currency,
      transactionId: null,
      kind: 'provision',
      valueDate: asOf,
      bookedOn: bookedDay(asOf, head.openFrom),
      postedAt: moment(at),
      amounts: provisionAmounts(difference),
      method: null,
      contribution: null,
      moved: null,
    }
  })
  await insertPostings(transaction, organizationId, postings)
  return { ...head, postingId: head.postingId + BigInt(postings.length) }
}

/** Closes a month: what comes later is booked from the first day after it on. */
async function close(
  { transaction, organizationId }: Keeping,
  head: JournalHead,
  { entityId, at }: UnkeptChange,
): Promise<JournalHead> {
  const month = firstDayOf(entityId)
  if (month === undefined) return head
  const trialBalanceHash = await closingHash({ pool: transaction }, organizationId, lastDayOf(month))
  const closed = { month, closedAt: at, closeSequence: head.sequence, trialBalanceHash }
  await closeMonth(transaction, organizationId, closed)
  return { ...head, openFrom: firstDayAfter(month) }
}

/**
 * Sets the chart that counts from the first open day on. What was booked before on accounts that the new chart replaces
 * moves to the new ones; loans whose method changes are walked through next.
 */
async function setChart(keeping: Keeping, head: JournalHead, change: UnkeptChange): Promise<JournalHead> {
  const { transaction, organizationId, chart: old } = keeping
  const version = Number(change.entityId)
  const chart = await readChart({ pool: transaction }, organizationId, version)
  const { openFrom: countsFrom } = head
  await takeUpChart(transaction, organizationId, { version, countsFrom })
  const moves = countsFrom === null ? [] : await movesOf(keeping, { head, change, chart, version, on: countsFrom })
  await insertPostings(transaction, organizationId, moves)
  const isWalk = methodsOf(old) !== methodsOf(chart)
  return {
    ...head,
    chartVersion: version,
    postingId: head.postingId + BigInt(moves.length),
    walkedTo: isWalk ? 0n : null,
  }
}

const methodsOf = ({ method, productMethods }: Chart): string =>
  JSON.stringify([method, [...productMethods].toSorted(([a], [b]) => a - b)])

interface Moved {
  readonly head: JournalHead
  readonly change: UnkeptChange
  readonly chart: Chart
  readonly version: number
  readonly on: LocalDate
}

/** Returns the postings that move what was booked before a day to the accounts of a new chart. */
async function movesOf(
  { transaction, organizationId, chart: old }: Keeping,
  { head, change, chart, version, on }: Moved,
): Promise<NewPosting[]> {
  const booked = await readBookedBefore(transaction, organizationId, on)
  const moving = booked.flatMap(({ currency, productId, amounts: sums }) => {
    const amounts = movedBetween(old, chart, sums)
    return isNothing(amounts) ? [] : [{ currency, productId, amounts }]
  })
  return moving.map((one, index) => ({
    ...one,
    id: head.postingId + BigInt(index) + 1n,
    sequence: head.sequence,
    changeId: change.id,
    loanId: null,
    transactionId: null,
    kind: 'chart_changed',
    valueDate: on,
    bookedOn: on,
    postedAt: moment(change.at),
    method: null,
    contribution: null,
    moved: { from: head.chartVersion, to: version },
  }))
}

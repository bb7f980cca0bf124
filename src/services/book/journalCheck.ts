import { readTrailedJournals } from '../../db/book/bookJournals.ts'
import {
  type CheckedTransfer,
  type ClosedMonth,
  findJournalFaults,
  readClosedMonths,
  readCloses,
  readOpenings,
  readTransfers,
} from '../../db/book/bookPostings.ts'
import { readBookings, readProvisionPostings } from '../../db/book/bookProvisions.ts'
import { readCharts } from '../../db/journal/charts.ts'
import { readJournalHeads } from '../../db/journal/journalHead.ts'
import { readBookedBefore, readChart } from '../../db/journal/takenUp.ts'
import type { Snapshot } from '../../db/postgres/transaction.ts'
import type { CheckedJournal } from '../../domain/bookCheck/journalRules.ts'
import { brokenByHead, brokenChart, brokenMonth } from '../../domain/bookCheck/journalTrail.ts'
import { brokenByProvisions } from '../../domain/bookCheck/provisionRules.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { InvariantError } from '../../domain/errors.ts'
import { DEFAULT_CHART } from '../../domain/journal/chart.ts'
import type { ChartVersion } from '../../domain/journal/chartsInForce.ts'
import { firstDayAfter, firstDayOf, lastDayOf, monthOf } from '../../domain/journal/months.ts'
import { movedBetween } from '../../domain/journal/posted.ts'
import { amountsToText, isNothing } from '../../domain/journal/slots.ts'
import { closingHash } from '../journal/trialBalance.ts'
import type { Difference } from './bookCheck.ts'

/** Reads what decides the postings of loans, by organization. */
export async function readJournals(snapshot: Snapshot, zone: string): Promise<ReadonlyMap<number, CheckedJournal>> {
  const closes = Map.groupBy(await readCloses(snapshot), ({ organizationId }) => organizationId)
  const openings = await readOpenings(snapshot, zone)
  const journals = new Map<number, CheckedJournal>()
  for (const { organizationId, changeId, walk, chartVersion } of await readJournalHeads(snapshot)) {
    const chart = await readable(() => readChart({ pool: snapshot }, organizationId, chartVersion))
    const own = closes.get(organizationId) ?? []
    const openFromAt = (change: bigint): LocalDate | null => {
      const last = own.findLast((close) => close.changeId < change)
      const closed = last && firstDayOf(last.month)
      return closed ? firstDayAfter(closed) : (openings.get(organizationId) ?? null)
    }
    // By a chart that cannot be read, no loan can be compared; `checkJournals` says so.
    const isWalked = walk === null && chart !== undefined
    journals.set(organizationId, { changeId, isWalked, chart: chart ?? DEFAULT_CHART, zone, openFromAt })
  }
  return journals
}

/** Returns what can be read; undefined where rows of the book are missing or damaged. */
async function readable<Found>(read: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof InvariantError || error instanceof TypeError) return undefined
    throw error
  }
}

/** The journal of an organization that has none yet. */
export const NO_JOURNAL: CheckedJournal = {
  changeId: 0n,
  isWalked: false,
  chart: DEFAULT_CHART,
  zone: 'UTC',
  openFromAt: () => null,
}

/**
 * Checks what no loan shows alone: sums of days, numbers of postings, charts, how far each journal goes, and the hashes
 * of closed months. A lender whose charts cannot be read keeps nothing of the others from being checked.
 */
export async function checkJournals(
  snapshot: Snapshot,
  journals: ReadonlyMap<number, CheckedJournal>,
  organizationId: number | undefined,
  add: (difference: Difference) => void,
): Promise<void> {
  for (const fault of await findJournalFaults(snapshot, organizationId)) add(fault)
  await checkTrailed(snapshot, journals, organizationId, add)
  await checkProvisions(snapshot, journals, organizationId, add)
  const stored = Map.groupBy(await readTransfers(snapshot, organizationId), (transfer) => transfer.organizationId)
  const closed = Map.groupBy(await readClosedMonths(snapshot, organizationId), (month) => month.organizationId)
  for (const { organizationId: own } of await readJournalHeads(snapshot)) {
    if (organizationId !== undefined && own !== organizationId) continue
    const fault = (of: string, message: string) => add({ organizationId: own, of, message })
    const checked = await readable(async () => {
      await checkTransfers(snapshot, own, { transfers: stored.get(own) ?? [], fault })
      await checkHashes(snapshot, closed.get(own) ?? [], fault)
      return true
    })
    if (!checked) fault('the charts', 'are missing or damaged: what closed months show cannot be checked')
  }
}

/** Makes the postings of provisions again from the bookings in the trail. */
async function checkProvisions(
  snapshot: Snapshot,
  journals: ReadonlyMap<number, CheckedJournal>,
  organizationId: number | undefined,
  add: (difference: Difference) => void,
): Promise<void> {
  const bookings = Map.groupBy(await readBookings(snapshot, organizationId), (booking) => booking.organizationId)
  const postings = Map.groupBy(await readProvisionPostings(snapshot, organizationId), (one) => one.organizationId)
  for (const own of new Set([...bookings.keys(), ...postings.keys()])) {
    const openFromAt = (change: bigint) => journals.get(own)?.openFromAt(change) ?? null
    for (const fault of brokenByProvisions(bookings.get(own) ?? [], postings.get(own) ?? [], openFromAt))
      add({ organizationId: own, ...fault })
  }
}

/** Compares the heads, the months and the charts with the trail. */
async function checkTrailed(
  snapshot: Snapshot,
  journals: ReadonlyMap<number, CheckedJournal>,
  organizationId: number | undefined,
  add: (difference: Difference) => void,
): Promise<void> {
  const openFromAt = (own: number, change: bigint) => journals.get(own)?.openFromAt(change) ?? null
  const { heads, months, charts } = await readTrailedJournals(snapshot, organizationId)
  for (const { organizationId: own, ...head } of heads)
    for (const message of brokenByHead(head, openFromAt(own, head.changeId + 1n)))
      add({ organizationId: own, of: 'the journal', message })
  for (const { organizationId: own, ...month } of months) {
    const message = brokenMonth(month)
    if (message !== undefined) add({ organizationId: own, of: `month ${month.month}`, message })
  }
  for (const { organizationId: own, ...chart } of charts) {
    const message = brokenChart(chart, openFromAt(own, chart.changeId))
    if (message !== undefined) add({ organizationId: own, of: `version ${chart.version} of the chart`, message })
  }
}

type Fault = (of: string, message: string) => void

/** Makes the hashes of closed months again. */
async function checkHashes(snapshot: Snapshot, months: readonly ClosedMonth[], fault: Fault): Promise<void> {
  for (const { organizationId, month, trialBalanceHash } of months) {
    const hash = await closingHash({ pool: snapshot }, organizationId, lastDayOf(month))
    if (hash === trialBalanceHash) continue
    fault(`month ${monthOf(month)}`, `was closed with the hash ${trialBalanceHash}, and its trial balance has ${hash}`)
  }
}

/** Makes again what moved between the accounts of charts. */
async function checkTransfers(
  snapshot: Snapshot,
  organizationId: number,
  { transfers, fault }: { readonly transfers: readonly CheckedTransfer[]; readonly fault: Fault },
): Promise<void> {
  const charts = await readCharts({ pool: snapshot }, organizationId)
  const expected: string[] = []
  for (const [index, chart] of charts.slice(1).entries())
    expected.push(...(await movesTo(snapshot, organizationId, charts[index]!, chart)))
  const found = transfers.map(transferText)
  if (expected.toSorted().join() === found.toSorted().join()) return
  fault(
    'transfers between accounts',
    `are ${found.join('; ') || 'none'}, and by the charts and the sums they must be ${expected.join('; ') || 'none'}`,
  )
}

type Transferred = Pick<CheckedTransfer, 'movedTo' | 'bookedOn' | 'currency' | 'productId' | 'amounts'>

const transferText = ({ movedTo, bookedOn, currency, productId, amounts }: Transferred): string =>
  `to version ${movedTo} on ${bookedOn}, ${currency}, product ${productId}: ${amountsToText(amounts)}`

async function movesTo(snapshot: Snapshot, organizationId: number, from: ChartVersion, to: ChartVersion) {
  const { version: movedTo, countsFrom: bookedOn } = to
  if (bookedOn === null) return []
  const booked = await readBookedBefore(snapshot, organizationId, bookedOn)
  return booked.flatMap(({ currency, productId, amounts: sums }) => {
    const amounts = movedBetween(from.chart, to.chart, sums)
    return isNothing(amounts) ? [] : [transferText({ movedTo, bookedOn, currency, productId, amounts })]
  })
}

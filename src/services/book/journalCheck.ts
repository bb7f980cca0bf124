import { readCharts } from '../../db/accounting/charts.ts'
import { readJournalHeads } from '../../db/accounting/journalHead.ts'
import { readBookedBefore, readChart } from '../../db/accounting/takenUp.ts'
import { readBookings, readProvisionPostings, readTrailedJournals } from '../../db/book/bookJournals.ts'
import {
  type CheckedTransfer,
  type ClosedMonth,
  findJournalFaults,
  JOURNAL_FAULTS,
  readClosedMonths,
  readCloses,
  readTransfers,
} from '../../db/book/bookPostings.ts'
import type { Snapshot } from '../../db/postgres/transaction.ts'
import { DEFAULT_CHART } from '../../domain/accounting/chart.ts'
import type { ChartVersion } from '../../domain/accounting/chartsInForce.ts'
import { firstDayAfter, firstDayOf, lastDayOf, monthOf } from '../../domain/accounting/months.ts'
import { movedBetween } from '../../domain/accounting/posted.ts'
import { amountsToText, isNothing } from '../../domain/accounting/slots.ts'
import type { CheckedJournal } from '../../domain/bookCheck/journalRules.ts'
import { brokenByProvisions } from '../../domain/bookCheck/journalRules.ts'
import { brokenByHead, brokenChart, brokenMonth } from '../../domain/bookCheck/journalTrail.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { InvariantError } from '../../domain/errors.ts'
import { closingHash } from '../accounting/trialBalance.ts'
import type { Add, CheckParts } from './checkParts.ts'

/** Reads what decides the postings of loans, by organization. */
export async function readJournals(snapshot: Snapshot, zone: string): Promise<ReadonlyMap<number, CheckedJournal>> {
  const closes = Map.groupBy(await readCloses(snapshot), ({ organizationId }) => organizationId)
  const journals = new Map<number, CheckedJournal>()
  for (const { organizationId, changeId, walkedTo, chartVersion } of await readJournalHeads(snapshot)) {
    const chart = await readable(() => readChart({ pool: snapshot }, organizationId, chartVersion))
    const own = closes.get(organizationId) ?? []
    const openFromAt = (change: bigint): LocalDate | null => {
      const last = own.findLast((close) => close.changeId < change)
      const closed = last && firstDayOf(last.month)
      return closed ? firstDayAfter(closed) : null
    }
    // By a chart that cannot be read, no loan can be compared; `checkJournals` says so.
    const isWalked = walkedTo === null && chart !== undefined
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
  { organizationId, parts }: { readonly organizationId: number | undefined; readonly parts: CheckParts },
): Promise<void> {
  for (const fault of JOURNAL_FAULTS)
    await parts.runForAll('the journal', async (of, add) => {
      for (const found of await findJournalFaults(snapshot, fault, of)) add(found)
    })
  await parts.runForAll('the journal', (of, add) => checkTrailed(snapshot, journals, of, add))
  await parts.runForAll('provisions', (of, add) => checkProvisions(snapshot, journals, of, add))
  for (const own of journals.keys()) {
    if (organizationId !== undefined && own !== organizationId) continue
    await parts.run({ organizationId: own, of: 'transfers between accounts' }, async (add) =>
      checkTransfers(snapshot, own, await readTransfers(snapshot, own), add),
    )
    for (const month of (await parts.run({ organizationId: own, of: 'closed months' }, () =>
      readClosedMonths(snapshot, own),
    )) ?? [])
      await parts.run({ organizationId: own, of: `month ${monthOf(month.month)}` }, (add) =>
        checkHash(snapshot, month, add),
      )
  }
}

/** Makes the postings of provisions again from the bookings in the trail. */
async function checkProvisions(
  snapshot: Snapshot,
  journals: ReadonlyMap<number, CheckedJournal>,
  organizationId: number | undefined,
  add: Add,
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
  add: Add,
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

/** Makes the hash of a closed month again. */
async function checkHash(
  snapshot: Snapshot,
  { organizationId, month, trialBalanceHash }: ClosedMonth,
  add: Add,
): Promise<void> {
  const hash = await closingHash({ pool: snapshot }, organizationId, lastDayOf(month))
  if (hash === trialBalanceHash) return
  const message = `was closed with the hash ${trialBalanceHash}, and its trial balance has ${hash}`
  add({ organizationId, of: `month ${monthOf(month)}`, message })
}

/** Makes again what moved between the accounts of charts. */
async function checkTransfers(
  snapshot: Snapshot,
  organizationId: number,
  transfers: readonly CheckedTransfer[],
  add: Add,
): Promise<void> {
  const charts = await readCharts({ pool: snapshot }, organizationId)
  const expected: string[] = []
  for (const [index, chart] of charts.slice(1).entries())
    expected.push(...(await movesTo(snapshot, organizationId, charts[index]!, chart)))
  const found = transfers.map(transferText)
  if (expected.toSorted().join() === found.toSorted().join()) return
  const message = `are ${found.join('; ') || 'none'}, and by the charts and the sums they must be ${expected.join('; ') || 'none'}`
  add({ organizationId, of: 'transfers between accounts', message })
}

type Transferred = Omit<CheckedTransfer, 'id' | 'organizationId'>

const transferText = (transfer: Transferred): string => {
  const { movedFrom, movedTo, bookedOn, valueDate, currency, productId, amounts } = transfer
  const day = bookedOn === valueDate ? bookedOn : `${bookedOn} of ${valueDate}`
  return `from version ${movedFrom} to ${movedTo} on ${day}, ${currency}, product ${productId}: ${amountsToText(amounts)}`
}

async function movesTo(snapshot: Snapshot, organizationId: number, from: ChartVersion, to: ChartVersion) {
  const { version: movedTo, countsFrom: bookedOn } = to
  if (bookedOn === null) return []
  const booked = await readBookedBefore(snapshot, organizationId, bookedOn)
  return booked.flatMap(({ currency, productId, amounts: sums }) => {
    const amounts = movedBetween(from.chart, to.chart, sums)
    const dates = { bookedOn, valueDate: bookedOn }
    const moved = { movedFrom: from.version, movedTo, ...dates, currency, productId, amounts }
    return isNothing(amounts) ? [] : [transferText(moved)]
  })
}

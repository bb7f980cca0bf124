import {
  type CheckedTransfer,
  findJournalFaults,
  readClosedMonths,
  readCloses,
  readOpenings,
  readTransfers,
} from '../../db/book/bookPostings.ts'
import { readCharts } from '../../db/journal/charts.ts'
import { readJournalHeads } from '../../db/journal/journalHead.ts'
import { readBookedBefore, readChart } from '../../db/journal/takenUp.ts'
import type { Snapshot } from '../../db/postgres/transaction.ts'
import type { CheckedJournal } from '../../domain/bookCheck/journalRules.ts'
import type { LocalDate } from '../../domain/dates.ts'
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
    const chart = await readChart({ pool: snapshot }, organizationId, chartVersion)
    const own = closes.get(organizationId) ?? []
    const openFromAt = (change: bigint): LocalDate | null => {
      const last = own.findLast((close) => close.changeId < change)
      const closed = last && firstDayOf(last.month)
      return closed ? firstDayAfter(closed) : (openings.get(organizationId) ?? null)
    }
    journals.set(organizationId, { changeId, isWalked: walk === null, chart, zone, openFromAt })
  }
  return journals
}

/** The journal of an organization that has none yet. */
export const NO_JOURNAL: CheckedJournal = {
  changeId: 0n,
  isWalked: false,
  chart: DEFAULT_CHART,
  zone: 'UTC',
  openFromAt: () => null,
}

/** Checks what no loan shows alone: sums of days, numbers of postings, charts, and the hashes of closed months. */
export async function checkJournals(
  snapshot: Snapshot,
  organizationId: number | undefined,
  add: (difference: Difference) => void,
): Promise<void> {
  for (const fault of await findJournalFaults(snapshot, organizationId)) add(fault)
  await checkTransfers(snapshot, organizationId, add)
  for (const closed of await readClosedMonths(snapshot, organizationId)) {
    const hash = await closingHash({ pool: snapshot }, closed.organizationId, lastDayOf(closed.month))
    if (hash === closed.trialBalanceHash) continue
    add({
      organizationId: closed.organizationId,
      of: `month ${monthOf(closed.month)}`,
      message: `was closed with the hash ${closed.trialBalanceHash}, and its trial balance has ${hash}`,
    })
  }
}

/** Makes again what moved between the accounts of charts. */
async function checkTransfers(
  snapshot: Snapshot,
  organizationId: number | undefined,
  add: (difference: Difference) => void,
): Promise<void> {
  const stored = Map.groupBy(await readTransfers(snapshot, organizationId), (transfer) => transfer.organizationId)
  for (const head of await readJournalHeads(snapshot)) {
    if (organizationId !== undefined && head.organizationId !== organizationId) continue
    const charts = await readCharts({ pool: snapshot }, head.organizationId)
    const expected: string[] = []
    for (const [index, chart] of charts.slice(1).entries())
      expected.push(...(await movesTo(snapshot, head.organizationId, charts[index]!, chart)))
    const found = (stored.get(head.organizationId) ?? []).map(transferText)
    if (expected.toSorted().join() === found.toSorted().join()) continue
    const message = `are ${found.join('; ') || 'none'}, and by the charts and the sums they must be ${expected.join('; ') || 'none'}`
    add({ organizationId: head.organizationId, of: 'transfers between accounts', message })
  }
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

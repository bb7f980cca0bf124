import { readCharts } from '../../db/accounting/charts.ts'
import { readJournalHead } from '../../db/accounting/journalHead.ts'
import { readByDay, type StoredPosting } from '../../db/accounting/postings.ts'
import { inSnapshot } from '../../db/postgres/transaction.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { accountsAsOf } from '../../domain/accounting/chartsInForce.ts'
import {
  type ControlTotal,
  controlTotals,
  type Ledger,
  ledgerEnd,
  ledgerHead,
  ledgerNames,
  ledgerTransaction,
} from '../../domain/accounting/hledger.ts'
import { firstDayOf, lastDayOf } from '../../domain/accounting/months.ts'
import { addPeriods } from '../../domain/dates.ts'
import { invalidArgument } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import type { Deps } from '../deps.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { caughtUpTo } from './caughtUp.ts'
import { journalEnd, journalHead, journalRows } from './csv.ts'
import { type Posting, toPosting } from './postings.ts'
import { readTurnovers } from './trialBalance.ts'

export const JOURNAL_FORMATS = ['csv', 'hledger'] as const
export type JournalFormat = (typeof JOURNAL_FORMATS)[number]

/** The parts of a file. */
interface Writer {
  head(): string
  postings(postings: readonly Posting[]): string
  end(postings: number): string
}

type ExportDeps = Pick<Deps, 'db' | 'config' | 'organizations' | 'journalPatience'>

/**
 * Writes a month of the journal of the caller's organization as a file, as of now, a bounded part at a time: the next
 * part is read when one was taken. The control totals at its end come from the sums of the days, and not from the postings
 * that were written.
 * @param request the month, `2026-01`, and the form of the file
 * @throws LendingError `permission_denied`, `invalid_argument`; `unavailable` while the journal is behind in an open month
 */
export async function exportJournal(
  deps: ExportDeps,
  caller: Caller,
  { period, format }: { readonly period: string; readonly format: JournalFormat },
): Promise<AsyncIterable<string>> {
  requirePermission(caller, 'reports.read')
  const firstDay = firstDayOf(period)
  if (firstDay === undefined) throw invalidArgument('period', 'must be a month, such as 2026-01')
  const { organizationId } = caller
  await caughtUpTo(deps, organizationId, lastDayOf(firstDay))
  const { postingId, ...read } = await inSnapshot(deps.db, async (snapshot) => {
    const queries = { pool: snapshot }
    const charts = await readCharts(queries, organizationId)
    const upTo = (asOf: string) =>
      readTurnovers(queries, { organizationId, basis: 'booked', asOf, productId: null }, charts)
    return {
      charts,
      opening: await upTo(addPeriods(firstDay, -1, 'days')),
      closing: await upTo(lastDayOf(firstDay)),
      postingId: (await readJournalHead(queries, organizationId)).postingId,
    }
  })
  const ledger: Ledger = { organizationId, firstDay, ...read }
  const writer = await writerOf(deps, caller, ledger, format)
  const days = { organizationId, from: firstDay, to: lastDayOf(firstDay) }
  return partsOf(writer, ledger, readByDay(deps.db, days, postingId))
}

async function* partsOf(
  writer: Writer,
  { charts }: Ledger,
  batches: AsyncIterable<readonly StoredPosting[]>,
): AsyncGenerator<string> {
  yield writer.head()
  let count = 0
  for await (const batch of batches) {
    const postings = batch.map((posting) => toPosting(charts, posting)).filter(({ lines }) => lines.length > 0)
    count += postings.length
    yield writer.postings(postings)
  }
  yield writer.end(count)
}

async function writerOf(deps: ExportDeps, caller: Caller, ledger: Ledger, format: JournalFormat): Promise<Writer> {
  const { currency } = await getOrganization(deps, caller)
  const found = controlTotals(ledger.opening, ledger.closing)
  const totals: readonly ControlTotal[] = found.length > 0 ? found : [{ currency, debit: 0n, credit: 0n }]
  if (format === 'csv') {
    const accounts = accountsAsOf(ledger.charts, lastDayOf(ledger.firstDay))
    return {
      head: journalHead,
      postings: (postings) => journalRows(postings, accounts, deps.config.zone),
      end: (count) => journalEnd(count, totals),
    }
  }
  const nameOf = ledgerNames(ledger)
  return {
    head: () =>
      ledgerHead(
        ledger,
        totals.map((total) => total.currency),
      ),
    postings: (postings) => postings.map((posting) => ledgerTransaction(posting, nameOf)).join(''),
    end: (count) => ledgerEnd(ledger, count, totals),
  }
}

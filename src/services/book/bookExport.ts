import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import type { Author } from '../../db/audit/trail.ts'
import { type CheckedLoan, readChecked, START } from '../../db/book/bookCheck.ts'
import {
  countForExport,
  EXPORT_KINDS,
  type ExportKind,
  type ExportRow,
  readForExport,
} from '../../db/book/bookExport.ts'
import type { SealedPerson } from '../../db/customers/identities.ts'
import { noteExport } from '../../db/organizations/organizations.ts'
import { inSnapshot } from '../../db/postgres/transaction.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { UNKNOWN } from '../../domain/customer/identity.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import { invariant } from '../../domain/errors.ts'
import { stateOf } from '../../domain/loan/loan.ts'
import { currencyOf, minorToText, rateToNumber } from '../../domain/money.ts'
import type { GateBounds } from '../../toolbox/gate.ts'
import type { Caller } from '../access/caller.ts'
import { type Column, csvHead, csvRows, othersText } from '../csv.ts'
import type { Core, Writing } from '../deps.ts'
import { identityColumns } from './identityColumns.ts'

export { EXPORT_KINDS, type ExportKind } from '../../db/book/bookExport.ts'

/** An amount as exact decimal text. */
export class Amount {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A row of an export by the names that an import knows: amounts exact, instants RFC 3339, ids text. */
export type ExportRecord = Readonly<Record<string, string | number | Amount | null>>

/** Takes the rows, a bounded number at a time; the next are read when these are written. */
export interface ExportSink {
  begin(kind: ExportKind, total: number): Promise<void>
  write(kind: ExportKind, records: readonly ExportRecord[]): Promise<void>
  end(kind: ExportKind): Promise<void>
}

/** An export: its tables, what takes their rows, and the end of the patience with it. */
export interface Export {
  readonly kinds: readonly ExportKind[]
  readonly sink: ExportSink
  readonly stopping: AbortSignal
  /** Whether the customers have who they are, decrypted; false when left out. */
  readonly identities?: boolean
}

/**
 * Writes tables of an organization's book as of one moment, while the service runs, and notes the export in the audit trail.
 * @returns the number of rows of each kind
 */
export async function exportBook(
  { db, config, now, people }: Core & Pick<Writing, 'people'>,
  author: Author,
  { kinds, sink, stopping, identities = false }: Export,
): Promise<Readonly<Record<ExportKind, number>>> {
  const { organizationId } = author
  const counts = Object.fromEntries(EXPORT_KINDS.map((kind) => [kind, 0])) as Record<ExportKind, number>
  const customerOf = ({ personKey, identity, ...row }: ExportRow): ExportRow => {
    if (!identities) return row
    const known = { personKey, identity } as Pick<SealedPerson, 'personKey' | 'identity'>
    return { ...row, ...identityColumns(people.open({ organizationId, id: row.id as bigint }, known) ?? UNKNOWN) }
  }
  await noteExport(db, author, now(organizationId))
  await inSnapshot(db, async (snapshot) => {
    for (const kind of kinds) {
      await sink.begin(kind, await countForExport(snapshot, kind, organizationId))
      const stored = readForExport(snapshot, kind, organizationId)
      const read = (after: typeof START) => readChecked(snapshot, config.zone, after, organizationId, LOANS)
      for await (const rows of kind === 'transactions' ? withPortions(stored, read, now(organizationId)) : stored) {
        stopping.throwIfAborted()
        await sink.write(
          kind,
          rows.map((row) => toRecord(kind === 'customers' ? customerOf(row) : row, config.zone)),
        )
        counts[kind] += rows.length
      }
      await sink.end(kind)
    }
  })
  return counts
}

/** The number of loans that are replayed at once. */
const LOANS = 500

/** The portions of a transaction by the names of an export, in minor units; null for a reversed one. */
type Paid = Readonly<Record<(typeof PORTIONS)[number], bigint | null>>
const PORTIONS = ['principal', 'interest', 'fees', 'penalty', 'overpayment'] as const

/**
 * Yields transactions with their portions. Loans are replayed as the rows go by: both come in the order of the loans.
 * @param read reads the next loans after one
 */
async function* withPortions(
  batches: AsyncIterable<readonly ExportRow[]>,
  read: (after: typeof START) => Promise<CheckedLoan[]>,
  asOf: number,
): AsyncGenerator<ExportRow[]> {
  let [place, paid] = [START, new Map<bigint, Map<unknown, Paid>>()]
  for await (const rows of batches) {
    const whole: ExportRow[] = []
    for (const row of rows) {
      const loanId = row.loanId as bigint
      while (place === START || loanId > place.id) {
        const loans = await read(place)
        invariant(loans.length > 0, 'the loan of a transaction is in the same snapshot')
        paid = new Map(loans.map((loan) => [loan.id, paidBy(loan, asOf)]))
        place = loans.at(-1)!
      }
      whole.push({ ...row, ...(paid.get(loanId)?.get(row.ordinal) ?? NOTHING) })
    }
    yield whole
  }
}

const NOTHING = Object.fromEntries(PORTIONS.map((name) => [name, null])) as Paid

/**
 * Returns the portions of a loan's transactions by ordinal; empty for a loan that cannot be replayed, which `book
 * check` reports.
 */
function paidBy(stored: CheckedLoan, asOf: number): Map<unknown, Paid> {
  try {
    const loan = stored.loan()
    const { outcomes } = stateOf(loan, asOf)
    return new Map(
      loan.entries.flatMap(({ ordinal }) => {
        const outcome = outcomes.get(ordinal)
        return outcome ? [[ordinal, { ...outcome.portions, overpayment: outcome.overpayment }]] : []
      }),
    )
  } catch {
    return new Map()
  }
}

const AMOUNTS =
  /^(amount|value|allocated|returned|reversed|principal|netDisbursed|interest|fees|penalty|overpayment|transactionAmount|total[A-Z].*|(principal|interest|fees|penalty)Outstanding)$/
const INSTANTS = /(At|DateTime)$/

function toRecord(row: ExportRow, zone: string): ExportRecord {
  const code = row.currencyCode
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (value === null) return [name, null]
      if (name === 'interestRatePerPeriod') return [name, rateToNumber(value as bigint)]
      if (AMOUNTS.test(name)) return [name, new Amount(minorToText(value as bigint, currencyOf(String(code))))]
      if (INSTANTS.test(name)) return [name, toRfc3339(Number(value), zone)]
      return [name, typeof value === 'bigint' ? value.toString() : (value as string | number)]
    }),
  )
}

/** The time for which a reader of a file may take nothing of it: until it ends, one view of the book is kept for it. */
const STALLED_MS = 30_000
/** The places of files in a process: each may read through the whole book, and an organization has one. */
export const FILE_PLACES: GateBounds = {
  atOnce: 2,
  ofGroup: 1,
  waiting: { all: 16, ofGroup: 4, ofMember: 2 },
  waitMs: 10_000,
  refusal: 'other files are being written; try again',
  againSeconds: 10,
}

/** Writes rows of an export as CSV for spreadsheets, with the names of the columns before the first rows. */
export function recordsCsv(records: readonly ExportRecord[], isFirst: boolean): string {
  const columns = Object.keys(records[0] ?? {}).map(
    (name): Column<ExportRecord> => [name, (row) => cellOf(row[name] ?? null)],
  )
  return (isFirst ? csvHead(columns) : '') + csvRows(columns, records)
}

function cellOf(value: ExportRecord[string]) {
  if (value instanceof Amount) return value.text
  return typeof value === 'string' ? othersText(value) : value
}

/**
 * Writes one table of the book of the caller's organization as CSV, as of one moment, as fast as it is read; for readers. The
 * file is cut off where its reader takes nothing of it for 30 seconds.
 * @throws LendingError `permission_denied`
 */
export function exportTable(deps: Core & Pick<Writing, 'people'>, caller: Caller, kind: ExportKind): Readable {
  requirePermission(caller, 'reports.read')
  const file = new PassThrough()
  const stop = new AbortController()
  file.once('close', () => stop.abort())
  let isFirst = true
  const sink = {
    begin: async () => undefined,
    async write(_kind: ExportKind, records: readonly ExportRecord[]) {
      const isTaken = file.write(recordsCsv(records, isFirst))
      isFirst = false
      if (!isTaken)
        await once(file, 'drain', { signal: AbortSignal.any([stop.signal, AbortSignal.timeout(STALLED_MS)]) })
    },
    end: async () => undefined,
  }
  void exportBook(deps, caller, { sink, kinds: [kind], stopping: stop.signal }).then(
    () => file.end(),
    (error: Error) => file.destroy(error),
  )
  return file
}

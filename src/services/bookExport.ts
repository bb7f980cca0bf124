import { countForExport, EXPORT_KINDS, type ExportKind, type ExportRow, readForExport } from '../db/bookExport.ts'
import { noteExport } from '../db/organizations.ts'
import type { Author } from '../db/trail.ts'
import { inSnapshot } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { toRfc3339 } from '../domain/dates.ts'
import { currencyOf, minorToText, rateToNumber } from '../domain/money.ts'

export { EXPORT_KINDS, type ExportKind } from '../db/bookExport.ts'

/** An amount as it is written, to the last digit. */
export class Amount {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A row of an export by the names that an import knows: amounts exact, instants RFC 3339, ids text. */
export type ExportRecord = Readonly<Record<string, string | number | Amount | null>>

/** Where the rows go, a bounded number at a time; the next come when it is done with these. */
export interface ExportSink {
  begin(kind: ExportKind, total: number): Promise<void>
  write(kind: ExportKind, records: readonly ExportRecord[]): Promise<void>
  end(kind: ExportKind): Promise<void>
}

/**
 * Writes an organization's book as it is at one moment, while the service goes on; the trail tells that it was done.
 * @returns how many rows of each kind
 */
export async function exportBook(
  { db, config, now }: Deps,
  author: Author,
  sink: ExportSink,
  stopping: AbortSignal,
): Promise<Readonly<Record<ExportKind, number>>> {
  const { organizationId } = author
  const counts = { customers: 0, loans: 0, instalments: 0, transactions: 0 }
  await noteExport(db, author, now())
  await inSnapshot(db, async (snapshot) => {
    for (const kind of EXPORT_KINDS) {
      await sink.begin(kind, await countForExport(snapshot, kind, organizationId))
      for await (const rows of readForExport(snapshot, kind, organizationId)) {
        stopping.throwIfAborted()
        await sink.write(
          kind,
          rows.map((row) => toRecord(row, config.zone)),
        )
        counts[kind] += rows.length
      }
      await sink.end(kind)
    }
  })
  return counts
}

const AMOUNTS =
  /^(principal|interest|fees|transactionAmount|total[A-Z].*|(principal|interest|fees|penalty)Outstanding)$/
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

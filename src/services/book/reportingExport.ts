import type { Author } from '../../db/audit/trail.ts'
import {
  REPORTING_VIEWS,
  type ReportingColumn,
  type ReportingRows,
  type ReportingView,
  readReporting,
} from '../../db/book/reportingRows.ts'
import { noteExport } from '../../db/organizations/organizations.ts'
import { inSnapshot } from '../../db/postgres/transaction.ts'
import type { Core } from '../deps.ts'

export {
  REPORTING_VIEWS,
  type ReportingColumn,
  type ReportingValue,
  type ReportingView,
} from '../../db/book/reportingRows.ts'

/** Takes the rows of the reporting views, a bounded number at a time; the next are read when these are written. */
export interface ReportingSink {
  begin(view: ReportingView, columns: readonly ReportingColumn[]): Promise<void>
  write(rows: ReportingRows): Promise<void>
  end(view: ReportingView): Promise<void>
}

/**
 * Writes the rows of the reporting views of an organization as of one moment, while the service runs, and notes the export in the
 * audit trail.
 * @returns the number of rows of each view
 */
export async function exportReporting(
  { db, now }: Pick<Core, 'db' | 'now'>,
  author: Author,
  { sink, stopping }: { readonly sink: ReportingSink; readonly stopping: AbortSignal },
): Promise<Readonly<Record<ReportingView, number>>> {
  const { organizationId } = author
  const counts = Object.fromEntries(REPORTING_VIEWS.map((view) => [view, 0])) as Record<ReportingView, number>
  await noteExport(db, author, now(organizationId))
  await inSnapshot(db, async (snapshot) => {
    for (const view of REPORTING_VIEWS) {
      let hasBegun = false
      for await (const part of readReporting(snapshot, view, organizationId)) {
        stopping.throwIfAborted()
        if (!hasBegun) await sink.begin(view, part.columns)
        hasBegun = true
        if (part.rows.length > 0) await sink.write(part)
        counts[view] += part.rows.length
      }
      await sink.end(view)
    }
  })
  return counts
}

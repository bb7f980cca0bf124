import type { Db } from '../postgres/client.ts'
import { isConflict, isLockTimeout, isUniqueViolation } from '../postgres/errors.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import { moment } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import { unprepared } from '../queries/statement.ts'

/** The kinds of files that an import reads. */
export type ImportKind = 'customers' | 'loans' | 'transactions'

/** An import. A file is recognised by its content. */
export interface ImportKey {
  readonly organizationId: number
  readonly kind: ImportKind
  readonly digest: string
}

/** The progress of an import. */
export interface ImportMark {
  readonly linesDone: number
  readonly imported: number
  /** Lines whose customer, loan or transaction was there already. */
  readonly present: number
  readonly refused: number
  /** Length of the report of refused lines. */
  readonly reportBytes: number
}

const NOTHING: ImportMark = { linesDone: 0, imported: 0, present: 0, refused: 0, reportBytes: 0 }

const open = unprepared<ImportKey & { now: string | null }>(
  (p) => `
  INSERT INTO book_import AS b (organization_id, kind, digest, started_at, updated_at)
  VALUES (${p('organizationId')}, ${p('kind')}, ${p('digest')}, ${p('now')}, ${p('now')})
  ON CONFLICT (organization_id, kind, digest) DO UPDATE SET
    lines_done = CASE WHEN b.finished_at IS NULL THEN b.lines_done ELSE 0 END,
    imported = CASE WHEN b.finished_at IS NULL THEN b.imported ELSE 0 END,
    present = CASE WHEN b.finished_at IS NULL THEN b.present ELSE 0 END,
    refused = CASE WHEN b.finished_at IS NULL THEN b.refused ELSE 0 END,
    report_bytes = CASE WHEN b.finished_at IS NULL THEN b.report_bytes ELSE 0 END,
    finished_at = NULL, updated_at = ${p('now')}
  RETURNING lines_done, imported, present, refused, report_bytes`,
)

/** Opens an import, and returns the progress of an earlier run that was cut short; else the beginning of the file. */
export async function openImport(db: Pick<Db, 'pool'>, key: ImportKey, now: number): Promise<ImportMark> {
  const { rows } = await db.pool.query<MarkRow>(open({ ...key, now: moment(now) }))
  const row = rows[0]
  if (!row) return NOTHING
  return {
    linesDone: Number(row.lines_done),
    imported: Number(row.imported),
    present: Number(row.present),
    refused: Number(row.refused),
    reportBytes: Number(row.report_bytes),
  }
}

interface MarkRow {
  lines_done: bigint
  imported: bigint
  present: bigint
  refused: bigint
  report_bytes: bigint
}

/** Another run imports the same file at the same time. */
class ImportedElsewhereError extends Error {
  override readonly name = 'ImportedElsewhereError'
}

/**
 * Saves a batch and the progress after it in one transaction: after a crash at any point, either both are there or
 * neither.
 * @param work returns the progress after the batch, or undefined where another change was saved first and the batch has to
 *   be decided again
 * @returns undefined where the batch has to be decided again, and nothing was saved
 * @throws ImportedElsewhereError
 */
export async function saveBatch(
  db: Pick<Db, 'pool'>,
  key: ImportKey,
  before: ImportMark,
  now: number,
  work: (batch: Queries) => Promise<ImportMark | undefined>,
): Promise<ImportMark | undefined> {
  try {
    return await inTransaction(db, async (transaction) => {
      // Thousands of rows a statement: a plan that is made once for all sizes joins them row by row.
      await transaction.query('SET LOCAL plan_cache_mode = force_custom_plan')
      const after = await work({ pool: transaction })
      if (after) await mark(transaction, key, before, after, now)
      return after
    })
  } catch (error) {
    // A number or an external id that was free a moment ago, a row that two saved at once, or one that another holds for long.
    if (isUniqueViolation(error) || isConflict(error) || isLockTimeout(error)) return undefined
    throw error
  }
}

const update = unprepared<ImportKey & ImportMark & { doneBefore: number; now: string | null }>(
  (p) => `
  UPDATE book_import SET lines_done = ${p('linesDone')}, imported = ${p('imported')}, present = ${p('present')},
    refused = ${p('refused')}, report_bytes = ${p('reportBytes')}, updated_at = ${p('now')}
  WHERE organization_id = ${p('organizationId')} AND kind = ${p('kind')} AND digest = ${p('digest')}
    AND lines_done = ${p('doneBefore')} AND finished_at IS NULL`,
)

async function mark(
  transaction: Transaction,
  key: ImportKey,
  before: ImportMark,
  after: ImportMark,
  now: number,
): Promise<void> {
  const { rowCount } = await transaction.query(
    update({ ...key, ...after, doneBefore: before.linesDone, now: moment(now) }),
  )
  if (rowCount !== 1) throw new ImportedElsewhereError('another run imports the same file; let that one finish')
}

const finish = unprepared<ImportKey & { now: string | null }>(
  (p) => `
  WITH outdated AS (
    UPDATE book_figures SET computed_at = computed_at - interval '1 day' WHERE organization_id = ${p('organizationId')}
  )
  UPDATE book_import SET finished_at = ${p('now')}, updated_at = ${p('now')}
  WHERE organization_id = ${p('organizationId')} AND kind = ${p('kind')} AND digest = ${p('digest')}`,
)

/** Ends an import; the totals of earlier days are marked to be computed again. False: there is no such import. */
export async function finishImport(db: Pick<Db, 'pool'>, key: ImportKey, now: number): Promise<boolean> {
  const { rowCount } = await db.pool.query(finish({ ...key, now: moment(now) }))
  return rowCount === 1
}

/** The row that has an external id already, to tell a repeated line from a different one. */
export interface PresentLoan {
  readonly externalId: string
  readonly customerExternalId: string | null
  readonly productId: number | null
  readonly principal: bigint
  readonly disbursedAt: number
}

/** Those of the external ids that are taken, and the loan each belongs to; principal in minor units. */
export async function findPresentLoans(
  db: Queries,
  organizationId: number,
  externalIds: readonly string[],
): Promise<Map<string, PresentLoan>> {
  const { rows } = await db.pool.query<PresentLoan>({
    name: 'find-present-loans',
    text: `SELECT l.external_id AS "externalId", c.external_id AS "customerExternalId", l.product_id AS "productId",
        l.principal, l.disbursed_at AS "disbursedAt"
      FROM loan l JOIN customer c ON c.organization_id = l.organization_id AND c.id = l.customer_id
      WHERE l.organization_id = $1 AND l.external_id = ANY($2::text[])`,
    values: [organizationId, externalIds],
  })
  return new Map(rows.map((row) => [row.externalId, row]))
}

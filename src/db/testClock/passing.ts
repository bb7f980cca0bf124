import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { ToldChange } from '../../domain/events/changeEvents.ts'
import { changeFromText } from '../../domain/loan/change/changeText.ts'
import type { DamagedLoan } from '../loans/sweep.ts'
import { moment } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import { statement } from '../queries/statement.ts'

/** What time still has to do with the loans of a test organization. */
export interface Pending {
  /** The loans whose time has come. */
  readonly due: number
  /** The next moment at which a loan has to be reviewed; null: none. */
  readonly nextReviewAt: Instant | null
  /** Whether a loan may go from one bucket to another with the next day. */
  readonly isAnyLate: boolean
  /** The last day at whose beginning all changes of buckets were told; null: none. */
  readonly toldOn: LocalDate | null
}

/** The sum keeps the planner from the index of the loans of all organizations by their moment. */
const look = statement<{ organizationId: number; now: string | null; ids: bigint[] }>(
  'look-at-pending',
  (p) => `
  SELECT count(*) FILTER (WHERE review_at <= ${p('now')})::int AS due,
    min(review_at) FILTER (WHERE review_at > ${p('now')}) AS next_review_at,
    coalesce(bool_or(total_overdue > 0), false)
      OR EXISTS (SELECT FROM loan_bucket b WHERE b.organization_id = ${p('organizationId')}) AS is_any_late,
    (SELECT told_on::text FROM portfolio_head h WHERE h.organization_id = ${p('organizationId')}) AS told_on
  FROM (
    SELECT next_change_at + interval '0' AS review_at, total_overdue FROM loan
    WHERE organization_id = ${p('organizationId')} AND id <> ALL(${p('ids')}::bigint[])
  ) AS l`,
)

/**
 * Looks at what time still has to do with the loans of a test organization at a moment.
 * @param except loans that are damaged: their time has come for ever
 */
export async function readPending(
  { pool }: Queries,
  { organizationId, now, except }: { organizationId: number; now: Instant; except: readonly DamagedLoan[] },
): Promise<Pending> {
  const { rows } = await pool.query<{
    due: number
    next_review_at: Instant | null
    is_any_late: boolean
    told_on: LocalDate | null
  }>(look({ organizationId, now: moment(now), ids: except.map(({ id }) => id) }))
  const row = rows[0]!
  return {
    due: row.due,
    nextReviewAt: row.next_review_at,
    isAnyLate: row.is_any_late,
    toldOn: row.told_on,
  }
}

/** A change that time made: the row of the trail, as far as it decides which events there are. */
export interface ChangeOfTime extends ToldChange {
  readonly id: bigint
  readonly entityId: string
}

const readChanges = statement<{ organizationId: number; above: bigint; upTo: bigint; most: number }>(
  'read-changes-of-time',
  (p) => `
  SELECT id, entity, entity_id AS "entityId", action, change::text AS change
  FROM audit_entry
  WHERE organization_id = ${p('organizationId')} AND id > ${p('above')} AND id <= ${p('upTo')}
    AND account_id IS NULL AND request_id IS NULL
  ORDER BY id LIMIT ${p('most')}`,
)

/** Reads the next changes that the service itself made in an organization, after a row of the trail and up to another. */
export async function readChangesOfTime(
  { pool }: Queries,
  span: { readonly organizationId: number; readonly above: bigint; readonly upTo: bigint; readonly most: number },
): Promise<ChangeOfTime[]> {
  const { rows } = await pool.query<Omit<ChangeOfTime, 'loanChange' | 'isRaised'> & { readonly change: string | null }>(
    readChanges(span),
  )
  return rows.map(({ change, ...row }) => ({
    ...row,
    loanChange: change === null ? undefined : changeFromText(change),
    isRaised: false,
  }))
}

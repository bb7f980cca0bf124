import type { Instant, LocalDate } from '../../domain/dates.ts'
import { type Author, type Trace, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import { IS_SWEPT } from '../loans/sweep.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { moment } from '../queries/rows.ts'
import { type Parameter, type Queries, statement } from '../queries/statement.ts'

/** The entity of the rows of the trail that tell of a reminder. */
export const REMINDER = 'reminder'

/** Finds the organizations that have promises, or remind their borrowers, and makes their heads. */
export async function findCollecting({ pool }: Queries): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>({
    name: 'find-collecting',
    text: `WITH lenders AS (
        SELECT o.id FROM organization o WHERE o.id NOT IN (SELECT organization_id FROM absent_organization)
          AND (o.reminder_policy IS NOT NULL OR EXISTS (SELECT FROM promise p WHERE p.organization_id = o.id))
      ), made AS (
        INSERT INTO collections_head (organization_id, change_id)
        SELECT id, coalesce((SELECT c.change_id FROM event_chain c WHERE c.organization_id = lenders.id), 0) FROM lenders
        WHERE NOT EXISTS (SELECT FROM collections_head h WHERE h.organization_id = lenders.id)
        ON CONFLICT DO NOTHING
      )
      SELECT id FROM lenders ORDER BY id`,
    values: [],
  })
  return rows.map(({ id }) => id)
}

/** How far the collections of an organization are. */
export interface CollectionsHead {
  /** The row of the trail up to which promises are judged again with each change of their loans. */
  readonly changeId: bigint
  /** The last day on which all reminders were told; null: none. */
  readonly remindedOn: LocalDate | null
  /** Whether the sweep has saved what time changed in the loans up to the beginning of the day. */
  readonly isSwept: boolean
}

/** Claims the head of an organization until the end of the transaction; undefined while another instance has it, and where there is none. */
export async function claimCollections(
  transaction: Transaction,
  organizationId: number,
  startOfDay: Instant,
): Promise<CollectionsHead | undefined> {
  const { rows } = await transaction.query<CollectionsHead>({
    name: 'claim-collections',
    text: `SELECT change_id AS "changeId", reminded_on AS "remindedOn", ${IS_SWEPT} AS "isSwept"
      FROM collections_head WHERE organization_id = $1 FOR UPDATE SKIP LOCKED`,
    values: [organizationId, moment(startOfDay)],
  })
  return rows[0]
}

/** Rows of the trail that are looked through in one step. */
const ROWS_A_STEP = 5_000

const changed = statement<{ organizationId: number; above: bigint; most: number }>(
  'loans-to-judge-again',
  (p) => `
  WITH settled AS (
    SELECT coalesce((SELECT c.change_id FROM event_chain c WHERE c.organization_id = ${p('organizationId')}), 0) AS id
  ), step AS (
    SELECT a.id, a.entity, a.entity_id FROM audit_entry a CROSS JOIN settled
    WHERE a.organization_id = ${p('organizationId')} AND a.id > ${p('above')} AND a.id <= settled.id
      AND EXISTS (SELECT FROM promise t WHERE t.organization_id = ${p('organizationId')} AND t.state IN ('kept', 'broken'))
    ORDER BY a.id LIMIT ${p('most')}
  )
  SELECT CASE (SELECT count(*) FROM step) WHEN ${p('most')}::bigint THEN (SELECT max(id) FROM step)
      ELSE greatest(settled.id, ${p('above')}::bigint) END AS "upTo",
    (SELECT count(*) FROM step) = ${p('most')}::bigint AS "isMore",
    coalesce((SELECT array_agg(DISTINCT t.loan_id ORDER BY t.loan_id) FROM step s
      JOIN promise t ON t.organization_id = ${p('organizationId')} AND t.loan_id::text = s.entity_id
      WHERE s.entity = 'loan' AND t.state IN ('kept', 'broken')), '{}') AS ids
  FROM settled`,
)

/** The loans that changed in a step of the trail, and have promises that were judged. */
export interface ChangedLoans {
  readonly ids: readonly bigint[]
  /** The row of the trail that the step came to. */
  readonly upTo: bigint
  readonly isMore: boolean
}

/**
 * Finds the loans to judge again in the next step of the trail after a row: those of changes that are sealed. Where no promise was judged
 * yet, the step passes by all of them unread: a promise is first judged with all changes of before.
 */
export async function findChangedLoans(
  { pool }: Queries,
  of: { readonly organizationId: number; readonly above: bigint },
): Promise<ChangedLoans> {
  return (await pool.query<ChangedLoans>(changed({ ...of, most: ROWS_A_STEP }))).rows[0]!
}

/** Says up to which row of the trail promises are judged. */
export const setJudged = (transaction: Transaction, organizationId: number, changeId: bigint) =>
  transaction.query({
    name: 'set-promises-judged',
    text: 'UPDATE collections_head SET change_id = $2 WHERE organization_id = $1 AND change_id < $2',
    values: [organizationId, changeId],
  })

/** Says that all reminders of a day were told. */
export const setReminded = (transaction: Transaction, organizationId: number, day: LocalDate) =>
  transaction.query({
    name: 'set-reminded',
    text: 'UPDATE collections_head SET reminded_on = $2 WHERE organization_id = $1',
    values: [organizationId, day],
  })

interface ToRemindValues {
  readonly organizationId: number
  readonly after: bigint
  readonly today: LocalDate
  readonly dueDays: readonly LocalDate[]
  readonly most: number
}

/** Neither the due date nor the first day of arrears is in an index: each payment moves them, and all loans are looked at once a day. */
const toRemind = statement<ToRemindValues>(
  'loans-to-remind',
  (p) => `
  SELECT l.id, l.account_no AS "accountNo" FROM loan l
  LEFT JOIN loan_reminder r ON r.organization_id = l.organization_id AND r.loan_id = l.id
  WHERE l.organization_id = ${p('organizationId')} AND l.id > ${p('after')} AND l.status = 'Active'
    AND (l.next_due_on = ANY (${p('dueDays')}::date[]) OR l.overdue_since - 1 = ANY (${p('dueDays')}::date[]))
    AND r.told_on IS DISTINCT FROM ${p('today')}::date
    AND NOT EXISTS (SELECT FROM loan_hold h WHERE h.organization_id = l.organization_id AND h.loan_id = l.id AND h.what = 'reminders'
      AND ${p('today')}::date BETWEEN h.from_date AND h.until_date AND (h.released_on IS NULL OR h.released_on > ${p('today')}::date))
  ORDER BY l.id LIMIT ${p('most')}`,
)

/** A loan that may be reminded of. */
export interface LoanToRemind {
  readonly id: bigint
  readonly accountNo: bigint
}

/** Finds the next loans, by id, that have one of some due dates, and of which nobody was reminded today. */
export const findLoansToRemind = async ({ pool }: Queries, of: ToRemindValues): Promise<LoanToRemind[]> =>
  (await pool.query<LoanToRemind>(toRemind(of))).rows

const remind = statement<TrailValues & { id: bigint; today: LocalDate }>(
  'remind-of-loan',
  (p) => `
  WITH told AS (
    INSERT INTO loan_reminder (organization_id, loan_id, told_on) VALUES (${p('organizationId')}, ${p('id')}, ${p('today')})
    ON CONFLICT (organization_id, loan_id) DO UPDATE SET told_on = excluded.told_on RETURNING loan_id AS id
  ), ${trail(p as Parameter<TrailValues>, 'told', REMINDER)}
  SELECT id FROM told`,
)

/** Saves that a borrower is reminded of a loan, with the row of the trail from which the event is made. */
export async function saveReminder(
  transaction: Transaction,
  author: Author,
  {
    id,
    today,
    now,
    trace,
  }: { readonly id: bigint; readonly today: LocalDate; readonly now: Instant; readonly trace: Trace },
): Promise<void> {
  await transaction.query(
    remind({ ...trailValues(transaction, author, now, { entity: REMINDER, id }, trace), id, today }),
  )
}

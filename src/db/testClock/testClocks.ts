import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { ToldChange } from '../../domain/events/changeEvents.ts'
import { changeFromText } from '../../domain/loan/change/changeFromText.ts'
import { type Author, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { DamagedLoan } from '../loans/sweep.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import { createBatcher } from '../queries/batcher.ts'
import { AFTER_TRANSACTION_ID } from '../queries/lists.ts'
import { moment } from '../queries/rows.ts'
import { type Queries, statement } from '../queries/statement.ts'

/** The clock of a test organization. */
export interface TestClock {
  readonly organizationId: number
  /** The moment at which the clock stands; null: it runs with the clock of the machine. */
  readonly standsAt: Instant | null
}

interface TestClockRow {
  readonly organization_id: number
  readonly stands_at: Instant | null
}

const toTestClock = ({ organization_id, stands_at }: TestClockRow): TestClock => ({
  organizationId: organization_id,
  standsAt: stands_at,
})

/** Reads the clocks of all test organizations. */
export async function listTestClocks({ pool }: Queries): Promise<TestClock[]> {
  const { rows } = await pool.query<TestClockRow>({
    name: 'list-test-clocks',
    text: 'SELECT organization_id, stands_at FROM test_clock ORDER BY organization_id',
  })
  return rows.map(toTestClock)
}

/** Organizations in a statement at most, and one statement under way: requests that arrive meanwhile share the next. */
const TOGETHER = { most: 128, inFlight: 1, mostLate: 4, lateMs: 300 }

/**
 * Returns a function that reads the clock of a test organization, as it is after the call; undefined for a live one. Requests
 * that arrive together share a statement.
 */
export const testClockReader = ({ pool }: Queries): ((organizationId: number) => Promise<TestClock | undefined>) =>
  createBatcher({
    ...TOGETHER,
    run: async (organizationIds: readonly number[]) => {
      const { rows } = await pool.query<TestClockRow>({
        name: 'find-test-clocks',
        text: 'SELECT organization_id, stands_at FROM test_clock WHERE organization_id = ANY ($1::int[])',
        values: [[...new Set(organizationIds)]],
      })
      const clocks = new Map(rows.map((row) => [row.organization_id, toTestClock(row)]))
      return organizationIds.map((id) => ({ result: clocks.get(id) }))
    },
  })

/**
 * Returns whether a test clock stands where it was read, and keeps it there until the end of the transaction; false, too, while it is
 * being moved.
 */
export async function holdTestClock({ pool }: Queries, { organizationId, standsAt }: TestClock): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'hold-test-clock',
    text: `SELECT FROM test_clock WHERE organization_id = $1 AND stands_at IS NOT DISTINCT FROM $2 FOR SHARE SKIP LOCKED`,
    values: [organizationId, standsAt === null ? null : moment(standsAt)],
  })
  return rowCount === 1
}

/** Sets the clock of a test organization, once the changes of loans that are being saved by the earlier moment are saved. */
export async function setTestClock({ pool }: Queries, organizationId: number, standsAt: Instant): Promise<void> {
  await pool.query({
    name: 'set-test-clock',
    text: 'UPDATE test_clock SET stands_at = $2 WHERE organization_id = $1',
    values: [organizationId, moment(standsAt)],
  })
}

const note = statement<TrailValues>(
  'note-test-clock',
  (p) => `
  WITH organization_of AS (SELECT ${p('organizationId')}::int AS id ${AFTER_TRANSACTION_ID}),
  ${trail(p, 'organization_of', 'organization')}
  SELECT`,
)

/** What an operation on the test clock leaves in the trail. */
export interface NotedTrace {
  readonly action: 'advance clock' | 'reset'
  readonly before: object
  readonly after: object
  readonly at: Instant
}

/** Adds a row to the trail about an operation on the test clock. */
export async function noteTestClock(queries: Queries, author: Author, { at, ...trace }: NotedTrace): Promise<void> {
  await queries.pool.query(
    note(trailValues(queries.pool, author, at, { entity: 'organization', id: author.organizationId }, trace)),
  )
}

/** The longest that the database may take to empty an organization, in milliseconds. */
const EMPTYING_MS = 600_000

/**
 * Deletes everything of a test organization but its accounts, API keys, products and webhook endpoints, and lets its clock
 * run with that of the machine again. The numbers of its events go on.
 * @throws a check violation for a live organization
 */
export async function emptyTestOrganization(db: Pick<Db, 'pool'>, author: Author, trace: NotedTrace): Promise<void> {
  await inTransaction(db, async (transaction: Transaction) => {
    await transaction.query(`SET LOCAL statement_timeout = ${EMPTYING_MS}`)
    await transaction.query('SELECT empty_test_organization($1)', [author.organizationId])
    await noteTestClock({ pool: transaction }, author, trace)
    return true
  })
}

/** What time still has to do with the loans of a test organization. */
export interface Pending {
  /** The loans whose time has come. */
  readonly due: number
  /** The next moment at which a loan has to be reviewed; null: none. */
  readonly nextReviewAt: Instant | null
  /** Whether a loan may go from one bucket to another with the next day. */
  readonly isAnyLate: boolean
  /** Whether promises are open, or borrowers are reminded: each day has to be looked at. */
  readonly isCollecting: boolean
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
    EXISTS (SELECT FROM promise t WHERE t.organization_id = ${p('organizationId')} AND t.state = 'open')
      OR EXISTS (SELECT FROM organization o WHERE o.id = ${p('organizationId')} AND o.reminder_policy IS NOT NULL) AS is_collecting,
    (SELECT told_on::text FROM portfolio_head h WHERE h.organization_id = ${p('organizationId')}) AS told_on
  FROM (
    SELECT next_change_at + interval '0' AS review_at, total_overdue FROM loan
    WHERE organization_id = ${p('organizationId')} AND id <> ALL(${p('ids')}::bigint[])
  ) AS l`,
)

/** A change that time made: the row of the trail, as far as it decides which events there are. */
interface ChangeOfTime extends ToldChange {
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
    is_collecting: boolean
    told_on: LocalDate | null
  }>(look({ organizationId, now: moment(now), ids: except.map(({ id }) => id) }))
  const row = rows[0]!
  return {
    due: row.due,
    nextReviewAt: row.next_review_at,
    isAnyLate: row.is_any_late,
    isCollecting: row.is_collecting,
    toldOn: row.told_on,
  }
}

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

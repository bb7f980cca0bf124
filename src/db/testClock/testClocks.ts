import type { Instant } from '../../domain/dates.ts'
import { type Author, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import { createBatcher } from '../queries/batcher.ts'
import { AFTER_TRANSACTION_ID } from '../queries/lists.ts'
import { moment } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import { statement } from '../queries/statement.ts'

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

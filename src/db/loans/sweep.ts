import type { LoanChanged } from '../../domain/loan/change/change.ts'
import { carriedForward, type LoanState } from '../../domain/loan/replay.ts'
import { service, stampedRow } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction } from '../postgres/transaction.ts'
import { type ColumnTypes, columnsOf, moment, rowsOf } from '../queries/rows.ts'
import { statement } from '../queries/statement.ts'
import { CACHED, CACHED_COLUMNS, cached, traceOf } from './loanColumns.ts'
import { LOANS_BY } from './loans.ts'
import { type LoanRow, type StoredLoan, toStoredLoan } from './storedLoan.ts'

/**
 * SQL for whether the sweep has saved what time changed in the loans of the organization `$1` up to the instant `$2`, which is the
 * beginning of a day. A loan that has waited for longer than a day is damaged, and waits for ever.
 */
export const IS_SWEPT = `NOT EXISTS (SELECT FROM loan l
  WHERE l.next_change_at <= $2 AND l.next_change_at > $2::timestamptz - interval '1 day' AND l.organization_id = $1)`

/** The result of a round of the sweep. */
export interface Swept {
  /** Loans whose figures were brought up to date. */
  readonly saved: number
  /** Loans whose time had come, also where it changed nothing; as many as the round may have, and there may be more. */
  readonly found: number
  /** True where a reviewed loan has another moment to review by now: a round reviews one moment of each loan. */
  readonly isBehind: boolean
  /** Those that could not be replayed: their rows are damaged, and they stay as they are. */
  readonly damaged: readonly DamagedLoan[]
}

/** A loan that cannot be replayed, and why. */
export interface DamagedLoan {
  readonly organizationId: number
  readonly id: bigint
  readonly error: unknown
}

interface ClaimValues {
  readonly now: string | null
  readonly most: number
  readonly organizationIds: number[]
  readonly ids: bigint[]
}

/** Due loans of live organizations, oldest first; those that another instance is at are left to it. */
const claimLive = statement<ClaimValues>(
  'sweep-claim',
  (p) => `
  SELECT organization_id, id FROM loan
  WHERE next_change_at <= ${p('now')} AND organization_id NOT IN (SELECT organization_id FROM test_clock UNION ALL SELECT organization_id FROM absent_organization)
    AND (organization_id, id) NOT IN (SELECT * FROM unnest(${p('organizationIds')}::int[], ${p('ids')}::bigint[]))
  ORDER BY next_change_at LIMIT ${p('most')} FOR NO KEY UPDATE SKIP LOCKED`,
)

/**
 * The same of one test organization. The sum keeps the planner from the index of the loans of all organizations by their
 * moment: with a clock that is years ahead, all of these are before it.
 */
const claimOfTest = statement<ClaimValues & { readonly organizationId: number }>(
  'sweep-claim-of-test',
  (p) => `
  SELECT organization_id, id FROM loan
  WHERE organization_id = ${p('organizationId')} AND next_change_at + interval '0' <= ${p('now')}
    AND (organization_id, id) NOT IN (SELECT * FROM unnest(${p('organizationIds')}::int[], ${p('ids')}::bigint[]))
  ORDER BY next_change_at + interval '0' LIMIT ${p('most')} FOR NO KEY UPDATE SKIP LOCKED`,
)

/**
 * The test organizations that have due loans, each by its own clock. It looks at the loan of each that changes first: asked whether a
 * due one exists, the planner would read all loans of the book, every few seconds. The place in the order of organizations keeps
 * it from the index of the loans of all organizations by their moment.
 */
const FIND_TESTS_DUE = `
  SELECT t.organization_id AS id FROM test_clock t
  CROSS JOIN LATERAL (SELECT l.organization_id, l.next_change_at FROM loan l
    WHERE l.organization_id >= t.organization_id AND l.next_change_at IS NOT NULL
    ORDER BY l.organization_id, l.next_change_at LIMIT 1) AS next
  WHERE next.organization_id = t.organization_id AND next.next_change_at <= coalesce(t.stands_at, $1)
  ORDER BY 1`

/** Finds the test organizations that have due loans. @param liveNow the moment of those whose clock does not stand */
export async function findTestsDue({ pool }: Pick<Db, 'pool'>, liveNow: number): Promise<number[]> {
  const values = [moment(liveNow)]
  const { rows } = await pool.query<{ id: number }>({ name: 'find-tests-due', text: FIND_TESTS_DUE, values })
  return rows.map(({ id }) => id)
}

const COMPUTED: ColumnTypes = {
  organization_id: 'int',
  id: 'bigint',
  version: 'int',
  before: 'jsonb',
  after: 'jsonb',
  change: 'json',
  stamp: 'text',
  carried_forward: 'text',
  ...CACHED_COLUMNS,
}

const FIGURES = CACHED.filter((column) => column !== 'next_change_at')
const figuresOf = (table: string) => `(${FIGURES.map((column) => `${table}.${column}`).join(', ')})`

/**
 * Takes the same version check as every other change. A loan whose columns say already what replay says, its instalment
 * having been paid in time, only has the moment moved on: that is no change of it, and nothing to tell of.
 */
const SAVE = `
  WITH computed AS (
    SELECT * FROM ${rowsOf('c', COMPUTED, 2)}
  ), swept AS (
    UPDATE loan SET version = loan.version + 1, updated_at = $1,
      carried_forward = computed.carried_forward, carried_version = loan.version + 1,
      ${CACHED.map((column) => `${column} = computed.${column}`).join(', ')}
    FROM computed
    WHERE loan.organization_id = computed.organization_id AND loan.id = computed.id AND loan.version = computed.version
      AND ${figuresOf('loan')} IS DISTINCT FROM ${figuresOf('computed')}
    RETURNING loan.organization_id, loan.id, computed.before, computed.after, computed.change, computed.stamp
  ), audited AS (
    INSERT INTO audit_entry (organization_id, at, action, entity, entity_id, before, after, change, stamp)
    SELECT organization_id, $1::timestamptz, 'time', 'loan', id::text, before, after, change, decode(stamp, 'hex') FROM swept
  ), moved_on AS (
    UPDATE loan SET next_change_at = computed.next_change_at FROM computed
    WHERE loan.organization_id = computed.organization_id AND loan.id = computed.id AND loan.version = computed.version
      AND ${figuresOf('loan')} IS NOT DISTINCT FROM ${figuresOf('computed')}
  )
  SELECT count(*) AS saved FROM swept`

/** A loan whose time has come: what time has changed in it, and the loan after that. */
export interface ReplayedLoan {
  readonly changed: LoanChanged
  readonly after: LoanState
  /** True where the loan has another moment to review by now. */
  readonly isBehind: boolean
}

/** The loans that a round of the sweep takes. */
export interface SweepOptions {
  /** The most loans in the round, which also bounds how long their rows are locked. */
  readonly most: number
  /** Loans that were found damaged before: due for longest, they would be all that a round finds. */
  readonly except: readonly DamagedLoan[]
  /** The test organization whose loans are swept; undefined: all live ones. */
  readonly testOrganizationId?: number
}

/**
 * One round: takes loans whose time has come, lets `replayed` say what time has changed in them, and saves that, in one
 * short transaction. Idempotent: what was saved is no longer due; after a crash nothing was.
 */
export async function sweepLoans(
  db: Db,
  zone: string,
  now: number,
  { most, except, testOrganizationId }: SweepOptions,
  replayed: (loan: StoredLoan) => ReplayedLoan,
): Promise<Swept> {
  return inTransaction(db, async (transaction) => {
    const values = {
      now: moment(now),
      most,
      ids: except.map(({ id }) => id),
      organizationIds: except.map(({ organizationId }) => organizationId),
    }
    const claimed = await transaction.query<{ organization_id: number; id: bigint }>(
      testOrganizationId === undefined
        ? claimLive(values)
        : claimOfTest({ ...values, organizationId: testOrganizationId }),
    )
    const found = claimed.rows.length
    if (found === 0) return { saved: 0, found, isBehind: false, damaged: [] }
    const keys = claimed.rows.map((row) => [row.organization_id, row.id])
    const { rows } = await transaction.query<LoanRow>(LOANS_BY.id(keys))
    const damaged: DamagedLoan[] = []
    let isAnyBehind = false
    const changes = rows.flatMap((row) => {
      try {
        const loan = toStoredLoan(row, zone)
        const { changed, after, isBehind } = replayed(loan)
        isAnyBehind ||= isBehind
        const subject = { entity: 'loan', id: loan.id }
        const audited = stampedRow(transaction, service(loan.organizationId), now, subject, traceOf(changed))
        // The text is of the moment of the save: a loan that is reviewed again has none until then.
        const carried = isBehind ? null : carriedForward(loan.terms, after)
        return [
          [
            loan.organizationId,
            loan.id,
            loan.version,
            audited.before,
            audited.after,
            audited.change,
            audited.stamp,
            carried,
            ...cached(after),
          ],
        ]
      } catch (error) {
        // One of them must not keep time from all the others, of every organization.
        damaged.push({ organizationId: row.organization_id, id: row.id, error })
        return []
      }
    })
    const saved = await transaction.query<{ saved: bigint }>({
      name: 'sweep-save',
      text: SAVE,
      values: [moment(now), ...columnsOf(COMPUTED, changes)],
    })
    return { saved: Number(saved.rows[0]!.saved), found, isBehind: isAnyBehind, damaged }
  })
}

/** The number of loans of all live organizations that wait for the sweep; counting ends after `most`. */
export async function countDue(db: Db, now: number, most: number): Promise<number> {
  const { rows } = await db.pool.query<{ due: bigint }>({
    name: 'count-due',
    text: `SELECT count(*) AS due FROM (SELECT FROM loan
      WHERE next_change_at <= $1 AND organization_id NOT IN (SELECT organization_id FROM test_clock) LIMIT $2) AS waiting`,
    values: [moment(now), most + 1],
  })
  return Number(rows[0]!.due)
}

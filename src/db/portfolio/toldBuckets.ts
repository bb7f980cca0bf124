import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { followsFromDay } from '../../domain/delinquency/position.ts'
import { service, stampedRow } from '../audit/trail.ts'
import { IS_SWEPT } from '../loans/sweep.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { AFTER_TRANSACTION_ID } from '../queries/lists.ts'
import { type ColumnTypes, columnValues, moment, tableOf } from '../queries/rows.ts'
import { statement, unprepared } from '../queries/statement.ts'
import { PORTFOLIO_COLUMNS, type PortfolioLoan, type PortfolioRow, toPortfolioLoan } from './positions.ts'

/** The entity of the rows of the trail that tell of a loan in another bucket. */
export const DELINQUENCY = 'delinquency'

/** How far the portfolio of an organization is told and kept. */
export interface PortfolioHead {
  /** The last day at whose beginning all changes of buckets were told; null: none. */
  readonly toldOn: LocalDate | null
  /** The last day before which the days of the portfolio were kept; null: none. */
  readonly keptOn: LocalDate | null
  /** Whether the sweep has saved what time changed in the loans up to the beginning of the day. */
  readonly isSwept: boolean
}

/**
 * Claims the head of an organization's portfolio until the end of the transaction.
 * @returns undefined while another instance has claimed it
 */
export async function claimPortfolio(
  transaction: Transaction,
  organizationId: number,
  startOfDay: Instant,
): Promise<PortfolioHead | undefined> {
  const { rows } = await transaction.query<PortfolioHead>({
    name: 'claim-portfolio',
    text: `SELECT told_on AS "toldOn", kept_on AS "keptOn", ${IS_SWEPT} AS "isSwept"
      FROM portfolio_head WHERE organization_id = $1 FOR UPDATE SKIP LOCKED`,
    values: [organizationId, moment(startOfDay)],
  })
  return rows[0]
}

/** Says that all changes of buckets of a day were told. */
export const setTold = (transaction: Transaction, organizationId: number, day: LocalDate) =>
  transaction.query({
    name: 'set-buckets-told',
    text: 'UPDATE portfolio_head SET told_on = $2 WHERE organization_id = $1',
    values: [organizationId, day],
  })

/** Says that the days before a day were kept. */
export const setKept = (transaction: Transaction, organizationId: number, day: LocalDate) =>
  transaction.query({
    name: 'set-days-kept',
    text: 'UPDATE portfolio_head SET kept_on = $2 WHERE organization_id = $1',
    values: [organizationId, day],
  })

/** A loan that may be in another bucket than was told. */
export interface ToldLoan extends PortfolioLoan {
  readonly version: number
  readonly customerId: bigint
  /** The bucket that was told last; null: the best one. */
  readonly told: string | null
}

interface CandidateValues {
  readonly organizationId: number
  readonly after: bigint
  readonly now: string
  readonly day: LocalDate
  readonly fromDays: readonly number[]
  readonly names: readonly string[]
  readonly most: number
}

/**
 * Where the arrears of a day decide alone, the columns of a loan say which bucket it is in, and only a change is found; but
 * not the columns of a loan that waits for the sweep.
 */
const candidatesOf = (policy: DelinquencyPolicy) =>
  unprepared<CandidateValues>((p) => {
    // Postgres refuses a parameter that the text does not use.
    const isOther = () => {
      const days = `CASE WHEN l.status = 'Active' AND l.overdue_since <= ${p('day')}::date
        THEN ${p('day')}::date - l.overdue_since + 1 ELSE 0 END`
      const bucket = `(${p('names')}::text[])[width_bucket(${days}, ${p('fromDays')}::int[])]`
      return `${bucket} <> coalesce(told.bucket, (${p('names')}::text[])[1]) OR l.status <> 'Active'`
    }
    const dayDecides = followsFromDay(policy) && policy.materiality === null
    return `
    SELECT l.id FROM loan l
    LEFT JOIN loan_bucket told ON told.organization_id = l.organization_id AND told.loan_id = l.id
    WHERE l.organization_id = ${p('organizationId')} AND l.id > ${p('after')} AND (
      l.next_change_at <= ${p('now')}::timestamptz
      OR ((l.status = 'Active' AND l.is_overdue OR told.loan_id IS NOT NULL)
        ${dayDecides ? `AND (${isOther()})` : ''}))
    ORDER BY l.id LIMIT ${p('most')}`
  })

interface SomeLoans {
  readonly organizationId: number
  readonly ids: readonly bigint[]
}

/** Nobody waits for another's loan: two that lock several loans would wait for each other for ever. */
const lock = statement<SomeLoans>(
  'lock-candidates',
  (p) => `SELECT id FROM loan WHERE organization_id = ${p('organizationId')} AND id = ANY (${p('ids')}::bigint[])
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED`,
)

const read = statement<SomeLoans>(
  'read-candidates',
  (p) => `SELECT ${PORTFOLIO_COLUMNS}, told.bucket AS told
    FROM loan l LEFT JOIN loan_bucket told ON told.organization_id = l.organization_id AND told.loan_id = l.id
    WHERE l.organization_id = ${p('organizationId')} AND l.id = ANY (${p('ids')}::bigint[]) ORDER BY l.id`,
)

/** Loans that may be in another bucket than was told; no other change of them is saved until the end of the transaction. */
export interface Candidates {
  readonly loans: readonly {
    readonly id: bigint
    /** Throws where the rows of the loan are damaged. */
    readonly read: () => ToldLoan
  }[]
  /** Loans that another change has locked, and that are left out. */
  readonly left: number
  /** The last loan that was found; undefined where none was. */
  readonly last: bigint | undefined
}

/** Reads and locks the next loans that may be in another bucket than was told, by id. */
export async function readCandidates(
  transaction: Transaction,
  zone: string,
  {
    policy,
    now,
    ...asked
  }: Omit<CandidateValues, 'fromDays' | 'names' | 'now'> & {
    readonly policy: DelinquencyPolicy
    readonly now: Instant
  },
): Promise<Candidates> {
  const { organizationId } = asked
  const fromDays = policy.buckets.map((bucket) => bucket.fromDays)
  const names = policy.buckets.map(({ name }) => name)
  const values = { ...asked, now: moment(now)!, fromDays, names }
  const found = await transaction.query<{ id: bigint }>(candidatesOf(policy)(values))
  if (found.rows.length === 0) return { loans: [], left: 0, last: undefined }
  const { loans, left } = await lockLoans(transaction, zone, { organizationId, ids: found.rows.map(({ id }) => id) })
  return { loans, left, last: found.rows.at(-1)?.id }
}

/** Locks and reads loans; those that another change has locked are left out. */
export async function lockLoans(
  transaction: Transaction,
  zone: string,
  { organizationId, ids }: SomeLoans,
): Promise<Omit<Candidates, 'last'>> {
  const locked = await transaction.query<{ id: bigint }>(lock({ organizationId, ids }))
  const held = locked.rows.map(({ id }) => id)
  const { rows } = await transaction.query<PortfolioRow & { told: string | null }>(read({ organizationId, ids: held }))
  const toLoan = (row: (typeof rows)[number]): ToldLoan => ({
    ...toPortfolioLoan(row, zone),
    version: row.version,
    customerId: row.customer_id,
    told: row.told,
  })
  return { loans: rows.map((row) => ({ id: row.id, read: () => toLoan(row) })), left: ids.length - held.length }
}

/** A loan that is in another bucket than was told. */
export interface ChangedBucket {
  readonly loanId: bigint
  /** The bucket by name; null: the loan is not open, and nothing is told. */
  readonly bucket: string | null
  readonly isBest: boolean
  readonly before: object
  readonly after: object
  /** The loan, as `changeToText` writes it. */
  readonly change: string
}

/** The rows of changed buckets: `kept` is false where nothing is kept of the loan, `told` where nobody is told. */
const CHANGED: ColumnTypes = {
  loan_id: 'bigint',
  bucket: 'text',
  kept: 'boolean',
  told: 'boolean',
  before: 'jsonb',
  after: 'jsonb',
  change: 'json',
  stamp: 'text',
}

/** How changes of buckets are saved. */
export interface Telling {
  readonly organizationId: number
  readonly policyVersion: number
  readonly day: LocalDate
  readonly now: Instant
  /** True for the first day of all: what loans are in is noted, and nobody is told. */
  readonly isSilent: boolean
}

const save = statement<Omit<Telling, 'now' | 'isSilent'> & { readonly now: string } & Record<string, unknown>>(
  'save-buckets',
  (p) => `
  WITH changed AS MATERIALIZED (SELECT * FROM ${tableOf('c', CHANGED, p)}), forgotten AS (
    DELETE FROM loan_bucket b USING changed c
    WHERE b.organization_id = ${p('organizationId')} AND b.loan_id = c.loan_id AND NOT c.kept
  ), saved AS (
    INSERT INTO loan_bucket (organization_id, loan_id, bucket, policy_version, told_on)
    SELECT ${p('organizationId')}, loan_id, bucket, ${p('policyVersion')}, ${p('day')} FROM changed WHERE kept
    ON CONFLICT (organization_id, loan_id) DO UPDATE
      SET bucket = excluded.bucket, policy_version = excluded.policy_version, told_on = excluded.told_on
  )
  INSERT INTO audit_entry (organization_id, at, action, entity, entity_id, before, after, change, stamp)
  SELECT ${p('organizationId')}, ${p('now')}::timestamptz, 'change', '${DELINQUENCY}', loan_id::text, before, after, change,
    decode(stamp, 'hex')
  FROM changed ${AFTER_TRANSACTION_ID} AND told ORDER BY loan_id`,
)

/** Saves the buckets of loans, each with its row of the trail, of which the event is made. */
export async function saveBuckets(
  transaction: Transaction,
  changed: readonly ChangedBucket[],
  { now, isSilent, ...telling }: Telling,
): Promise<void> {
  if (changed.length === 0) return
  const rows = changed.map(({ loanId, bucket, isBest, before, after, change }) => {
    const [isKept, isTold] = [bucket !== null && !isBest, bucket !== null && !isSilent]
    const trace = { action: 'change', before, after, change }
    const author = service(telling.organizationId)
    const row = stampedRow(transaction, author, now, { entity: DELINQUENCY, id: loanId }, trace)
    return [loanId, bucket, String(isKept), String(isTold), row.before, row.after, change, row.stamp]
  })
  await transaction.query(save({ ...telling, now: moment(now)!, ...columnValues(CHANGED, rows) }))
}

/** Finds the organizations that have loans, and makes the heads of their portfolios. */
export async function findPortfolios({ pool }: { pool: Transaction }): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>({
    name: 'find-portfolios',
    text: `WITH lenders AS (
        SELECT o.id FROM organization o
        CROSS JOIN LATERAL (SELECT FROM loan l WHERE l.organization_id = o.id ORDER BY l.id LIMIT 1) AS one
        WHERE o.id NOT IN (SELECT organization_id FROM absent_organization)
      ), made AS (
        INSERT INTO portfolio_head (organization_id, change_id)
        SELECT id, coalesce((SELECT c.change_id FROM event_chain c WHERE c.organization_id = lenders.id), 0) FROM lenders
        WHERE NOT EXISTS (SELECT FROM portfolio_head h WHERE h.organization_id = lenders.id)
        ON CONFLICT DO NOTHING
      )
      SELECT id FROM lenders ORDER BY id`,
  })
  return rows.map(({ id }) => id)
}

import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { Cell } from '../../domain/portfolio/cells.ts'
import { cellsFromJson, cellsToJson } from '../../domain/portfolio/cells.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction, type Snapshot, type Transaction } from '../postgres/transaction.ts'
import { moment } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import { statement } from '../queries/statement.ts'

/** The name of a kept day of a portfolio: there is one for each day and each version of the policy. */
export interface KeptDayKey {
  readonly organizationId: number
  readonly policyVersion: number
  readonly day: LocalDate
}

/** A day of a portfolio as it is computed, to be kept. */
export interface ComputedDay extends KeptDayKey {
  readonly cells: readonly Cell[]
  readonly computedAt: Instant
  /** The last row of the trail whose change, and every one before it, is in the cells. */
  readonly seenTo: bigint
}

/** SQL for a day that the change of a loan names; null where it names none. */
const dayIn = (text: string): string => `CASE WHEN ${text} ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' THEN (${text})::date END`

/**
 * SQL for the first day that changes of loans touch, of rows `a` of the trail; null where they touch none. The trail keeps
 * with each change the day from which it counts, and with an adjustment that of the original, too. A change without such a
 * day is damaged, and a change of terms may move the disbursement: each touches every day. So does emptying a test
 * organization: a day that was computed before it may be kept after it. What time alone changes follows from the rest.
 */
const FIRST_TOUCHED = `min(CASE WHEN a.change IS NULL OR a.action = 'update' THEN '-infinity'::date
     ELSE coalesce(least(${dayIn("a.change ->> 'on'")}, ${dayIn("a.change #>> '{between,on}'")}), '-infinity') END)
   FILTER (WHERE a.entity = 'loan' AND a.action <> 'time' OR a.entity = 'organization' AND a.action = 'reset')`

/** SQL for the first day that changes of loans touch, of rows of the trail above one; null where they touch none. */
const firstTouched = (organizationId: string, above: string, upTo: string | undefined): string => `
  (SELECT ${FIRST_TOUCHED}
   FROM audit_entry a WHERE a.organization_id = ${organizationId} AND a.id > ${above}
     ${upTo === undefined ? '' : `AND a.id <= ${upTo}`})`

/** SQL for the row of the trail up to which all are sealed: none can appear before it any more. */
const sealedTo = (organizationId: string): string =>
  `coalesce((SELECT c.change_id FROM event_chain c WHERE c.organization_id = ${organizationId}), 0)`

/** Reads up to which row the trail of an organization is settled. */
export async function readSettled({ pool }: Queries, organizationId: number): Promise<bigint> {
  const { rows } = await pool.query<{ settled: bigint }>({
    name: 'portfolio-settled',
    text: `SELECT ${sealedTo('$1')} AS settled`,
    values: [organizationId],
  })
  return rows[0]!.settled
}

const IS_RIGHT = `k.stale_at IS NULL
  AND coalesce(${firstTouched('k.organization_id', 'h.change_id', undefined)} > k.day, true)`

const find = statement<KeptDayKey>(
  'find-kept-day',
  (p) => `
  SELECT k.cells FROM portfolio_day k JOIN portfolio_head h ON h.organization_id = k.organization_id
  WHERE k.organization_id = ${p('organizationId')} AND k.policy_version = ${p('policyVersion')} AND k.day = ${p('day')}
    AND ${IS_RIGHT}`,
)

/** Finds the cells of a kept day; undefined where the day is not kept, or a change made it stale. */
export async function findKeptDay({ pool }: Queries, key: KeptDayKey): Promise<Cell[] | undefined> {
  const { rows } = await pool.query<{ cells: unknown }>(find(key))
  return rows[0] && cellsFromJson(rows[0].cells)
}

const list = statement<{ organizationId: number; policyVersion: number; from: LocalDate; to: LocalDate }>(
  'list-kept-days',
  (p) => `
  SELECT k.day, k.cells, ${IS_RIGHT} AS "isRight"
  FROM portfolio_day k JOIN portfolio_head h ON h.organization_id = k.organization_id
  WHERE k.organization_id = ${p('organizationId')} AND k.policy_version = ${p('policyVersion')}
    AND k.day BETWEEN ${p('from')} AND ${p('to')} ORDER BY k.day`,
)

/** A kept day in a list. */
export interface ListedDay {
  readonly day: LocalDate
  readonly cells: readonly Cell[]
  /** False: a change made the day stale since. */
  readonly isRight: boolean
}

/** Lists the kept days between two, both included, by a version of the policy. */
export async function listKeptDays(
  { pool }: Queries,
  asked: Omit<KeptDayKey, 'day'> & { readonly from: LocalDate; readonly to: LocalDate },
): Promise<ListedDay[]> {
  const { rows } = await pool.query<Omit<ListedDay, 'cells'> & { cells: unknown }>(list(asked))
  return rows.map(({ cells, ...day }) => ({ ...day, cells: cellsFromJson(cells) ?? [] }))
}

/**
 * Claims the head of an organization's portfolio until the end of the transaction, and makes it where there is none.
 * @param settled where a new head begins: nothing was kept before it
 * @returns the row of the trail up to which stale days are marked; undefined where the head was deleted meanwhile, with all
 *   of a test organization that was emptied
 */
async function claimHead(
  transaction: Transaction,
  organizationId: number,
  settled: bigint,
): Promise<bigint | undefined> {
  await transaction.query({
    name: 'make-portfolio-head',
    text: 'INSERT INTO portfolio_head (organization_id, change_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    values: [organizationId, settled],
  })
  const { rows } = await transaction.query<{ changeId: bigint }>({
    name: 'claim-portfolio-head',
    text: 'SELECT change_id AS "changeId" FROM portfolio_head WHERE organization_id = $1 FOR UPDATE',
    values: [organizationId],
  })
  return rows[0]?.changeId
}

const save = statement<
  Omit<ComputedDay, 'cells' | 'computedAt'> & {
    cells: string
    computedAt: string
    touched: LocalDate | null
    upTo: bigint
    marked: bigint
  }
>(
  'keep-day',
  (p) => `
  INSERT INTO portfolio_day AS k (organization_id, policy_version, day, computed_at, seen_to, stale_at, cells)
  VALUES (${p('organizationId')}, ${p('policyVersion')}, ${p('day')}, ${p('computedAt')}, ${p('seenTo')},
    CASE WHEN least(${p('touched')}::date, ${firstTouched(p('organizationId'), p('upTo'), p('marked'))}) <= ${p('day')}::date
      THEN ${p('computedAt')}::timestamptz END,
    ${p('cells')}::jsonb)
  ON CONFLICT (organization_id, policy_version, day) DO UPDATE
    SET computed_at = excluded.computed_at, seen_to = excluded.seen_to, stale_at = excluded.stale_at, cells = excluded.cells
    WHERE excluded.seen_to >= k.seen_to`,
)

const touchedSince = statement<{ organizationId: number; seenTo: bigint }>(
  'touched-since',
  (p) => `
  SELECT to_mark.up_to AS "upTo", ${firstTouched(p('organizationId'), p('seenTo'), 'to_mark.up_to')} AS touched
  FROM (SELECT greatest(${p('seenTo')}::bigint,
    (SELECT change_id FROM portfolio_head WHERE organization_id = ${p('organizationId')})) AS up_to) AS to_mark`,
)

const forget = statement<{ organizationId: number; policyVersion: number; before: LocalDate; today: LocalDate }>(
  'forget-days',
  (p) => `
  DELETE FROM portfolio_day WHERE organization_id = ${p('organizationId')}
    AND (policy_version <> ${p('policyVersion')} OR day < ${p('before')} OR day >= ${p('today')})`,
)

/**
 * Deletes the kept days before a day, those by another version of the policy, and those that a clock that was ahead has
 * left.
 */
export const forgetDays = (
  transaction: Transaction,
  asked: {
    readonly organizationId: number
    readonly policyVersion: number
    readonly before: LocalDate
    readonly today: LocalDate
  },
) => transaction.query(forget(asked))

/**
 * Keeps a computed day. What was marked since it was computed makes it stale at once; it is not kept while its test
 * organization is emptied. The trail is looked through before the transaction has its number: no event is numbered while an
 * earlier transaction runs.
 */
export async function keepDay(db: Pick<Db, 'pool'>, { cells, computedAt, ...day }: ComputedDay): Promise<void> {
  const { rows } = await db.pool.query<{ upTo: bigint; touched: LocalDate | null }>(touchedSince(day))
  const seen = rows[0]!
  await inTransaction(db, async (transaction) => {
    const marked = await claimHead(transaction, day.organizationId, day.seenTo)
    if (marked === undefined) return undefined
    const values = {
      ...day,
      ...seen,
      marked,
      cells: JSON.stringify(cellsToJson(cells)),
      computedAt: moment(computedAt)!,
    }
    await transaction.query(save(values))
    return true
  })
}

/** Reads up to which row the trail is settled, and up to which one it has marked what it makes stale; null: no head yet. */
async function readMarked({ pool }: Pick<Db, 'pool'>, organizationId: number) {
  const { rows } = await pool.query<{ settled: bigint; marked: bigint | null }>({
    name: 'portfolio-marked',
    text: `SELECT ${sealedTo('$1')} AS settled, (SELECT change_id FROM portfolio_head WHERE organization_id = $1) AS marked`,
    values: [organizationId],
  })
  return rows[0]!
}

/** Rows of the trail that one step of marking looks at: some 0.2 s of the server. */
const ROWS_A_STEP = 20_000

const readTouched = statement<{ organizationId: number; above: bigint; settled: bigint; most: number }>(
  'read-touched',
  (p) => `
  SELECT CASE count(*) WHEN ${p('most')}::bigint THEN max(a.id) ELSE ${p('settled')}::bigint END AS "upTo", ${FIRST_TOUCHED} AS day
  FROM (SELECT id, entity, action, change FROM audit_entry
    WHERE organization_id = ${p('organizationId')} AND id > ${p('above')} AND id <= ${p('settled')}
    ORDER BY id LIMIT ${p('most')}) AS a`,
)

const mark = statement<{ organizationId: number; upTo: bigint; day: LocalDate | null; now: string | null }>(
  'mark-stale-days',
  (p) => `
  WITH marked AS (
    UPDATE portfolio_day SET stale_at = ${p('now')}
    WHERE organization_id = ${p('organizationId')} AND day >= ${p('day')}::date AND stale_at IS NULL
  )
  UPDATE portfolio_head SET change_id = greatest(change_id, ${p('upTo')})
  WHERE organization_id = ${p('organizationId')}`,
)

/**
 * Marks the kept days that the next settled changes made stale, a bounded number of them. The trail is looked through
 * before the transaction has its number: no event is numbered while an earlier transaction runs.
 * @param most rows of the trail that are looked at
 * @returns whether no settled change is left
 */
export async function markStaleDays(
  db: Pick<Db, 'pool'>,
  organizationId: number,
  now: Instant,
  most = ROWS_A_STEP,
): Promise<boolean> {
  const { settled, marked } = await readMarked(db, organizationId)
  // What is not new is not written again.
  if (marked !== null && marked >= settled) return true
  if (marked === null) {
    await inTransaction(db, (transaction) => claimHead(transaction, organizationId, settled))
    return false
  }
  const { rows } = await db.pool.query<{ upTo: bigint; day: LocalDate | null }>(
    readTouched({ organizationId, above: marked, settled, most }),
  )
  const { upTo, day } = rows[0]!
  await inTransaction(db, async (transaction) => {
    // Another instance may have kept a day meanwhile: it has let go of the head before the days are looked at.
    await claimHead(transaction, organizationId, upTo)
    await transaction.query(mark({ organizationId, upTo, day, now: moment(now) }))
    return true
  })
  return upTo >= settled
}

/** Lists the kept days that no change has made stale, of an organization or of all, in their order. */
export async function listRightDays(snapshot: Snapshot, organizationId: number | undefined): Promise<KeptDayKey[]> {
  const { rows } = await snapshot.query<KeptDayKey>({
    text: `SELECT k.organization_id AS "organizationId", k.policy_version AS "policyVersion", k.day
      FROM portfolio_day k JOIN portfolio_head h ON h.organization_id = k.organization_id
      WHERE ($1::int IS NULL OR k.organization_id = $1) AND ${IS_RIGHT} ORDER BY 1, 2, 3`,
    values: [organizationId ?? null],
  })
  return rows
}

const cellsOf = statement<KeptDayKey>(
  'cells-of-kept-day',
  (p) => `SELECT cells FROM portfolio_day
    WHERE organization_id = ${p('organizationId')} AND policy_version = ${p('policyVersion')} AND day = ${p('day')}`,
)

/** Reads the cells of a kept day, right or stale; undefined where the row is damaged. */
export async function readCellsOf(snapshot: Snapshot, key: KeptDayKey): Promise<Cell[] | undefined> {
  const { rows } = await snapshot.query<{ cells: unknown }>(cellsOf(key))
  return rows[0] && cellsFromJson(rows[0].cells)
}

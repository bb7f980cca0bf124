import { createHash } from 'node:crypto'
import type pg from 'pg'
import { addPeriods, dateIn, type LocalDate, startOfDay } from '../../domain/dates.ts'
import type { Bucket, DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { fromStoredPolicy, PRESETS } from '../../domain/delinquency/policy.ts'
import { followsFromDay } from '../../domain/delinquency/position.ts'
import { AT_RISK_DAYS, atRiskFrom } from '../../domain/portfolio/cells.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import { moment } from '../queries/rows.ts'
import { unprepared } from '../queries/statement.ts'

/** The loans of one product in sums, in minor units. Loans without a product (of a record system) are together under null. */
export interface ProductTotals {
  readonly productId: number | null
  readonly name: string | null
  readonly currency: string
  /** Active loans, and those of them that are overdue. */
  readonly loans: number
  readonly overdueLoans: number
  readonly outstanding: bigint
  readonly principal: bigint
  readonly overdue: bigint
  /** Outstanding principal of the loans in each figure of portfolio at risk: `AT_RISK_DAYS`, in their order. */
  readonly atRisk: readonly bigint[]
}

/** The money disbursed on one day, and the money collected with that value date, in minor units. */
export interface DayTotals {
  readonly day: LocalDate
  readonly currency: string
  readonly disbursed: bigint
  readonly collected: bigint
}

/** The active loans of one currency that are in one bucket of their organization's policy in force. */
export interface BucketTotals {
  readonly currency: string
  /** By name; each policy has at most 20. */
  readonly bucket: string
  readonly loans: number
  /** The principal outstanding, in minor units. */
  readonly principal: bigint
}

/** The sums of a bucket as they are stored: JSON has no integers of that size. */
interface StoredBucketTotals extends Omit<BucketTotals, 'principal'> {
  readonly organizationId: number
  readonly principal: string
}

const policies = {
  text: `SELECT o.id AS "organizationId", newest.rules, h.told_on IS NOT NULL AS "isTold" FROM organization o
    LEFT JOIN LATERAL (
      SELECT rules FROM delinquency_policy WHERE organization_id = o.id ORDER BY version DESC LIMIT 1
    ) AS newest ON true
    LEFT JOIN portfolio_head h ON h.organization_id = o.id`,
  values: [],
}

interface PolicyRow {
  readonly organizationId: number
  /** Null: the organization has set none. */
  readonly rules: unknown
  /** Whether the buckets of its loans were told, and are kept since. */
  readonly isTold: boolean
}

/**
 * Where the arrears of a day decide alone, the columns of a loan say its bucket. Otherwise it is the one that was told when
 * the day began; one whose name the policy does not have any more counts by the days.
 */
const sum = unprepared<{ today: LocalDate; policies: string }>(
  (p) => `
  SELECT l.organization_id AS "organizationId", l.currency, index - 1 AS index, count(*)::int AS loans,
    sum(l.principal_outstanding)::text AS principal
  FROM loan l
  JOIN jsonb_to_recordset(${p('policies')}::jsonb) AS t(id int, from_days int[], names text[], by_day boolean)
    ON t.id = l.organization_id
  LEFT JOIN loan_bucket told ON told.organization_id = l.organization_id AND told.loan_id = l.id AND NOT t.by_day
  CROSS JOIN LATERAL (
    SELECT width_bucket(CASE WHEN l.overdue_since <= ${p('today')}::date THEN ${p('today')}::date - l.overdue_since + 1
      ELSE 0 END, t.from_days) AS by_days
  ) AS counted
  CROSS JOIN LATERAL (
    SELECT CASE WHEN t.by_day THEN by_days WHEN told.bucket IS NULL THEN 1
      ELSE coalesce(array_position(t.names, told.bucket), by_days) END AS index
  ) AS placed
  WHERE l.status = 'Active'
  GROUP BY 1, 2, 3`,
)

interface SumRow {
  readonly organizationId: number
  readonly currency: string
  readonly index: number
  readonly loans: number
  readonly principal: string
}

/** The totals of one organization's book. */
export interface BookTotals {
  readonly organizationId: number
  readonly computedAt: number
  readonly tookMs: number
  readonly products: readonly ProductTotals[]
  readonly buckets: readonly BucketTotals[]
  readonly days: readonly DayTotals[]
}

/** Number of days that are shown. */
export const DAYS_SHOWN = 31
/** An entry posted before a computation may be committed after it, and the clocks of instances may differ. */
const UNDER_WAY_MS = 600_000
/** A computation may take this long; no request waits for it. */
const PATIENCE_MS = 600_000
const LOCK = createHash('sha256').update('mkopo book figures').digest().readInt32BE()

/** A loan is one day overdue on the first day on which it is; the mark is the sweep's. */
const sumProducts = unprepared<{ today: LocalDate }>(
  (p) => `
  SELECT l.organization_id, l.currency, l.product_id, p.name,
    count(*)::int AS loans,
    count(*) FILTER (WHERE l.total_overdue > 0)::int AS overdue_loans,
    sum(l.principal_outstanding + l.interest_outstanding + l.fees_outstanding + l.penalty_outstanding)::text AS outstanding,
    sum(l.principal_outstanding)::text AS principal,
    sum(l.total_overdue)::text AS overdue,
    ARRAY[${AT_RISK_DAYS.map(
      (days) =>
        `coalesce(sum(l.principal_outstanding) FILTER (WHERE l.overdue_since <= ${p('today')}::date - ${atRiskFrom(days) - 1}), 0)::text`,
    ).join(', ')}] AS at_risk
  FROM loan l LEFT JOIN loan_product p ON p.organization_id = l.organization_id AND p.id = l.product_id
  WHERE l.status = 'Active'
  GROUP BY l.organization_id, l.currency, l.product_id, p.name`,
)

/** One organization at a time, so that the index on disbursements is used. */
const sumDisbursed = unprepared<{ from: string | null; zone: string }>(
  (p) => `
  SELECT o.id AS organization_id, l.currency, l.day::text AS day, sum(l.principal)::text AS amount
  FROM organization o JOIN LATERAL (
    SELECT currency, (disbursed_at AT TIME ZONE ${p('zone')})::date AS day, principal
    FROM loan WHERE organization_id = o.id AND disbursed_at >= ${p('from')}
  ) l ON true
  GROUP BY o.id, l.currency, l.day`,
)

/** Money that customers paid. Nothing is posted before its value date, so the index on postings finds that date's. */
const paidSince = (from: string) => `e.type IN ('Repayment', 'Recovery Repayment') AND e.posted_at >= ${from}`

/** By value date, and without what was reversed. */
const sumCollected = unprepared<{ from: string | null; days: readonly LocalDate[] }>(
  (p) => `
  SELECT e.organization_id, l.currency, e.value_date::text AS day, sum(e.amount)::text AS amount
  FROM loan_entry e JOIN loan l ON l.organization_id = e.organization_id AND l.id = e.loan_id
  WHERE ${paidSince(p('from'))} AND e.value_date = ANY(${p('days')}::date[]) AND e.reversed_at IS NULL
  GROUP BY e.organization_id, l.currency, e.value_date`,
)

/** Value dates of what was posted or reversed lately, however long ago they are. */
const findChanged = unprepared<{ from: string | null; days: readonly LocalDate[]; since: string | null }>(
  (p) => `
  SELECT DISTINCT e.value_date::text AS day FROM loan_entry e
  WHERE ${paidSince(p('from'))} AND e.value_date = ANY(${p('days')}::date[])
    AND (e.posted_at >= ${p('since')} OR e.reversed_at >= ${p('since')})`,
)

interface SaveValues {
  readonly computedAt: string | null
  readonly tookMs: number
  readonly organizationIds: readonly number[]
  readonly figures: readonly string[]
}

/** Every live organization has a row, also one that has lent nothing yet. */
const save = unprepared<SaveValues>(
  (p) => `
  INSERT INTO book_figures (organization_id, computed_at, took_ms, figures)
  SELECT o.id, ${p('computedAt')}, ${p('tookMs')}, coalesce(given.figures, '{"products": [], "buckets": [], "days": []}')
  FROM organization o
  LEFT JOIN unnest(${p('organizationIds')}::int[], ${p('figures')}::jsonb[]) AS given (organization_id, figures)
    ON given.organization_id = o.id
  WHERE o.mode = 'live'
  ON CONFLICT (organization_id) DO UPDATE
    SET computed_at = excluded.computed_at, took_ms = excluded.took_ms, figures = excluded.figures`,
)

/** The totals as JSON, with amounts as texts. */
type Stored = { products: object[]; buckets: Text<BucketTotals>[]; days: Text<DayTotals>[] }

/** The totals that an instance computed last: a row for each organization. */
export async function readBookTotals(db: Db): Promise<BookTotals[]> {
  const { rows } = await db.pool.query<{
    organization_id: number
    computed_at: number
    took_ms: number
    figures: Omit<Stored, 'products'> & { products: Text<ProductTotals>[] }
  }>('SELECT organization_id, computed_at, took_ms, figures FROM book_figures ORDER BY organization_id')
  return rows.map(({ organization_id, computed_at, took_ms, figures }) => ({
    organizationId: organization_id,
    computedAt: computed_at,
    tookMs: took_ms,
    products: figures.products.map((product) => ({
      ...product,
      outstanding: BigInt(product.outstanding),
      principal: BigInt(product.principal),
      overdue: BigInt(product.overdue),
      atRisk: product.atRisk.map(BigInt),
    })),
    buckets: figures.buckets.map((one) => ({ ...one, principal: BigInt(one.principal) })),
    days: figures.days.map((day) => ({
      ...day,
      disbursed: BigInt(day.disbursed),
      collected: BigInt(day.collected),
    })),
  }))
}

/** As it lies in JSON, which has no integers of that size. */
type Text<T> = { [K in keyof T]: T[K] extends bigint ? string : T[K] extends readonly bigint[] ? string[] : T[K] }

/**
 * Computes the totals, unless another instance is computing them.
 * @param due whether it is time, asked once nobody else can be computing them
 * @returns false when nothing was computed
 */
export async function computeBookTotals(
  db: Db,
  zone: string,
  now: () => number,
  due: (last: { computedAt: number; tookMs: number } | undefined) => boolean,
): Promise<boolean> {
  return inTransaction(db, async (transaction) => {
    const mayCompute = (await lock(transaction)) && due(await lastOf(transaction))
    if (mayCompute) await computeAndSave(transaction, zone, now)
    return mayCompute
  })
}

async function lock(transaction: Transaction): Promise<boolean> {
  const { rows } = await transaction.query('SELECT pg_try_advisory_xact_lock($1) AS held', [LOCK])
  return rows[0].held
}

async function lastOf(transaction: Transaction) {
  const { rows } = await transaction.query('SELECT computed_at, took_ms FROM book_figures ORDER BY computed_at LIMIT 1')
  return rows[0] && { computedAt: rows[0].computed_at as number, tookMs: rows[0].took_ms as number }
}

type Run = (statement: { readonly text: string; readonly values: unknown[] }) => Promise<pg.QueryResult>

async function computeAndSave(transaction: Transaction, zone: string, now: () => number): Promise<void> {
  const began = performance.now()
  const at = now()
  const today = dateIn(zone, at)
  const run: Run = (statement) => transaction.query({ ...statement, query_timeout: PATIENCE_MS } as pg.QueryConfig)
  await transaction.query(`SET LOCAL statement_timeout = ${PATIENCE_MS}`)
  const book = new Map<number, Required<Stored>>()
  const of = (organizationId: number) => {
    const stored = book.get(organizationId) ?? { products: [], buckets: [], days: [] }
    book.set(organizationId, stored)
    return stored
  }
  const products = await run(sumProducts({ today }))
  for (const { organization_id, product_id, overdue_loans, at_risk, ...product } of products.rows)
    of(organization_id).products.push({
      ...product,
      productId: product_id,
      overdueLoans: overdue_loans,
      atRisk: at_risk,
    })
  for (const { organizationId, ...bucket } of await sumBuckets(run, today)) of(organizationId).buckets.push(bucket)
  for (const { organizationId, ...day } of await daysOf(run, zone, today)) of(organizationId).days.push(day)
  const took = Math.round(performance.now() - began)
  const figures = [...book.values()].map((stored) => JSON.stringify(stored))
  await run(save({ computedAt: moment(at), tookMs: took, organizationIds: [...book.keys()], figures }))
}

/** A day of an organization, as it is stored. */
type StoredDay = Text<DayTotals> & { readonly organizationId: number }

/** Of the days shown, the collections of those are summed up that have changed since the last computation. */
async function daysOf(run: Run, zone: string, today: LocalDate): Promise<StoredDay[]> {
  const shown = Array.from({ length: DAYS_SHOWN }, (_, index) => addPeriods(today, index + 1 - DAYS_SHOWN, 'days'))
  const from = (day: LocalDate) => moment(startOfDay(day, zone))
  const kept = await keptDays(run, zone, today)
  const changed =
    kept === undefined
      ? shown
      : (await run(findChanged({ from: from(shown[0]!), days: shown, since: kept.since }))).rows.map(({ day }) => day)
  const days = new Map<string, StoredDay>()
  const put = (day: Pick<StoredDay, 'organizationId' | 'currency' | 'day'>, moved: Partial<StoredDay>) => {
    const key = `${day.organizationId} ${day.currency} ${day.day}`
    days.set(key, { disbursed: '0', collected: '0', ...day, ...days.get(key), ...moved })
  }
  for (const { organization_id: organizationId, currency, day, amount } of (
    await run(sumDisbursed({ from: from(shown[0]!), zone }))
  ).rows)
    put({ organizationId, currency, day }, { disbursed: amount })
  for (const { collected, ...day } of kept?.days ?? [])
    if (collected !== '0' && shown.includes(day.day) && !changed.includes(day.day))
      put({ organizationId: day.organizationId, currency: day.currency, day: day.day }, { collected })
  if (changed.length > 0)
    for (const { organization_id: organizationId, currency, day, amount } of (
      await run(sumCollected({ from: from(changed.toSorted()[0]!), days: changed }))
    ).rows)
      put({ organizationId, currency, day }, { collected: amount })
  return [...days.values()]
}

/**
 * What was computed earlier today; undefined where every day has to be summed up: once a day, and after an import.
 */
async function keptDays(
  run: Run,
  zone: string,
  today: LocalDate,
): Promise<{ readonly since: ReturnType<typeof moment>; readonly days: StoredDay[] } | undefined> {
  const { rows } = (await run({
    text: 'SELECT organization_id, computed_at, figures FROM book_figures',
    values: [],
  })) as pg.QueryResult<{
    organization_id: number
    computed_at: number
    figures: Stored
  }>
  if (rows.length === 0 || rows.some(({ computed_at }) => dateIn(zone, computed_at) !== today)) return undefined
  const last = rows.reduce((least, { computed_at }) => Math.min(least, computed_at), Number.POSITIVE_INFINITY)
  return {
    since: moment(last - UNDER_WAY_MS),
    days: rows.flatMap(({ organization_id, figures }) =>
      figures.days.map((day) => ({ ...day, organizationId: organization_id })),
    ),
  }
}

/** Returns the policy of a row; undefined where the row is damaged, which must not stop the sums of the others. */
function policyOf({ rules }: PolicyRow): DelinquencyPolicy | undefined {
  if (rules === null) return PRESETS[0].policy
  try {
    return fromStoredPolicy(rules)
  } catch {
    return undefined
  }
}

/** Sums up the active loans by bucket: each bucket of the policy in force, for each currency of an organization. */
async function sumBuckets(run: Run, today: LocalDate): Promise<StoredBucketTotals[]> {
  const buckets = new Map<number, readonly Bucket[]>()
  const given = ((await run(policies)).rows as PolicyRow[]).flatMap((row) => {
    const policy = policyOf(row)
    if (!policy) return []
    buckets.set(row.organizationId, policy.buckets)
    return {
      id: row.organizationId,
      from_days: policy.buckets.map(({ fromDays }) => fromDays),
      names: policy.buckets.map(({ name }) => name),
      by_day: (followsFromDay(policy) && policy.materiality === null) || !row.isTold,
    }
  })
  const rows = (await run(sum({ today, policies: JSON.stringify(given) }))).rows as SumRow[]
  const groups = Map.groupBy(rows, ({ organizationId, currency }) => `${organizationId} ${currency}`)
  return [...groups.values()].flatMap((some) => {
    const { organizationId, currency } = some[0]!
    return buckets.get(organizationId)!.map(({ name: bucket }, place) => {
      const { loans = 0, principal = '0' } = some.find(({ index }) => index === place) ?? {}
      return { organizationId, currency, bucket, loans, principal }
    })
  })
}

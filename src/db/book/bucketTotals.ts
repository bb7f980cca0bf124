import type { LocalDate } from '../../domain/dates.ts'
import type { Bucket, DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { followsFromDay } from '../../domain/delinquency/position.ts'
import { PRESETS } from '../../domain/delinquency/presets.ts'
import { fromStoredPolicy } from '../../domain/delinquency/storedPolicy.ts'
import { unprepared } from '../queries/statement.ts'

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
export interface StoredBucketTotals extends Omit<BucketTotals, 'principal'> {
  readonly organizationId: number
  readonly principal: string
}

/** Sends a statement. */
type Run = (statement: { readonly text: string; readonly values: unknown[] }) => Promise<{ rows: unknown[] }>

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

/** Returns the policy of a row; undefined where the row is damaged, which must not stop the sums of the others. */
function policyOf({ rules }: PolicyRow): DelinquencyPolicy | undefined {
  if (rules === null) return PRESETS[0].policy
  try {
    return fromStoredPolicy(rules)
  } catch {
    return undefined
  }
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

/** Sums up the active loans by bucket: each bucket of the policy in force, for each currency of an organization. */
export async function sumBuckets(run: Run, today: LocalDate): Promise<StoredBucketTotals[]> {
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

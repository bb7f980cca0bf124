import type { Instant } from '../../domain/dates.ts'
import { type Queries, statement } from '../queries/statement.ts'
import type { Channel } from './channels.ts'

const findActive = statement<object>(
  'find-organizations-of-channels',
  () => `SELECT DISTINCT organization_id AS "organizationId" FROM payment_channel WHERE disabled_at IS NULL`,
)

/** Finds the organizations that have a channel which takes payments. */
export async function findOrganizationsOfChannels({ pool }: Queries): Promise<number[]> {
  const { rows } = await pool.query<Pick<Channel, 'organizationId'>>(findActive({}))
  return rows.map(({ organizationId }) => organizationId)
}

/** What came in on a channel in the days before its last payment. */
export interface Gaps {
  readonly channelId: number
  readonly lastAt: Instant
  readonly payments: number
  /** Milliseconds of the longest time between two of the payments. */
  readonly longestMs: number
}

const findGaps = statement<{ organizationId: number; before: Date; days: number }>(
  'find-gaps-of-channels',
  (p) => `
  SELECT c.id AS "channelId", last.received_at AS "lastAt", g.payments, g.longest AS "longestMs" FROM payment_channel c
  CROSS JOIN LATERAL (SELECT received_at, value_date FROM payment p
    WHERE p.organization_id = c.organization_id AND p.channel_id = c.id ORDER BY p.value_date DESC, p.id DESC LIMIT 1) AS last
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS payments, (extract(epoch FROM max(received_at - before)) * 1000)::float AS longest
    FROM (SELECT received_at, lag(received_at) OVER (ORDER BY received_at) AS before FROM payment p
      WHERE p.organization_id = c.organization_id AND p.channel_id = c.id AND p.value_date >= last.value_date - ${p('days')}::int
    ) AS each) AS g
  WHERE c.organization_id = ${p('organizationId')} AND c.disabled_at IS NULL AND last.received_at < ${p('before')}
    AND last.received_at IS DISTINCT FROM c.silent_since
  ORDER BY c.id`,
)

/**
 * Finds the gaps between the payments of the channels of an organization on which nothing came in since an instant, and of which no
 * receiver was told that they are silent.
 * @param days before the last payment, of which the gaps count
 */
export async function findQuietChannels(
  { pool }: Queries,
  asked: { readonly organizationId: number; readonly before: Instant; readonly days: number },
): Promise<Gaps[]> {
  return (await pool.query<Gaps>(findGaps({ ...asked, before: new Date(asked.before) }))).rows
}

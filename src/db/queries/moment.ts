import type { Moment } from './cursor.ts'
import type { Queries } from './queries.ts'

/**
 * The columns of a `Moment`, of the snapshot in `now`. The `xmax` of a snapshot is the number after the last transaction
 * that has ended: others above it may be under way. The next number is its age above that.
 */
export const MOMENT = `
    pg_snapshot_xmin(now.snapshot)::text::bigint AS "endedBelow",
    pg_snapshot_xmax(now.snapshot)::text::bigint + age(pg_snapshot_xmax(now.snapshot)::xid) AS "nextId"`

/** Reads which transactions of the server have ended by now, and which have begun. */
export async function readMoment({ pool }: Queries): Promise<Moment> {
  const { rows } = await pool.query<Moment>({
    name: 'read-moment',
    text: `SELECT ${MOMENT} FROM (SELECT pg_current_snapshot() AS snapshot) AS now`,
  })
  return rows[0]!
}

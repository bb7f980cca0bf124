import type { LocalDate } from '../../domain/dates.ts'
import type { Db } from '../postgres/client.ts'
import type { Queries } from '../queries/statement.ts'

/** How far the journal of an organization goes. */
export interface JournalHead {
  /** Changes up to this row of the trail are in the journal. */
  readonly changeId: bigint
  /** The number of the last event among them; 0 before the first. */
  readonly sequence: bigint
  /** The number of the last posting; 0 before the first. */
  readonly postingId: bigint
  /** The first day that is open; null: no period was ever closed. */
  readonly openFrom: LocalDate | null
  /** The version of the chart that counts. */
  readonly chartVersion: number
  /** The last loan of a walk through the loans whose method was changed, 0 before the first; null: no walk is going on. */
  readonly walkedTo: bigint | null
}

export const HEAD_COLUMNS = `change_id AS "changeId", sequence, posting_id AS "postingId", open_from AS "openFrom",
  chart_version AS "chartVersion", walked_to AS "walkedTo"`

/** The journal of an organization that has none yet: it begins with the first change. */
export const BEFORE_JOURNAL: JournalHead = {
  changeId: 0n,
  sequence: 0n,
  postingId: 0n,
  openFrom: null,
  chartVersion: 1,
  walkedTo: null,
}

/** Reads how far the journal of an organization goes. */
export async function readJournalHead({ pool }: Queries, organizationId: number): Promise<JournalHead> {
  const { rows } = await pool.query<JournalHead>({
    name: 'read-journal-head',
    text: `SELECT ${HEAD_COLUMNS} FROM journal WHERE organization_id = $1`,
    values: [organizationId],
  })
  return rows[0] ?? BEFORE_JOURNAL
}

/** Reads the last row of an organization's trail; 0 where there is none. */
export async function lastChange({ pool }: Pick<Db, 'pool'>, organizationId: number): Promise<bigint> {
  const { rows } = await pool.query<{ id: bigint }>({
    name: 'last-change-of-organization',
    text: 'SELECT coalesce(max(id), 0) AS id FROM audit_entry WHERE organization_id = $1',
    values: [organizationId],
  })
  return rows[0]!.id
}

/** Reads how far the journals of all organizations go. */
export async function readJournalHeads(
  queries: Queries['pool'],
): Promise<(JournalHead & { readonly organizationId: number })[]> {
  const { rows } = await queries.query<JournalHead & { readonly organizationId: number }>(
    `SELECT organization_id AS "organizationId", ${HEAD_COLUMNS} FROM journal`,
  )
  return rows
}

import type { LoanState } from '../domain/replay.ts'
import type { Db } from './client.ts'
import { FIND_MANY, type LoanRow, type StoredLoan, toStoredLoan } from './loans.ts'
import { CACHED, cached, figures } from './saveLoan.ts'
import { moment, toJson } from './trail.ts'

/** What a round of the sweep came to. */
export interface Swept {
  /** Loans whose time had come and that were saved. */
  readonly saved: number
  /** Loans whose time had come; as many as the round may have, and there may be more. */
  readonly found: number
}

/** Due loans, oldest first; those that another instance is at are left to it. */
const CLAIM = `
  SELECT organization_id, id FROM loan WHERE next_change_at <= $1
  ORDER BY next_change_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`

/** The types of the cached columns, for arrays of them. */
const TYPES = CACHED.map((column) => {
  if (column === 'status') return 'text'
  if (column === 'next_change_at') return 'timestamptz'
  return /_on$|_since$/.test(column) ? 'date' : 'bigint'
})

/** Takes the same version check as every other change. */
const SAVE = `
  WITH computed AS (
    SELECT * FROM unnest($2::int[], $3::bigint[], $4::int[], $5::text[], $6::text[],
      ${TYPES.map((type, index) => `$${7 + index}::${type}[]`).join(', ')}
    ) AS c (organization_id, id, version, before, after, ${CACHED.join(', ')})
  ), swept AS (
    UPDATE loan SET version = loan.version + 1, updated_at = $1,
      ${CACHED.map((column) => `${column} = computed.${column}`).join(', ')}
    FROM computed
    WHERE loan.organization_id = computed.organization_id AND loan.id = computed.id AND loan.version = computed.version
    RETURNING loan.organization_id, loan.id, computed.before, computed.after
  ), audited AS (
    INSERT INTO audit_entry (organization_id, at, action, entity, entity_id, before, after)
    SELECT organization_id, $1::timestamptz, 'time', 'loan', id::text, before::jsonb, after::jsonb FROM swept
  )
  SELECT count(*) AS saved FROM swept`

/**
 * One round: takes loans whose time has come, lets `replayed` say what they are before and now, and saves that, in one
 * short transaction. Idempotent: what was saved is no longer due; after a crash nothing was.
 * @param most loans in the round, which also bounds how long their rows are locked
 */
export async function sweepLoans(
  db: Db,
  zone: string,
  now: number,
  most: number,
  replayed: (loan: StoredLoan) => { before: LoanState; after: LoanState },
): Promise<Swept> {
  const client = await db.pool.connect()
  try {
    await client.query('BEGIN')
    const claimed = await client.query<{ organization_id: number; id: bigint }>({
      name: 'sweep-claim',
      text: CLAIM,
      values: [moment(now), most],
    })
    const found = claimed.rows.length
    if (found === 0) {
      await client.query('ROLLBACK')
      return { saved: 0, found }
    }
    const { rows } = await client.query<LoanRow>({
      name: 'sweep-read',
      text: FIND_MANY,
      values: [claimed.rows.map((row) => row.organization_id), claimed.rows.map((row) => row.id)],
    })
    const changes = rows.map((row) => {
      const loan = toStoredLoan(row, zone)
      const { before, after } = replayed(loan)
      return [
        loan.organizationId,
        loan.id,
        loan.version,
        toJson(figures(before)),
        toJson(figures(after)),
        ...cached(after),
      ]
    })
    const columns = Array.from({ length: 5 + CACHED.length }, (_, index) => changes.map((change) => change[index]))
    const saved = await client.query<{ saved: bigint }>({
      name: 'sweep-save',
      text: SAVE,
      values: [moment(now), ...columns],
    })
    await client.query('COMMIT')
    return { saved: Number(saved.rows[0]!.saved), found }
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
}

import type { Snapshot } from '../postgres/transaction.ts'
import { statement } from '../queries/statement.ts'
import { BOOK_FAULTS } from './bookOrphans.ts'
import { PAYMENT_FAULTS } from './bookPayments.ts'

/** A row that names another row that is not there, or that another table contradicts. */
interface Orphan {
  readonly organizationId: number
  /** `loan 4000000000000001`, `customer …`, `key …`. */
  readonly of: string
  readonly message: string
}

/** Rows of faults, and how many there are in all. */
export interface Orphans {
  readonly found: number
  readonly rows: readonly Orphan[]
}

/** Rows of a kind that are described; all of them are counted. */
const MOST = 100

/**
 * Has the statements that follow join whole tables by hash where Postgres has no statistics of the trail yet, as after an import:
 * nested loops, which it chooses then, take the square of the customers. Statistics come within a minute by themselves.
 * @param isWhole false: as Postgres is set, for statements about a few rows
 */
export async function joinWholeTables(snapshot: Snapshot, isWhole: boolean): Promise<void> {
  await snapshot.query(
    isWhole
      ? `SELECT set_config('enable_nestloop', 'off', true) FROM pg_class
         WHERE oid = 'audit_entry'::regclass AND reltuples < 0`
      : 'SET LOCAL enable_nestloop TO DEFAULT',
  )
}

/** Finds the rows of some kinds of faults, of an organization or of all. */
type FindFaults = (snapshot: Snapshot, organizationId: number | undefined) => Promise<Orphans>

/**
 * Returns a function that finds the rows of some kinds of faults by one statement.
 * @param name under which the statement is prepared: on a connection that checks more than once Postgres plans it once
 */
function faultFinder(name: string, faults: readonly string[]): FindFaults {
  const find = statement<{ organizationId: number | null }>(name, (p) =>
    faults
      .map(
        (fault, kind) => `
    (SELECT ${kind} AS kind, f.organization_id AS "organizationId", f.of_row AS of, f.message, count(*) OVER () AS found
    FROM (${fault}) AS f (organization_id, of_row, message)
    WHERE ${p('organizationId')}::int IS NULL OR f.organization_id = ${p('organizationId')} LIMIT ${MOST})`,
      )
      .join(' UNION ALL '),
  )
  return async (snapshot, organizationId) => {
    const { rows } = await snapshot.query<Orphan & { kind: number; found: bigint }>(
      find({ organizationId: organizationId ?? null }),
    )
    const counts = new Map(rows.map(({ kind, found }) => [kind, Number(found)]))
    return {
      found: [...counts.values()].reduce((sum, count) => sum + count, 0),
      rows: rows.map(({ kind: _kind, found: _found, ...row }) => row),
    }
  }
}

/** The kinds of faults that one statement finds: the server answers most of them sooner than a statement is sent. */
const TOGETHER = 12
const KINDS = [...BOOK_FAULTS, ...PAYMENT_FAULTS]

/** Find rows that refer to nothing, or that another table contradicts: some kinds together, and each of these alone. */
export const FAULT_FINDERS: readonly { readonly together: FindFaults; readonly alone: readonly FindFaults[] }[] =
  KINDS.flatMap((_, first) => {
    if (first % TOGETHER > 0) return []
    const faults = KINDS.slice(first, first + TOGETHER)
    const alone = faults.map((fault, index) => faultFinder(`find-fault-${first + index + 1}`, [fault]))
    return [{ together: faultFinder(`find-faults-${first + 1}`, faults), alone }]
  })

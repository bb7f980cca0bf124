import { setTimeout as pause } from 'node:timers/promises'
import { type AuditEntry, type AuditFilter, findAudit, readLoanCurrencies, TRAIL_ORDER } from '../../db/audit/audit.ts'
import { latestTrail, listTrailKeys, readTrailRows, type TrailFilter, type TrailRow } from '../../db/audit/auditTail.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import type { Caller } from '../access/caller.ts'
import type { Caches, Core } from '../deps.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'

export type { AuditEntry } from '../../db/audit/audit.ts'
export type { TrailFilter, TrailRow } from '../../db/audit/auditTail.ts'

/**
 * Returns a part of the organization's audit trail, newest first; for operators.
 * @throws LendingError `permission_denied`, `invalid_argument` for a range that names no part
 */
export async function listAudit(
  deps: Core,
  caller: Caller,
  filter: AuditFilter,
  range: Range,
): Promise<Ranged<AuditEntry>> {
  requirePermission(caller, 'reports.read')
  return rangedOf(await findAudit(deps.db, caller.organizationId, filter, positionOf(range, { arrival: TRAIL_ORDER })))
}

const OF_LOANS: readonly string[] = ['loan', 'delinquency']

/** Returns the function that says in which currency the amounts of a row are: of its loan, or of the organization. */
export async function currenciesOf(
  deps: Core & Caches,
  caller: Caller,
  entries: readonly AuditEntry[],
): Promise<(entry: AuditEntry) => string> {
  const ids = entries.flatMap(({ entity, entityId }) => (OF_LOANS.includes(entity) ? [entityId] : []))
  const [{ currency }, loans] = await Promise.all([
    getOrganization(deps, caller),
    readLoanCurrencies(deps.db, caller.organizationId, ids),
  ])
  return ({ entity, entityId }) => (OF_LOANS.includes(entity) ? loans.get(entityId) : undefined) ?? currency
}

/** The numbers to look back: a row gets its number before it is committed, and may appear below a row that was seen. */
const LOOK_BACK = 20_000n
const EVERY_MS = 500
/** The rounds (two minutes) after which no row appears below a number, because no change takes that long. */
const SETTLED_AFTER = 240
/** The most numbers that are read at once: those to look back, and new ones. */
const MOST_AT_ONCE = 50_000
const ROWS_AT_ONCE = 1_000

/** The options of following a trail: the most of the latest rows to begin with, the signal that ends it, and the pause. */
interface Following {
  readonly most: number
  readonly stopping: AbortSignal
  readonly everyMs?: number
}

/**
 * Returns the latest rows of the trail, oldest first, of every organization unless the filter names one. For operators.
 */
export const readTrail = ({ db }: Pick<Core, 'db'>, filter: TrailFilter, most: number): Promise<readonly TrailRow[]> =>
  latestTrail(db, filter, most)

/**
 * Yields the latest rows, and then each new row once, until the signal fires. Where nothing is written, a round costs
 * two SQL statements of almost no rows: rows are found by their numbers, and read when they are new.
 */
export async function* followTrail(
  { db }: Pick<Core, 'db'>,
  filter: TrailFilter,
  { most, stopping, everyMs = EVERY_MS }: Following,
): AsyncGenerator<TrailRow> {
  // The numbers are those of the whole trail: they grow also where the filter lets no row through.
  const newest = async () => (await latestTrail(db, {}, 1))[0]?.id ?? 0n
  const keysAbove = (above: bigint) => listTrailKeys(db, { ...filter, above }, MOST_AT_ONCE)
  let highest = await newest()
  const seen = new Set((await keysAbove(highest - LOOK_BACK)).map(({ id }) => id))
  const latest = await latestTrail(db, filter, most)
  // A row that was written between the two reads is among the latest, and is not yielded again.
  for (const { id } of latest) seen.add(id)
  yield* latest
  const before: bigint[] = []
  while (!stopping.aborted) {
    await pause(everyMs, undefined, { signal: stopping }).catch(() => undefined)
    const number = await newest()
    before.push(highest)
    const settled = before.length > SETTLED_AFTER ? before.shift()! : 0n
    const above = settled > highest - LOOK_BACK ? settled : highest - LOOK_BACK
    const keys = await keysAbove(above)
    const fresh = keys.filter(({ id }) => !seen.has(id))
    for (let from = 0; from < fresh.length; from += ROWS_AT_ONCE)
      yield* await readTrailRows(db, fresh.slice(from, from + ROWS_AT_ONCE))
    for (const { id } of fresh) seen.add(id)
    for (const id of seen) if (id <= above) seen.delete(id)
    highest = keys.length < MOST_AT_ONCE ? number : keys.at(-1)!.id
  }
}

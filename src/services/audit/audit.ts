import type { Deps } from '../../app/deps.ts'
import { type AuditEntry, type AuditFilter, findAudit, readLoanCurrencies, TRAIL_ORDER } from '../../db/audit/audit.ts'
import { type Caller, requireReader } from '../access/caller.ts'
import { getOrganization } from '../lenders/organizations.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'

export type { AuditEntry } from '../../db/audit/audit.ts'

/**
 * Returns a part of the organization's audit trail, newest first; for operators.
 * @throws LendingError `permission_denied`, `invalid_argument` for a range that names no part
 */
export async function listAudit(
  deps: Deps,
  caller: Caller,
  filter: AuditFilter,
  range: Range,
): Promise<Ranged<AuditEntry>> {
  requireReader(caller)
  return rangedOf(await findAudit(deps.db, caller.organizationId, filter, positionOf(range, { arrival: TRAIL_ORDER })))
}

const OF_LOANS: readonly string[] = ['loan', 'delinquency']

/** Returns the function that says in which currency the amounts of a row are: of its loan, or of the organization. */
export async function currenciesOf(
  deps: Deps,
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

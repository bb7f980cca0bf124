import type { Deps } from '../../app/deps.ts'
import { type AuditEntry, type AuditFilter, findAudit, TRAIL_ORDER } from '../../db/audit/audit.ts'
import { type Caller, requireReader } from '../access/caller.ts'
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

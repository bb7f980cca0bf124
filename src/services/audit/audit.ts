import type { Deps } from '../../app/deps.ts'
import { type AuditEntry, type AuditFilter, listAudit } from '../../db/audit/audit.ts'
import type { Listed, Page } from '../../db/queries/paging.ts'
import { type Caller, requireAdmin } from '../access/caller.ts'

export type { AuditEntry } from '../../db/audit/audit.ts'

/**
 * Returns a page of the organization's audit trail, newest first; for operators.
 * @throws LendingError `permission_denied`
 */
export async function pageAudit(
  deps: Deps,
  caller: Caller,
  filter: AuditFilter,
  page: Page,
): Promise<Listed<AuditEntry>> {
  requireAdmin(caller)
  return listAudit(deps.db, caller.organizationId, filter, page)
}

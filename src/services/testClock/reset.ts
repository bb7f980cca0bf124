import type { Deps } from '../../app/deps.ts'
import { isForeignKeyViolation } from '../../db/postgres/errors.ts'
import { emptyTestOrganization } from '../../db/testClock/testClocks.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import { LendingError } from '../../domain/errors.ts'
import { type Caller, requireAdmin } from '../access/caller.ts'
import { type ClockNow, getTestClock, inTurn } from './advance.ts'

/**
 * Empties a test organization but for its accounts, API keys, products and webhook endpoints. Its clock then runs with that
 * of the machine, and the numbers of its events go on, so that no receiver sees one twice.
 * @throws LendingError `permission_denied`; `failed_precondition` for a live organization; `aborted` where another request
 *   moves the clock, or makes a loan at the same time
 */
export async function resetTestOrganization(deps: Deps, caller: Caller): Promise<ClockNow> {
  requireAdmin(caller)
  const { organizationId } = caller
  getTestClock(deps, caller)
  return inTurn(deps, organizationId, async () => {
    const { zone } = deps.config
    const at = deps.testClocks.liveNow()
    const before = { now: toRfc3339(deps.now(organizationId), zone) }
    const trace = { action: 'reset' as const, before, after: { now: toRfc3339(at, zone) }, at }
    await emptyTestOrganization(deps.db, caller, trace).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? busy() : error
    })
    await deps.testClocks.refresh(organizationId)
    return getTestClock(deps, caller)
  })
}

const busy = () =>
  new LendingError('aborted', 'a loan was made while the organization was being emptied; try again', [], 1)

import type { Deps } from '../../app/deps.ts'
import { listKeptDays } from '../../db/portfolio/keptDays.ts'
import { addPeriods, dateIn, dayBefore, type LocalDate } from '../../domain/dates.ts'
import { type Group, groupsOf } from '../../domain/portfolio/groups.ts'
import { type Caller, requireReader } from '../access/caller.ts'
import { findPolicy, type NamedPolicy } from '../delinquency/policies.ts'

/** The most days that are shown, the last of them yesterday. */
const DAYS_SHOWN = 92

/** A day of a portfolio as it was kept, by currency. */
export interface PortfolioOfDay {
  readonly day: LocalDate
  /** False: a change that is dated on the day or before it was made since. */
  readonly isRight: boolean
  readonly groups: readonly Group[]
}

/** A portfolio over time. */
export interface PortfolioTime {
  readonly policy: NamedPolicy
  /** Ascending; days that are not kept are left out. */
  readonly days: readonly PortfolioOfDay[]
}

/**
 * Lists the kept days of the portfolio of the caller's organization, of the last 92, by the policy in force. Nothing is
 * computed: days that a change made stale are as they were.
 * @throws LendingError `permission_denied`
 */
export async function listPortfolioDays(deps: Deps, caller: Caller): Promise<PortfolioTime> {
  requireReader(caller)
  const { organizationId } = caller
  const today = dateIn(deps.config.zone, deps.now(organizationId))
  const policy = await findPolicy(deps, organizationId, {})
  const from = addPeriods(today, -DAYS_SHOWN, 'days')
  const asked = { organizationId, policyVersion: policy.version ?? 0, from, to: dayBefore(today) }
  const days = await listKeptDays(deps.db, asked)
  return {
    policy,
    days: days.map(({ cells, ...day }) => ({ ...day, groups: groupsOf(cells, policy.policy, []) })),
  }
}

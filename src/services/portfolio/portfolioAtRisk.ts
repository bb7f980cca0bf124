import type { Deps } from '../../app/deps.ts'
import { type Division, type Group, groupsOf } from '../../domain/portfolio/groups.ts'
import { type Caller, requireReader } from '../access/caller.ts'
import { type PortfolioDay, type PortfolioRequest, readPortfolio } from './portfolio.ts'

/** A portfolio at risk, divided as it was asked for. */
export interface PortfolioAtRisk extends Omit<PortfolioDay, 'cells'> {
  readonly groups: readonly Group[]
}

/**
 * Returns the portfolio at risk of the caller's organization on a day (contract 11.9).
 * @throws LendingError `permission_denied`, and as `readPortfolio`
 */
export async function getPortfolioAtRisk(
  deps: Deps,
  caller: Caller,
  { by = [], ...request }: PortfolioRequest & { readonly by?: readonly Division[] | undefined },
): Promise<PortfolioAtRisk> {
  requireReader(caller)
  const { cells, ...day } = await readPortfolio(deps, caller, request)
  return { ...day, groups: groupsOf(cells, day.policy.policy, by) }
}

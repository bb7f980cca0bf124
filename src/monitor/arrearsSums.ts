import { LRUCache } from 'lru-cache'
import { type Group, groupsOf } from '../domain/portfolio/groups.ts'
import { readPortfolio } from '../services/portfolio/portfolio.ts'
import type { Desk } from './desk.ts'

/** Sums that took so long are kept, and served for so long; after the first of these times they are made again meanwhile. */
const SLOW_MS = 300
const FRESH_MS = 60_000
const KEPT_MS = 600_000
const MOST_ORGANIZATIONS = 100

/** The sums of today's portfolio, and their moment. */
export interface ArrearsSums {
  /** By currency. */
  readonly groups: readonly Group[]
  readonly at: number
  /** The business time of the organization then. */
  readonly businessTime: number
}

/** Returns the sums of today's portfolio for a person: those of a large book may be some minutes old. */
export type SumArrears = (desk: Desk) => Promise<ArrearsSums>

/** Creates the sums of a process. To sum up a million loans takes a second, for which nobody should wait twice. */
export function createArrearsSums(): SumArrears {
  const kept = new LRUCache<number, ArrearsSums>({ max: MOST_ORGANIZATIONS })
  const making = new Map<number, Promise<ArrearsSums>>()

  async function make({ deps, caller }: Desk): Promise<ArrearsSums> {
    const { organizationId } = caller
    const began = performance.now()
    const [at, businessTime] = [deps.machineNow(), deps.now(organizationId)]
    const { cells, policy } = await readPortfolio(deps, caller, {})
    const sums = { groups: groupsOf(cells, policy.policy, []), at, businessTime }
    if (performance.now() - began >= SLOW_MS) kept.set(organizationId, sums)
    else kept.delete(organizationId)
    return sums
  }

  return (desk) => {
    const { organizationId } = desk.caller
    const known = kept.get(organizationId)
    const age = known ? desk.deps.machineNow() - known.at : KEPT_MS
    const isUsable = known && age >= 0 && age < KEPT_MS
    if (isUsable && age < FRESH_MS) return Promise.resolve(known)
    const made = making.get(organizationId) ?? make(desk).finally(() => making.delete(organizationId))
    making.set(organizationId, made)
    if (!isUsable) return made
    // The next person has newer ones; a failure leaves these.
    made.catch(() => undefined)
    return Promise.resolve(known)
  }
}

import { createLru } from '../toolbox/lru.ts'
import { createSingleFlight } from '../toolbox/singleFlight.ts'
import type { Desk } from './desk.ts'

/** Sums that took so long are kept, and served for so long; after the first of these times they are made again meanwhile. */
const SLOW_MS = 300
const FRESH_MS = 60_000
const KEPT_MS = 600_000
const MOST_ORGANIZATIONS = 100

/**
 * Makes the function that returns sums of an organization for a person: those of a large book may be some minutes old. To sum up a
 * million loans takes a second and more, for which nobody should wait twice.
 * @param make makes the sums: the same for each person who may see them
 */
export function createKeptSums<Sums extends object>(
  make: (desk: Desk) => Promise<Sums>,
): (desk: Desk) => Promise<Sums> {
  const kept = createLru<number, { readonly sums: Sums; readonly at: number }>(MOST_ORGANIZATIONS)
  const share = createSingleFlight<number, Sums>()

  async function makeAndKeep(desk: Desk): Promise<Sums> {
    const { organizationId } = desk.caller
    const began = performance.now()
    const at = desk.deps.machineNow()
    const sums = await make(desk)
    if (performance.now() - began >= SLOW_MS) kept.set(organizationId, { sums, at })
    else kept.delete(organizationId)
    return sums
  }

  return (desk) => {
    const { organizationId } = desk.caller
    const known = kept.get(organizationId)
    const age = known ? desk.deps.machineNow() - known.at : KEPT_MS
    const isUsable = known && age >= 0 && age < KEPT_MS
    if (isUsable && age < FRESH_MS) return Promise.resolve(known.sums)
    const made = share(organizationId, () => makeAndKeep(desk))
    if (!isUsable) return made
    // The next person has newer ones; a failure leaves these.
    made.catch(() => undefined)
    return Promise.resolve(known.sums)
  }
}

import { findPendingOrganizations } from '../../db/payments/inbox.ts'
import { findUndecidedOrganizations } from '../../db/payments/payments.ts'
import type { Caches } from '../deps.ts'
import type { Job } from '../jobs/job.ts'
import { enterOrganization } from '../testClock/testClocks.ts'
import { applyReversals, type DecideDeps, decideNext } from './decidePayments.ts'
import { readInbox } from './inbound/inbox.ts'

/** The pause after a round that left nothing. */
const EVERY_MS = 250
/** The longest pause while no payment comes. */
const IDLE_MS = 1_000
/** Half of the time may go into a long queue: payments wait, and repayments go on. */
const SHARE = 2

/**
 * Creates the job that reads the messages of providers, and decides on received payments: those of messages, those whose request
 * ended before, and what providers take back. Any number of instances may work at it: each locks the payments that it decides on.
 */
export const paymentsJob = (deps: DecideDeps & Pick<Caches, 'organizations'>): Job => ({
  name: 'payments',
  failure: 'payments could not be decided on; they wait as received',
  everyMs: EVERY_MS,
  idleMs: IDLE_MS,
  share: SHARE,
  async organizations() {
    const found = await Promise.all([findPendingOrganizations(deps.db), findUndecidedOrganizations(deps.db)])
    return [...new Set(found.flat())]
  },
  async work(organizationId) {
    // The clock of a test organization may have been moved on another instance.
    await enterOrganization(deps, organizationId)
    // While messages are read, those of the round before are decided on: one of the two waits for the database at most times.
    const [read, before] = await both(readInbox(deps, organizationId), decideNext(deps, organizationId))
    const reversed = await applyReversals(deps, organizationId)
    const { isMore, isStale, decided } = read === 'more' ? before : await decideNext(deps, organizationId)
    // A loan that others change at once is read again in the next round.
    if (read === 'more' || isMore || (isStale && decided.length > 0) || reversed === 'more') return 'more'
    return isStale ? 'waits' : 'done'
  },
})

/** Waits for two works to end, also where one fails. @throws the error of the first that failed */
async function both<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other])
  return [await one, await other]
}

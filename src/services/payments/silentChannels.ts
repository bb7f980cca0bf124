import { service } from '../../db/audit/trail.ts'
import { findChannel, updateChannel } from '../../db/payments/channels.ts'
import { findOrganizationsOfChannels, findQuietChannels, type Gaps } from '../../db/payments/quietChannels.ts'
import type { Instant } from '../../domain/dates.ts'
import type { Core } from '../deps.ts'
import type { Job } from '../jobs/job.ts'

const EVERY_MS = 300_000
const HOUR_MS = 3_600_000

/** The days before the last payment of a channel whose payments say which gap is usual: a week has its nights and its Sunday. */
const USUAL_DAYS = 7
/** Fewer payments in these days say nothing about what is usual. */
const FEWEST_PAYMENTS = 20
/** A channel is silent once nothing came in for so many times the usual gap. */
const TIMES_USUAL = 2

/** Returns whether nothing came in on a channel for so long that somebody should look: the usual gap is the longest one of a week. */
export const isSilent = ({ lastAt, payments, longestMs }: Omit<Gaps, 'channelId'>, now: Instant): boolean =>
  payments >= FEWEST_PAYMENTS && now - lastAt > Math.max(HOUR_MS, TIMES_USUAL * longestMs)

/**
 * Creates the job that tells receivers of channels on which no payment came in for long: the provider, or the way to the service,
 * may be broken. Each silence is told once.
 */
export const silenceJob = (deps: Pick<Core, 'db' | 'now'>): Job => ({
  name: 'silence',
  failure: 'channels could not be looked at for silence; they are looked at again',
  everyMs: EVERY_MS,
  organizations: () => findOrganizationsOfChannels(deps.db),
  async work(organizationId) {
    const now = deps.now(organizationId)
    const asked = { organizationId, before: now - HOUR_MS, days: USUAL_DAYS }
    const silent = (await findQuietChannels(deps.db, asked)).filter((gaps) => isSilent(gaps, now))
    for (const gaps of silent) await tell(deps, organizationId, gaps, now)
    return 'done'
  },
})

/** Tells that a channel is silent, unless another instance was faster. */
async function tell(
  { db }: Pick<Core, 'db'>,
  organizationId: number,
  { channelId, lastAt, longestMs }: Gaps,
  now: Instant,
): Promise<void> {
  const before = await findChannel(db, organizationId, channelId)
  if (!before || before.disabledAt !== null || before.silentSince === lastAt) return
  const after = { ...before, silentSince: lastAt }
  const also = { usualGapSeconds: Math.round(longestMs / 1_000) }
  await updateChannel(db, service(organizationId), { action: 'silent', before, after, also }, now)
}

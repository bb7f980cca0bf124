import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '../../app/deps.ts'
import type { DamagedLoan } from '../../db/loans/sweep.ts'
import { findPortfolios } from '../../db/portfolio/toldBuckets.ts'
import { type Pending, readPending } from '../../db/testClock/passing.ts'
import { setTestClock } from '../../db/testClock/testClocks.ts'
import { dateIn, dayAfter, type Instant, startOfDay } from '../../domain/dates.ts'
import { LendingError } from '../../domain/errors.ts'
import { sweepTestOrganization } from '../loans/sweep.ts'
import { keepDays } from '../portfolio/keepDays.ts'
import { type TellingPlace, tellBuckets } from '../portfolio/tellBuckets.ts'

type PassDeps = Pick<Deps, 'db' | 'config' | 'now' | 'testClocks'>

/** The pause before a loan is looked at again that another change has locked. */
const AGAIN_MS = 5

/** A walk of the clock of a test organization. */
export interface Passing {
  readonly organizationId: number
  /** Where the clock is to stand in the end. */
  readonly to: Instant
  /** The moment, by `performance.now()`, after which the walk is given up where it is. */
  readonly until: number
}

/**
 * Moves the clock of a test organization from one day to the next, and does on each what time does: at the beginning of a
 * day it saves what has changed in loans, and tells of those that are in another bucket. Days on which nothing can change
 * are passed over. In the end the last days of the portfolio are kept.
 * @throws LendingError `unavailable` where the walk takes too long; the clock then stands at the day that it has come to
 */
export async function passTime(deps: PassDeps, { organizationId, to, until }: Passing): Promise<void> {
  const { db, config, testClocks } = deps
  const except: DamagedLoan[] = []
  await findPortfolios({ pool: db.pool })
  let pending = await passMoment(deps, { organizationId, until, except })
  for (let at = testClocks.now(organizationId); at < to; ) {
    at = Math.min(to, nextStop(at, pending, config.zone))
    await setTestClock(db, organizationId, at)
    testClocks.note({ organizationId, standsAt: at })
    pending = await passMoment(deps, { organizationId, until, except })
  }
  if (pending.toldOn !== null) await keepDays(deps, organizationId)
}

/** Returns the next moment at which time may change something; the beginning of a day, after an instant. */
function nextStop(at: Instant, { isAnyLate, nextReviewAt }: Pending, zone: string): Instant {
  const tomorrow = startOfDay(dayAfter(dateIn(zone, at)), zone)
  if (isAnyLate) return tomorrow
  if (nextReviewAt === null) return Number.POSITIVE_INFINITY
  const day = dateIn(zone, nextReviewAt)
  const start = startOfDay(day, zone)
  return Math.max(tomorrow, start < nextReviewAt ? startOfDay(dayAfter(day), zone) : start)
}

interface Moment {
  readonly organizationId: number
  readonly until: number
  /** The loans that were found damaged: they are left out. */
  readonly except: DamagedLoan[]
}

/** Does what time does up to the moment at which the clock stands. */
async function passMoment(deps: PassDeps, { organizationId, until, except }: Moment): Promise<Pending> {
  const { db, config, now } = deps
  const at = now(organizationId)
  const day = dateIn(config.zone, at)
  let place: TellingPlace | undefined
  for (;;) {
    const pending = await readPending(db, { organizationId, now: at, except })
    const isTold = pending.toldOn !== null && pending.toldOn >= day
    const hasLoans = pending.due > 0 || pending.nextReviewAt !== null || pending.isAnyLate
    if (pending.due === 0 && (isTold || !hasLoans)) return pending
    if (performance.now() > until) throw tooLong(deps, organizationId)
    if (pending.due > 0) {
      const { found, damaged } = await sweepTestOrganization(deps, organizationId, except)
      except.push(...damaged)
      // Those that are due were locked by other changes.
      if (found === 0) await pause(AGAIN_MS)
      continue
    }
    place = (await tellBuckets(deps, organizationId, place)).next
    if (place) continue
    // A loan that is damaged may keep a day from being told; another instance may be telling it.
    if (except.length > 0) return pending
    await pause(AGAIN_MS)
  }
}

const tooLong = ({ now, config }: PassDeps, organizationId: number) =>
  new LendingError(
    'unavailable',
    `the clock has come to ${dateIn(config.zone, now(organizationId))} so far; ask again for the same \`to\`, and it goes on from there`,
    [],
    1,
  )

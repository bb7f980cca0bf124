import { setTimeout as pause } from 'node:timers/promises'
import { type JournalHead, lastChange, readJournalHead } from '../../db/accounting/journalHead.ts'
import { findPeriods } from '../../db/accounting/periods.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { LendingError } from '../../domain/errors.ts'
import { createSingleFlight, type SingleFlight } from '../../toolbox/singleFlight.ts'
import type { JournalPatience } from '../base.ts'
import type { Deps } from '../deps.ts'
import { closedAsOf } from './periods.ts'

export const JOURNAL_PATIENCE: JournalPatience = { readMs: 5_000, changeMs: 10_000 }

type WaitDeps = Pick<Deps, 'db' | 'journalPatience'>

/** The first pause between two looks at a journal that is waited for; the pauses double up to the longest. */
const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 200

/** The looks at the journals of a database, by organization: all requests that wait for one share them. */
const looks = new WeakMap<WaitDeps['db'], SingleFlight<number, JournalHead>>()

/**
 * Waits until the journal of an organization has all changes that were committed before the call, and until a walk through
 * its loans is over.
 * @throws LendingError `unavailable` while it has not, after 5 s
 */
export async function journalCaughtUp({ db, journalPatience }: WaitDeps, organizationId: number): Promise<JournalHead> {
  const wanted = await lastChange(db, organizationId)
  const hasAll = ({ walkedTo, changeId }: JournalHead) => walkedTo === null && changeId >= wanted
  const head = await readJournalHead(db, organizationId)
  return hasAll(head) ? head : waitFor(db, organizationId, { hasAll, mostMs: journalPatience.readMs })
}

interface Wanted {
  readonly hasAll: (head: JournalHead) => boolean
  readonly mostMs: number
}

async function waitFor(db: WaitDeps['db'], organizationId: number, { hasAll, mostMs }: Wanted): Promise<JournalHead> {
  const share = looks.get(db) ?? createSingleFlight<number, JournalHead>()
  looks.set(db, share)
  const until = performance.now() + mostMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const head = await share(organizationId, async () => {
      await pause(pauseMs)
      return readJournalHead(db, organizationId)
    })
    if (hasAll(head)) return head
    if (performance.now() >= until) throw behind(head)
  }
}

/**
 * Looks at longer and longer pauses until the journal has come to a change of itself: a chart, a close, a booking.
 * @param look returns what is there then
 * @returns undefined where nothing is there in time
 */
export async function whenTaken<T>(
  { journalPatience }: Pick<WaitDeps, 'journalPatience'>,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const until = performance.now() + journalPatience.changeMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const found = await look()
    if (found !== undefined || performance.now() >= until) return found
    await pause(pauseMs)
  }
}

/**
 * Waits as `journalCaughtUp` does where the day is open: what is booked up to a day in a closed month never changes again.
 * @throws LendingError `unavailable` while the journal is behind
 */
export async function caughtUpTo(deps: WaitDeps, organizationId: number, day: LocalDate): Promise<void> {
  if (closedAsOf(await findPeriods(deps.db, organizationId), day) === undefined)
    await journalCaughtUp(deps, organizationId)
}

const behind = ({ walkedTo }: JournalHead) =>
  new LendingError(
    'unavailable',
    walkedTo === null
      ? 'the journal has not come to the last changes yet; try again in some seconds'
      : 'the loans are being posted by their new method; try again in some seconds',
    [],
    5,
  )

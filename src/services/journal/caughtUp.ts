import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '../../app/deps.ts'
import { type JournalHead, lastChange, readJournalHead } from '../../db/journal/journalHead.ts'
import { LendingError } from '../../domain/errors.ts'

/** The longest that an answer waits for the journal. */
const MOST_MS = 5_000
const AGAIN_MS = 25

/**
 * Waits until the journal of an organization has all changes that were committed before the call, and until the loans of
 * before are in it.
 * @throws LendingError `unavailable` while it has not, after 5 s
 */
export async function journalCaughtUp(
  { db }: Pick<Deps, 'db'>,
  organizationId: number,
  mostMs = MOST_MS,
): Promise<JournalHead> {
  const wanted = await lastChange(db, organizationId)
  const until = performance.now() + mostMs
  for (;;) {
    const head = await readJournalHead(db, organizationId)
    if (head.walk === null && head.changeId >= wanted) return head
    if (performance.now() >= until) throw behind(head)
    await pause(AGAIN_MS)
  }
}

const behind = ({ walk }: JournalHead) =>
  new LendingError(
    'unavailable',
    walk === null
      ? 'the journal has not come to the last changes yet; try again in some seconds'
      : 'the loans of before are being taken into the journal; try again later',
    [],
    5,
  )

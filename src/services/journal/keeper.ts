import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '../../app/deps.ts'
import type { JournalHead } from '../../db/journal/journalHead.ts'
import { type ClaimedJournal, claimJournal, findUnkept, moveJournal, readUnkept } from '../../db/journal/keeping.ts'
import { readChart } from '../../db/journal/takenUp.ts'
import { isUnavailable } from '../../db/postgres/errors.ts'
import { inTransaction } from '../../db/postgres/transaction.ts'
import { type Failed, type Job, type Round, startRounds, type Work } from '../rounds.ts'
import { type Keeping, keepChanges } from './keepChanges.ts'
import { isControl, keepControl } from './keepControl.ts'
import { walkLoans } from './walkLoans.ts'

/** Changes of an organization that are posted in one transaction: few enough that requests are not delayed. */
export const CHANGES_A_ROUND = 200

/** The pause after a round that left nothing. */
const EVERY_MS = 250
/** The pause after a failure of an organization's journal. */
const LEFT_ALONE_MS = 10_000

export type KeeperDeps = Pick<Deps, 'db' | 'config' | 'loanBatches' | 'listener' | 'now'>

/** Continues the journals, round by round. */
export interface Keeper {
  /** Takes in what is sealed: the next changes of each organization. */
  round(): Promise<Round>
}

/** Creates a keeper. Any number of them may work on one book: a journal is claimed by its row. */
export function createKeeper(deps: KeeperDeps): Keeper {
  /** Organizations that failed, and until when they are left alone. */
  const leftAlone = new Map<number, number>()
  return {
    async round() {
      const failed: Failed[] = []
      let count = 0
      let isDone = true
      for (const organizationId of await findUnkept(deps.db)) {
        if ((leftAlone.get(organizationId) ?? 0) > performance.now()) {
          isDone = false
          continue
        }
        leftAlone.delete(organizationId)
        try {
          const found = await keepNext(deps, organizationId)
          if (!found?.isDone) isDone = false
          count += found?.count ?? 0
        } catch (error) {
          if (isUnavailable(error)) throw error
          failed.push({ organizationId, error })
          leftAlone.set(organizationId, performance.now() + LEFT_ALONE_MS)
        }
      }
      return { count, isDone: isDone && failed.length === 0, failed }
    },
  }
}

/**
 * Takes the next changes of an organization into its journal, in one transaction.
 * @returns how many, and whether all of them; undefined while another instance does it
 */
async function keepNext(deps: KeeperDeps, organizationId: number) {
  return inTransaction(deps.db, async (transaction) => {
    const claimed = await claimJournal(transaction, organizationId)
    if (!claimed) return undefined
    const chart = await readChart({ pool: transaction }, organizationId, claimed.chartVersion)
    const keeping: Keeping = { transaction, organizationId, chart }
    const { sealedTo, ...before } = claimed
    const { head, count, isDone } = await nextOf(deps, keeping, before, sealedTo)
    await moveJournal(transaction, organizationId, head)
    return { count, isDone }
  })
}

async function nextOf(deps: KeeperDeps, keeping: Keeping, head: JournalHead, sealedTo: ClaimedJournal['sealedTo']) {
  const { walkedTo } = head
  if (walkedTo !== null) {
    const after = await walkLoans(deps, keeping, { ...head, walkedTo })
    return { head: after, count: Number(after.postingId - head.postingId), isDone: false }
  }
  const { transaction, organizationId } = keeping
  const found = await readUnkept(transaction, organizationId, { above: head.changeId, sealedTo, most: CHANGES_A_ROUND })
  const [first] = found
  if (first && isControl(first)) {
    const after = await keepControl(keeping, head, first)
    return { head: after, count: 1, isDone: found.length === 1 && after.walkedTo === null }
  }
  const end = found.findIndex(isControl)
  const changes = end === -1 ? found : found.slice(0, end)
  const after = await keepChanges(deps, keeping, head, changes)
  return { head: after, count: changes.length, isDone: end === -1 && found.length < CHANGES_A_ROUND }
}

/**
 * Takes all changes that are sealed by now into the journals.
 * @throws the error of an organization whose journal cannot be continued, once those of the others are
 */
export async function keepJournals(deps: KeeperDeps): Promise<void> {
  const keeper = createKeeper(deps)
  for (;;) {
    const { count, isDone, failed } = await keeper.round()
    if (failed[0]) throw failed[0].error
    if (isDone) return
    if (count === 0) await pause(1)
  }
}

/** Starts to continue the journals, until it is stopped. */
export function startKeeper(deps: KeeperDeps, log: { error(context: object, message: string): void }): Job {
  const keeper = createKeeper(deps)
  const work: Work = {
    everyMs: EVERY_MS,
    round: () => keeper.round(),
    done: (count) => deps.listener.kept(count),
    failed: () => deps.listener.keepFailed(),
    says: (organizationId) => {
      const whose = organizationId === undefined ? 'journals' : `journal of organization ${organizationId}`
      return `the ${whose} could not be continued; it will be tried again`
    },
  }
  return startRounds(work, log)
}

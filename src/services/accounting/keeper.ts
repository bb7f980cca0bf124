import type { JournalHead } from '../../db/accounting/journalHead.ts'
import {
  type ClaimedJournal,
  claimJournal,
  commitWithoutWaiting,
  findUnkept,
  moveJournal,
  readUnkept,
  type UnkeptChange,
} from '../../db/accounting/keeping.ts'
import { readChart } from '../../db/accounting/takenUp.ts'
import { inTransaction } from '../../db/postgres/transaction.ts'
import type { Deps } from '../deps.ts'
import type { Job } from '../jobs/job.ts'
import { type Keeper, type Keeping, keepChanges, startKeeping } from './keepChanges.ts'
import { isControl, keepControl } from './keepControl.ts'
import { walkLoans } from './walkLoans.ts'

/** Changes of an organization that are posted in one transaction: few enough that requests are not delayed. */
export const CHANGES_A_ROUND = 200

/** The pause after a round that left nothing. */
const EVERY_MS = 250
/** The longest pause while the sequencer leaves nothing to post. */
const IDLE_MS = 1_000

export type KeeperDeps = Pick<Deps, 'db' | 'config' | 'loanBatches' | 'listener' | 'now'>

/**
 * Creates the job that continues the journals: it takes in what is sealed. Any number of them may work on one book: a
 * journal is claimed by its row.
 */
export const journalJob = (deps: KeeperDeps): Job => ({
  name: 'journal',
  failure: 'the journal could not be continued',
  everyMs: EVERY_MS,
  idleMs: IDLE_MS,
  organizations: () => findUnkept(deps.db),
  async work(organizationId) {
    const kept = await keepNext(deps, organizationId)
    if (!kept) return 'waits'
    deps.listener.kept(kept.count)
    return kept.isDone ? 'done' : 'more'
  },
})

/**
 * Takes the next changes of an organization into its journal, in one transaction.
 * @returns how many, and whether all of them; undefined while another instance does it
 */
async function keepNext(deps: KeeperDeps, organizationId: number) {
  return inTransaction(deps.db, async (transaction) => {
    await commitWithoutWaiting(transaction)
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

/** A row of the trail that is about to be sealed, by what it is about. */
type ToSeal = Pick<UnkeptChange, 'entity' | 'entityId'>

/**
 * Begins to post changes in the transaction that seals them, where the journal has come to the changes before them. What is left
 * the job of the journal takes: a change of the journal itself, and all after it until the job has come to the end.
 * @param after the change before the first of them
 * @returns undefined where they are left to the job; otherwise its `end` moves the journal on
 */
export async function postSealed(
  deps: Pick<KeeperDeps, 'config' | 'listener'>,
  { transaction, organizationId }: Omit<Keeping, 'chart'>,
  { after, changes }: { readonly after: bigint; readonly changes: readonly ToSeal[] },
): Promise<Keeper | undefined> {
  if (changes.some(isControl)) return undefined
  const claimed = await claimJournal(transaction, organizationId)
  if (claimed?.changeId !== after || claimed.walkedTo !== null) return undefined
  const { sealedTo: _, ...head } = claimed
  const chart = await readChart({ pool: transaction }, organizationId, head.chartVersion)
  const keeper = await startKeeping(deps, { transaction, organizationId, chart }, head, changes)
  return {
    ...keeper,
    async end() {
      const moved = await keeper.end()
      await moveJournal(transaction, organizationId, moved)
      return moved
    },
  }
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

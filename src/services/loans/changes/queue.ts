import { setTimeout as pause } from 'node:timers/promises'
import { type LoanKey, nameOf } from '../../../db/loans/loans.ts'
import type { StoredLoan } from '../../../db/loans/storedLoan.ts'
import { backoffMs } from '../../../db/postgres/errors.ts'
import { LendingError } from '../../../domain/errors.ts'

/** Tries of a change when other changes of the loan were saved first each time, or had locked it. */
export const MOST_TRIES = 60
/** Changes of one loan that are saved together, and changes that may wait for one loan. */
const MOST_IN_A_BATCH = 128
const MOST_WAITING = 5_000

/** A change that waits in the queue of its loan. */
export interface Queued {
  readonly reject: (error: unknown) => void
  tries: number
  /** True where the change has to be saved alone: something is saved alongside it, or it met a key that is taken. */
  isAlone: boolean
}

/** The loans that this process is changing, by name, each with the changes that wait for their turn. */
export type LoanQueues = Map<string, Queued[]>

/** Creates the queues; there is one set of them in a process. */
export const createLoanQueues = (): LoanQueues => new Map()

/** What a queue does with the changes of a loan. */
export interface QueueWork<One extends Queued> {
  /** Whether changes that wait are saved together. */
  readonly together: boolean
  /**
   * Works on the next changes.
   * @param known the loan that the last changes left; undefined: it has to be read
   * @returns the changes that have to be tried again, and the loan that is left
   */
  run(jobs: readonly One[], known: StoredLoan | undefined): Promise<QueueResult<One>>
  /** Called for each change that is tried again. */
  retried(): void
}

/** The result of work on changes of a loan. */
export interface QueueResult<One extends Queued> {
  readonly again: readonly One[]
  readonly known: StoredLoan | undefined
}

/** Puts a change into the queue of its loan: the first one starts at once, and the others wait for their turn. */
export function enqueue<One extends Queued>(queues: LoanQueues, key: LoanKey, job: One, work: QueueWork<One>): void {
  const name = nameOf(key)
  const queue = queues.get(name)
  if (!queue) {
    const opened = [job]
    queues.set(name, opened)
    void drain(opened, work, () => queues.delete(name))
  } else if (queue.length < MOST_WAITING) queue.push(job)
  else job.reject(changedByOthers())
}

/** Returns the refusal of a change before which others were saved every time. */
export const changedByOthers = () =>
  new LendingError('aborted', 'the loan is being changed by many others at once; try again', [], 1)

/** Works through the queue of a loan, including the changes that join it meanwhile. */
async function drain<One extends Queued>(queue: One[], work: QueueWork<One>, close: () => void): Promise<void> {
  // The loan that the last save left; a change that another instance saved shows when the next one is saved.
  let known: StoredLoan | undefined
  while (queue.length > 0) {
    const jobs = queue.splice(0, work.together ? batchLength(queue) : 1)
    try {
      const result = await work.run(jobs, known)
      known = result.known
      if (result.again.length > 0) await retry(queue, result.again, work)
    } catch (error) {
      for (const job of jobs) job.reject(error)
      known = undefined
    }
  }
  // No promise is awaited between the last look at the queue and here: a later change opens a queue of its own.
  close()
}

/** The number of waiting changes that can be saved together. */
function batchLength(queue: readonly Queued[]): number {
  const before = queue.findIndex((job) => job.isAlone)
  return before === -1 ? MOST_IN_A_BATCH : Math.min(MOST_IN_A_BATCH, Math.max(1, before))
}

/** Puts changes back into the queue, up to a number of tries each. */
async function retry<One extends Queued>(queue: One[], again: readonly One[], work: QueueWork<One>): Promise<void> {
  const left = again.filter((job) => {
    work.retried()
    if (++job.tries < MOST_TRIES) return true
    job.reject(changedByOthers())
    return false
  })
  queue.unshift(...left)
  await pause(backoffMs(left[0]?.tries ?? 0))
}
